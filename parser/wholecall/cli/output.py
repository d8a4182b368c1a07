"""Output of the program: its exit codes, data on standard output, all else on standard error, colours, and files.

Theory of operation. Text for people is escaped for the encoding of the output, and JSON means the same in every
encoding.

Colours are decided by an option, else by the environment (`NO_COLOR`, then `FORCE_COLOR`; an empty variable does not
count), else by whether the output is a terminal. They need rich, in the extra `cli`; without it there are none.

The bytes of a file go to a hidden file next to the target, which takes its place at the end. If anything ends the
command before that, the target is unchanged and the hidden file is removed. A link is followed, so that it stays a
link. A target that is not a regular file (a terminal, a pipe, `/dev/null`) is written directly.
"""

from __future__ import annotations

import codecs
import errno
import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from wholecall.cli.show import escaped_json, printable, printable_json
from wholecall.recordings.finding import find

OK, FOUND, UNREADABLE = 0, 1, 3  # argparse exits with 2
STDIO = "-"  # the path of standard input, and of standard output
CHOICES = ("auto", "always", "never")


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


# Colours.


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


# Files: the old one stays whole until the new one is, and no input is overwritten.


@contextmanager
def replacing(path: str) -> Generator[IO[bytes]]:
    """Open a file that replaces another when the block ends without an exception.

    Raises:
        OSError: it cannot be written there.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with beside.open("xb") as file:
            yield file
        with suppress(FileNotFoundError):
            shutil.copymode(target, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def is_read(paths: Iterable[str], output: str) -> bool:
    """Return whether the output file is among the recordings at some paths."""
    return any(is_same(place.path, output) for place in find(paths))


def is_same(path: str, output: str) -> bool:
    """Return whether the input and the output are one regular file; `-` is standard input and output."""
    read, written = _status(path, sys.stdin), _status(output, sys.stdout)
    return read is not None and written is not None and os.path.samestat(read, written)


def _status(path: str, stream: Any) -> os.stat_result | None:
    """Return the status of a regular file, None if there is none."""
    try:
        status = os.fstat(stream.fileno()) if path == STDIO else Path(path).stat()
    except (OSError, ValueError, AttributeError):  # ValueError: a closed stream, or not a file
        return None
    return status if stat.S_ISREG(status.st_mode) else None
