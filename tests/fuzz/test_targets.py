"""The fuzz targets without a fuzzer: their seeds, a few hundred damaged seeds, and earlier findings."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path

import pytest

from tests.damage.streams import of_corpora
from tests.fuzz.damage import came_unsent
from tests.fuzz.model import OPTIONS, Broken, Options, held, mutated_input, opened
from tests.fuzz.mutate import events_of, mutated
from tests.fuzz.streams import recordings, unaccounted
from tests.fuzz.targets import TARGETS
from tests.support.together import together
from wholecall.calls.output.call_events import ArgumentsDelta, ToolCall, ToolCallDropped
from wholecall.calls.output.events import TurnStarted

REGRESSIONS = Path(__file__).parent / "regressions"
# Where an input takes milliseconds, fewer of them; the fuzzer itself runs them all.
EVERY = {"damage": 20, "feed": 40, "feed-event": 20, "errors": 24, "repair": 6, "snapshots": 30, "text": 40}
DAMAGED = 60


@pytest.mark.slow
@together("name", TARGETS)
def test_seeds(name: str) -> None:
    """No law of a target is broken by its seeds."""
    seeds = list(TARGETS[name].seeds())
    for seed in seeds[:: EVERY.get(name, 1)]:
        TARGETS[name].run(seed)

    assert len(seeds) > 10


@pytest.mark.slow
@together("name", TARGETS)
def test_damaged_seeds(name: str) -> None:
    """The first damaged seeds break no law either, the same in every run."""
    seeds = list(TARGETS[name].seeds())
    rng = random.Random(name)
    damaged = [mutated_input(TARGETS[name], rng.choice(seeds), rng) for _ in range(DAMAGED)]
    for data in damaged:
        TARGETS[name].run(data)

    assert len(set(damaged)) > DAMAGED // 2


@together("path", sorted(REGRESSIONS.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found_stays_found(path: Path) -> None:
    """Law 4, or the law in the name: an input that broke one is read as it should be."""
    assert TARGETS[path.parent.name].run(path.read_bytes()) is None


@pytest.mark.parametrize("path", sorted(REGRESSIONS.glob("*/memory-*")), ids=lambda path: path.name)
def test_what_took_memory_takes_little(path: Path) -> None:
    """An input of some hundred bytes that took a gigabyte takes no more than others."""
    run = TARGETS[path.parent.name].run
    run(path.read_bytes())  # objects that are made once are not counted
    tracemalloc.start()
    try:
        run(path.read_bytes())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 16 << 20


@pytest.mark.parametrize("head", [b"", b"\x05", bytes(OPTIONS), b"\0\0\0\0\2\0\0\3"])
def test_cuts_lose_nothing(head: bytes) -> None:
    """However short the options are, the chunks of a payload are the payload."""
    payload = bytes(range(40))

    assert payload == b"".join(Options(head).cut(payload))
    assert [b""] == list(Options(head).cut(b""))


def test_options_stand_in_front() -> None:
    """The first bytes are options, and damage leaves them or changes one of them."""
    data = b"ABCDEFGH" + b"data: {}\n\n"
    rng = random.Random(1)
    heads = [mutated_input(TARGETS["feed"], data, rng)[:OPTIONS] for _ in range(200)]

    assert b"data: {}\n\n" == opened(data)[1]
    assert {0, 1} == {sum(a != b for a, b in zip(head, b"ABCDEFGH", strict=True)) for head in heads}


def test_events_are_the_stream() -> None:
    """A stream that is cut into its events, messages included, is the same stream."""
    for _, data in recordings():
        assert data == b"".join(events_of(data))


def test_damage_reaches_inside() -> None:
    """Damage is the same for the same seed, and some of it leaves JSON and checksums whole."""
    bodies = dict(recordings())
    binary, chat = bodies["bedrock-converse"], bodies["chat-completions"]

    assert mutated(chat, random.Random(7)) == mutated(chat, random.Random(7))
    whole = [mutated(binary, random.Random(n)) for n in range(60)]
    assert any(data != binary and sum(map(len, events_of(data)[:-1])) > 200 for data in whole)


def test_the_rest_of_a_name_is_no_name() -> None:
    """Law 67: the first two of three pieces of a name are lost, the id with them; no call comes of the third."""
    streams = {stream.name: stream for stream in of_corpora().streams}
    name_split = streams["chat-completions/name-split"]

    assert [0, 0, 0] == [
        came_unsent(name_split, damages) for damages in (b"", b"\0\1\1\0\2\1", b"\0\0\1\0\1\1\0\2\1")
    ]


def test_a_broken_law_is_told() -> None:
    """The oracles can fail: text that was not shown is seen, and a law that does not hold raises."""
    begun = TurnStarted(0, 0, "chat-completions", None, None)
    shown = ArgumentsDelta(0, 0, 0, '{"a":')
    end = ToolCall(0, 0, 0, "c", "f", {}, "{}", "exact")
    drop = ToolCallDropped(0, 0, 0, "c", "f", "function", "[]", "truncated")

    assert [] == unaccounted([begun, shown])
    assert 1 == len(unaccounted([begun, shown, end]))
    assert 1 == len(unaccounted([begun, shown, drop], drops=True))
    with pytest.raises(Broken, match="law 1"):
        held("law 1: no", holds=False)
