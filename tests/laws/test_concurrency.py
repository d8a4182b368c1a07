"""Concurrency: parsers share no state, under threads, tasks, processes, and a first use of everything."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from multiprocessing import get_context
from typing import Any

import pytest

from tests.support import corpora
from tests.support.turns import log, parse
from wholecall import Dialect, ToolCallParser, UnknownDialect, aevents, register
from wholecall.dialects import table

_SMALL = 3000  # bytes; a recording of each dialect has fewer


def _streams() -> list[bytes]:
    """Return a few recordings of each dialect."""
    taken: dict[str, list[bytes]] = {}
    for entry in corpora.cases():
        data = corpora.recorded(entry)
        some = taken.setdefault(entry["name"].partition("/")[0], [])
        if len(data) <= _SMALL and len(some) < 2:
            some.append(data)
    return [data for some in taken.values() for data in some]


_STREAMS = _streams()


def _pieces(data: bytes, size: int = 97) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@cache
def _alone(data: bytes) -> str:
    return _digest(log(parse([data], "auto")))


def _digest(lines: list[bytes]) -> str:
    return hashlib.sha256(b"\n".join(lines)).hexdigest()


def _in_pieces(data: bytes) -> str:
    return _digest(log(parse(_pieces(data), "auto")))


def test_threads() -> None:
    """Laws 21 and 29: in eight threads at once each stream gives the events that it gives alone."""
    alone = [_alone(data) for data in _STREAMS] * 6
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(_in_pieces, _STREAMS * 6))

    assert alone == found


def test_one_thread_feeds_many() -> None:
    """Laws 21 and 29: a thousand parsers, fed in turns, are a thousand parsers."""
    streams = (_STREAMS * 20)[:1000]
    parsers: list[ToolCallParser[Any]] = [ToolCallParser() for _ in streams]
    found: list[list[Any]] = [[] for _ in streams]
    waiting = dict(enumerate(_pieces(data) for data in streams))
    while waiting:
        for number, pieces in list(waiting.items()):
            piece = next(pieces, None)
            if piece is None:
                del waiting[number]
            else:
                found[number] += parsers[number].feed(piece)
    for number, parser in enumerate(parsers):
        found[number] += parser.close()

    assert [_alone(data) for data in streams] == [_digest(log(events)) for events in found]


def test_a_parser_moves_between_threads() -> None:
    """Laws 21 and 29: who feeds a parser does not matter, as long as one does at a time."""
    found: list[list[bytes]] = []
    with ThreadPoolExecutor(3) as pool:
        for data in _STREAMS:
            parser: ToolCallParser[Any] = ToolCallParser()
            events = [event for piece in _pieces(data) for event in pool.submit(parser.feed, piece).result()]
            found.append(log([*events, *pool.submit(parser.close).result()]))

    assert [_alone(data) for data in _STREAMS] == [_digest(lines) for lines in found]


def test_tasks() -> None:
    """Laws 21 and 29: the same for hundreds of tasks of one event loop that give way to each other."""

    async def source(data: bytes) -> Any:
        for piece in _pieces(data):
            await asyncio.sleep(0)
            yield piece

    async def read(data: bytes) -> str:
        return _digest(log([event async for event in aevents(source(data))]))

    async def all_at_once() -> list[str]:
        return await asyncio.gather(*(read(data) for data in _STREAMS * 4))

    assert [_alone(data) for data in _STREAMS] * 4 == asyncio.run(all_at_once())


@pytest.mark.slow
@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_processes(how: str) -> None:
    """Law 29: in separate processes too, forked in the middle of a run or started anew."""
    with ProcessPoolExecutor(2, mp_context=get_context(how)) as pool:
        found = list(pool.map(_in_pieces, _STREAMS, chunksize=20))

    assert [_alone(data) for data in _STREAMS] == found


_FIRST_USE = """
import sys, threading
from tests.laws.test_concurrency import _STREAMS, _alone, _in_pieces
assert "wholecall.dialects.google.gemini.translator" not in sys.modules
sys.setswitchinterval(1e-6)
found, start = [None] * len(_STREAMS), threading.Barrier(len(_STREAMS))

def read(number):
    start.wait()
    found[number] = _in_pieces(_STREAMS[number])

threads = [threading.Thread(target=read, args=(number,)) for number in range(len(_STREAMS))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert found == [_alone(data) for data in _STREAMS]
print(len(found))
"""


@pytest.mark.slow
def test_first_use_in_many_threads() -> None:
    """Law 29: threads that race for the first stream of every dialect import each module once and read right."""
    command = [sys.executable, "-c", _FIRST_USE]
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603

    assert (str(len(_STREAMS)) + "\n", "") == (run.stdout, run.stderr)


def test_registering_while_others_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Law 29: dialects may be registered at any time; one of a name wins, and no stream is read otherwise."""
    monkeypatch.setattr(table, "_registered", {})
    made = [
        Dialect(f"mine-{n % 20}", ("sse",), lambda *_: False, table.named("anthropic").start)
        for n in range(80)
    ]
    refused: list[str] = []

    def add(dialect: Dialect) -> None:
        try:
            register(dialect)
        except ValueError as error:
            refused.append(str(error))

    with ThreadPoolExecutor(8) as pool:
        adding = [pool.submit(add, dialect) for dialect in made]
        found = list(pool.map(_in_pieces, _STREAMS))
        _ = [future.result() for future in adding]

    assert [_alone(data) for data in _STREAMS] == found
    assert (60, 20) == (len(refused), len(table._registered))


def _unknown() -> None:
    with pytest.raises(UnknownDialect):
        ToolCallParser("no such dialect")


def test_asking_for_what_is_not_there() -> None:
    """Law 29: a wrong name in one thread is that thread's mistake alone."""
    threads = [threading.Thread(target=_unknown) for _ in range(8)]
    acts: list[Callable[[], None]] = [thread.start for thread in threads]
    for act in acts:
        act()
    found = [_in_pieces(data) for data in _STREAMS[:20]]
    for thread in threads:
        thread.join()

    assert [_alone(data) for data in _STREAMS[:20]] == found
