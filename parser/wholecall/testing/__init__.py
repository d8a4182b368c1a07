"""For tests of programs that read streams: a plugin of pytest, and files to compare with."""

_private = True
