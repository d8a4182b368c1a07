"""Basis of the comparison with other libraries: its streams, and its judgement. No library is needed."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.rivals.quirks import STREAMS, is_right, measure, verdict
from benchmarks.rivals.streams import Expected, Stream
from benchmarks.rivals.systems import SYSTEMS, Got
from tests.hygiene.source_tree import numbered_rows
from tests.support.together import together

TIDE = Expected("get_tide", {"port": "Brest"})
NOTHING = Stream("chat-completions", "nothing may run", (), (), ())
SOMETHING = Stream("chat-completions", "one call may run", (), (), (TIDE,))
OURS = [system for system in SYSTEMS if system.name == "wholecall"]


@pytest.mark.parametrize("system", OURS, ids=lambda system: system.dialect)
def test_the_parser_reads_every_stream_right(system: Any) -> None:
    """The parser alone gets every quirk of every dialect right, from a real server."""
    streams = STREAMS[system.dialect]

    assert ["ok"] * len(streams) == [measure(system, stream, mended=False) for stream in streams]


def test_the_battery_has_its_size() -> None:
    """There are twenty-four chat streams, and no two streams of a dialect have one title."""
    titles = {dialect: {stream.title for stream in streams} for dialect, streams in STREAMS.items()}
    sizes = {dialect: len(streams) for dialect, streams in STREAMS.items()}

    assert 24 == sizes["chat-completions"]
    assert sizes == {dialect: len(named) for dialect, named in titles.items()}


def test_quirks_are_in_the_catalogue() -> None:
    """Every number of a quirk that a stream names is in the catalogue."""
    named = {number for streams in STREAMS.values() for stream in streams for number in stream.quirks}

    assert set() == named - numbered_rows("quirks.md").keys()


@together(
    ("got", "said"),
    [
        ([Got("get_tide", {"port": "Brest"})], "ok"),
        ([Got("get_tide", '{"port": "Brest"}')], "ok"),
        ([Got("get_tide", {"port": "B"})], "wrong"),
        ([Got(None, {"port": "Brest"})], "wrong"),
        ([Got("get_tide", {"port": "Brest"})] * 2, "wrong"),
        ([], "lost"),
        ([Got("get_tide", '{"port": "B')], "raw"),
        ([Got("get_tide", "")], "raw"),
        ([Got("get_tide", "[]")], "raw"),
    ],
)
def test_calls_are_judged(got: list[Got], said: str) -> None:
    """Only the call that was made is ok; another one, or a second one, is wrong; no object is raw text."""
    assert said == verdict(got, SOMETHING.expected)


def test_nothing_is_ok_where_nothing_may_run() -> None:
    """Where nothing may run, no call is ok, and any call is wrong."""
    assert ("ok", "wrong") == (verdict([], ()), verdict([Got(*TIDE)], ()))


@pytest.mark.parametrize(
    ("stream", "right"),
    [(NOTHING, {"ok", "raw", "raise"}), (SOMETHING, {"ok"})],
    ids=["nothing", "something"],
)
def test_what_counts_as_right(stream: Stream, right: set[str]) -> None:
    """An error or text that is not an object will do only where nothing may run."""
    verdicts = ("ok", "wrong", "lost", "raw", "raise")

    assert right == {said for said in verdicts if is_right(stream, said)}
