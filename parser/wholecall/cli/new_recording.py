"""A stream that becomes a recording of our own format, possibly replacing an existing one.

Theory of operation. If there is no file, the recording is written as the stream arrives, and can be read meanwhile. An
existing file stays until the stream has ended: the new file is written next to it, with `.part` in its name, and stays
there if the stream breaks off.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from wholecall.cli.out import complain
from wholecall.recordings import Recorder

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["NewRecording"]


class NewRecording:
    """Writes one recording.

    Args:
        output: its final path; compressed if that ends in `.gz`.
        append: whether an existing file is kept, and added to.
        known: known facts about the response, as for `Recorder`.

    Raises:
        OSError: it cannot be written there, or the part of a broken stream is still next to it.
    """

    def __init__(self, output: Path, *, append: bool, **known: Any) -> None:
        self.path = self._output = output
        self._place: Path | None = None  # of the file to be replaced
        if not append and output.is_file() and output.stat().st_size:
            self._place = Path(os.path.realpath(output))
            self.path = _part(self._place)
        self._recorder = Recorder(self.path, append=append, **known)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._recorder.close()
        if error is not None and self._place is not None:
            complain(f"{self._output} is as it was; what came is in {self.path}")

    def through(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Write each chunk and pass it on."""
        return self._recorder.through(chunks)

    def settle(self, *, holds_something: bool) -> bool:
        """Move the whole and closed recording to its place; return whether it is there.

        An empty recording does not replace a file.

        Raises:
            OSError: it cannot be moved; it stays next to its place.
        """
        if self._place is None:
            return True
        if holds_something:
            shutil.copymode(self._place, self.path)
            self.path.replace(self._place)
        else:
            self.path.unlink()
            complain(f"nothing came, and {self._output} is as it was")
        self.path = self._output
        return holds_something


def _part(place: Path) -> Path:
    """Return the path of the bytes until they are whole; the meaningful suffixes stay.

    Raises:
        OSError: the place must not be written, or there is a part already.
    """
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))
    stem, dot, suffixes = place.name.partition(".")
    part = place.with_name(f"{stem}.part{dot}{suffixes}")
    if part.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(part))
    return part
