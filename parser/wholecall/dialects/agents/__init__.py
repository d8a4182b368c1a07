"""Protocols between agents and their clients: ACP, AG-UI, Copilot sessions."""

_private = True
