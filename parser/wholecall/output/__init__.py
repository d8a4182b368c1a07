"""What comes out: events, turns, and descriptions of calls that were dropped."""

_private = True
