"""Limits: the same breach for every split, exact at the boundary, and no other call is affected."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.model import Fragment
from tests.support.together import together
from tests.support.turns import DONE, chunk, frame, log, pairs, parse, partitions, split, stream, violations
from wholecall import Limits
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.events import StreamFault


class Breach(NamedTuple):
    """A call that just passes a limit, and one that does not."""

    limits: Limits
    passes: list[Fragment]
    fails: list[Fragment]
    reason: str


def _call(text: str = '{"a":1}', *, ident: str = "call_0", name: str = "f", size: int = 5) -> list[Fragment]:
    pieces = [text[n : n + size] for n in range(0, len(text), size)]
    return [Fragment(0, ident, name, ""), *(Fragment(0, text=piece) for piece in pieces)]


def _string(size: int) -> str:
    return '{"a":"' + "x" * (size - 8) + '"}'


CALL_LIMITS = {
    "arguments": Breach(
        Limits(max_arguments_bytes=40), _call(_string(40)), _call(_string(41)), "arguments_too_large"
    ),
    "arguments in bytes": Breach(
        Limits(max_arguments_bytes=14), _call('{"a":"жжж"}'), _call('{"a":"жжжж"}'), "arguments_too_large"
    ),
    "depth": Breach(
        Limits(max_depth=4), _call('{"a":[[[1]]]}'), _call('{"a":[[[[1]]]]}'), "nesting_too_deep"
    ),
    "number": Breach(
        Limits(max_number_chars=9), _call('{"a":123456789}'), _call('{"a":1234567890}'), "number_too_long"
    ),
    "id": Breach(Limits(max_id_chars=8), _call(ident="i" * 8), _call(ident="i" * 9), "id_too_long"),
    "name": Breach(Limits(max_name_chars=8), _call(name="n" * 8), _call(name="n" * 9), "name_too_long"),
    "recovery": Breach(Limits(max_recovery_bytes=9), _call('{"a":12,}'), _call('{"a":123,}'), "invalid_json"),
    "edits": Breach(Limits(max_edits=2), _call('{"a":[1,,,2]}'), _call('{"a":[1,,,,2]}'), "invalid_json"),
}


def _reasons(found: list[Any]) -> list[str]:
    return [event.reason for event in found if isinstance(event, ToolCallDropped)]


def _faults(found: list[Any]) -> list[str]:
    return [event.kind for event in found if isinstance(event, StreamFault)]


@together("name", CALL_LIMITS)
def test_boundary(name: str) -> None:
    """Law 23: input that just fits passes, one more does not, and nothing raises."""
    breach = CALL_LIMITS[name]
    passed, failed = (parse(stream(f), limits=breach.limits) for f in (breach.passes, breach.fails))

    assert ([], 1) == (_reasons(passed), len(pairs(passed)))
    assert ([breach.reason], []) == (_reasons(failed), pairs(failed))
    assert [] == violations(failed)


@together("name", CALL_LIMITS)
def test_off(name: str) -> None:
    """Law 23: a disabled limit stops nothing."""
    assert 1 == len(pairs(parse(stream(CALL_LIMITS[name].fails), limits=Limits.none())))


@given(st.sampled_from(sorted(CALL_LIMITS)), st.data())
def test_breaches_of_calls_do_not_depend_on_splits(name: str, data: Any) -> None:
    """Law 23: the same breach at the same place for every partition."""
    breach = CALL_LIMITS[name]
    octets = b"".join(stream([*breach.fails, Fragment(1, "call_1", "g", '{"b":2}')]))
    cuts = data.draw(partitions(len(octets)))

    assert log(parse([octets], limits=breach.limits)) == log(parse(split(octets, cuts), limits=breach.limits))


@together("name", CALL_LIMITS)
@together("first", [True, False])
def test_breaches_of_calls_isolate(name: str, first: bool) -> None:
    """Law 24: a breach in one call changes no other call of the stream, before or after it."""
    breach = CALL_LIMITS[name]
    good = [Fragment(7, "good", "g", ""), Fragment(7, text='{"b"'), Fragment(7, text=":2}")]
    alone = parse(stream(good), limits=breach.limits)
    fragments = [*breach.fails, *good] if first else [*good, *breach.fails]
    found = parse(stream(fragments), limits=breach.limits)

    assert pairs(alone) == pairs(found)
    assert [breach.reason] == _reasons(found)


def test_interleaved_breach_isolates() -> None:
    """Law 24: also when the fragments of both calls are interleaved."""
    breach = CALL_LIMITS["arguments"]
    good = [Fragment(1, "good", "g", ""), *(Fragment(1, text=text) for text in ('{"b"', ":2", "}"))]
    fragments = [f for both in zip(breach.fails, [*good, *good[:1] * 9], strict=False) for f in both]
    found = parse(stream(fragments), limits=breach.limits)

    assert [("good", "g", '{"b": 2}')] == pairs(found)
    assert [breach.reason] == _reasons(found)


def _many(count: int) -> list[Fragment]:
    return [Fragment(n, f"call_{n}", "f", f'{{"n":{n}}}') for n in range(count)]


@pytest.mark.parametrize("extra", [0, 1, 5])
def test_calls_of_a_choice(extra: int) -> None:
    """Laws 23 and 24: the calls within the limit are emitted; those beyond share one drop."""
    found = parse(stream(_many(3 + extra)), limits=Limits(max_calls=3))

    assert [f"call_{n}" for n in range(3)] == [call[0] for call in pairs(found)]
    assert ["too_many_calls"] * bool(extra) == _reasons(found)
    assert [] == violations(found)


def test_total_of_a_turn() -> None:
    """Laws 23 and 24: the sum over a turn is bounded too; earlier calls are not hurt."""
    limits = Limits(max_total_arguments_bytes=14)

    assert 2 == len(pairs(parse(stream(_many(2)), limits=limits)))
    found = parse(stream(_many(3)), limits=limits)
    assert ["call_0", "call_1"] == [call[0] for call in pairs(found)]
    assert ["arguments_too_large"] == _reasons(found)


@given(st.integers(0, 30), st.data())
def test_a_call_without_end(beyond: int, data: Any) -> None:
    """Laws 23 and 24: a call beyond a limit continues up to the turn's limit, and then ends the stream, at any cut."""
    limits = Limits(max_arguments_bytes=10, max_total_arguments_bytes=20)
    endless = [Fragment(0, "call_x", "f", '{"a":"bcdef'), *(Fragment(0, text="x") for _ in range(beyond))]
    good = [Fragment(1, "good", "g", "{}")]
    octets = b"".join(stream([*endless, *good]))
    found = parse([octets], limits=limits)

    ended = beyond > 20
    assert ["arguments_too_large"] == _reasons(found)
    assert (["stream_too_large"] * ended, [("good", "g", "{}")] * (not ended)) == (
        _faults(found),
        pairs(found),
    )
    cuts = data.draw(partitions(len(octets)))
    assert log(found) == log(parse(split(octets, cuts), limits=limits))


def test_choices() -> None:
    """Law 24: fragments of a choice beyond the limit are ignored; the others are emitted."""
    frames = [frame(chunk(Fragment(0, f"call_{c}", "f", "{}"), choice=c)) for c in range(4)]
    frames.append(frame(chunk(Fragment(0, "call_x"), choice=4)))  # has no content that a call could lack
    frames += [frame(chunk(finish="tool_calls", choice=c)) for c in range(4)]
    found = parse([*frames, DONE], limits=Limits(max_choices=2))

    assert ["call_0", "call_1"] == [call[0] for call in pairs(found)]


STREAM_LIMITS = {
    "line": (Limits(max_line_bytes=400), "line_too_long"),
    "event": (Limits(max_event_bytes=400), "event_too_large"),
    "stream": (Limits(max_stream_bytes=700), "stream_too_large"),
}
_LONG = [
    Fragment(0, "call_0", "f", '{"a":"'),
    Fragment(0, text="x" * 900),
    Fragment(0, text='"}'),
    *_many(3)[1:],
]


@pytest.mark.parametrize("name", STREAM_LIMITS)
def test_breaches_of_the_stream(name: str) -> None:
    """Law 23: a breach of the framing is a fault, and the call that it tore is never emitted."""
    limits, kind = STREAM_LIMITS[name]
    found = parse(stream(_LONG), limits=limits)

    assert [kind] == _faults(found)
    assert "call_0" not in [call[0] for call in pairs(found)]
    assert [] == violations(found)
    assert [] == _faults(parse(stream(_LONG), limits=Limits.none()))


@given(st.sampled_from(sorted(STREAM_LIMITS)), st.integers(1, 1800), st.data())
def test_breaches_of_the_stream_do_not_depend_on_splits(name: str, limit: int, data: Any) -> None:
    """Law 23: for any limit, the same fault at the same byte for every partition."""
    (field,) = [f"max_{name}_bytes"]
    limits = Limits(**{field: limit})
    octets = b"".join(stream(_LONG))
    cuts = data.draw(partitions(len(octets)))

    assert log(parse([octets], limits=limits)) == log(parse(split(octets, cuts), limits=limits))


@given(st.binary(max_size=80), st.integers(1, 60), st.data())
def test_any_bytes_under_limits(octets: bytes, limit: int, data: Any) -> None:
    """Law 23: also for bytes that are not a stream, with every bound tight."""
    limits = Limits(
        max_line_bytes=limit,
        max_event_bytes=limit,
        max_stream_bytes=3 * limit,
        max_pending_frames_bytes=limit,
    )
    octets = b"data: {}\n\n" + octets
    cuts = data.draw(partitions(len(octets)))

    assert log(parse([octets], "auto", limits=limits)) == log(
        parse(split(octets, cuts), "auto", limits=limits)
    )
