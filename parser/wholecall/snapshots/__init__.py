"""Snapshots of parsers: the state of a stream as bytes, for servers that move streams between workers."""

from wholecall.snapshots.rows import opened, sealed

__all__ = ["opened", "sealed"]

_private = True
