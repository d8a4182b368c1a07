"""Snapshots of parsers: the state of a stream as bytes, for servers that move streams between workers."""
