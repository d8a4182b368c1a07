"""Files that a command writes: the old file stays whole until the new one is, and no input is overwritten.

Theory of operation. The bytes go to a hidden file next to the target, which takes its place at the end. If anything
ends the command before that, the target is unchanged and the hidden file is removed. A link is followed, so that it
stays a link. A target that is not a regular file (a terminal, a pipe, `/dev/null`) is written directly.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from wholecall.recordings.finding import find

__all__ = ["STDIO", "is_read", "is_same", "replacing"]

STDIO = "-"  # the path of standard input, and of standard output


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
