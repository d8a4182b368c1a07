"""The command `wholecall conform` and its page."""

from wholecall.cli.conform.command import add_command

_private = True

__all__ = ["add_command"]
