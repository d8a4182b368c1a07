"""Tool calls as a caller gets them: events, turns, tools with their schemas, and the reading of argument text."""

_private = True
