"""The history shelf: what was said, made fit to be sent again."""

from wholecall.history.errors import ErrorCategory, ErrorClass, ErrorKind, ErrorScope, classify_error
from wholecall.history.markers import MISSING_RESULT
from wholecall.history.transcripts import Repaired, Report, repair_transcript

__all__ = [
    "MISSING_RESULT",
    "ErrorCategory",
    "ErrorClass",
    "ErrorKind",
    "ErrorScope",
    "Repaired",
    "Report",
    "classify_error",
    "repair_transcript",
]
