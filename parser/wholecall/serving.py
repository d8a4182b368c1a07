"""Recordings served like answers of their provider: over HTTP on the loopback interface, or without a socket."""

from __future__ import annotations

from wholecall.recordings.serving.answers import Answer, Answers, IncomingRequest
from wholecall.recordings.serving.loopback import Loopback
from wholecall.recordings.serving.mock import MockTransport
from wholecall.recordings.serving.recorded import RecordedAnswers, answer_of

__all__ = [
    "Answer",
    "Answers",
    "IncomingRequest",
    "Loopback",
    "MockTransport",
    "RecordedAnswers",
    "answer_of",
]
