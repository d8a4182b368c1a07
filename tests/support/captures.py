"""What the program writes, as the pages of the project show it.

A page marks such a block with the command that wrote it::

    <!-- captured: wholecall inspect corpora/recordings/anthropic/single-call.sse -->
    ```
    ...
    ```
    <!-- /captured -->

`python -m tests.support.captures` runs the commands of all pages again, from the project's root, and writes what
they say; a test compares.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from pathlib import Path

from wholecall.cli import main

__all__ = ["PAGES", "PROJECT", "captured", "renewed"]

PROJECT = Path(__file__).resolve().parents[2]
PAGES = ("docs/inspect.md", "docs/recordings.md")
_BLOCK = re.compile(
    r"(<!-- captured: wholecall (?P<argv>[^\n]+) -->\n```[^\n]*\n).*?(```\n<!-- /captured -->)", re.DOTALL
)
_LOOK = {"NO_COLOR": "1", "COLUMNS": "100"}


def captured(argv: str) -> str:
    """Return what `wholecall ARGV` writes on a pipe of 100 columns, from the project's root."""
    out = io.StringIO()
    before = {name: os.environ.get(name) for name in _LOOK}
    here = Path.cwd()
    os.environ.update(_LOOK)
    os.chdir(PROJECT)
    try:
        with contextlib.redirect_stdout(out):
            main(shlex.split(argv))
    finally:
        os.chdir(here)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    return out.getvalue()


def renewed(page: str) -> tuple[str, int]:
    """Return the text of a page with its blocks written anew, and how many it has."""
    return _BLOCK.subn(lambda block: block[1] + captured(block["argv"]) + block[3], page)


if __name__ == "__main__":
    for name in PAGES:
        path = PROJECT / name
        path.write_text(renewed(path.read_text("utf-8"))[0], "utf-8", newline="\n")
