"""Argument text: its value, read strictly or after repair, whole or while it arrives. Nothing here knows the wire."""

_private = True
