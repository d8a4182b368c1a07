"""Loops round the parser for the sources that people have."""

_private = True
