"""The fast lane: streams as their dialect documents them, read in one pass; see `lane`."""

_private = True
