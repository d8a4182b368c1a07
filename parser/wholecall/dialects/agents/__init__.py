"""Protocols between agents and their clients: ACP, AG-UI, Copilot and Claude Code sessions."""

_private = True
