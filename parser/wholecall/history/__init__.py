"""Histories: turns and transcripts prepared to be sent again, and the reasons for a provider's refusal."""

from typing import TYPE_CHECKING

from wholecall.errors import renamed
from wholecall.history.checking import Finding, check_transcript
from wholecall.history.conversation import Conversation, Encoded, encode_calls, encode_results
from wholecall.history.errors.classify import ErrorClass, classify_error
from wholecall.history.errors.rules import ErrorCategory, ErrorKind, ErrorScope
from wholecall.history.formats import HISTORY_FORMATS, HistoryFormat, encode_arguments, format_named
from wholecall.history.ids import CallIds
from wholecall.history.shapes.base import MISSING_RESULT
from wholecall.history.shrinking import Shrunk, ShrunkTranscript, shrink_arguments, shrink_transcript
from wholecall.history.transcripts import Repaired, TranscriptReport, repair_transcript

__all__ = [
    "HISTORY_FORMATS",
    "MISSING_RESULT",
    "CallIds",
    "Conversation",
    "Encoded",
    "ErrorCategory",
    "ErrorClass",
    "ErrorKind",
    "ErrorScope",
    "Finding",
    "HistoryFormat",
    "Repaired",
    "Shrunk",
    "ShrunkTranscript",
    "TranscriptReport",
    "check_transcript",
    "classify_error",
    "encode_arguments",
    "encode_calls",
    "encode_results",
    "format_named",
    "repair_transcript",
    "shrink_arguments",
    "shrink_transcript",
]

if not TYPE_CHECKING:
    __getattr__ = renamed(
        __name__,
        {
            "Report": "TranscriptReport",
            "TRANSPORTS": "HISTORY_FORMATS",
            "Transport": "HistoryFormat",
            "transport_named": "format_named",
        },
    )
