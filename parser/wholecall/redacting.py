"""Redaction: replace the letters of secrets in recordings, and leave everything else as it was."""

from __future__ import annotations

from wholecall.recordings.redacting.redact import Redaction, redact

__all__ = ["Redaction", "redact"]
