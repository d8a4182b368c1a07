"""Decide whether to write in colours, and write them.

Theory of operation. An option decides, else the environment (`NO_COLOR`, then `FORCE_COLOR`; an empty variable does not
count), else whether the output is a terminal. Colours need rich, in the extra `cli`; without it there are none.
"""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["CHOICES", "console", "wants_colour"]

CHOICES = ("auto", "always", "never")


def wants_colour(choice: str) -> bool:
    """Return whether standard output is to be coloured.

    Args:
        choice: one of `CHOICES`.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def console(width: int) -> Any:
    """Return rich's console on standard output, None if rich is not installed."""
    try:
        from rich.console import Console  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    return Console(file=sys.stdout, width=width, force_terminal=True, color_system="standard", no_color=False)
