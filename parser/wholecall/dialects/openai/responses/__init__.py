"""Responses: items, events, and the translator."""

_private = True
