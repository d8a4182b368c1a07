"""Providers and servers with a dialect of their own."""

_private = True
