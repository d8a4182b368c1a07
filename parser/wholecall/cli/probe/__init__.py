"""The command `wholecall probe`: its options, and its report as text, as a page, and for other programs and people."""

from wholecall.cli.probe.options import add_command

__all__ = ["add_command"]
_private = True
