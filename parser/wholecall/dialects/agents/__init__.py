"""Protocols between agents and their clients: ACP, AG-UI, Copilot, Claude Code, Codex and pi sessions."""

_private = True
