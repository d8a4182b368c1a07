"""A report for people: its sections, as text for a terminal and as a page."""

from wholecall.cli.reporting.page import html_of
from wholecall.cli.reporting.text import text_of

__all__ = ["html_of", "text_of"]
_private = True
