"""What is done with calls once they are history."""

from wholecall.history.errors import ErrorCategory, ErrorClass, ErrorKind, ErrorScope, classify_error

__all__ = ["ErrorCategory", "ErrorClass", "ErrorKind", "ErrorScope", "classify_error"]
