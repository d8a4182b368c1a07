"""Providers and servers with their own dialects."""

_private = True
