"""Gemini: frames, the calls whose arguments come as values at paths, and the translator."""

_private = True
