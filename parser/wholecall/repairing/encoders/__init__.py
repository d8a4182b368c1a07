"""Encoders: from events of any dialect to a strict stream of one dialect."""
