"""Gemini: places of calls and text in its responses, its rewriter, its leaks, and its whole bodies."""
