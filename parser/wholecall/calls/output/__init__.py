"""The output: events, turns, and descriptions of calls that were dropped."""

_private = True
