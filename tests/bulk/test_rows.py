from __future__ import annotations

import hashlib
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from tests.support import corpora, tables
from wholecall import BadRecording, Limits, ToolCallParser
from wholecall.bulk import CALLS, RECORDINGS, rows, streams
from wholecall.bulk.rows import Judging, Known, Row, troubled
from wholecall.bulk.streams import row_of

KNOWN = Known("r", "r")
FULL = b"".join(
    (
        b'data: {"id":"r1","model":"m","choices":[{"index":0,"delta":{"content":"So: "}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f"}}]}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n',
        b"data: [DONE]\n\n",
    )
)
EVENTS = [event + b"\n\n" for event in FULL.split(b"\n\n")[:-1]]


def read(*chunks: tuple[float | None, bytes], known: Known = KNOWN, **judging: Any) -> Row:
    """Return the row of some chunks."""
    return row_of(iter(chunks), known, Judging(**judging))


def without_chunks(row: Row) -> Row:
    """Return a row without the members that count its chunks."""
    return Row(tables.shown(row.recording, "chunks"), row.calls)


def test_rows_have_the_columns_of_the_schemas() -> None:
    """A row has the columns of its schema, in their order; that of a call all but the recording's id."""
    row = read((None, FULL))

    assert RECORDINGS.names == list(row.recording)
    assert RECORDINGS.names == list(troubled(KNOWN, "gone").recording)
    assert [CALLS.names[1:]] == [list(call) for call in row.calls]


@pytest.mark.sampled(13)
@pytest.mark.parametrize("paths", corpora.groups(corpora.streams()))
def test_cuts_do_not_matter(paths: list[Any]) -> None:
    """Law 90: however a body is cut into chunks, with times or without, its row is the same but for the times."""
    for path in paths:
        data, rng = path.read_bytes(), Random(path.name)
        cuts = sorted(rng.randrange(len(data) + 1) for _ in range(9))
        chunks = [data[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        timeless = {"first_text_s", "first_call_s", "last_s", "started_s", "ended_s", "chunks"}
        whole = read((None, data))
        found = [read(*((time, chunk) for chunk in chunks)) for time in (None, 0.5)]

        assert [_without(whole, timeless)] * 2 == [_without(row, timeless) for row in found], path.name
        assert [(10, None), (10, 0.5)] == [
            (row.recording["chunks"], row.recording["last_s"]) for row in found
        ], path.name


def _without(row: Row, names: set[str]) -> Row:
    return Row(tables.shown(row.recording, *names), [tables.shown(call, *names) for call in row.calls])


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_slices_do_not_matter(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Law 90: a chunk that is fed in slices of any size is one chunk, with the same content."""
    data = b"".join(path.read_bytes() for path in corpora.streams()[:5])
    whole = read((None, data))
    monkeypatch.setattr(streams, "_SLICE", size)

    assert whole == read((None, data))
    assert whole == read((None, memoryview(data)))


def test_large_chunks_are_fed_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """No piece that a parser gets is larger than a slice."""
    sizes: list[int] = []
    feed = ToolCallParser.feed

    def watched(self: ToolCallParser[Any], data: bytes) -> list[Any]:
        sizes.append(len(data))
        return feed(self, data)

    monkeypatch.setattr(ToolCallParser, "feed", watched)
    read((None, bytes(150_000)))

    assert ([64 * 1024, 64 * 1024, 18_928], 150_000) == (sizes, sum(sizes))


def test_times_are_those_of_the_chunks() -> None:
    """A call starts and ends with the chunks that caused that; so do the first text and the first call."""
    row = read(*((number / 4, event) for number, event in enumerate(EVENTS, 1)))
    (call,) = row.calls

    assert (0.75, 1.25) == (call["started_s"], call["ended_s"])
    assert (0.25, 0.75, 1.25) == tuple(
        row.recording[name] for name in ("first_text_s", "first_call_s", "last_s")
    )


def test_what_the_end_causes_has_the_last_time() -> None:
    """Events that only the end of the stream causes have the time of the last chunk."""
    row = read((0.5, b"".join(EVENTS[:3])), (2.0, b"\n"))
    (call,) = row.calls

    assert ("dropped", 0.5, 2.0) == (call["outcome"], call["started_s"], call["ended_s"])


def test_without_a_first_time_there_are_none() -> None:
    """A recording whose first chunk has no time has none; a later chunk without a time gives none to its events."""
    late = read((None, EVENTS[0]), *((1.0, event) for event in EVENTS[1:]))
    gap = read((0.5, EVENTS[0]), (None, EVENTS[1] + EVENTS[2]), (2.0, EVENTS[3] + EVENTS[4]))

    assert [None] * 3 == [late.recording[name] for name in ("first_text_s", "first_call_s", "last_s")]
    assert (None, 2.0) == (gap.calls[0]["started_s"], gap.calls[0]["ended_s"])


def test_only_recordings_with_times_make_pieces_of_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """A parser shows text as it comes only where a time can be said of it."""
    made: list[str] = []

    class Watched(ToolCallParser[Any]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            made.append(options["events"])
            super().__init__(*arguments, **options)

    monkeypatch.setattr("wholecall.ToolCallParser", Watched)
    read((None, FULL))
    read((0.0, FULL))

    assert ["calls", "all"] == made


def test_sizes_and_hash() -> None:
    """A row counts bytes and chunks, and has the beginning of the hash of the bytes unless that is not wanted."""
    row = read((None, FULL[:9]), (None, FULL[9:])).recording

    assert (len(FULL), 2) == (row["bytes"], row["chunks"])
    assert hashlib.sha256(FULL).hexdigest()[:32] == row["content_hash"]
    assert read((None, FULL), hashed=False).recording["content_hash"] is None


def _breaking(*events: bytes, message: str) -> Iterator[tuple[None, bytes]]:
    for event in events:
        yield None, event
    raise BadRecording(message)


@pytest.mark.parametrize("name", ["/logs/a.har", "/logs/a.har#2", None])
def test_damage_ends_a_recording(name: str | None) -> None:
    """Where chunks break off, earlier calls are kept and open calls are dropped; the path is not in the trouble."""
    known = Known("a", "a", name=name)
    prefix = "/logs/a.har: " if name else ""
    both = EVENTS[:3], EVENTS
    found = [
        row_of(_breaking(*events, message=f"{prefix}gone at byte 9"), known, Judging()) for events in both
    ]

    assert ["gone at byte 9"] * 2 == [row.recording["trouble"] for row in found]
    assert [("dropped", "aborted"), ("call", None)] == [
        (call["outcome"], call["reason"]) for row in found for call in row.calls
    ]
    assert [["source_failed"]] * 2 == [row.recording["faults"] for row in found]
    assert not any("/logs" in str(row.calls) for row in found)


def test_what_never_began_has_no_events() -> None:
    """A recording that cannot be read at all has a trouble, and nothing else happened in it."""
    row = row_of(_breaking(message="no YAML"), KNOWN, Judging())

    assert ("no YAML", 0, [], []) == (
        *(row.recording[name] for name in ("trouble", "chunks", "faults")),
        row.calls,
    )
    assert row.recording["finish"] is None


def test_a_fault_of_ours_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception that is not the recording's fault costs its row, which names the type and no text."""

    def fail(*_: object) -> list[Any]:
        raise TypeError("secret")

    with monkeypatch.context() as patch:
        patch.setattr(ToolCallParser, "close", fail)
        row = read((None, FULL))

    assert "internal: TypeError" == row.recording["trouble"]
    assert [] == row.calls
    assert "secret" not in str(row.recording)
    assert read((None, FULL)).recording["trouble"] is None


def test_memory_is_no_fault_of_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the machine has no memory left, no row says that a recording is at fault."""

    def fail(*_: object) -> list[Any]:
        raise MemoryError

    monkeypatch.setattr(ToolCallParser, "feed", fail)

    with pytest.raises(MemoryError):
        read((None, FULL))


def test_a_row_has_bounded_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording whose calls have more text than a row holds is a trouble."""
    monkeypatch.setattr(rows, "MOST_CHARACTERS", 1)
    row = read((None, FULL))

    assert ("its calls have more than 1 characters", []) == (row.recording["trouble"], row.calls)


def test_calls_that_are_taken_back() -> None:
    """A call that the recording took back later is `cancelled`, and among the emitted calls."""
    (path,) = (path for path in corpora.streams() if path.stem == "interrupted-and-taken-back")
    row = read((None, path.read_bytes()))
    outcomes = [call["outcome"] for call in row.calls]

    assert "cancelled" in outcomes
    assert outcomes.count("cancelled") == row.recording["n_cancelled"]
    assert outcomes.count("dropped") == len(row.calls) - row.recording["n_calls"]


def test_calls_that_are_taken_back_of_turns_that_are_gone() -> None:
    """They are `cancelled` also where the parser keeps few turns, if it kept theirs when they were taken back."""
    (path,) = (path for path in corpora.streams() if path.stem == "interrupted-and-taken-back")
    once = path.read_bytes()
    data = b"".join(once.replace(b'"fn-', b'"fn-%d-' % copy) for copy in range(3))  # no id names two calls
    whole, few = (read((None, data), limits=Limits(max_turns=most)) for most in (None, 2))

    assert [call["outcome"] for call in whole.calls] == [call["outcome"] for call in few.calls]
    assert whole.recording["turns"] > 3
    assert "cancelled" in [call["outcome"] for call in whole.calls if call["turn"] == 0]


@pytest.mark.parametrize("status", [200, None, 2**40])
def test_a_status_that_no_column_holds_is_null(status: int | None) -> None:
    """The status in a file is null if it cannot be a status."""
    known = Known("r", "r", status_code=status)

    assert (status if status == 200 else None) == read((None, b""), known=known).recording["status_code"]


def test_repr_holds_no_arguments() -> None:
    """A repr gives the number of calls, not their content."""
    assert "Row(recording_id='r', calls=<1>)" == repr(read((None, FULL)))
