"""Laws of every call: one end, no early execution, no holes, no invention, the text kept as it came."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support import encode, quirky
from tests.support.examples import examples
from tests.support.model import Fragment
from tests.support.renderers import RENDERERS, SERVER_SIDE, WITHOUT_IDS
from tests.support.turns import (
    DONE,
    TERMINAL,
    Plan,
    canonical,
    chunk,
    frame,
    full_objects,
    log,
    pairs,
    parse,
    plans,
    relabelled,
    stream,
    violations,
    without_counters,
)
from wholecall import Limits, StreamClosed, ToolCallParser
from wholecall.calls.output.call_events import ArgumentsDelta, ServerToolCall, ToolCall, ToolCallDropped
from wholecall.calls.output.events import TurnFinished

SECRET = "sekrit-7f3a"


def _ends(found: list[Any]) -> list[Any]:
    return [event for event in found if isinstance(event, TERMINAL)]


@given(plans())
def test_honest_calls_come_out(plan: Plan) -> None:
    """An honest stream gives exactly its calls, with their ids, in order."""
    found = parse(stream(plan.fragments()))

    assert plan.sent() == pairs(found)
    assert [] == violations(found)


@given(st.integers(0, 10**6))
def test_one_end_for_each_call(number: int) -> None:
    """Law 10: every started call has exactly one end, and every turn, however odd the stream."""
    assert [] == violations(parse([quirky.make_numbered(9, number).bytes()]))


@examples(1 / 4)  # each example is rendered in every dialect
@given(plans(), st.integers(1, 30))
@example(Plan(("go",), ({"a": [["}"]]},), (('{"a": [["}"]]}',),)), 2)
@example(Plan(("go",), ({"a": '}"]'},), (('{"a":"}\\"]"}',),)), 5)
@example(Plan(("go", "go"), ({}, {"a": 1}), (("{}",), ('{"a": 1}',))), 1)
def test_dialects_agree(plan: Plan, size: int) -> None:
    """Law 27: one turn, rendered in every dialect, gives equal calls."""
    calls = [encode.Call(f"call_{n}", plan.names[n], plan.raw(n)) for n in range(len(plan))]
    turn, pieces = encode.Turn(calls), encode.every(size)

    for dialect, render in RENDERERS.items():
        said = 1 if dialect in WITHOUT_IDS else 0  # a minted id has no meaning
        kind = ServerToolCall if dialect in SERVER_SIDE else ToolCall
        found = pairs(parse([render(turn, pieces)], "auto"), kind)
        assert [call[said:] for call in plan.sent()] == [call[said:] for call in found], dialect


@given(plans(), st.sampled_from(("tool_calls", "stop", None)))
def test_no_early_execution(plan: Plan, finish: str | None) -> None:
    """Law 7: no prefix that ends before the wire ends the calls gives a ToolCall, not even at `close`."""
    frames = stream(plan.fragments(), finish=finish)
    ending = frames[-2:] if finish else frames[-1:]
    data = b"".join(frames[: len(frames) - len(ending)])

    for place in {*range(0, len(data), 1 + len(data) // 40), len(data)}:
        parser = ToolCallParser("chat-completions")
        early = parser.feed(data[:place])
        late = parser.close()
        assert not any(isinstance(event, ToolCall) for event in [*early, *late]), place


@given(plans(of=full_objects))
def test_no_execution_of_a_cut_call(plan: Plan) -> None:
    """Law 7: a call whose text stops short is never emitted, whatever the turn claims; its text is kept."""
    *whole, last = range(len(plan))
    kept = plan.raw(last)[:-1]
    fragments = [f for number in whole for f in plan.track(number)]
    fragments += [Fragment(last, f"call_{last}", plan.names[last], ""), Fragment(last, text=kept)]

    for finish in ("tool_calls", "stop", "length", "content_filter"):
        found = parse(stream(fragments, finish=finish))
        assert plan.sent()[:-1] == pairs(found)
        (drop,) = [event for event in found if isinstance(event, ToolCallDropped)]
        assert (f"call_{last}", kept, "truncated") == (drop.id, drop.raw_arguments, drop.reason)


@given(plans(of=full_objects), st.data())
def test_prefix_monotonicity(plan: Plan, data: Any) -> None:
    """Law 5: a prefix's events are the beginning of the whole stream's events: none is taken back."""
    octets = b"".join(stream(plan.fragments()))
    place = data.draw(st.integers(0, len(octets)))
    early = log(ToolCallParser("chat-completions").feed(octets[:place]))

    assert early == log(parse([octets]))[: len(early)]


@given(plans(of=full_objects), st.data())
def test_no_holes(plan: Plan, data: Any) -> None:
    """Law 31: an unreadable frame with argument text is never ignored.

    Neither its call nor any call open at that moment is emitted, even if the rest still parses.
    """
    fragments = plan.fragments()
    place = data.draw(st.sampled_from([n for n, f in enumerate(fragments) if f.text]))
    frames = stream(fragments)
    octets = frames[place]
    damaged = octets[: data.draw(st.integers(len(b'data: {"'), len(octets) - 4))] + b"\n\n"
    found = parse([*frames[:place], damaged, *frames[place + 1 :]])

    hit = {f"call_{fragment.index}" for fragment in fragments[: place + 1]}
    assert [call for call in plan.sent() if call[0] not in hit] == pairs(found)
    drops = [event for event in found if isinstance(event, ToolCallDropped)]
    assert {"incomplete_input"} == {drop.reason for drop in drops}
    assert [] == violations(found)


def test_a_hole_that_still_parses() -> None:
    """Law 31: `{"command":"rm -rf /` and `"}` parse without the text lost between them, and are dropped."""
    frames = stream(
        [Fragment(0, "c", "run", ""), *(Fragment(0, text=t) for t in ('{"command":"rm -rf /', "tmp/x", '"}'))]
    )
    frames[2] = frames[2][:-20] + b"\n\n"
    (drop,) = _ends(parse(frames))

    assert "incomplete_input" == drop.reason


@given(plans(), st.sampled_from((None, 2, 3)))
def test_no_holes_between_choices(plan: Plan, limit: int | None) -> None:
    """Law 31: a server that numbers the choices by chunk scatters a call; no part of a call is emitted as the whole."""
    limits = Limits() if limit is None else Limits(max_choices=limit)
    chunks = [chunk(), *map(chunk, plan.fragments()), chunk(finish="tool_calls")]
    for number, payload in enumerate(chunks):
        payload["choices"][0]["index"] = number
    found = parse([*map(frame, chunks), DONE], limits=limits)

    assert set(pairs(found)) <= set(plan.sent())


@given(plans(of=full_objects), st.data())
def test_a_restatement_heals(plan: Plan, data: Any) -> None:
    """Law 31: a message at the end that restates the calls brings them back, once each."""
    frames = stream(plan.fragments())[:-2]
    place = data.draw(st.integers(0, len(frames) - 1))
    frames[place] = frames[place][:-12] + b"\n\n"
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": plan.names[n], "arguments": plan.raw(n)}}
        for n in range(len(plan))
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    found = parse([*frames, frame(chunk(finish="tool_calls", message=message)), DONE])

    assert sorted(plan.sent()) == sorted(pairs(found))


@given(plans(), st.booleans())
def test_raw_fidelity(plan: Plan, cut: bool) -> None:
    """Law 9: the raw text of a call is the concatenation of its deltas, and of the sent text."""
    fragments = plan.fragments()[: -1 if cut else None]
    found = parse(stream(fragments))
    shown: dict[int, str] = {}
    for event in found:
        if isinstance(event, ArgumentsDelta):
            shown[event.index] = shown.get(event.index, "") + event.delta

    sent = {n: "".join(f.text or "" for f in fragments if f.index == n) for n in range(len(plan))}
    assert sent == {event.index: event.raw_arguments for event in _ends(found)}
    assert {n: text for n, text in sent.items() if text} == shown


@given(plans(least=2), st.sampled_from(("tool_calls", "length", None)), st.integers(0, 30))
def test_conservation(plan: Plan, finish: str | None, kept: int) -> None:
    """Law 10: no argument text vanishes: all of it is in the calls and in the drops, each with a reason."""
    fragments = plan.fragments()[:kept]
    ends = _ends(parse(stream(fragments, finish=finish)))

    assert sum(len(f.text or "") for f in fragments) == sum(len(event.raw_arguments) for event in ends)
    assert len({f.index for f in fragments}) == len(ends)


@given(plans(least=2, most=4), st.randoms(use_true_random=False))
def test_interleaving(plan: Plan, random: Any) -> None:
    """Law 15: any interleaving of calls with their own indices gives the calls one after another would give."""
    heads = [plan.track(number)[0] for number in range(len(plan))]
    tails = [plan.track(number)[1:] for number in range(len(plan))]
    mixed: list[Fragment] = []
    while any(tails):
        mixed.append(random.choice([tail for tail in tails if tail]).pop(0))

    assert plan.sent() == pairs(parse(stream([*heads, *mixed])))


@given(
    plans(least=2),
    st.lists(st.sampled_from((0, 1, 2, 5, 40, 10**9, 2**53, 2**63, 10**30)), unique=True, min_size=3),
)
def test_index_relabelling(plan: Plan, indices: list[int]) -> None:
    """Law 16: an index is a key: any other numbers give the same events."""
    fragments = plan.fragments()

    assert log(parse(stream(fragments))) == log(parse(stream(relabelled(fragments, indices))))


@given(plans(of=full_objects), st.sampled_from(("id", "name")), st.data())
def test_hydration(plan: Plan, label: str, data: Any) -> None:
    """Law 17: an id or a name may come with any later fragment of its call."""
    fragments = []
    for number in range(len(plan)):
        track = plan.track(number)
        place = data.draw(st.integers(0, len(track) - 1))
        moved = {"id": track[0].id, "name": track[0].name}[label]
        track[0] = Fragment(
            number, *(None if label == "id" else track[0].id, None if label == "name" else track[0].name)
        )
        held = track[place]
        track[place] = Fragment(
            number, moved if label == "id" else held.id, moved if label == "name" else held.name, held.text
        )
        fragments += track

    assert plan.sent() == pairs(parse(stream(fragments)))


_EMPTY: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion.chunk"}
NOISE = (
    b": keep-alive\n\n",
    b":\n\n",
    b"data:\n\n",
    b"data\n\n",
    b"event: ping\ndata: {}\n\n",
    b"unknown: field\n\n",
    b"id: 3\nretry: 100\n\n",
    b"\n\n\n",
    *(b"data: " + data + b"\n\n" for data in (b"{}", b"[]", b'""', b"null")),
    frame({**_EMPTY, "choices": []}),
    frame({**_EMPTY, "choices": None}),
    frame({**_EMPTY, "choices": [], "usage": {"total_tokens": 5}}),
    frame({**_EMPTY, "choices": [{"index": 0, "delta": {}, "finish_reason": None}]}),
    frame({**_EMPTY, "choices": [{"index": 0, "delta": None}]}),
    frame({**_EMPTY, "choices": [{"index": 0, "delta": {"tool_calls": []}}]}),
    frame({**_EMPTY, "choices": [{"index": 0, "delta": {"tool_calls": None, "new_field": [1]}}]}),
    frame({**_EMPTY, "choices": [], "obfuscation": "xyz", "error": None}),
)


@given(plans(), st.lists(st.tuples(st.integers(0, 20), st.sampled_from(NOISE)), max_size=6))
def test_keep_alive_noise(plan: Plan, noise: list[tuple[int, bytes]]) -> None:
    """Law 18: comments, pings, empty chunks, unknown fields and usage change nothing but counters."""
    frames = stream(plan.fragments())
    noisy = list(frames)
    for place, octets in noise:
        noisy.insert(1 + place % (len(noisy) - 1), octets)

    assert without_counters(parse(frames)) == without_counters(parse(noisy))


@given(st.integers(0, 10**6))
def test_no_invention_of_leaves(number: int) -> None:
    """Law 8: the arguments of a call are the value of its raw text, by an independent reading where it is strict."""
    for call in _ends(parse([quirky.make_numbered(11, number).bytes()])):
        if isinstance(call, ToolCall) and call.status == "exact":
            assert canonical(json.loads(call.raw_arguments)) == canonical(call.arguments)
        if isinstance(call, ToolCall) and call.status == "empty":
            assert {} == call.arguments


@given(st.integers(0, 10**6))
def test_determinism(number: int) -> None:
    """Law 29: the same bytes give the same events, minted ids included."""
    data = quirky.make_numbered(13, number).bytes()

    assert log(parse([data])) == log(parse([data]))


_SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import quirky
for number in range(60):
    for event in quirky.parse([quirky.make_numbered(17, number).bytes()]):
        print(event.to_json().decode())
"""


@pytest.mark.slow
def test_determinism_over_processes() -> None:
    """Law 29: nor do hash seeds or `-O` change anything."""
    folder = str(Path(quirky.__file__).parent)
    logs = [
        subprocess.run(  # noqa: S603 (our own script)
            [sys.executable, *options, "-X", "utf8", "-c", _SCRIPT, folder],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed, options in (("1", []), ("2", ["-O"]))
    ]

    assert logs[0] == logs[1]
    assert logs[0].count(b"\n") > 60


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 50))
def test_parsers_know_nothing_of_each_other(one: int, other: int, size: int) -> None:
    """Law 21: two parsers that take turns, or follow each other, share no state."""
    streams = [quirky.make_numbered(19, one).bytes(), quirky.make_numbered(19, other).bytes()]
    parsers = [ToolCallParser("chat-completions"), ToolCallParser("chat-completions")]
    found: list[list[Any]] = [[], []]
    for place in range(0, max(map(len, streams)), size):
        for number in (0, 1):
            found[number] += parsers[number].feed(streams[number][place : place + size])
    for number in (1, 0):
        found[number] += parsers[number].close()

    assert [log(parse([data])) for data in streams] == [log(events) for events in found]


def test_parsers_in_threads() -> None:
    """Law 21: nor do parsers in threads."""
    streams = [quirky.make_numbered(23, number).bytes() for number in range(30)]
    alone = [log(parse([data])) for data in streams]
    together: list[list[list[bytes]]] = [[] for _ in range(4)]

    def work(found: list[list[bytes]]) -> None:
        found += [log(parse([data[:99], data[99:]])) for data in streams]

    threads = [threading.Thread(target=work, args=(found,)) for found in together]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [alone] * 4 == together


def _secret_streams() -> dict[str, list[bytes]]:
    def of(*texts: str, **ending: Any) -> list[bytes]:
        return stream([Fragment(0, "c", "f", ""), *(Fragment(0, text=text) for text in texts)], **ending)

    return {
        "whole": of(f'{{"k":"{SECRET}"}}'),
        "recovered": of(f'{{"k":"{SECRET}",}} '),
        "cut": of(f'{{"k":"{SECRET}'),
        "length": of(f'{{"k":"{SECRET}', finish="length"),
        "silent": of(f'{{"k":"{SECRET}"}}', finish=None, done=False),
        "several": of(f'{{"k":"{SECRET}"}}', '{"b":1}'),
        "no object": of(f'"{SECRET}"'),
        "broken": of(f'{{"k": "{SECRET}" "x"}}'),
        "duplicate": of(f'{{"{SECRET}":1,"{SECRET}":2}}'),
        "surrogate": of(f'{{"k":"{SECRET}\\ud800"}}'),
        "undecodable": [*of(f'{{"k":"{SECRET}')[:-2], f'data: {{"choices": "{SECRET}\n\n'.encode(), DONE],
        "snapshots": of(f'{{"k":"{SECRET}', f'{{"k":"{SECRET}"}}'),
        "placeholder": of("{}", f'{{"k":"{SECRET}"}}'),
        "nameless": stream([Fragment(0, "c", None, f'{{"k":"{SECRET}"}}')]),
    }


@pytest.mark.parametrize("name", _secret_streams())
def test_error_hygiene(
    name: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Law 28: no repr, detail, exception or output holds argument text."""
    parser = ToolCallParser("chat-completions")
    found = [event for data in _secret_streams()[name] for event in parser.feed(data)]
    shown = [repr(parser), *(repr(event) for event in found)]
    found += parser.close()
    shown += [repr(parser), repr(parser.turn), *(repr(event) for event in found)]
    with pytest.raises(StreamClosed) as closed:
        parser.feed(f'{{"k":"{SECRET}"}}'.encode())
    shown += [repr(closed.value), *(getattr(event, "detail", "") for event in found)]
    output = capfd.readouterr()

    assert [] == [text for text in shown if SECRET in text]
    assert ("", "", []) == (output.out, output.err, caplog.records)
    assert any(isinstance(event, TurnFinished) for event in found)


@examples(1 / 2)
@given(plans())
def test_abort_drops_what_is_open(plan: Plan) -> None:
    """An abort ends every open call as `aborted`, with its text; the events of `finish` stay."""
    parser = ToolCallParser("chat-completions")
    found = [
        event for data in stream(plan.fragments(), finish=None, done=False) for event in parser.feed(data)
    ]
    found += parser.abort("enough")

    assert [(plan.raw(n), "aborted") for n in range(len(plan))] == [
        (e.raw_arguments, e.reason) for e in _ends(found)
    ]
    assert [] == violations(found)
