"""Find the place of an address, and ask slow places many questions at once.

Theory of operation. With a store, most of the time passes with waiting. Therefore known questions are asked in several
threads, and small objects are opened before their turn: each is one range, so that memory holds no more of them than of
open files.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import cache
from typing import BinaryIO, TypeVar

from wholecall.bulk.addresses import is_url, root_of
from wholecall.bulk.disk import Disk
from wholecall.bulk.place import Place
from wholecall.bulk.stores import Store
from wholecall.recordings.finding import Opens

__all__ = ["asked", "at_once", "opening", "place_of", "states"]
_private = True

One = TypeVar("One")
Said = TypeVar("Said")

_DISK = Disk()
_SMALL = 1 << 20  # bytes of an object that is opened before its turn
_AHEAD = 16  # how many of them


def place_of(path: str) -> Place:
    """Return the place of an address.

    Raises:
        ValueError: there is no such kind of store.
        StoreFailed: the store cannot be asked.
    """
    return _store(root_of(path)[0]) if is_url(path) else _DISK


@cache
def _store(root: str) -> Store:
    return Store(root)


def at_once(paths: Iterable[str]) -> int:
    """Return how many questions about some addresses are asked at once."""
    return max((place_of(path).at_once for path in paths), default=1)


def asked(question: Callable[[One], Said], items: Sequence[One], number: int) -> list[Said]:
    """Return the answers to a question about each item, `number` of them at once."""
    if number == 1 or len(items) < 2:
        return list(map(question, items))
    with ThreadPoolExecutor(min(number, len(items))) as pool:
        return list(pool.map(question, items))


def states(paths: Sequence[str]) -> list[tuple[int, int]]:
    """Return the size of each input and its time of change; zeros where these are unknown."""
    return asked(lambda path: place_of(path).state(path), paths, at_once(paths))


def opening(inputs: Sequence[tuple[str, int | None]]) -> Generator[Opens | None]:
    """Yield a function that opens each input, to be used before the next; None for inputs on a disk or unopened inputs.

    Args:
        inputs: their addresses, and their sizes when they were found; None for an input that is not opened.
    """
    if not any(is_url(path) for path, _ in inputs):
        yield from [None] * len(inputs)
        return
    pool = ThreadPoolExecutor(_AHEAD)
    waiting: deque[_Opening | None] = deque()
    try:
        for path, size in inputs:
            if size is None or not is_url(path):
                waiting.append(None)
            else:
                waiting.append(_Opening(path, pool if size <= _SMALL else None))
            if len(waiting) == _AHEAD:
                yield waiting.popleft()
        while waiting:
            yield waiting.popleft()
    finally:
        pool.shutdown(cancel_futures=True)


class _Opening:
    """Opens an input. The first time it may be open already, but not when it is read again."""

    def __init__(self, path: str, pool: Executor | None) -> None:
        self._path = path
        self._begun: Future[BinaryIO] | None = pool.submit(self._open) if pool else None

    def __call__(self) -> BinaryIO:
        begun, self._begun = self._begun, None
        if begun is None or begun.cancel():  # it has not begun, and need not wait for its turn
            return self._open()
        return begun.result()

    def _open(self) -> BinaryIO:
        return place_of(self._path).open(self._path)
