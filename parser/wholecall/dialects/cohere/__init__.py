"""Cohere: both versions of its chat."""

_private = True
