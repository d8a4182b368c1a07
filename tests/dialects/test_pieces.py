"""The short way of dialects whose usual frame is a piece of text: it gives the long way's result, and is taken."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.dialects.test_translator import told_in_rows
from tests.support.told import told_and_counted
from wholecall.deltas import CallClosed, CallWhole, Delta, Run, Slot, TextFragment, TurnOpened, UsageSeen
from wholecall.dialects.pieces import PieceTranslator
from wholecall.dialects.table import named
from wholecall.framing import Frame

Events = list[tuple[str, dict[str, Any]]]  # names of frames, and their content


def gemini(*parts: Any, id: str | None = "r", **more: Any) -> dict[str, Any]:
    """Return a response of Gemini."""
    labels = {} if id is None else {"responseId": id}
    return {"candidates": [{"index": 0, "content": {"parts": [*parts]}, **more}], **labels}


def partial_(**more: Any) -> dict[str, Any]:
    """Return a part of Gemini with a piece of a call."""
    return {"functionCall": {"partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}], **more}}


def cohere(kind: str, index: int = 0, **message: Any) -> tuple[str, dict[str, Any]]:
    """Return an event of Cohere."""
    return kind, {"type": kind, "index": index, "delta": {"message": message}}


def converse(name: str, index: int, **member: Any) -> tuple[str, dict[str, Any]]:
    """Return an event of ConverseStream."""
    return name, {"contentBlockIndex": index, **member}


def line(done: bool = False, **message: Any) -> tuple[str, dict[str, Any]]:
    """Return a line of Ollama."""
    return "", {"model": "m", "message": message, "done": done}


CONVERSE: Events = [
    converse("contentBlockDelta", 0, delta={"text": "a"}),
    converse("contentBlockDelta", 1, delta={"toolUse": {"input": "{"}}),
    converse("contentBlockDelta", 1, delta={"reasoningContent": {"text": "a"}}),
    converse("contentBlockStart", 1, start={"toolUse": {"toolUseId": "c", "name": "f"}}),
    converse("contentBlockStop", 1),
]
# Frames that each dialect sends, the usual frames first.
USUAL: dict[str, Events] = {
    "gemini": [
        *(("", gemini({"text": "a"})), ("", {**gemini({"text": "a"}), "usageMetadata": {"n": 1}})),
        *(
            ("", gemini({"text": "a", "thought": True})),
            ("", gemini({"functionCall": {"name": "f", "args": {"a": 1}}})),
        ),
        *(
            ("", gemini({"functionCall": {"name": "f", "id": "c", "args": {}}})),
            ("", gemini(partial_(name="f", willContinue=True))),
        ),
        *(("", gemini(partial_(willContinue=True))), ("", gemini({"text": "a"}, finishReason="STOP"))),
    ],
    "ollama": [
        *(line(content="a"), line(content="", thinking="a"), ("", {"response": "a", "done": False})),
        *(line(tool_calls=[{"id": "c", "function": {"name": "f", "arguments": {"a": n}}}]) for n in range(2)),
        *(line(content=""), line(True, content="")),
    ],
    "cohere-v2": [
        *(
            cohere("content-delta", content={"text": "a"}),
            cohere("content-delta", 1, content={"thinking": "a"}),
        ),
        *(
            cohere("tool-plan-delta", tool_plan="a"),
            cohere("tool-call-delta", tool_calls={"function": {"arguments": "a"}}),
        ),
        cohere("tool-call-start", tool_calls={"id": "c", "function": {"name": "f"}}),
        cohere("tool-call-end"),
    ],
    "cohere-v1": [
        *(
            ("", {"event_type": "text-generation", "text": "a"}),
            ("", {"event_type": "tool-calls-chunk", "text": "a"}),
        ),
        *(
            ("", {"event_type": "tool-calls-chunk", "tool_call_delta": {"index": n, "parameters": "a"}})
            for n in range(2)
        ),
        ("", {"event_type": "tool-calls-chunk", "tool_call_delta": {"index": 0, "name": "f"}}),
        ("", {"event_type": "tool-calls-generation", "text": "a", "tool_calls": []}),
        ("", {"event_type": "stream-end", "finish_reason": "COMPLETE", "response": {"text": "a"}}),
    ],
    "vercel-ui": [
        *(
            ("", {"type": "text-delta", "id": "0", "delta": "a"}),
            ("", {"type": "reasoning-delta", "id": "1", "delta": "a"}),
        ),
        *(("", {"type": "tool-input-delta", "toolCallId": id, "inputTextDelta": "a"}) for id in ("c", "d")),
        ("", {"type": "tool-input-start", "toolCallId": "c", "toolName": "f"}),
        ("", {"type": "tool-input-available", "toolCallId": "c", "toolName": "f", "input": {}}),
        (
            "",
            {
                "type": "reasoning-delta",
                "id": "1",
                "delta": "a",
                "providerMetadata": {"x": {"signature": "s"}},
            },
        ),
        *(("", {"type": kind}) for kind in ("start-step", "finish")),
    ],
    "bedrock-converse": [*CONVERSE, *(("", {name: event}) for name, event in CONVERSE)],
}
VALUES: list[Any] = [
    *(None, "", "x", "null", 0, 1, -1, 1.0, True, False, 2**63, [], ["x"], {}, {"text": "x"}, [{}, {}]),
    *({"content": [{"text": "x"}]}, {"x": {"signature": "s"}}),
]
MEMBERS = (
    *(
        "error",
        "text",
        "thinking",
        "index",
        "id",
        "signature",
        "tool_plan",
        "content",
        "tool_calls",
        "thought",
    ),
    *("citationsContent", "providerMetadata"),
)
NAMES = ("", "message", "error", "contentBlockDelta", "messageStart", "text-delta")


def told(dialect: str, frames: list[Frame]) -> tuple[list[Delta], list[dict[str, Any]]]:
    """Return the events of frames one by one."""
    translator = named(dialect).start()
    return told_and_counted(delta for frame in frames for delta in translator.told(frame))


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each object and array in a value with each of its keys."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(inner, (dict, list)):
            yield from places(inner)


def odd(frame: Frame, random_: random.Random) -> Frame:
    """Return a frame one of whose members is another, or has one more; or a frame of another name."""
    try:
        payload = json.loads(frame.data)
    except ValueError:
        return frame
    if not (isinstance(payload, (dict, list)) and payload) or random_.random() < 0.1:
        return Frame(random_.choice(NAMES), frame.data)
    where, key = random_.choice(list(places(payload)))
    value = copy.copy(random_.choice(VALUES))
    if isinstance(where, dict) and random_.random() < 0.4:
        where[random_.choice(MEMBERS)] = value
    elif isinstance(where, dict) and random_.random() < 0.2:
        del where[key]
    else:
        where[key] = value
    return Frame(frame.event, json.dumps(payload))


def rows_of(dialect: str, n: int) -> Iterator[list[Frame]]:
    """Yield rows of frames, of which the usual ones come the most often, and some are odd."""
    random_ = random.Random(dialect)
    for _ in range(n):
        usual = USUAL[dialect]
        row: list[Frame] = []
        while len(row) < 12:
            name, event = usual[min(random_.randrange(len(usual)), random_.randrange(len(usual)))]
            row += [Frame(name, json.dumps(event))] * random_.choice((1, 2, 2, 3))
        yield [odd(frame, random_) if random_.random() < 0.2 else frame for frame in row]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dialect", USUAL)
def test_odd_members_say_in_a_row_what_they_say_one_by_one(dialect: str) -> None:
    """The narrow views refuse frames that mean more than they read, at any position in a stream."""
    for n, row in enumerate(rows_of(dialect, 2500)):
        expected = told(dialect, row)

        assert expected == told_and_counted(told_in_rows(dialect, row, f"{n}"))


@pytest.mark.parametrize("dialect", USUAL)
def test_pieces_of_one_text_are_one_run(dialect: str) -> None:
    """The most common frames make one delta together."""
    name, event = USUAL[dialect][0]
    frames = [Frame(name, json.dumps(event))] * 9
    runs = [delta for delta in named(dialect).start().translate_all(frames) if isinstance(delta, Run)]

    assert [["a"] * 8] == [run.texts for run in runs]


def framed(*events: Any) -> list[Frame]:
    """Return the frames of events."""
    return [Frame("message", json.dumps(event)) for event in events]


def test_the_counts_of_a_run_come_after_it_once() -> None:
    """Each frame of Gemini repeats the counts: the last ones of a run are reported, and none is lost."""
    frames = framed(*({**gemini({"text": "a"}), "usageMetadata": {"n": n}} for n in range(4)))
    more = framed({**gemini({"text": "a"}), "usageMetadata": {"n": 5, "m": 1}})

    deltas = named("gemini").start().translate_all([*frames, *more])

    first = [TurnOpened("r", "r", None, restart=True), TextFragment(0, "a"), UsageSeen({"n": 0})]
    run = Run(TextFragment(0, ""), ["a"] * 4)
    assert [*first, run, UsageSeen({"n": 3}), UsageSeen({"n": 5, "m": 1})] == deltas


@pytest.mark.parametrize("id", [None, "s"])
def test_a_piece_of_another_answer_is_none_of_the_run(id: str | None) -> None:
    """Text under another id, or under none, means more than a piece."""
    frames = framed(*(gemini({"text": text}) for text in "ab"), gemini({"text": "c"}, id=id))

    assert told("gemini", frames) == told_and_counted(named("gemini").start().translate_all(frames))


def test_a_piece_has_no_reason() -> None:
    """A candidate that speaks without a reason shows that STOP is not in all of its frames (quirk 67)."""
    begun = gemini({"functionCall": {"name": "f", "willContinue": True}}, finishReason="STOP")
    spoken = gemini({"text": "b"})
    for response in (begun, spoken):
        response["candidates"][0]["index"] = 1
    frames = framed(gemini({"text": "a"}), spoken, begun)
    in_row, alone = named("gemini").start(), named("gemini").start()

    in_row.translate_all(frames)
    for frame in frames:
        alone.translate(frame)

    assert [CallClosed(1, 1, None)] == in_row.close() == alone.close()


def test_whole_calls_in_a_row_are_read_by_a_narrow_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a frame of whole calls, further ones take the short way, with the seals of their parts."""
    parts = [{"functionCall": {"name": "f", "args": {"n": n}}, "thoughtSignature": f"s{n}"} for n in range(4)]
    frames = framed(*map(gemini, parts))
    expected = told("gemini", frames)
    translator = named("gemini").start()
    long: list[Frame] = []
    translate = translator.translate
    monkeypatch.setattr(translator, "translate", lambda frame: long.append(frame) or translate(frame))

    deltas = translator.translate_all(frames)

    assert expected == told_and_counted(deltas)
    assert frames[:1] == long
    assert [{"thoughtSignature": f"s{n}"} for n in range(4)] == [
        delta.extra for delta in deltas if isinstance(delta, CallWhole)
    ]


def test_an_input_that_waits_for_its_approval_ends_before_the_next_piece() -> None:
    """A piece that ends a call of the Vercel AI SDK means more than a piece."""
    start = {"type": "tool-input-start", "toolCallId": "a", "toolName": "f"}
    whole = {"type": "tool-input-available", "toolCallId": "a", "toolName": "f", "input": {}}
    text = {"type": "text-delta", "id": "0", "delta": "t"}
    frames = framed(text, text, start, whole, text, text, text)

    deltas = named("vercel-ui").start().translate_all(frames)

    assert told("vercel-ui", frames) == told_and_counted(deltas)
    assert Run(TextFragment(0, ""), ["t", "t"]) == deltas[-1]


@pytest.mark.parametrize("event", ["contentBlockDelta", ""])
def test_text_below_an_open_call_begins_another_message(event: str) -> None:
    """Converse has no ids: a block before the open call is another message's, also where pieces of text are usual."""
    events: list[tuple[str, dict[str, Any]]] = [
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "a"}}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "b"}}),
        (
            "contentBlockStart",
            {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "c", "name": "f"}}},
        ),
        ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": "{"}}}),
        ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": "}"}}}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "c"}}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "d"}}),
    ]
    frames = [
        Frame(name, json.dumps(data)) if event else Frame("", json.dumps({name: data}))
        for name, data in events
    ]

    deltas = named("bedrock-converse").start().translate_all(frames)

    assert told("bedrock-converse", frames) == told_and_counted(deltas)
    assert 1 == sum(isinstance(delta, TurnOpened) for delta in deltas)
    assert [Run(TextFragment(0, ""), ["b"]), Run(Slot(0, 1, None, ""), ["}"])] == [
        delta for delta in deltas if isinstance(delta, Run)
    ][:2]


def test_a_frame_is_tried_as_what_the_last_one_was() -> None:
    """A view that refuses costs as much as one that reads: none is tried where the last frame was no piece."""
    reads: list[str] = []

    class Counting(type(named("ollama").start())):  # type: ignore[misc]
        def _reader(self, event: str) -> Any:
            read = super()._reader(event)
            return lambda data: reads.append(data) or read(data)

    lines = [{"message": {"content": text}, "done": False} for text in ("a", "b", "", "c", "d")]
    translator: PieceTranslator = Counting()
    translator.translate_all(framed(*lines))

    assert [json.dumps(lines[1]), json.dumps(lines[2]), json.dumps(lines[4])] == reads
