"""What comes out: events, turns, and what is said of calls that were dropped."""

_private = True
