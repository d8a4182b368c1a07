"""LangChain's content-block protocol: event in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall.deltas import (
    DONE,
    ITEM_DONE,
    OBJECT,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.frameworks import langchain_protocol
from wholecall.dialects.frameworks.langchain_protocol import LangChainProtocolTranslator
from wholecall.framing.frame import Frame

OPENED = TurnOpened("0", "m")
ENDED = TurnEnded("0")
SEEN = CallSeen(0, 0, None, "c", "f")
HELD = CallClosed(0, 0, None, final=False)
CLOSED = CallClosed(0, 0, None)
NOBODYS = WireFault(
    "undecodable_frame", "an index means more than one block, as of messages in one place", hole=True
)
UNKNOWN = Noted(0, "unknown_events")
START = {"event": "message-start", "role": "ai", "id": "m"}
FINISH = {"event": "message-finish"}


def translate(*payloads: Any, event: str = "message") -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = LangChainProtocolTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload, separators=(",", ":"))
        deltas += translator.translate(Frame(event, data))
    return deltas + translator.close()


def at(data: Any, *namespace: str, method: str = "messages", **more: Any) -> dict[str, Any]:
    """Return an event in its envelope."""
    params = {"namespace": list(namespace), "node": "n", "data": data}
    return {"type": "event", "method": method, "params": params, **more}


def people(data: Any, *namespace: str) -> dict[str, Any]:
    """Return an event of another node."""
    event = at(data, *namespace)
    event["params"]["node"] = "people"
    return event


def block(kind: str, content: Any, index: int = 0) -> dict[str, Any]:
    """Return the start or the finish of a block, or a delta of one."""
    place = "delta" if kind == "delta" else "content"
    return {"event": f"content-block-{kind}", "index": index, place: content}


def chunk(args: Any = "", id: Any = "c", name: Any = "f", kind: Any = "tool_call_chunk") -> dict[str, Any]:
    """Return a call as a block has it."""
    return {"type": kind, "id": id, "name": name, "args": args}


def call(index: int = 0, id: Any = "c", **more: Any) -> dict[str, Any]:
    """Return the start of a call's block."""
    return block("start", chunk(id=id, **more), index)


def piece(args: Any, index: int = 0) -> dict[str, Any]:
    """Return the next piece of a call's text."""
    return block("delta", {"type": "tool-call-delta", "args": args}, index)


def snapshot(args: Any, index: int = 0, **more: Any) -> dict[str, Any]:
    """Return all of a call's text so far."""
    return block("delta", {"type": "block-delta", "fields": chunk(args, **more)}, index)


def done(args: Any, index: int = 0, kind: str = "tool_call", **more: Any) -> dict[str, Any]:
    """Return the finish of a call's block."""
    return block("finish", chunk(args, kind=kind, **more), index)


def whole(text: str, slot: int = 0, id: Any = "c", rank: int = ITEM_DONE) -> CallWhole:
    """Return the whole text of a call."""
    return CallWhole(0, slot, None, id, "f", text, rank)


# Calls


def test_a_call_lives_in_its_block() -> None:
    """The start announces it, pieces are its text, its finish has all of it, and the next block shows that it ended."""
    finish = FINISH | {"usage": {"output_tokens": 3}, "metadata": {"finish_reason": "tool_calls"}}
    deltas = translate(
        START,
        call(),
        piece('{"a"'),
        piece(""),
        piece(":1}"),
        done({"a": 1}),
        block("start", {"type": "text", "text": ""}, 1),
        finish,
    )

    assert [
        OPENED,
        SEEN,
        Slot(0, 0, None, '{"a"'),
        Slot(0, 0, None, ":1}"),
        whole('{"a":1}'),
        HELD,
        CLOSED,
        UsageSeen({"output_tokens": 3}),
        Finish(0, "tool_calls", "tool_calls"),
        ENDED,
    ] == deltas


def test_a_snapshot_adds_what_is_new() -> None:
    """Fields replace those of the block (quirk 24); an empty object that stood for the text is none (quirk 25)."""
    grown = [snapshot('{"a"'), snapshot('{"a"'), snapshot(""), snapshot('{"a":1}')]

    assert [OPENED, SEEN, Slot(0, 0, None, '{"a"'), Slot(0, 0, None, ":1}"), ENDED] == translate(
        START, call(), *grown, FINISH
    )
    assert [OPENED, SEEN, Slot(0, 0, None, "{}"), Slot(0, 0, None, '{"a":1}')] == translate(
        START, call(), snapshot("{}"), snapshot('{"a":1}')
    )


def test_a_snapshot_that_replaces_is_told_as_a_whole() -> None:
    """Emitted text cannot be taken back: the text is reported by the finish, else when the message ends."""
    odd = [START, call(), snapshot('{"a"'), snapshot('{"b"'), piece(":1}")]

    said = [OPENED, SEEN, Slot(0, 0, None, '{"a"')]
    assert [*said, whole('{"b":1}', rank=DONE), ENDED] == translate(*odd, FINISH)
    assert [*said, whole('{"b":1}'), HELD, ENDED] == translate(*odd, done({"b": 1}), FINISH)
    assert [*said, whole('{"b":2}', rank=DONE), ENDED] == translate(*odd[:4], snapshot('{"b":2}'), FINISH)


def test_pieces_are_kept_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound a snapshot is not compared with earlier text, and nothing is added to a snapshot."""
    monkeypatch.setattr(langchain_protocol, "_LONGEST", 4)
    few, many = (
        [Slot(0, 0, None, text) for text in texts] for texts in (("12", "3", "4"), ("123", "45", "6"))
    )

    assert [OPENED, SEEN, *few, ENDED] == translate(
        START, call(), piece("12"), piece("3"), snapshot("1234"), FINISH
    )
    assert [OPENED, SEEN, *many, whole("1234567", rank=DONE), ENDED] == translate(
        START, call(), piece("123"), piece("45"), piece("6"), snapshot("1234567"), FINISH
    )
    assert [OPENED, SEEN, Slot(0, 0, None, "1"), whole("23456", rank=DONE), ENDED] == translate(
        START, call(), snapshot("1"), snapshot("2"), piece("345"), piece("6"), piece("7"), FINISH
    )


def test_an_index_holds_so_many_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work stays linear: the oldest of more are given up, with a doubt, and their finish reports them anew."""
    monkeypatch.setattr(langchain_protocol, "_MOST_OPEN", 2)
    three = [OPENED, SEEN, CallSeen(0, 1, None, "d", "f"), NOBODYS, CallSeen(0, 2, None, "e", "f"), NOBODYS]

    assert [*three, CallSeen(0, 3, None, "c", "f"), NOBODYS] == translate(
        START, call(), call(id="d"), call(id="e"), snapshot("")
    )
    assert [*three, Slot(0, 1, None, "1")] == translate(
        START, call(), call(id="d"), call(id="e"), snapshot("1", id="d")
    )


def test_labels_may_come_late() -> None:
    """Only news is reported: an id after a null, a name, the values that the provider wants back (quirk 96)."""
    signed = done({"a": 1})
    signed["content"]["extras"] = {"signature": "s"}
    deltas = translate(
        START, call(id=None, name=None), snapshot(None), snapshot('{"a":1}', name="f"), signed, FINISH
    )

    assert [
        OPENED,
        CallSeen(0, 0, None, None, None),
        SEEN,
        Slot(0, 0, None, '{"a":1}'),
        CallSeen(0, 0, None, "c", "f", extra={"extras": {"signature": "s"}}),
        whole('{"a":1}'),
        HELD,
        ENDED,
    ] == deltas
    no_id, no_name = CallSeen(0, 0, None, None, "f"), CallSeen(0, 0, None, "c", None)
    assert [OPENED, no_id, SEEN] == translate(START, call(id=None), snapshot(None))
    assert [OPENED, no_name, SEEN] == translate(START, call(name=None), snapshot(None))
    begun = call() | {"content": signed["content"] | {"args": ""}}
    again = block("delta", {"type": "block-delta", "fields": signed["content"] | {"args": "1"}})
    assert [OPENED, deltas[4], Slot(0, 0, None, "1")] == translate(START, begun, snapshot("1"), again)


def test_a_block_may_start_with_its_arguments() -> None:
    """An object is a whole value unless it is empty, and a text begins the text (quirk 22)."""
    assert [OPENED, SEEN, whole('{"a":1}', rank=OBJECT)] == translate(
        START, call(args={"a": 1}, kind="tool_call")
    )
    assert [OPENED, SEEN] == translate(START, call(args={}, kind="tool_call"))
    assert [OPENED, SEEN, Slot(0, 0, None, '{"a"')] == translate(START, call(args='{"a"'))


def test_the_same_start_again_opens_nothing() -> None:
    """Quirk 77: it restates the labels of a call that is open, and another id opens another call."""
    other = CallSeen(0, 1, None, "d", "f")

    assert [OPENED, SEEN] == translate(START, call(), call())
    assert [OPENED, SEEN, other, NOBODYS] == translate(START, call(), call(id="d"))
    assert [OPENED, SEEN, other] == translate(START, call(), call(1, id="d"))
    third = CallSeen(0, 2, None, "e", "f")
    assert [OPENED, SEEN, other, third] == translate(START, call(), call(1, id="d"), call(2, id="e"))


def test_a_block_may_never_start() -> None:
    """Quirk 78: its first delta opens the call, and so does its finish."""
    assert [OPENED, CallSeen(0, 0, None, None, None), Slot(0, 0, None, "1")] == translate(START, piece("1"))
    assert [OPENED, SEEN, Slot(0, 0, None, "1")] == translate(START, snapshot("1"))
    assert [OPENED, SEEN, whole('{"a":1}'), HELD] == translate(START, done({"a": 1}))


@pytest.mark.parametrize("args", [{}, None, ""])
def test_a_call_without_arguments_waits_for_the_reason(args: Any) -> None:
    """It may have been cut before its first piece, whichever side finished it (quirk 26)."""
    told = [whole("{}")] if args == {} else []

    assert [OPENED, SEEN, *told, CallSeen(0, 1, None, "d", "f")] == translate(
        START, call(), done(args), call(1, id="d")
    )


def test_a_call_is_whole_once_another_went_on_after_it() -> None:
    """Finishes may all come together at the end: only the block that the model was in last may have been cut."""
    second = [CallSeen(0, 1, None, "d", "f"), Slot(0, 1, None, '{"b":2}')]
    held = [whole('{"b":2}', 1, "d"), CallClosed(0, 1, None, final=False)]

    assert [OPENED, SEEN, *second, whole('{"a":1}'), CLOSED, *held] == translate(
        START, call(), call(1, id="d"), piece('{"b":2}', 1), done({"a": 1}), done({"b": 2}, 1, id="d")
    )
    assert [OPENED, SEEN, TextFragment(0, "x"), whole('{"a":1}'), CLOSED] == translate(
        START, call(), block("delta", {"type": "text-delta", "text": "x"}, 1), done({"a": 1})
    )


@pytest.mark.parametrize(
    ("args", "error", "told", "detail"),
    [
        ("{'a'}", "bad JSON", [whole("{'a'}")], "bad JSON"),
        ("", None, [], "the relay could not read the arguments"),
    ],
)
def test_an_invalid_call_is_refused(args: Any, error: Any, told: list[Delta], detail: str) -> None:
    """The relay could not read it, and the executor of calls there has been notified (quirk 114)."""
    finish = done(args, kind="invalid_tool_call")
    finish["content"]["error"] = error

    assert [OPENED, SEEN, *told, CallRefused(0, 0, None, "unparseable", detail)] == translate(
        START, call(), finish
    )


def test_the_provider_may_execute_a_call() -> None:
    """The finish knows best who does; results are not calls."""
    ours = CallSeen(0, 1, None, "d", "f")
    result = {"type": "server_tool_result", "toolCallId": "c", "status": "success"}

    assert [
        OPENED,
        CallSeen(0, 0, None, "c", "f", "server"),
        CallWhole(0, 0, None, "c", "f", '{"a":1}', ITEM_DONE, "server"),
        HELD,
        CLOSED,
        ours,
        CallWhole(0, 1, None, "d", "f", '{"a":1}', ITEM_DONE, "server"),
        CallClosed(0, 1, None, final=False),
    ] == translate(
        START,
        call(kind="server_tool_call_chunk"),
        done({"a": 1}, kind="server_tool_call"),
        call(1, id="d"),
        done({"a": 1}, 1, id="d", kind="server_tool_call"),
        block("finish", result, 2),
    )


# Text


def test_text_is_told_once() -> None:
    """Deltas say it; the finish says it if nothing else did, and has the signature of reasoning."""
    thought = {"type": "reasoning", "reasoning": "hm", "extras": {"signature": "s"}}
    signed = ReasoningFragment(0, "", 0, signature="s")

    assert [OPENED, ReasoningFragment(0, "hm", 0), signed, TextFragment(0, "x")] == translate(
        START,
        block("start", {"type": "reasoning", "reasoning": ""}),
        block("delta", {"type": "reasoning-delta", "reasoning": "hm"}),
        block("finish", thought),
        block("delta", {"type": "text-delta", "text": "x"}, 1),
        block("finish", {"type": "text", "text": "x"}, 1),
    )
    assert [OPENED, ReasoningFragment(0, "hm", 0), signed] == translate(START, block("finish", thought))
    assert [OPENED, TextFragment(0, "x")] == translate(START, block("start", {"type": "text", "text": "x"}))


def test_other_blocks_say_nothing() -> None:
    """Pictures and replacements of a text's members are skipped; unknown blocks and deltas are counted."""
    quiet: list[dict[str, Any]] = [
        {"type": "data-delta", "data": "aGk="},
        {"type": "block-delta", "fields": {"type": "text", "annotations": []}},
        {"type": "block-delta"},
    ]

    assert [OPENED] == translate(
        START, block("start", {"type": "image"}), *(block("delta", d) for d in quiet)
    )
    assert [OPENED, UNKNOWN] == translate(START, block("delta", {"type": "tomorrow-delta"}))
    assert [OPENED, UNKNOWN] == translate(START, block("start", {"type": "tomorrow"}))
    assert [OPENED, UNKNOWN] == translate(START, {"event": "content-block-finish", "index": 0})


def test_deltas_once_had_no_types() -> None:
    """They have the shape of blocks, under three names; a part without a type belongs to the block's call."""
    text = {"event": "content-block-delta", "index": 1, "content_block": {"type": "text", "text": "x"}}
    spelled = {"event": "content-block-delta", "index": 0, "contentBlock": chunk(":1}", None, None)}

    assert [
        OPENED,
        SEEN,
        Slot(0, 0, None, '{"a"'),
        Slot(0, 0, None, ":1}"),
        Slot(0, 0, None, "!"),
        TextFragment(0, "x"),
        TextFragment(0, "y"),
        TextFragment(0, "z"),
    ] == translate(
        START,
        {"event": "content-block-start", "index": 0, "content_block": chunk()},
        {"event": "content-block-delta", "index": 0, "content": chunk('{"a"', None, None)},
        spelled,
        {"event": "content-block-delta", "index": 0, "content": {"args": "!"}},
        text,
        {"event": "content-block-delta", "index": 1, "content": {"text": "y"}},
        {"event": "content-block-delta", "index": 0, "content": {"type": "text", "text": "z"}},
    )
    assert [OPENED, SEEN, Slot(0, 0, None, "1")] == translate(START, call(), snapshot("1", kind=None))


# Messages


def test_a_message_is_a_turn() -> None:
    """Its start has the id, in any spelling, the model and first counts."""
    model = {"provider": "anthropic", "model": "claude"}
    first = START | {"metadata": model, "usage": {"input_tokens": 1}}

    assert [TurnOpened("0", "m", "claude"), UsageSeen({"input_tokens": 1})] == translate(first)
    assert [OPENED] == translate({"event": "message-start", "role": "ai", "message_id": "m"})
    assert [OPENED] == translate({"event": "message-start", "messageId": "m", "metadata": "odd"})
    assert [
        TurnOpened("0", None),
        TurnEnded("0"),
        TurnOpened("1", "n", restart=True),
        TurnEnded("1"),
        TurnOpened("2", "o", restart=True),
    ] == translate({"event": "message-start"}, FINISH, START | {"id": "n"}, FINISH, START | {"id": "o"})


def test_agents_speak_side_by_side() -> None:
    """A message is the one under way in its namespace and node: an event there switches to its turn (quirk 115)."""
    other = START | {"id": "n"}
    text = block("delta", {"type": "text-delta", "text": "x"})

    assert [
        OPENED,
        TurnOpened("1", "n"),
        TurnOpened("0"),
        TextFragment(0, "x"),
        TurnOpened("1"),
        TextFragment(0, "x"),
        TurnEnded("1"),
        TurnOpened("0"),
        ENDED,
    ] == translate(
        at(START, "a"), at(other, "b"), at(text, "a"), at(text, "b"), at(FINISH, "b"), at(FINISH, "a")
    )


def test_runs_speak_side_by_side() -> None:
    """In a pair the second event names the run: one place may have several (quirk 115)."""
    text = block("delta", {"type": "text-delta", "text": "x"})
    first, second = ({"run_id": name, "langgraph_node": "n"} for name in ("r1", "r2"))

    assert [
        OPENED,
        TurnOpened("1", "o"),
        TurnOpened("0"),
        TextFragment(0, "x"),
        TurnOpened("1"),
        TextFragment(0, "x"),
        TurnOpened("0"),
        ENDED,
        TurnOpened("1"),
        TurnEnded("1"),
    ] == translate(
        at([START, first]),
        at([START | {"id": "o"}, second]),
        at([text, first]),
        at(text | {"run_id": "r2"}),
        at([FINISH, first]),
        at([FINISH, second]),
    )
    # A start may lack the run that the events after it have, and events the run that the start has.
    assert [OPENED, TextFragment(0, "x"), ENDED] == translate(
        at(START), at([text, first]), at([FINISH, first])
    )
    assert [OPENED, TextFragment(0, "x"), ENDED] == translate(at([START, first]), at(text), at(FINISH))


def test_a_second_start_in_one_place_breaks_off_the_first() -> None:
    """Quirk 115: events of both may follow, so a piece without an id belongs to no call, and finishes know their
    calls.
    """
    second = START | {"id": "n"}
    assert [
        OPENED,
        SEEN,
        TurnOpened("1", "n", restart=True),
        CallSeen(0, 0, None, "d", "f"),
        NOBODYS,
        NOBODYS,
        CallSeen(0, 1, None, "c", "f"),
        NOBODYS,
        whole('{"a":1}', 1),
        CallClosed(0, 1, None, final=False),
        whole('{"b":1}', 0, "d"),
        CLOSED,
    ] == translate(
        START,
        call(),
        second,
        call(id="d"),
        piece("1"),
        piece("1", 5),
        piece("1", 5),
        done({"a": 1}),
        done({"b": 1}, id="d"),
    )


def test_events_may_come_before_any_start() -> None:
    """A client that joins late hears the rest of a message; its finishes have the lost part."""
    told = [SEEN, whole('{"a":1}'), HELD]

    assert [TurnOpened("0"), *told, ENDED] == translate(done({"a": 1}), FINISH)
    assert [OPENED, ENDED, TurnOpened("1", restart=True), *told] == translate(START, FINISH, done({"a": 1}))


@pytest.mark.parametrize("role", ["human", "user", "system", "developer", "tool"])
def test_messages_of_others_are_not_told(role: str) -> None:
    """Graphs replay people's and tools' text: not an answer, even if the model speaks next to it (quirk 116)."""
    text = block("delta", {"type": "text-delta", "text": "x"})
    theirs = {"event": "message-start", "role": role, "id": "h"}

    assert [OPENED, TextFragment(0, "x")] == translate(theirs, text, FINISH, START, text)
    assert [OPENED, TextFragment(0, "x")] == translate(theirs, text, START, text)
    assert [OPENED, TurnOpened("1", "n")] == translate(
        at(START, "a"), at(START | {"id": "n"}), at(theirs, "a")
    )
    assert [OPENED, TextFragment(0, "x")] == translate(
        at(START, "a"), at(theirs), at(text), at({"event": "error", "message": "x"}), at(text, "a")
    )


def test_a_message_is_told_once() -> None:
    """Quirk 116: its id comes again in the namespace of a parent, with all that it said."""
    text = block("delta", {"type": "text-delta", "text": "x"})
    told = [START, text, FINISH]

    assert [OPENED, TextFragment(0, "x"), ENDED] == translate(*(at(e, "a") for e in told), *map(at, told))


def test_a_start_that_comes_again_goes_on() -> None:
    """The id says that it is the same message: it begins once more, and nothing is in doubt."""
    again = TurnOpened("1", "m", restart=True)

    assert [OPENED, SEEN, again, SEEN, Slot(0, 0, None, "1")] == translate(
        START, call(), START, call(), piece("1")
    )


def test_events_that_come_again_are_skipped() -> None:
    """Quirk 91: a message knows the number of its last event; numbers of another kind say nothing."""
    events = [
        at(START, seq=4),
        at(call(), seq=5),
        at(piece("1"), seq=6),
        at(START, seq=4),
        at(piece("1"), seq=6),
    ]

    assert [OPENED, SEEN, Slot(0, 0, None, "1"), ENDED] == translate(*events, at(FINISH, seq=7))
    assert [OPENED, SEEN, Slot(0, 0, None, "1"), Slot(0, 0, None, "1")] == translate(
        at(START, seq="4"), at(call(), seq="4"), at(piece("1"), seq=None), at(piece("1"), seq=True)
    )


# Ends


@pytest.mark.parametrize(
    ("told", "finish"),
    [
        ({"metadata": {"finish_reason": "length"}}, [Finish(0, "length", "length")]),
        ({"metadata": {"stop_reason": "tool_use"}}, [Finish(0, "tool_calls", "tool_use")]),
        ({"responseMetadata": {"stop_reason": "tool_use"}}, [Finish(0, "tool_calls", "tool_use")]),
        ({"metadata": {"finish_reason": "length"}, "reason": "stop"}, [Finish(0, "length", "length")]),
        ({"reason": "error"}, [Finish(0, "error", "error", drops=True)]),
        ({"reason": None, "usage": {}}, []),
    ],
)
def test_the_reason_is_the_providers(told: dict[str, Any], finish: list[Delta]) -> None:
    """Bridges use their own word for it, and put the provider's into the metadata."""
    assert [OPENED, *finish, ENDED] == translate(START, FINISH | told)


def test_counts_may_come_alone() -> None:
    """The last ones count."""
    assert [OPENED, UsageSeen({"output_tokens": 2})] == translate(
        START, {"event": "usage", "usage": {"output_tokens": 2}}, {"event": "usage", "usage": 5}
    )


def test_an_error_ends_its_message() -> None:
    """Quirk 52: nothing of it may be continued; the stream continues, with other agents perhaps."""
    error = {"message": "slow down", "code": "rate_limit"}
    fault = WireFault("provider_error", "rate_limit: slow down", error=error)
    failed = [fault, Finish(0, "error", "rate_limit", drops=True), ENDED]

    assert [OPENED, *failed, TurnOpened("1", "n", restart=True)] == translate(
        START, {"event": "error", **error}, START | {"id": "n"}
    )
    assert [
        OPENED,
        WireFault("provider_error", "no", error={"message": "no"}),
        Finish(0, "error", "error", drops=True),
        ENDED,
    ] == translate(START, {"event": "error", "message": "no"})


def test_a_graph_that_fails_ends_its_messages() -> None:
    """Those in its namespace, or all if the run fails; the others continue."""
    failed = at({"event": "failed", "error": "boom"}, "a", method="lifecycle")
    fault = WireFault("provider_error", "boom", error={"message": "boom"})
    human = START | {"id": "h", "role": "human"}

    assert [
        OPENED,
        TurnOpened("1", "n"),
        fault,
        TurnOpened("0"),
        Finish(0, "error", "error", drops=True),
        ENDED,
        TurnOpened("1"),
        TurnEnded("1"),
    ] == translate(at(START, "a"), people(human, "a"), at(START | {"id": "n"}, "b"), failed, at(FINISH, "b"))
    other = START | {"id": "n"}
    assert [
        OPENED,
        TurnOpened("1", "n"),
        TurnEnded("1"),
        fault,
        TurnOpened("0"),
        Finish(0, "error", "error", drops=True),
        ENDED,
    ] == translate(at(START, "a"), people(other, "a"), people(FINISH, "a"), failed)
    whole_run = at({"event": "failed"}, method="lifecycle")
    assert [
        OPENED,
        WireFault("provider_error", "the run failed", error={"message": "the run failed"}),
        Finish(0, "error", "error", drops=True),
        ENDED,
    ] == translate(at(START, "a"), people(human, "b"), whole_run)


def test_a_command_that_fails_is_not_the_stream() -> None:
    """On a WebSocket answers to commands have an id; without one an error is the end (quirk 52)."""
    answer = {"type": "error", "id": 2, "error": "no_such_run", "message": "x"}
    fault = WireFault("provider_error", "no_such_run", error="no_such_run")

    assert [fault] == translate({"type": "success", "id": 1, "result": {}}, answer)
    fatal = [WireFault("provider_error", "x", error={"message": "x"}, fatal=True)]
    error = {"error": {"message": "x"}}
    assert fatal == translate(error) == translate(error | {"type": "error"}) == translate(error | {"id": 2})
    assert fatal == translate({"message": "x"}, event="error")


# Frames


@pytest.mark.parametrize(
    "method", ["tools", "values", "lifecycle", "custom", "custom:progress", "input.requested"]
)
def test_other_methods_hold_no_calls(method: str) -> None:
    """`tools` reports the execution of calls that the messages gave."""
    started = {"event": "tool-started", "tool_call_id": "c", "tool_name": "f", "input": {}}

    assert [] == translate(at(started, method=method), at(None, method=method))


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """Noise says nothing, unknown events and methods are counted, a frame that is not JSON is a hole."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)

    assert [] == translate("{}", {"type": "ping"}, {"event": "provider", "name": "x"}, "[DONE]")
    assert [UNKNOWN] == translate({"event": "tomorrow"})
    assert [UNKNOWN] == translate({"type": "tomorrow"})
    assert [UNKNOWN] == translate(at(START, method="tomorrow"))
    assert [UNKNOWN] == translate({"type": "event", "method": "messages"})
    assert [UNKNOWN] == translate(at([]))
    assert [fault] == translate("{")
    assert [OPENED] == translate(START | {"role": 5, "metadata": [], "usage": "x"})
    assert [OPENED] == translate(
        {"type": "event", "method": "messages", "params": {"namespace": 5, "data": START}}
    )
