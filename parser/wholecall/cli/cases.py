"""A stream that becomes a case of a folder of recordings: its bytes, and a sidecar for people to fill in.

Theory of operation. Bytes are written as they arrive, to a file in that folder named `<case>.part`. When the stream is
over, however it ended, that file becomes `<dialect>/<case>.<suffix>`: only then are both known. No existing file is
ever written to; if the final name is taken, the bytes stay where they are.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from wholecall import ToolCallParser
from wholecall.cli.out import complain
from wholecall.framing.opening import framing_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["NewCase"]

_SIDECAR = ".case.json"
_EMPTY: dict[str, Any] = {"about": "", "origin": "recorded", "quirks": [], "expect": None}
_UNKNOWN = "unknown"  # the folder of streams that no dialect knows
_SUFFIXES = {
    "sse": ".sse",
    "jsonl": ".ndjson",
    "jsonarray": ".json",
    "eventstream": ".bin",
    "vercel": ".ndjson",
}
_RAW = ".bin"  # of bytes of no known framing
_HEAD = 4096  # bytes; the first ones identify the framing


class NewCase:
    """Writes the bytes of one stream, and moves them to the case's place when the block is left.

    Args:
        folder: a folder of recordings by dialect, or one that has such a folder, `recordings`.
        name: the name of the case.

    Raises:
        OSError: there is no such folder, or the case is being recorded already.
    """

    def __init__(self, folder: Path, name: str) -> None:
        os.scandir(folder).close()
        inner = folder / "recordings"
        self._folder = inner if inner.is_dir() else folder
        self._name = name
        self.path = self._folder / f"{name}.part"
        self.dialect: str | None = None
        self.trouble: str | None = None
        self._file = self.path.open("xb")
        self._parser = ToolCallParser()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._parser.close()
        self.dialect = self._parser.dialect
        self._place()

    def through(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Write each chunk and pass it on."""
        for chunk in chunks:
            self._file.write(chunk)
            self._file.flush()
            if self._parser.dialect is None:
                self._parser.feed(chunk)
            yield chunk

    def settle(self, *, holds_something: bool) -> bool:  # noqa: ARG002 - a case may be a stream of nothing
        """Return whether the finished case is at its place."""
        return self.trouble is None

    def _place(self) -> None:
        """Move the bytes to their place, write the sidecar, and print the next step."""
        folder = self._folder / (self.dialect or _UNKNOWN)
        target = folder / f"{self._name}{_suffix(self.path)}"
        try:
            folder.mkdir(exist_ok=True)
            _claim(folder, self._name, target)
            self.path.replace(target)
        except OSError as error:
            why = f"{error.filename or target}: {error.strerror}"
            self.trouble = f"{why}; nothing there was changed, and what came is in {self.path}"
            complain(self.trouble)
            return
        self.path = target
        if self.dialect is None:
            complain("no dialect knows the stream")
        complain(f"wrote {target} and {self._name}{_SIDECAR}: say there what it shows and what must come out")
        complain(f"it holds what was said; to replace that: wholecall redact {target} --to raw -o OTHER")


def _claim(folder: Path, name: str, target: Path) -> None:
    """Create the files of a case, the sidecar with its members.

    Raises:
        OSError: they cannot be created, or a file of such a case exists.
    """
    taken = [path for path in sorted(folder.iterdir()) if path.name.startswith(f"{name}.")]
    if taken:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(taken[0]))
    with (folder / f"{name}{_SIDECAR}").open("x", encoding="utf-8", newline="\n") as sidecar:
        sidecar.write(json.dumps(_EMPTY, indent=2) + "\n")
    target.open("xb").close()


def _suffix(path: Path) -> str:
    """Return the suffix that goes with the framing of a file."""
    with path.open("rb") as file:
        framing = framing_of(file.read(_HEAD))
    if framing == "jsonl" and _is_document(path):
        return ".json"
    return _RAW if framing is None else _SUFFIXES[framing]


def _is_document(path: Path) -> bool:
    """Return whether a file is one JSON document, like a response that is not streamed."""
    try:
        msgspec.json.decode(path.read_bytes(), type=msgspec.Raw)
    except (msgspec.DecodeError, ValueError, RecursionError):  # the first is not a ValueError everywhere
        return False
    return True
