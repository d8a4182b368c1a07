"""Self-contained pages: no network, no other file, no program.

Theory of operation. A page's markup, styles and scripts are next to this module in `page/`, and are put into one file.
A content security policy names the styles and scripts by their hashes and forbids everything else, including the
network. Text of the wire is data: it is escaped if it becomes markup, and harmless if it is JSON in a block that no
browser executes.
"""

from __future__ import annotations

import hashlib
import sys
from base64 import b64encode
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

from wholecall.cli.output import STDIO, replacing


def harmless(text: str) -> str:
    """Return JSON of the same value without any character that is special in HTML."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def page_of(markup: str, styles: Iterable[str], scripts: Iterable[str], **parts: str) -> str:
    """Return a page.

    Args:
        markup: the file with its markup, in which `@@NAME@@` is a placeholder.
        styles: the files with its styles, in order.
        scripts: the files with its scripts, in order.
        parts: the values of the placeholders, by name in lower case; safe markup.
    """
    style = "".join(map(_file, styles))
    script = '"use strict";\n' + "".join(map(_file, scripts))
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    all_of = {name.upper(): part for name, part in parts.items()}
    all_of |= {"POLICY": policy, "STYLE": style, "SCRIPT": script}
    pieces: Sequence[str] = _file(markup).split(
        "@@"
    )  # text, name, text, ... so that inserted text is not searched again
    return "".join(all_of[piece] if n % 2 else piece for n, piece in enumerate(pieces))


def _file(name: str) -> str:
    return (files("wholecall.cli") / "page" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def write_page(path: str, page: str) -> None:
    """Write a page to a file; the old file stays until the new one is whole; `-` is standard output.

    Raises:
        OSError: it cannot be written.
    """
    if path == STDIO:
        sys.stdout.buffer.write(page.encode())
        return
    with replacing(path) as file:
        file.write(page.encode())


def is_page(path: str) -> bool:
    """Return whether a page may be written to a path: the path is free, or has a file that looks like a page."""
    if path == STDIO or not Path(path).is_file():
        return True
    with Path(path).open("rb") as file:
        return file.read(1) in {b"", b"<"}
