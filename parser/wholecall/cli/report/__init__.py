"""The command `wholecall report`: a report's sections, as text for a terminal and as a page."""

from wholecall.cli.report.command import add_command
from wholecall.cli.report.page import html_of
from wholecall.cli.report.text import text_of

__all__ = ["add_command", "html_of", "text_of"]
_private = True
