"""Protocols between agents and their clients: ACP, AG-UI, Copilot, Claude Code and Codex sessions."""

_private = True
