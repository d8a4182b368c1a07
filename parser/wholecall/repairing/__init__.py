"""Repairing: a stream, a whole body or the messages of a session in, strict ones out, without any I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.errors import renamed
from wholecall.repairing.bodies import RepairedBody, repair_body
from wholecall.repairing.messages import MessageRepairer
from wholecall.repairing.repairer import Repairer
from wholecall.repairing.report import RepairReport

__all__ = ["MessageRepairer", "RepairReport", "RepairedBody", "Repairer", "repair_body"]

if not TYPE_CHECKING:
    __getattr__ = renamed(__name__, {"Report": "RepairReport"})
