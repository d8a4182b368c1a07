"""Quirky streams through the libraries that people read them with, without and with the repairing transport."""
