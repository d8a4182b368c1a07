"""Responses: places of calls and text in its events and items, its rewriter, its leaks, and its whole bodies."""
