"""LangChain's content-block protocol: event in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall.deltas import (
    DONE,
    ITEM_DONE,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    WireFault,
)
from wholecall.dialects.frameworks import langchain_protocol
from wholecall.dialects.frameworks.langchain_protocol import LangChainProtocolTranslator
from wholecall.framing.frame import Frame

OPENED = TurnOpened("0", "m")
ENDED = TurnEnded("0")
SEEN = CallSeen(0, 0, None, "c", "f")
HELD = CallClosed(0, 0, None, final=False)
NOBODYS = WireFault(
    "undecodable_frame", "an index means more than one block, as of messages in one place", hole=True
)
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


def test_a_block_may_never_start() -> None:
    """Quirk 78: its first delta opens the call, and so does its finish."""
    assert [OPENED, CallSeen(0, 0, None, None, None), Slot(0, 0, None, "1")] == translate(START, piece("1"))
    assert [OPENED, SEEN, Slot(0, 0, None, "1")] == translate(START, snapshot("1"))
    assert [OPENED, SEEN, whole('{"a":1}'), HELD] == translate(START, done({"a": 1}))


# Text


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


# Ends


# Frames
