"""Ready-made loops around the parser, for all kinds of sources."""

_private = True
