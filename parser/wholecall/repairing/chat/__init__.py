"""Chat Completions: places of calls and text in its chunks, its rewriter, its leaks, and its whole bodies."""
