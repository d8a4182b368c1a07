"""Anthropic: Messages."""

_private = True
