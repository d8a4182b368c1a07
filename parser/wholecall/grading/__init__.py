"""Grades of clients over published streams, and of servers over prepared requests."""

_private = True
