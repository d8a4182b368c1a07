"""The classification of the errors with which providers answer a conversation."""

from wholecall.history.errors.classify import ErrorClass, classify_error
from wholecall.history.errors.rules import ErrorCategory, ErrorKind, ErrorScope

__all__ = ["ErrorCategory", "ErrorClass", "ErrorKind", "ErrorScope", "classify_error"]
