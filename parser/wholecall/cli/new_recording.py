"""A stream on its way to being a recording of our own format, which may take the place of another one.

Theory of operation. Where nothing is, the recording is written as the stream comes, and can be read meanwhile. Where
a file is, it stays until the stream has come to its end: the new one is written beside it, with `.part` in its
name, and stays there if the stream breaks off.
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
        output: where it belongs; compressed if that ends in `.gz`.
        append: whether a file that is there is kept, and added to.
        known: what is known of the response, as for `Recorder`.

    Raises:
        OSError: it cannot be written there, or the part that a broken stream left is still beside it.
    """

    def __init__(self, output: Path, *, append: bool, **known: Any) -> None:
        self.path = self._output = output
        self._place: Path | None = None  # of the file that is to be replaced
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
        """Move the recording, which is whole and closed, to its place; return whether it is there.

        A recording of nothing replaces none.

        Raises:
            OSError: it cannot be moved; it stays beside its place.
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
    """Return where the bytes are until they are whole; the suffixes, which mean something, stay.

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
