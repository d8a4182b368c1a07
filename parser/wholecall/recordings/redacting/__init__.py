"""Redaction: replace the letters of secrets in recordings, and leave everything else as it was."""
