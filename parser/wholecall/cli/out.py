"""Where the program writes: data to standard output, everything else to standard error; and its exit codes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from wholecall.cli.show import printable

__all__ = ["FOUND", "OK", "UNREADABLE", "complain", "silence", "write"]

OK, FOUND, UNREADABLE = 0, 1, 3  # argparse exits with 2


def write(text: str) -> None:
    """Write text for people; what the output's encoding lacks becomes an escape."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))


def complain(text: str) -> None:
    """Say on standard error what went wrong."""
    sys.stderr.write(f"wholecall: {printable(text)}\n")


def silence() -> None:
    """Let what is still buffered go nowhere, so that the interpreter's last flush cannot fail."""
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
