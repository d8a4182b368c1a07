"""Verdicts on others: endpoints that send calls, and clients that read them."""
