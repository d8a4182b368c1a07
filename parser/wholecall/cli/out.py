"""Output of the program: data on standard output, all else on standard error; and its exit codes."""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from wholecall.cli.show import escaped_json, printable, printable_json

__all__ = ["FOUND", "OK", "UNREADABLE", "complain", "json_writer", "line_writer", "silence", "write"]

OK, FOUND, UNREADABLE = 0, 1, 3  # argparse exits with 2


def write(text: str) -> None:
    """Write text for people; characters that the output's encoding lacks become escapes."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))


def json_writer(name: str, member: str = "recording", **more: str | None) -> Callable[[bytes], None]:
    """Return a function that writes JSON objects, one a line, with the name of their subject as the first member.

    Args:
        name: the name of the subject.
        member: the member for the name.
        more: further members; those that are None are left out.
    """
    about = {member: name, **{key: value for key, value in more.items() if value is not None}}
    label = json.dumps(about, ensure_ascii=not "".join(about.values()).isprintable(), separators=(",", ":"))
    write_line = line_writer()
    return lambda data: write_line(f"{label[:-1]},{data.decode()[1:]}")


_UNENCODED = {"utf-8": re.compile("[\ud800-\udfff]")}  # characters that an encoding lacks
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")


def line_writer() -> Callable[[str], None]:
    """Return a function that writes lines of JSON that mean the same in every encoding, and that no terminal obeys."""
    encoding = codecs.lookup(sys.stdout.encoding or "utf-8").name
    unencoded = _UNENCODED.get(encoding, _BEYOND_ASCII)
    terminal = sys.stdout.isatty()

    def write_line(line: str) -> None:
        if not line.isascii():
            line = unencoded.sub(lambda found: escaped_json(found[0]), line)
        sys.stdout.write((printable_json(line) if terminal else line) + "\n")

    return write_line


def complain(text: str) -> None:
    """Report an error on standard error."""
    sys.stderr.write(f"wholecall: {printable(text)}\n")


def silence() -> None:
    """Discard buffered output, so that the interpreter's last flush cannot fail."""
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
