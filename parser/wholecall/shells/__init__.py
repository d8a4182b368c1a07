"""Ready-made loops round the parser, for all kinds of sources."""

_private = True
