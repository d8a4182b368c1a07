"""One stream: bytes in, events out."""

_private = True
