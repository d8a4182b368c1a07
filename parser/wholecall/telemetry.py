"""Events and counters for OpenTelemetry: calls that were dropped, withheld or mended."""

from __future__ import annotations

from wholecall.repairing.telemetry import Telemetry

__all__ = ["Telemetry"]
