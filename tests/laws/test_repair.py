"""The laws of repaired streams: whole calls or none, for every reader, and no other change."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import pytest

from tests.support import bless, corpora, encode, quirky
from tests.support.naive import STYLES, argument_text_in, data_of, error_of, read_calls
from tests.support.renderers import RENDERERS
from tests.support.together import together
from wholecall import Limits, ToolCallParser
from wholecall.calls.output.call_events import (
    BuiltinToolCall,
    CustomToolCall,
    ToolCall,
    ToolCallCancelled,
    ToolCallDropped,
)
from wholecall.calls.output.events import Event, StreamFault, TextDelta, TurnFinished
from wholecall.encoders import ENCODERS, argument_text, encoder
from wholecall.repairing import Repairer

EXECUTABLE = (ToolCall, CustomToolCall, BuiltinToolCall)
CARRIED = {
    "anthropic": (ToolCall,),
    "chat-completions": (ToolCall, CustomToolCall),
    "gemini": (ToolCall,),
    "responses": EXECUTABLE,
}
# Reports that a strict stream gives no reason for.
DISORDER = {
    *("id_churn", "index_churn", "duplicate_id", "repeated", "placeholder", "snapshots", "bound_by_order"),
    *("done_mismatch", "done_completed_buffer", "unterminated"),
    *("late_fragment", "conflicting_arguments", "finish_reason_mismatch", "reason_without_call"),
    *("data_after_end", "invalid_index"),
}
_MINTED = re.compile(r"call_\d+_\d+_\d+(_[0-9a-f]{8})?\Z|(#\d+|_\d+_[0-9a-f]{8})\Z")

ENVELOPED = 120  # the quirk of streams that pass as they are: their clients open the envelopes themselves
RECORDED = {entry["name"]: entry for entry in corpora.cases()}
MENDED = [
    name
    for name, entry in RECORDED.items()
    if entry["dialect"] in ENCODERS and entry["file"].endswith("sse") and ENVELOPED not in entry["quirks"]
]
OTHERS = [name for name, entry in RECORDED.items() if entry["dialect"] not in ENCODERS]


@cache
def stream(name: str) -> bytes:
    """Return the bytes of a recording."""
    return corpora.recorded(RECORDED[name])


def repaired(chunks: Iterable[bytes], **options: Any) -> bytes:
    """Return the output of a repairer."""
    repairer = Repairer(**options)
    return b"".join([*map(repairer.feed, chunks), repairer.close()])


def label(call: Any) -> tuple[int, str, str, Any]:
    """Return the part of a call that must survive; without a minted id."""
    if isinstance(call, BuiltinToolCall):
        return call.choice, call.id, call.name, call.arguments
    return (
        call.choice,
        wire_id(call.id),
        call.name,
        call.input if isinstance(call, CustomToolCall) else call.arguments,
    )


def wire_id(id: str) -> str:
    """Return an id that the wire sent, `""` for a minted one."""
    return "" if _MINTED.search(id) else id


def labels(events: Iterable[Event], kinds: tuple[type, ...] = EXECUTABLE) -> list[Any]:
    """Return the labels of the calls of these kinds, in order."""
    return [label(call) for call in executed(events, kinds)]


def executed(events: Iterable[Event], kinds: tuple[type, ...] = EXECUTABLE) -> list[Any]:
    """Return the calls of these kinds that the client executes, in order, without those taken back."""
    listed = list(events)
    gone = {event.id for event in listed if isinstance(event, ToolCallCancelled)}
    calls: list[Any] = [e for e in listed if isinstance(e, kinds) and e.id not in gone]  # type: ignore[attr-defined]
    return sorted(calls, key=lambda call: (call.turn, call.choice, call.index))


def ended_well(events: Iterable[Event]) -> bool:
    """Return whether the turn was neither cut nor broken off."""
    return not any(
        (isinstance(event, StreamFault) and event.fatal)
        or (isinstance(event, TurnFinished) and "missing_finish" in event.anomalies)
        for event in events
    )


def disorder(events: Iterable[Event]) -> set[str]:
    """Return the flags and anomalies that a strict stream has no reason for."""
    said = {flag for event in events for flag in getattr(event, "flags", ())}
    return DISORDER & said.union(*(event.anomalies for event in events if isinstance(event, TurnFinished)))


# Law 48.


def turns_of(name: str) -> list[list[Event]]:
    """Return the events of a recording, turn by turn, as far as they were neither cut nor broken off."""
    events = bless.parse([stream(name)])
    turns = [[e for e in events if e.turn == turn] for turn in sorted({e.turn for e in events})]
    return [turn for turn in turns if not any(isinstance(e, StreamFault) and e.fatal for e in turn)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dialect", ENCODERS)
def test_written_events_are_read_again(dialect: str) -> None:
    """Law 48: the turns of every recording, written in a dialect that carries them and read again, are equal calls."""
    kinds = CARRIED[dialect]
    wrong = []
    n_calls = 0
    for name in RECORDED:
        for events in turns_of(name):
            ours = encoder(dialect)
            again = bless.parse([ours.encode(events) + ours.close()])
            sent = [label(e) for e in events if isinstance(e, kinds) and (e.choice == 0 or dialect in MANY)]
            found = [label(e) for e in again if isinstance(e, kinds)]
            n_calls += len(sent)
            if sorted(sent, key=repr) != sorted(found, key=repr) or disorder(again):
                wrong.append((name, sent, found, disorder(again)))

    assert [] == wrong
    assert n_calls > 300


MANY = {"chat-completions", "gemini"}  # dialects with several choices
EMPTY = {"anthropic": "{}"}  # the input at a call's start where no text was sent


# Laws 49 to 52.

# A cut turn is marked as cut, also when the cut call is withheld. When the output is read again, the call before it,
# now the last call, is doubted like the cut call. No wire form marks it as whole.
DOUBTED = {"anthropic/cut-max-tokens", "anthropic/cut-max-tokens-parses"}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("names", corpora.groups(MENDED))
def test_repaired_streams_give_the_same_calls(names: list[str]) -> None:
    """Law 49: a repaired stream gives the calls of the original, and no disorder."""
    for name in names:
        events = bless.parse([stream(name)])
        again = bless.parse([repaired([stream(name)])])

        if ended_well(events):
            assert labels(events)[: -1 if name in DOUBTED else None] == labels(again), name
        assert set() == disorder(again), name
        assert text_of(events) == text_of(again), name


def text_of(events: Iterable[Event]) -> str:
    """Return the visible text of all choices."""
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@together("style", STYLES, one_in=7)
@together("names", corpora.groups(MENDED))
def test_every_naive_reader_gets_the_calls(names: list[str], style: Any) -> None:
    """Law 50: from a repaired stream loops that set labels once and loops that append get exactly our calls."""
    for name in names:
        dialect = RECORDED[name]["dialect"]
        events = bless.parse([stream(name)])
        kinds = tuple({ToolCall, CustomToolCall}.intersection(CARRIED[dialect]))
        calls = executed(events, kinds)
        found = read_calls(dialect, repaired([stream(name)]), style)

        assert [(wire_id(call.id), call.name, argument_text_in(dialect, call)) for call in calls] == [
            (wire_id(id), name, text or EMPTY.get(dialect, "")) for id, name, text in found
        ], name


def typeless(data: bytes, nth: int) -> bytes:
    """Return a stream of which every third event gives its type by its name alone, from the nth on."""
    blocks = re.split(rb"(?<=\n\n)", data.replace(b"\r\n", b"\n"))
    named = [at for at, block in enumerate(blocks) if re.fullmatch(rb"event: .+\ndata: \{.+\}\n\n", block)]
    for at in named[nth::3]:
        (payload,) = data_of(blocks[at])
        head, _, _ = blocks[at].partition(b"data: ")
        payload.pop("type", None)  # a recording may have done so already
        blocks[at] = head + b"data: " + json.dumps(payload).encode() + b"\n\n"
    return b"".join(blocks)


NAMED = [
    name
    for name in MENDED
    if RECORDED[name]["dialect"] in ("anthropic", "responses") and b"event: " in stream(name)
]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("nth", range(3))
@pytest.mark.parametrize("names", corpora.groups(NAMED))
def test_events_may_tell_their_type_by_their_name_alone(names: list[str], nth: int) -> None:
    """Laws 49, 50 and 52: a type in the name of its event is read once, by the parser and by others."""
    for name in names:
        data = typeless(stream(name), nth)
        out = repaired([data])
        events, again = bless.parse([data]), bless.parse([out])
        n_functions = len(executed(events, (ToolCall, CustomToolCall)))

        if ended_well(events):
            assert labels(events)[: -1 if name in DOUBTED else None] == labels(again), name
        assert n_functions == len(read_calls(RECORDED[name]["dialect"], out)), name
        assert out == repaired(bless.in_chunks(data, 17)), name


def unreadable(data: bytes) -> list[bytes]:
    """Return the blocks of a chat stream that a client cannot read which takes everything for granted."""
    return [block for block in re.split(rb"(?<=\n\n)", data) if block and not is_readable(block)]


def is_readable(block: bytes) -> bool:
    """Return whether a block holds a plain chunk, a comment, the end or the provider's error."""
    if b"[DONE]" in block or all(line[:1] in (b"", b":") for line in block.splitlines()):
        return True
    (chunk,) = data_of(block)
    if chunk.get("error"):
        return True
    deltas = [choice["delta"] for choice in chunk["choices"]]
    contents = [delta.get("content") for delta in deltas]
    return not deltas or (
        chunk["object"] == "chat.completion.chunk"
        and all(type(delta) is dict for delta in deltas)
        and not any(
            isinstance(content, list) and {part["type"] for part in content} <= {"text"}
            for content in contents
        )
    )


@pytest.mark.parametrize(
    "names", corpora.groups(name for name in MENDED if RECORDED[name]["dialect"] == "chat-completions")
)
def test_chunks_can_be_read_without_asking(names: list[str]) -> None:
    """Law 50: every event holds an object with choices, and each choice a delta, whatever members servers omit."""
    for name in names:
        events = bless.parse([stream(name)])
        out = repaired([stream(name).replace(b"\r\n", b"\n")])

        if not any(isinstance(event, StreamFault) for event in events):
            assert [] == unreadable(out), name


@pytest.mark.sampled(11)
@pytest.mark.parametrize("mode", quirky.MODES)
def test_quirky_chunks_can_be_read_without_asking(mode: str) -> None:
    """Law 50: the same for the streams of each quirk."""
    for number in range(6):
        data = quirky.make(f"asking:{number}", (mode, "noise") if mode != "noise" else ("noise",)).bytes()

        assert [] == unreadable(repaired([data])), number


@pytest.mark.sampled(4)
@pytest.mark.parametrize("names", corpora.groups(MENDED))
def test_repair_settles(names: list[str]) -> None:
    """Law 51: a repaired stream that was not cut needs no repair: it leaves byte for byte, except pings."""
    for name in names:
        once = repaired([stream(name)])
        twice = repaired([once])

        if ended_well(bless.parse([stream(name)])):
            assert (name in DOUBTED) == (without_overtakers(once) != without_overtakers(twice)), name


@pytest.mark.sampled(5)
@pytest.mark.parametrize("names", corpora.groups(MENDED, long=5_000))
def test_repair_does_not_depend_on_the_cut(names: list[str]) -> None:
    """Law 52: the same bytes in any chunks give the same bytes, held and live."""
    for name in names:
        data = stream(name)
        sizes = (7, 64, 1460) if len(data) > 20_000 else bless.CHUNK_SIZES
        for live in (False, True):
            whole = repaired([data], live_arguments=live)
            for size in sizes:
                assert whole == repaired(bless.in_chunks(data, size), live_arguments=live), (name, live, size)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_line_ends_do_not_matter(end: bytes) -> None:
    """Law 52: also with any line ends, cut between their bytes."""
    data = quirky.make("ends", ("index_zero",)).bytes().replace(b"\n", end)
    whole = repaired([data])

    for size in (1, 2, 3, 5):
        assert whole == repaired(bless.in_chunks(data, size)), size


# Law 53.


def is_healthy(dialect: str, data: bytes, events: Sequence[Event]) -> bool:
    """Return whether all naive readers get our calls from the original, whose frames all are as they should be."""
    calls: list[Any] = [event for event in events if isinstance(event, (ToolCall, CustomToolCall))]
    odd = [event for event in events if isinstance(event, (ToolCallDropped, StreamFault))]
    odd += [event for event in events if isinstance(event, TurnFinished) and event.anomalies]
    odd += [call for call in calls if call.flags or call.choice or argument_text(call) in ("", "{}")]
    told = [(call.id, call.name, argument_text_in(dialect, call)) for call in calls]
    return not odd and bool(calls) and all(told == read_calls(dialect, data, style) for style in STYLES)


def without_overtakers(data: bytes) -> list[bytes]:
    """Return the blocks of a stream except comments and pings, which never wait."""
    blocks = re.split(rb"(?<=\n\n)", data)
    return [block for block in blocks if b"data:" in block and b'"ping"' not in block]


@pytest.mark.parametrize("dialect", ENCODERS)
def test_healthy_streams_are_untouched(dialect: str) -> None:
    """Law 53: a healthy stream leaves unchanged, byte for byte; pings and comments may overtake calls."""
    calls = (
        encode.Call("call_1", "get_tide", '{"port":"Brést","n":[1,{"x":"}\\""}]}'),
        encode.Call("call_2", "now", '{"zone": "UTC"}'),
    )
    wrong = []
    for pieces in (encode.every(1), encode.every(7), encode.every(1000)):
        for turn in (encode.Turn(calls=calls), encode.Turn(calls=calls[:1]), encode.Turn(calls=())):
            data = RENDERERS[dialect](turn, pieces)
            if repaired([data]) != data:
                wrong.append(data)

    assert [] == wrong


# Streams that our two loops read as we do, and that are still edited: other loops would read them differently.
EDITED = {
    "anthropic/stop-never-sent": "a block without an end",
    "chat-completions/azure-filters": "a choice has no delta",
    "chat-completions/content-among-calls": "text overtakes calls",
    "chat-completions/finish-blank": "blank roles and reasons, which strict clients refuse",
    "chat-completions/finish-twice": "the second reason is another one",
    "chat-completions/framing-comments": "empty events overtake calls",
    "chat-completions/id-late": "the id is not in the first fragment",
    "chat-completions/index-from-one": "indices are not dense",
    "chat-completions/index-sparse": "indices are not dense",
    "chat-completions/name-blank-then-null": "the name is not in the first fragment",
    "chat-completions/name-late": "the name is not in the first fragment",
    "chat-completions/parallel-interleaved": "calls are interleaved, and some clients read one call after the other",
    "chat-completions/reasoning-twice": "content is a list",
    "chat-completions/whole-calls-in-one-delta": "text and calls in one frame are parted",
    "chat-completions/xai-whole-call": "text and calls in one frame are parted",
    "responses/completed-empty": "the finished response lists no items",
    "responses/deltas-before-added": "the item comes after its text",
    "responses/ids-on-some-events": "events do not tell their item",
    "responses/item-id-rotates": "an item has several ids",
    "responses/items-never-done": "an item without an end",
    "responses/parallel-interleaved": "calls are interleaved, and some clients read one item after the other",
}


def test_healthy_recordings_are_untouched() -> None:
    """Law 53: the same for every recording that all naive readers read as we do; the exceptions are known."""
    streams = {name: stream(name) for name in MENDED}
    healthy = [
        name
        for name, data in streams.items()
        if is_healthy(RECORDED[name]["dialect"], data, bless.parse([data]))
    ]
    edited = {
        name
        for name in healthy
        if without_overtakers(streams[name]) != without_overtakers(repaired([streams[name]]))
    }

    assert len(healthy) > 40
    assert EDITED.keys() == edited


@together("names", corpora.groups(OTHERS))
def test_other_streams_pass(names: list[str]) -> None:
    """Law 53: input that is not an event stream of these dialects passes unchanged, in any chunks."""
    for name in names:
        data = stream(name)

        assert data == repaired([data]), name
        assert data == repaired(bless.in_chunks(data, 61)), name


# Law 54.


@together("mode", quirky.MODES, one_in=6)
def test_no_reader_executes_early(mode: str) -> None:
    """Law 54: wherever a stream is cut, its output holds no call but those that the parser has emitted."""
    for number in range(3):
        data = quirky.make(f"cut:{number}", (mode,)).bytes()
        frames = [frame + b"\n\n" for frame in data.split(b"\n\n") if frame]
        parser, repairer = ToolCallParser(), Repairer()
        known: list[Any] = []
        out = b""
        for frame in frames:
            known += [event for event in parser.feed(frame) if isinstance(event, EXECUTABLE)]
            out += repairer.feed(frame)
            names = [name for _, name, _ in read_calls("chat-completions", out)]
            assert len(names) <= len(known), (mode, number)
        repairer.abort()


MOST_CUTS = 6


def cuts_of(data: bytes) -> list[bytes]:
    """Return beginnings of a stream, of whole events, evenly spread."""
    ends = [match.end() for match in re.finditer(rb"\r?\n\r?\n", data)]
    return [data[:end] for end in ends[:: max(1, len(ends) // MOST_CUTS)]]


@pytest.mark.sampled(23)
@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("lost", [False, True], ids=["ended", "lost"])
@pytest.mark.parametrize("names", corpora.groups(MENDED))
def test_a_cut_is_never_a_success(names: list[str], lost: bool, live: bool) -> None:
    """Law 54: a stream whose body ends anywhere, or whose connection is lost, ends as an error for clients, if its turn had no end."""
    for name in names:
        dialect = RECORDED[name]["dialect"]
        for begun in cuts_of(stream(name)):
            repairer, parser = Repairer(live_arguments=live), ToolCallParser()
            out = repairer.feed(begun)
            out += repairer.fail("upstream_lost", "gone") if lost else repairer.close()
            known = [e for e in [*parser.feed(begun), *parser.close()] if isinstance(e, EXECUTABLE)]
            report = repairer.report

            assert report.ended or report.dialect is None or error_of(out) is not None, (name, begun)
            assert (report.error is None) or error_of(out) is not None, (name, begun)
            assert live or len(read_calls(dialect, out)) <= len(known), name


@pytest.mark.sampled(17)
@pytest.mark.parametrize("mode", quirky.MODES)
def test_quirky_streams_are_strict_afterwards(mode: str) -> None:
    """Laws 49 to 52: each quirk alone, over random calls."""
    for number in range(6):
        data = quirky.make(f"repair:{number}", (mode,)).bytes()
        events = bless.parse([data])
        out = repaired([data])
        calls = [event for event in events if isinstance(event, (ToolCall, CustomToolCall))]
        calls.sort(key=lambda call: (call.choice, call.index))
        told = sorted((call.name, argument_text(call)) for call in calls)

        assert out == repaired([out]), (mode, number)
        assert out == repaired(bless.in_chunks(data, 5)), (mode, number)
        for style in STYLES:
            found = read_calls("chat-completions", out, style)
            assert told == sorted((name, text) for _, name, text in found), (mode, number, style)


# Law 55.


@pytest.mark.sampled(5)
@pytest.mark.parametrize("names", corpora.groups(MENDED))
def test_live_calls_hold_or_the_stream_ends(names: list[str]) -> None:
    """Law 55: shown live, calls are the same in the end, or the stream ends with an error frame and nothing after it."""
    for name in names:
        held, repairer = repaired([stream(name)]), Repairer(live_arguments=True)
        live = repairer.feed(stream(name)) + repairer.close()
        if repairer.ended:
            assert live.endswith(b"\n\n"), name
            assert error_of(live) is not None, name
        elif ended_well(bless.parse([stream(name)])):
            assert labels(bless.parse([held])) == labels(bless.parse([live])), name


def test_what_waits_is_bounded() -> None:
    """Law 55: bytes that wait for a verdict are bounded: beyond the limit calls are rewritten, or the stream ends."""
    data = quirky.make("bound", ("plain",)).bytes()
    limits = Limits(max_event_bytes=len(data) // 2)
    out = repaired([data], limits=limits)

    assert labels(bless.parse([data])) == labels(bless.parse([out]))
