"""Limits of a stream other than those of one call: bytes, labels, calls, choices, turns, faults, frames that wait."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.test_limits import CALL_LIMITS
from tests.support import corpora
from tests.support.model import Fragment
from tests.support.together import together
from tests.support.turns import DONE, chunk, frame, log, pairs, parse, partitions, split, stream, violations
from wholecall import Limits, ToolCallParser
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.events import StreamFault, TurnFinished, TurnStarted


class Bound(NamedTuple):
    """A limit that a stream just keeps with `at`, and goes beyond with one less."""

    limit: str
    at: int
    octets: bytes
    within: list[Any]  # the result of `_read` for the stream
    beyond: list[Any]


def _chat(*fragments: dict[str, Any]) -> bytes:
    """Return a stream of these entries, and next to them a choice with a whole call `other`."""
    frames = [frame(_entry(fragment)) for fragment in fragments]
    return b"".join([_OTHER, *frames, frame(chunk(finish="tool_calls")), DONE])


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    return {**chunk(), "choices": [{"index": 0, "delta": {"tool_calls": [entry]}, "finish_reason": None}]}


def _piece(
    text: str, index: int | None = None, id: str | None = None, name: str | None = None
) -> dict[str, Any]:
    labels = {key: value for key, value in (("index", index), ("id", id)) if value is not None}
    return {**labels, "function": {"arguments": text, **({"name": name} if name else {})}}


def _response(key: str, *, whole: bool) -> list[bytes]:
    """Return a response of a Realtime session: a call that is open, and with `whole` its end."""
    item = {"type": "function_call", "id": f"i{key}", "call_id": key, "name": "f", "arguments": ""}
    where = {"event_id": "e", "response_id": key}
    events = [
        {"type": "response.created", "event_id": "e", "response": {"id": key}},
        {"type": "response.output_item.added", **where, "output_index": 0, "item": item},
    ]
    if whole:
        done = {**item, "arguments": "{}", "status": "completed"}
        body = {"id": key, "status": "completed", "output": [done]}
        events.append({"type": "response.done", "event_id": "e", "response": body})
    return [json.dumps(event).encode() + b"\n" for event in events]


_OTHER = frame(chunk(Fragment(0, "other", "f", '{"a":1}'), choice=1)) + frame(
    chunk(finish="tool_calls", choice=1)
)
_IDS = _chat(_piece('{"x":', 0, "a", "f"), _piece("1", 0, "b"), _piece("}", None, "b"))
_INDICES = _chat(
    _piece('{"y":2', 9, "b", "g"),
    _piece('{"x":', 0, "a", "f"),
    _piece("1", 5, "a"),
    _piece("}", 5),
    _piece("}", 9),
)
_CHOICES = b"".join(
    [
        *(frame(chunk(Fragment(0, f"c{n}", "f", "{}"), choice=n)) for n in range(3)),
        *(frame(chunk(finish="tool_calls", choice=n)) for n in range(3)),
        DONE,
    ]
)
_SIDE_BY_SIDE = b"".join(
    [*_response("r1", whole=False), *_response("r2", whole=True), _response("r1", whole=True)[-1]]
)
_LONG = json.dumps(chunk(Fragment(0, text='{"a":"' + "x" * 900 + '"}'))).encode()
_LONG_ONE = (
    _OTHER + frame(chunk(Fragment(0, "c", "g", ""))) + b"data: " + _LONG + b"\n\n" + _chat()[len(_OTHER) :]
)
_MANY = _chat(*(_piece(f'{{"n":{n}}}', n, f"c{n}", "f") for n in range(3)))
_BROKEN = b"data: {broken\n\n"
_A_FAULT = ("undecodable_frame", len("{broken"))
_C, _OF_OTHER, _ALL = ("c", "g"), ("other", "f"), [("c0", "f"), ("c1", "f"), ("c2", "f"), ("other", "f")]
BOUNDS = {
    "bytes of a line": Bound(
        "max_line_bytes",
        len(b"data: " + _LONG),
        _LONG_ONE,
        [_C, _OF_OTHER],
        [_OF_OTHER, "aborted", ("line_too_long", len(_LONG) + 5)],
    ),
    "bytes of an event": Bound(
        "max_event_bytes",
        len(_LONG),
        _LONG_ONE,
        [_C, _OF_OTHER],
        [_OF_OTHER, "incomplete_input", ("event_too_large", len(_LONG) - 1)],
    ),
    "bytes of the stream": Bound(
        "max_stream_bytes",
        len(_LONG_ONE),
        _LONG_ONE,
        [_C, _OF_OTHER],
        [_C, _OF_OTHER, ("stream_too_large", 0)],
    ),
    "calls": Bound("max_calls", 3, _MANY, _ALL, [*_ALL[:2], _OF_OTHER, "too_many_calls"]),
    "bytes of all calls": Bound(
        "max_total_arguments_bytes",
        4 * len('{"n":1}'),
        _MANY,
        _ALL,
        [*_ALL[:2], _OF_OTHER, "arguments_too_large"],
    ),
    # Odd chat labels are read from the pieces, independently of the limit.
    "ids": Bound("max_aliases", 2, _IDS, [("a", "f"), _OF_OTHER], [("a", "f"), _OF_OTHER]),
    "indices": Bound(
        "max_aliases",
        2,
        _INDICES,
        [_OF_OTHER, "ambiguous", "ambiguous"],
        [_OF_OTHER, "ambiguous", "ambiguous"],
    ),
    "choices": Bound("max_choices", 3, _CHOICES, _ALL[:3], _ALL[:2]),
    "turns": Bound(
        "max_turns", 2, _SIDE_BY_SIDE, [("r1", "f"), ("r2", "f")], [("r1", "f"), ("r2", "f"), "unterminated"]
    ),
    "frames that wait": Bound(
        "max_pending_frames_bytes",
        2 * (len("message") + len("{broken") + 200),
        2 * _BROKEN + _chat(),
        [_OF_OTHER, _A_FAULT, _A_FAULT],
        [_OF_OTHER, _A_FAULT],
    ),
    "raw text of a fault": Bound(
        "max_raw_bytes",
        len("{broken"),
        _BROKEN + _chat(),
        [_OF_OTHER, _A_FAULT],
        [_OF_OTHER, ("undecodable_frame", len("{broke"))],
    ),
    "faults": Bound(
        "max_faults", 2, 2 * _BROKEN + _chat(), [_OF_OTHER, _A_FAULT, _A_FAULT], [_OF_OTHER, _A_FAULT]
    ),
}


def _read(chunks: list[bytes], limits: Limits) -> tuple[list[Any], list[Any]]:
    """Return the events; and the emitted calls, the reasons of drops, and the faults that turns keep."""
    parser: ToolCallParser[Any] = ToolCallParser(limits=limits)
    found = [event for data in chunks for event in parser.feed(data)]
    found += parser.close()
    drops = sorted(event.reason for event in found if isinstance(event, ToolCallDropped))
    faults = [(fault.kind, len(fault.raw)) for turn in parser.turns for fault in turn.faults]
    return found, [*sorted(pair[:2] for pair in pairs(found)), *drops, *faults]


def _below(bound: Bound) -> Limits:
    return Limits(**{bound.limit: bound.at - 1})


@together("name", BOUNDS)
def test_boundary(name: str) -> None:
    """Law 23: input that just fits is as without a limit, one more is not; nothing raises."""
    bound = BOUNDS[name]
    free, within = (
        _read([bound.octets], limits) for limits in (Limits.none(), Limits(**{bound.limit: bound.at}))
    )
    beyond = _read([bound.octets], _below(bound))

    assert (bound.within, bound.beyond) == (within[1], beyond[1])
    assert (log(free[0]), free[1]) == (log(within[0]), within[1])
    assert [] == violations(beyond[0])


@given(st.sampled_from(sorted(BOUNDS)), st.data())
def test_breaches_do_not_depend_on_splits(name: str, data: Any) -> None:
    """Law 23: the same breach at the same place for every partition, single bytes among them."""
    bound = BOUNDS[name]
    whole = _read([bound.octets], _below(bound))
    cuts = data.draw(partitions(len(bound.octets)))
    singles = [bytes([octet]) for octet in bound.octets]

    for chunks in (split(bound.octets, cuts), singles):
        cut = _read(chunks, _below(bound))
        assert (log(whole[0]), whole[1]) == (log(cut[0]), cut[1])


def test_every_limit_is_met() -> None:
    """Laws 23 and 24: each limit has its boundary here or among those of one call, and leaves other calls alone."""
    of_calls = {
        name
        for breach in CALL_LIMITS.values()
        for name in Limits.__struct_fields__
        if getattr(breach.limits, name) != getattr(Limits(), name)
    }

    of_texts = {"max_held_text"}  # no call comes of it; see tests/text/test_text_limits.py
    bounds = {bound.limit for bound in BOUNDS.values()}

    assert set(Limits.__struct_fields__) == of_calls | of_texts | bounds
    assert all(isinstance(bound.beyond[0], tuple) and bound.beyond[0][1] in "fg" for bound in BOUNDS.values())


# Turns that are released.


def _message(number: int) -> bytes:
    start = {"type": "message_start", "message": {"id": f"m{number}", "content": []}}
    text = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "hi"}}
    return frame(start) + frame(text) + frame({"type": "message_stop"})


@pytest.mark.parametrize("extra", [0, 1, 5])
def test_the_oldest_turns_are_let_go(extra: int) -> None:
    """Law 24: turns that are over are forgotten without an event; those that are kept are as they were."""
    data = b"".join(_message(number) for number in range(3 + extra))
    free, bound = ToolCallParser(limits=Limits.none()), ToolCallParser(limits=Limits(max_turns=3))
    events = [[*parser.feed(data), *parser.close()] for parser in (free, bound)]

    assert log(events[0]) == log(events[1])
    assert free.turns[-3:] == bound.turns
    assert free.turns_from(2 + extra) == bound.turns_from(2 + extra)


def test_facts_about_a_turn_that_was_let_go() -> None:
    """Late input for a released turn opens a separate turn, and does not affect the others."""
    late = _response("r1", whole=True)[-1]
    data = b"".join([*_response("r1", whole=False), *_response("r2", whole=False), late])
    found = parse([data], limits=Limits(max_turns=1), dialect="openai-realtime")

    assert ["r1", "r2", None] == [event.id for event in found if isinstance(event, TurnStarted)]
    assert [0, 1, 2] == [event.turn for event in found if isinstance(event, TurnFinished)]
    assert [] == violations(found)


# Faults, and frames that wait.


@pytest.mark.parametrize(("limit", "kept"), [(3, 3), (2, 2), (0, 0), (None, 3)])
def test_faults_of_a_turn(limit: int | None, kept: int) -> None:
    """Law 23: all faults are events; a turn keeps as many as it may."""
    parser = ToolCallParser("chat-completions", limits=Limits(max_faults=limit))
    found = [*parser.feed(b"".join(stream([Fragment(0, "c", "f", "")])[:1]) + _BROKEN * 3), *parser.close()]

    assert 3 == sum(isinstance(event, StreamFault) for event in found)
    assert kept == len(parser.turn.faults)


@pytest.mark.parametrize(("limit", "kept"), [(7, "{broken"), (6, "{broke"), (0, ""), (None, "{broken")])
def test_raw_text_of_faults(limit: int | None, kept: str) -> None:
    """Law 23: the kept text of an unreadable frame is cut at the limit, whichever part found the fault."""
    head = b"".join(stream([Fragment(0, "c", "f", "")])[:1])
    found = parse([head + _BROKEN], limits=Limits(max_raw_bytes=limit))

    assert [kept] == [event.raw for event in found if isinstance(event, StreamFault)]


def test_details_of_faults_are_bounded() -> None:
    """A server's error may have any text: the detail is for people, the error is passed on."""
    message = "x" * 10_000
    (fault,) = [e for e in parse([frame({"error": {"message": message}})]) if isinstance(e, StreamFault)]

    assert (4096, {"message": message}) == (len(fault.detail), fault.error)


@pytest.mark.parametrize("waiting", [b"data:\n\n", b"data: 1\n\n", b"event: x\ndata: {}\n\n"])
def test_frames_without_text_wait_no_longer_than_others(waiting: bytes) -> None:
    """Law 23: a frame is not free because it is empty: however many come, few are kept."""
    parser = ToolCallParser(limits=Limits(max_pending_frames_bytes=1000))
    parser.feed(waiting * 1000)
    kept = parser._opening._frames

    assert 0 < len(kept) < 5


# Presets.


def _is_wider(one: int | None, other: int | None) -> bool:
    return other is not None and (one is None or one > other)


def test_presets_keep_their_word() -> None:
    """A gateway is at least as strict as the defaults, and bounds the stream; a desktop is not stricter."""
    for name in Limits.__struct_fields__:
        default, gateway, desktop = (
            getattr(each, name) for each in (Limits(), Limits.gateway(), Limits.desktop())
        )
        assert (False, False) == (_is_wider(gateway, default), _is_wider(default, desktop)), name
    assert Limits.gateway().max_stream_bytes is not None


@pytest.mark.slow
def test_presets_read_what_the_defaults_read() -> None:
    """No recording of an honest stream meets a limit of a preset."""
    read = partial(parse, dialect="auto")
    presets = {"gateway": Limits.gateway(), "desktop": Limits.desktop()}
    wrong = []
    for entry in corpora.cases():
        data = [corpora.recorded(entry)]
        expected = log(read(data))
        wrong += [
            (entry["name"], name)
            for name, limits in presets.items()
            if log(read(data, limits=limits)) != expected
        ]

    assert [] == wrong
