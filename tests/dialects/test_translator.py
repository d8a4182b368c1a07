"""Properties of the translators of all dialects."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import corpora
from tests.support.together import together
from tests.support.told import Echo, in_pieces, told_and_counted
from wholecall import Limits
from wholecall.deltas import DONE, ITEM_DONE, CallWhole, Delta, Fragment, Labelled, Run, Slot, TextFragment
from wholecall.dialects.openai.chat.translator import ChatTranslator
from wholecall.dialects.report import ended_together
from wholecall.dialects.table import DIALECTS, named
from wholecall.framing import FRAMINGS, Frame
from wholecall.framing.opening import sniff

HOT = ("chat-completions", "responses", "anthropic")
RECORDED = [entry for entry in corpora.cases() if entry["dialect"] in {dialect.name for dialect in DIALECTS}]


def frames_of(entry: dict[str, Any]) -> list[Frame]:
    """Return the frames of a recording."""
    data = corpora.recorded(entry)
    framing = FRAMINGS[sniff(data) or "sse"](Limits())
    return framing.feed(data) + framing.close()


class WideChat(ChatTranslator):
    """A reader of chat streams that takes no short way."""

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the events of one frame."""
        return ended_together(self._wide(frame))


def plain(deltas: Iterable[Delta]) -> list[Delta]:
    """Return the pieces of deltas; a piece of a call with an index alone is one with labels that has no others."""
    return [
        Labelled(piece.choice, piece.index, None, None, piece.text) if isinstance(piece, Fragment) else piece
        for piece in in_pieces(deltas)
    ]


def told_plainly(dialect: str, frames: list[Frame]) -> list[Delta]:
    """Return the events of frames one by one, read by the views that know every field."""
    translator = WideChat() if dialect == "chat-completions" else named(dialect).start()
    return plain(delta for frame in frames for delta in translator.told(frame))


def batches(frames: list[Frame], seed: str) -> list[list[Frame]]:
    """Cut the frames into rows of random length."""
    random_ = random.Random(seed)
    rows: list[list[Frame]] = [[]]
    for frame in frames:
        if random_.random() < 0.2:
            rows.append([])
        rows[-1].append(frame)
    return rows


def told_in_rows(dialect: str, frames: list[Frame], seed: str) -> list[Delta]:
    """Return the events of frames in rows of random length, some of which are taken one by one."""
    translator, random_ = named(dialect).start(), random.Random(seed)
    told: list[Delta] = []
    for row in batches(frames, seed):
        if random_.random() < 0.3:  # as the parser does with rows between which there are faults
            told += [delta for frame in row for delta in translator.told(frame)]
        else:
            told += translator.translate_all(row)
    return told


@together("entries", corpora.groups(RECORDED))
def test_frames_in_a_row_say_what_they_say_one_by_one(entries: list[dict[str, Any]]) -> None:
    """However the frames are put together, the pieces are the same, and no run holds an empty one."""
    for entry in entries:
        frames = frames_of(entry)
        one_by_one = named(entry["dialect"]).start()
        told = (one_by_one.told(frame) for frame in frames)
        expected = told_and_counted(delta for deltas in told for delta in deltas)
        actual = told_in_rows(entry["dialect"], frames, entry["name"])

        assert expected == told_and_counted(actual), entry["name"]
        assert all(delta.texts and all(delta.texts) for delta in actual if isinstance(delta, Run)), entry[
            "name"
        ]


def of_responses(number: int, index: object = 1, **more: object) -> str:
    """Return a piece of a Responses call."""
    event = {"type": "response.function_call_arguments.delta", "sequence_number": number, "item_id": "fc"}
    return json.dumps({**event, "output_index": index, "delta": f"<{number}>", **more})


def call_of_responses(**more: object) -> list[str]:
    """Return the events of a Responses call, and the end of its response; its item has further members."""
    item = {"id": "fc", "type": "function_call", "call_id": "c", "name": "f", "arguments": "", **more}
    whole = {**item, "arguments": "<1>", "status": "completed"}
    events: list[dict[str, Any]] = [
        {"type": "response.output_item.added", "item": item},
        {"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": "<1>"},
        {"type": "response.function_call_arguments.done", "item_id": "fc", "arguments": "<1>"},
        {"type": "response.output_item.done", "item": whole},
        {"type": "response.completed", "response": {"output": [whole]}},
    ]
    return [json.dumps({"output_index": 0, "sequence_number": n, **event}) for n, event in enumerate(events)]


def of_anthropic(index: object, text: str) -> str:
    """Return a piece of an Anthropic call."""
    delta = {"type": "input_json_delta", "partial_json": text}
    return json.dumps({"type": "content_block_delta", "index": index, "delta": delta})


def of_chat(choice: int, **delta: object) -> str:
    """Return a piece of a chat stream."""
    return json.dumps({"choices": [{"index": choice, "delta": delta}]})


def of_call(choice: int, text: str, **labels: object) -> str:
    """Return a piece of a chat call."""
    return of_chat(choice, tool_calls=[{"index": 0, **labels, "function": {"arguments": text}}])


STOP = '{"type":"content_block_stop","index":1}'
INTERRUPTED = {
    "responses broken": ("responses", [of_responses(0), of_responses(1), "{", of_responses(2)]),
    "responses true": ("responses", [of_responses(0), of_responses(1), of_responses(2, True)]),
    "responses index": ("responses", [of_responses(0), of_responses(1), of_responses(2, 2), of_responses(3)]),
    "responses text": ("responses", [of_responses(0), of_responses(1), of_responses(2, delta={"a": 1})]),
    "responses item": ("responses", [of_responses(0), of_responses(1), of_responses(2, item_id="other")]),
    "responses stream": (
        "responses",
        [
            '{"type":"response.created","sequence_number":0,"response":{"id":"r"}}',
            of_responses(1),
            of_responses(2),
            of_responses(3, stream_id="s"),
            of_responses(3),
        ],
    ),
    "responses stream without a name": (
        "responses",
        [of_responses(0), of_responses(1), of_responses(7, stream_id="s"), of_responses(8), of_responses(9)],
    ),
    "responses call": ("responses", call_of_responses()),
    "responses call of a background": ("responses", call_of_responses(**{"async": True})),
    "responses call with a caller": ("responses", call_of_responses(caller={"type": "program"})),
    "responses call of a space": ("responses", call_of_responses(namespace="ns", status="in_progress")),
    "responses call with odd labels": ("responses", call_of_responses(id=" ", call_id=5, name="")),
    "responses replay": ("responses", [of_responses(0), of_responses(1), of_responses(1), of_responses(2)]),
    "anthropic broken": (
        "anthropic",
        [of_anthropic(1, "a"), of_anthropic(1, "b"), "{", of_anthropic(1, "c")],
    ),
    "anthropic true": ("anthropic", [of_anthropic(1, "a"), of_anthropic(1, "b"), of_anthropic(True, "c")]),
    "anthropic negative": ("anthropic", [of_anthropic(1, "a"), of_anthropic(-5, "b"), of_anthropic(-5, "c")]),
    "anthropic stop": ("anthropic", [of_anthropic(1, "a"), STOP, of_anthropic(1, "b"), STOP]),
    "anthropic blank": ("anthropic", [of_anthropic(1, "a"), of_anthropic(1, ""), of_anthropic(1, "b")]),
    "anthropic unknown block": (
        "anthropic",
        [
            '{"type":"content_block_start","index":0,"content_block":{"type":"new"}}',
            *(of_anthropic(0, "a"), of_anthropic(0, "b"), of_anthropic(1, "c"), of_anthropic(1, "d")),
        ],
    ),
    "anthropic unknown block after a call": (
        "anthropic",
        [
            *(of_anthropic(0, "a"), '{"type":"content_block_stop","index":0}', of_anthropic(0, "b")),
            '{"type":"content_block_start","index":0,"content_block":{"type":"new"}}',
            *(of_anthropic(0, "c"), of_anthropic(1, "d"), '{"type":"content_block_stop","index":1}'),
        ],
    ),
    "responses text of another response": (
        "responses",
        [
            '{"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"a"}',
            '{"type":"response.created","response":{"id":"r"}}',
            '{"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"b"}',
            (
                '{"type":"response.completed","response":{"id":"r","output":[{"type":"message","content":'
                '[{"type":"output_text","text":"b"}]}]}}'
            ),
        ],
    ),
    "chat choice": (
        "chat-completions",
        [of_chat(0, content="a"), of_chat(1, content="b"), of_chat(1, content="c"), of_chat(0, content="d")],
    ),
    "chat call of a choice": (
        "chat-completions",
        [of_call(0, "a", id="c"), of_call(0, "b"), of_call(1, "c"), of_call(1, "d"), of_chat(1, content="e")],
    ),
    "chat error": (
        "chat-completions",
        [of_chat(0, content="a"), of_chat(0, content="b"), Frame("error", of_chat(0, content="c"))],
    ),
    "chat message": (
        "chat-completions",
        [
            of_chat(0, content="a"),
            of_chat(0, reasoning_content="b"),
            json.dumps({"choices": [{"index": 0, "message": {"content": "a", "reasoning_content": "b"}}]}),
        ],
    ),
    "chat done": ("chat-completions", [of_chat(0, content="a"), "[DONE]", of_chat(0, content="b"), "[DONE]"]),
}


def test_a_finished_response_restates_nothing_that_was_told() -> None:
    """The usual view's call is recognised as the same where the last event lists it (quirk 73)."""
    frames = [Frame("message", event) for event in call_of_responses(namespace="ns")]
    told = named("responses").start().translate_all(frames)

    assert [DONE, ITEM_DONE] == [delta.rank for delta in told if isinstance(delta, CallWhole)]


@together(("dialect", "said"), INTERRUPTED.values(), ids=list(INTERRUPTED))
def test_what_interrupts_a_run(dialect: str, said: list[str | Frame]) -> None:
    """A frame that is not a further piece is reported at its position, and so are later frames, wherever a row ends."""
    frames = [text if isinstance(text, Frame) else Frame("message", text) for text in said]
    expected = told_plainly(dialect, frames)

    for cut in range(len(frames)):
        in_rows, alone = (named(dialect).start() for _ in range(2))
        rows = (frames[:cut], frames[cut:])
        assert expected == plain(delta for row in rows for delta in in_rows.translate_all(row)), cut
        told = [*alone.translate_all(frames[:cut]), *alone.told(frames[cut])]
        assert expected == plain([*told, *alone.translate_all(frames[cut + 1 :])]), cut


# Labels and texts as servers send them, the usual ones most often.
_INDICES = st.sampled_from((0, 0, 0, 1, 1, None, -5, True, 1.0, "1", 10**30, [0]))
_TEXTS = st.sampled_from(("a", "b", "{", "", None, 5, {"a": 1}, "\ud83d"))
_NUMBERS = st.sampled_from((0, 1, 2, 3, 4, 5, None, "2", -1, 1.0))
_SPOKEN = st.sampled_from(("content", "content", "reasoning_content", "reasoning"))
_LABELS = st.sampled_from(("x", "x", "y", "", None, 5))
_RESPONSES = (
    *("response.function_call_arguments.delta",) * 3,
    "response.output_text.delta",
    "response.custom_tool_call_input.delta",
    "response.function_call_arguments.done",
    "response.output_item.added",
    "response.output_item.done",
)
_MORE = st.sampled_from(({}, {}, {}, {"id": "c"}, {"error": None}, {"usage": {"a": 1}}, {"stream_id": "s"}))


@st.composite
def odd_events(draw: st.DrawFn, dialect: str) -> dict[str, Any]:
    """Draw an event of a dialect that is mostly a piece of something, with anything in its members."""
    index, text, more = draw(_INDICES), draw(_TEXTS), draw(_MORE)
    if dialect == "chat-completions":
        function = {"arguments": text} | draw(
            st.sampled_from(({}, {}, {"name": "f"}, {"name": ""}, {"x": 1}))
        )
        call = {"index": index, "function": function} | draw(
            st.sampled_from(({}, {}, more, {"type": "function"}))
        )
        spoken = {draw(_SPOKEN): draw(_TEXTS)}
        delta = draw(
            st.sampled_from(({"tool_calls": [call]},) * 3 + (spoken, {**spoken, "tool_calls": [call, call]}))
        )
        odd = draw(st.sampled_from(({}, {}, {}, {"finish_reason": "stop"}, {"finish_reason": ""})))
        return {"choices": [{"index": draw(_INDICES), "delta": delta, **odd}], **more}
    if dialect == "anthropic":
        kinds = {"input_json_delta": "partial_json", "text_delta": "text", "thinking_delta": "thinking"}
        kind, field = draw(st.sampled_from(tuple(kinds.items())))
        block = {
            "type": draw(st.sampled_from(("tool_use", "text", "new"))),
            "id": "c",
            "name": "f",
            "input": {},
        }
        begin = {"type": "content_block_start", "content_block": block}
        piece = {"type": "content_block_delta", "delta": {"type": kind, field: text}}
        event = draw(
            st.sampled_from((piece,) * 4 + (begin, {"type": "content_block_stop"}, {"type": "ping"}))
        )
        return {**event, "index": index, **more}
    kind = draw(st.sampled_from(_RESPONSES))
    said = {"item": draw(odd_items())} if "output_item" in kind else {"item_id": draw(_LABELS)}
    said |= {} if "output_item" in kind else {"delta" if kind.endswith("delta") else "arguments": text}
    return {"type": kind, "sequence_number": draw(_NUMBERS), "output_index": index, **said, **more}


@st.composite
def odd_items(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an item of a Responses stream that is mostly a call of a function."""
    item: dict[str, Any] = {
        "type": draw(st.sampled_from(("function_call",) * 4 + ("custom_tool_call", "message")))
    }
    for label in ("id", "call_id", "name", "namespace", "status"):
        item |= draw(st.sampled_from(({}, {label: draw(_LABELS)}, {label: label})))
    item |= draw(st.sampled_from(({}, {"arguments": draw(_TEXTS)})))
    return item | draw(st.sampled_from(({}, {}, {"async": True}, {"caller": None}, {"server_label": "s"})))


@pytest.mark.parametrize("dialect", HOT)
@given(st.data())
def test_odd_frames_in_a_row_say_what_they_say_one_by_one(dialect: str, data: st.DataObject) -> None:
    """The narrow views read only events that they read correctly: any event gives the same result in a row or alone."""
    events = data.draw(st.lists(odd_events(dialect), min_size=1, max_size=12))
    frames = [Frame("message", json.dumps(event)) for event in events]
    one_by_one = named(dialect).start()
    expected = told_plainly(dialect, frames)

    assert expected == plain(delta for frame in frames for delta in one_by_one.told(frame))
    assert expected == plain(told_in_rows(dialect, frames, str(len(events))))


@pytest.mark.parametrize("dialect", HOT)
def test_pieces_of_one_call_are_one_run(dialect: str) -> None:
    """The most common frames of all make one delta together, but for the first of a call."""
    recordings = [frames_of(entry) for entry in RECORDED if entry["dialect"] == dialect]
    frames = max(recordings, key=len)
    runs = [delta for delta in named(dialect).start().translate_all(frames) if isinstance(delta, Run)]

    assert len(frames) // 2 < max(len(run.texts) for run in runs)


def test_a_translator_needs_one_method() -> None:
    """Frames are translated one after the other, and the end says nothing, where a dialect does not differ."""
    echo = Echo()

    assert [TextFragment(0, "a"), TextFragment(0, "b")] == echo.translate_all(
        [Frame("", "a"), Frame("", "b")]
    )
    assert [] == echo.close()


@pytest.mark.parametrize("of", [Fragment(1, 2, "a"), Slot(1, 2, "i", "a")])
def test_a_run_stands_for_its_pieces(of: Fragment | Slot) -> None:
    """Each piece has the labels of the first one, and its own text."""
    pieces = Run(of, ["b", "c"]).pieces()

    assert ["b", "c"] == [piece.text for piece in pieces]
    assert [(type(of), 1, 2)] * 2 == [(type(piece), piece.choice, piece.index) for piece in pieces]
