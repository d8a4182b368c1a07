"""Google: Gemini, its live sessions, and Interactions."""

_private = True
