"""Redaction: replace the letters of secrets in recordings, and leave everything else as it was."""

from wholecall.redacting.redact import Redaction, redact

__all__ = ["Redaction", "redact"]
