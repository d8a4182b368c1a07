"""The command line: `wholecall replay PATH...`."""

from __future__ import annotations

from wholecall.cli.main import main

__all__ = ["main"]

_private = True
