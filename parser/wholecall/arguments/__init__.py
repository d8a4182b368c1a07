"""Argument text: what it says, strictly or mended, whole or while it arrives. Nothing here knows the wire."""

_private = True
