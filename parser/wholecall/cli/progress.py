"""How far a long command is, on standard error.

Theory of operation. It is shown only where somebody sees it and nothing else tells: standard error is a
terminal and standard output is none. rich draws it where it is installed (the extra `cli`), else one line is
written again and again.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from wholecall.cli.show import fitted

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Progress"]

_PAUSE = 0.1  # seconds between two drawings


class _Bar(Protocol):
    def draw(self, count: int, name: str) -> None: ...

    def clear(self) -> None: ...


class Progress:
    """Counts what a command has come to.

    Args:
        noun: what is counted.
        clock: tells seconds.
    """

    def __init__(self, noun: str = "recordings", clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._bar: _Bar | None = _bar(noun) if _is_seen() else None
        self._count = 0
        self._drawn = clock() - _PAUSE

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def step(self, name: str) -> None:
        """Count one more, and say which it is."""
        self._count += 1
        if self._bar is not None and self._clock() - self._drawn >= _PAUSE:
            self._drawn = self._clock()
            self._bar.draw(self._count, name)

    def clear(self) -> None:
        """Leave no trace on the terminal, before something else is written there."""
        if self._bar is not None:
            self._bar.clear()


def _is_seen() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and not sys.stdout.isatty()


def _bar(noun: str) -> _Bar:
    try:
        from rich.console import Console  # noqa: PLC0415 - an extra
        from rich.live import Live  # noqa: PLC0415 - as above
        from rich.spinner import Spinner  # noqa: PLC0415 - as above
    except ImportError:
        return _Line(noun)
    return _Rich(
        noun, Live(console=Console(stderr=True), transient=True, auto_refresh=False), Spinner("dots")
    )


class _Line:
    """One line of text."""

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._width = 0

    def draw(self, count: int, name: str) -> None:
        room = shutil.get_terminal_size().columns - 1
        text = fitted(f"{count:,} {self._noun}  {name}", max(room, 40))
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def clear(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
        self._width = 0


class _Rich:
    """A spinner, the count and the name."""

    def __init__(self, noun: str, live: Any, spinner: Any) -> None:
        self._noun = noun
        self._live = live
        self._spinner = spinner

    def draw(self, count: int, name: str) -> None:
        from rich.text import Text  # noqa: PLC0415 - an extra; a Text obeys no markup in names

        room = max(self._live.console.width - 4, 40)
        self._spinner.update(text=Text(fitted(f"{count:,} {self._noun}  {name}", room)))
        self._live.start()
        self._live.update(self._spinner, refresh=True)

    def clear(self) -> None:
        self._live.stop()
