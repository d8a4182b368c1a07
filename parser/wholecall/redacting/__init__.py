"""Redaction: recordings with the letters of their secrets replaced, and everything else as it was."""

from wholecall.redacting.redact import Redaction, redact

__all__ = ["Redaction", "redact"]
