"""Readings of a choice's fragments where labels are wrong: `solve` for chat, `solve_marked` for marked records."""
