"""Output of the program, as the pages of the project show it.

A page marks such a block with the command that wrote it::

    <!-- captured: wholecall inspect corpora/recordings/anthropic/single-call.sse -->
    ```
    ...
    ```
    <!-- /captured -->

A command that reads `tables` finds there the output of `wholecall scan` on a few folders of the corpora.

`python -m tests.support.captures` runs the commands of all pages again, from the project's root, and writes their
output; a test compares.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path

from tests.support.reports import rows_of, write_parts
from wholecall.cli import main

PROJECT = Path(__file__).resolve().parents[2]
PAGES = ("docs/bulk.md", "docs/inspect.md", "docs/recordings.md")
SCANNED = tuple(f"corpora/recordings/{folder}" for folder in ("xai-grpc", "vercel-ui"))
_BLOCK = re.compile(
    r"(<!-- captured: wholecall (?P<argv>[^\n]+) -->\n```[^\n]*\n).*?(```\n<!-- /captured -->)", re.DOTALL
)
_LOOK = {"NO_COLOR": "1", "COLUMNS": "100"}


def captured(argv: str) -> str:
    """Return the output of `wholecall ARGV` on a pipe of 100 columns, from the project's root."""
    out = io.StringIO()
    before = {name: os.environ.get(name) for name in _LOOK}
    here = Path.cwd()
    os.environ.update(_LOOK)
    os.chdir(PROJECT)
    try:
        with contextlib.redirect_stdout(out):
            main([_tables() if word == "tables" else word for word in shlex.split(argv)])
    finally:
        os.chdir(here)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    return out.getvalue()


@functools.cache
def _tables() -> str:
    """Return the folder of the tables, which is removed when this program ends."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    return str(write_parts(folder / "tables", rows_of(*SCANNED)))


def renewed(page: str) -> tuple[str, int]:
    """Return the text of a page with its blocks rewritten, and the number of blocks."""
    return _BLOCK.subn(lambda block: block[1] + captured(block["argv"]) + block[3], page)


def write() -> None:
    """Rewrite the blocks of all pages."""
    for name in PAGES:
        path = PROJECT / name
        path.write_text(renewed(path.read_text("utf-8"))[0], "utf-8", newline="\n")


if __name__ == "__main__":
    write()
