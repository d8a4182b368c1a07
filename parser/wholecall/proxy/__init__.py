"""A reverse proxy for model providers that lets no broken tool call through: `wholecall proxy`."""

from __future__ import annotations

__all__ = []
_private = True
