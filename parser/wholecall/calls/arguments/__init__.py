"""Argument text: its value, read strictly or after repair, complete or while it arrives. Independent of the wire."""

_private = True
