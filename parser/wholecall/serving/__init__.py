"""Recordings served like answers of their provider: over HTTP on the loopback interface, or without a socket."""

from wholecall.serving.answers import Answer, Answers, IncomingRequest
from wholecall.serving.loopback import Loopback
from wholecall.serving.mock import MockTransport
from wholecall.serving.recorded import RecordedAnswers, answer_of

__all__ = [
    "Answer",
    "Answers",
    "IncomingRequest",
    "Loopback",
    "MockTransport",
    "RecordedAnswers",
    "answer_of",
]
