"""Snapshots of parsers: the state of a stream as bytes, for servers that move streams between workers."""

from wholecall.snapshots.sealed import fill, opened, sealed

__all__ = ["fill", "opened", "sealed"]

_private = True
