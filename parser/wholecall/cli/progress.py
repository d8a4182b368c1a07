"""Shows the progress of a long command on standard error.

Theory of operation. Progress is shown only if a person sees it and no other output interferes: standard error is a
terminal, and standard output is a file, or a terminal to which nothing is written yet. The reader of a pipe may write
to the same terminal at any time. If rich is installed (the extra `cli`) it draws a spinner, else one line is rewritten
repeatedly.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from wholecall.cli.show import cells, fitted, padded
from wholecall.recordings import Chunk, Recording

if TYPE_CHECKING:
    from typing_extensions import Self

_PAUSE = 0.1  # seconds between two drawings
_KILO = 1000


class _Bar(Protocol):
    def draw(self, count: str, name: str) -> None: ...

    def clear(self) -> None: ...


class Progress:
    """Counts the progress of a command.

    Args:
        quiet: whether nothing is written to standard output before the progress is cleared.
        clock: returns seconds.
    """

    def __init__(self, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._bar: _Bar | None = _bar() if _is_seen(quiet) else None
        self._count = self._size = 0
        self._drawn = clock() - _PAUSE

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def step(self, recording: Recording) -> None:
        """Count one more recording, show its name, and count its bytes as they are taken."""
        self._count += 1
        if self._bar is not None:
            self._draw(self._bar, recording.name)
            recording.chunks = self._counted(self._bar, recording.name, recording.chunks)

    def _counted(self, bar: _Bar, name: str, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            self._size += len(chunk[1])
            self._draw(bar, name)
            yield chunk

    def _draw(self, bar: _Bar, name: str) -> None:
        if self._is_time():
            recordings = "recording" if self._count == 1 else "recordings"
            bar.draw(f"{self._count:,} {recordings}, {amount(self._size)}", name)

    def _is_time(self) -> bool:
        if self._clock() - self._drawn < _PAUSE:
            return False
        self._drawn = self._clock()
        return True

    def show(self, count: str, name: str) -> None:
        """Show a command's own count, and the current item."""
        if self._bar is not None and self._is_time():
            self._bar.draw(count, name)

    def clear(self) -> None:
        """Erase the progress from the terminal, before other output is written there."""
        if self._bar is not None:
            self._bar.clear()


def _is_seen(quiet: bool) -> bool:
    if sys.stderr is None or not sys.stderr.isatty():
        return False
    return quiet if sys.stdout.isatty() else _is_file(sys.stdout)


def _is_file(output: Any) -> bool:
    """Return whether output goes to a file, or is discarded."""
    try:
        mode = os.fstat(output.fileno()).st_mode
    except OSError:  # it has no descriptor: no other process writes to it
        return True
    return stat.S_ISREG(mode) or stat.S_ISCHR(mode)


def _bar() -> _Bar:
    try:
        from rich.console import Console  # noqa: PLC0415 - an extra
        from rich.live import Live  # noqa: PLC0415 - as above
        from rich.spinner import Spinner  # noqa: PLC0415 - as above
    except ImportError:
        return _Line()
    live = Live(
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,
        redirect_stdout=False,  # data goes to standard output, not to the terminal
        redirect_stderr=False,
    )
    return _Rich(live, Spinner("dots"))


def amount(size: int) -> str:
    """Return a number of bytes in readable form."""
    shown, unit = float(size), "B"
    for larger in ("kB", "MB", "GB"):
        if shown < _KILO:
            break
        shown, unit = shown / _KILO, larger
    return f"{shown:.1f} {unit}" if unit != "B" else f"{size} B"


class _Line:
    """One line of text."""

    def __init__(self) -> None:
        self._width = 0

    def draw(self, count: str, name: str) -> None:
        room = shutil.get_terminal_size().columns - 1
        text = fitted(f"{count}  {name}", room)
        sys.stderr.write(f"\r{padded(text, self._width)}")
        sys.stderr.flush()
        self._width = cells(text)

    def clear(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
        self._width = 0


class _Rich:
    """A spinner, the count and the name."""

    def __init__(self, live: Any, spinner: Any) -> None:
        self._live = live
        self._spinner = spinner

    def draw(self, count: str, name: str) -> None:
        from rich.text import Text  # noqa: PLC0415 - an extra; a Text obeys no markup in names

        room = self._live.console.width - 4
        self._spinner.update(text=Text(fitted(f"{count}  {name}", room)))
        self._live.start()
        self._live.update(self._spinner, refresh=True)

    def clear(self) -> None:
        self._live.stop()
