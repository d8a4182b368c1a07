"""Tools for tests of programs that read streams: a pytest plugin, and golden files."""

_private = True
