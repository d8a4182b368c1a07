"""Recordings answered as if by their provider: over HTTP on the loopback interface, or without a socket."""

from wholecall.serving.answers import Answer, Answers, Request
from wholecall.serving.loopback import Loopback
from wholecall.serving.mock import MockTransport
from wholecall.serving.recorded import RecordedAnswers, answer_of

__all__ = ["Answer", "Answers", "Loopback", "MockTransport", "RecordedAnswers", "Request", "answer_of"]
