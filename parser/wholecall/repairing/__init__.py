"""Repairing: the bytes of an event stream or a whole body in, the bytes of a strict one out, without any I/O."""

from __future__ import annotations

from wholecall.repairing.bodies import RepairedBody, repair_body
from wholecall.repairing.repairer import Repairer
from wholecall.repairing.report import Report

__all__ = ["RepairedBody", "Repairer", "Report", "repair_body"]
