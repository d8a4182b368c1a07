"""Judge the answers of an endpoint, without I/O: faults of the wire, what the model did, what could not be told."""

from __future__ import annotations

from wholecall.grading.probe.exchange import (
    Asked,
    AskedCall,
    Evidence,
    Exchange,
    Finding,
    TriedClient,
    exchange_of,
    recording_of,
)
from wholecall.grading.probe.verdict import Judgement, ModelRate, grade, judge

__all__ = [
    "Asked",
    "AskedCall",
    "Evidence",
    "Exchange",
    "Finding",
    "Judgement",
    "ModelRate",
    "TriedClient",
    "exchange_of",
    "grade",
    "judge",
    "recording_of",
]
