"""Repair under an unmodified SDK: an HTTP transport that makes event streams strict while they are read."""

from __future__ import annotations

from wholecall.repairing.notices import Counters, Exchange
from wholecall.repairing.transport.repair import AsyncRepairTransport, RepairTransport, async_client, client

__all__ = ["AsyncRepairTransport", "Counters", "Exchange", "RepairTransport", "async_client", "client"]
