"""Explain each byte of a stream: its frame, and the effect of that frame on every call."""
