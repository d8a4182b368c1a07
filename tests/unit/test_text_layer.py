"""Calls written as text, in streams: the fields that are read, when calls are emitted, and the rest of the turn."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall import Policy, TextCalls, ToolCallParser, Turn, UnknownDialect, collect, history
from wholecall.calls.output.call_events import ArgumentsDelta, ToolCall, ToolCallDropped, ToolCallStarted
from wholecall.calls.output.events import Event, TextDelta, TurnFinished

CALL = '<tool_call>{"name": "dredge", "arguments": {"metres": 4}}</tool_call>'
SAME = {"index": 0, "id": "call_1", "type": "function",
        "function": {"name": "dredge", "arguments": '{"metres":4}'}}  # fmt: skip


def _sse(*payloads: dict[str, Any], done: bool = True) -> bytes:
    data = [f"data: {json.dumps(payload)}\n\n" for payload in payloads]
    return "".join([*data, "data: [DONE]\n\n" if done else ""]).encode()


def _chunk(delta: dict[str, Any], finish: str | None = None, index: int = 0) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def chat(*deltas: str | dict[str, Any], finish: str | None = "stop") -> bytes:
    """Return a stream of Chat Completions; a string is visible text."""
    said = [_chunk({"content": delta} if isinstance(delta, str) else delta) for delta in deltas]
    return _sse(*said, *([_chunk({}, finish)] if finish else []), done=finish is not None)


def read(data: bytes, text: str | TextCalls | None = "hermes", **options: Any) -> Turn[Any]:
    """Return the turn of a stream."""
    return collect([data], text=text, **options)


def events(data: bytes, **options: Any) -> list[Event[Any]]:
    """Return all events of a stream."""
    parser: ToolCallParser[Any] = ToolCallParser(**options)
    return parser.feed(data) + parser.close()


def calls(turn: Turn[Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return names and arguments."""
    return [(call.name, call.arguments) for call in turn.calls]


def drops(turn: Turn[Any]) -> list[tuple[str | None, str]]:
    """Return names and reasons of the drops."""
    return [(drop.name, drop.reason) for drop in turn.dropped]


DREDGE = ("dredge", {"metres": 4})


def test_off_by_default() -> None:
    """Without `text`, a call in the text is text."""
    turn = read(chat("Go. ", CALL), text=None)

    assert ([], f"Go. {CALL}") == (calls(turn), turn.text)


def test_a_call_comes_out_and_its_text_does_not() -> None:
    """The call is a call, flagged; the text around it is the turn's text, in order."""
    turn = read(chat(*(f"Go. {CALL} Done."[n : n + 3] for n in range(0, 90, 3))))
    [call] = turn.calls

    assert [DREDGE] == calls(turn)
    assert ("Go. ", 0, " Done.") == turn.content
    assert (("from_text", "id_generated"), {"text_format": "hermes"}) == (call.flags, call.extra)


def test_starts_are_told_in_place_and_verdicts_at_the_reason() -> None:
    """The start and the arguments are where the call stood; the terminal event comes with the reason of the choice."""
    found = events(chat("Go. ", CALL, " Done."), text="hermes")
    shown = (ToolCallStarted, ArgumentsDelta, TextDelta, ToolCall, TurnFinished)

    assert [TextDelta, ToolCallStarted, ArgumentsDelta, TextDelta, ToolCall, TurnFinished] == [
        type(event) for event in found if isinstance(event, shown)
    ]


def test_a_structured_call_of_the_same_value_counts() -> None:
    """For a call that the server parsed and leaked, the structured one is emitted."""
    turn = read(chat(CALL, {"tool_calls": [SAME]}, finish="tool_calls"))

    assert (["call_1"], [("dredge", "told_twice")]) == ([call.id for call in turn.calls], drops(turn))
    assert CALL == turn.dropped[0].raw_arguments


def test_a_structured_call_excuses_one() -> None:
    """The model wrote it twice and the server reported one of them: the other one is a separate call."""
    turn = read(chat(CALL, CALL, {"tool_calls": [SAME]}, finish="tool_calls"))

    assert ([DREDGE, DREDGE], [("dredge", "told_twice")]) == (calls(turn), drops(turn))


def test_another_value_is_another_call() -> None:
    """A structured call of the same tool with other arguments excuses nothing."""
    other = {**SAME, "function": {"name": "dredge", "arguments": '{"metres":5}'}}
    turn = read(chat(CALL, {"tool_calls": [other]}, finish="tool_calls"))

    assert ([DREDGE, ("dredge", {"metres": 5})], []) == (calls(turn), drops(turn))


REASONED = {"reasoning_content": f"Hm. {CALL}"}


@pytest.mark.parametrize(
    ("deltas", "in_reasoning", "expected"),
    [
        ([REASONED], "unclosed", [DREDGE]),
        ([REASONED, "No."], "unclosed", []),
        ([REASONED, {"tool_calls": [{**SAME, "function": {"name": "go", "arguments": "{}"}}]}], "unclosed",
         [("go", {})]),
        ([REASONED], "ignore", []),
        ([REASONED, "No."], "call", [DREDGE]),
    ],
)  # fmt: skip
def test_calls_in_a_channel_of_reasoning(
    deltas: list[Any], in_reasoning: Any, expected: list[tuple[str, Any]]
) -> None:
    """They count as the caller chose: by default where nothing else came."""
    turn = read(chat(*deltas), TextCalls(format="hermes", in_reasoning=in_reasoning))

    assert expected == calls(turn)


def test_a_considered_call_stays_reasoning() -> None:
    """Text that was not a call is reasoning, unchanged."""
    turn = read(chat(REASONED, "No."))

    assert (f"Hm. {CALL}", "No.") == (turn.reasoning.text, turn.text)


def test_a_whole_call_of_a_cut_turn_comes_out() -> None:
    """It was whole before the text was cut, with or without arguments; a call that the cut met is a drop."""
    turn = read(chat(CALL, '<tool_call>{"name": "ping"}</tool_call>', CALL[:30], finish="length"))

    assert ([DREDGE, ("ping", {})], ["truncated"]) == (calls(turn), [drop.reason for drop in turn.dropped])
    assert (CALL[:30], "length") == (turn.dropped[0].raw_arguments, turn.reason)


def test_a_stream_without_an_end_proves_nothing() -> None:
    """Calls of a turn whose end never came are dropped, unless the policy takes them."""
    data = chat(CALL, finish=None)

    assert [("dredge", "unterminated")] == drops(read(data))
    assert [DREDGE] == calls(read(data, policy=Policy(require_terminal=False)))


def test_an_abort_drops_what_was_begun() -> None:
    """A call that came, and one that was being written, are dropped with their source texts."""
    parser: ToolCallParser[Any] = ToolCallParser(text="hermes")
    parser.feed(chat(CALL, CALL[:30], finish=None))
    found = [event for event in parser.abort("enough") if isinstance(event, ToolCallDropped)]

    assert {0: ("aborted", CALL), 1: ("aborted", CALL[:30])} == {
        drop.index: (drop.reason, drop.raw_arguments) for drop in found
    }


def test_a_call_whose_answer_another_one_cuts() -> None:
    """A call that was being written when another answer began on the connection is a drop of its own turn."""
    parser: ToolCallParser[Any] = ToolCallParser("responses", text="hermes")
    for id, text in (("x", f"One. {CALL[:30]}"), ("y", "Two.")):
        parser.feed_event({"type": "response.created", "response": {"id": id, "output": []}})
        parser.feed_event({"type": "response.output_text.delta", "item_id": "m", "delta": text})
    parser.feed_event({"type": "response.completed", "response": {"id": "y", "output": []}})
    parser.close()

    assert [["unterminated"], []] == [[drop.reason for drop in turn.dropped] for turn in parser.turns]
    assert ["One. ", "Two."] == [turn.text for turn in parser.turns]


def test_text_behind_the_reason_passes() -> None:
    """Once a choice has its reason, later text is not read."""
    turn = read(_sse(_chunk({"content": "Go."}), _chunk({}, "stop"), _chunk({"content": CALL})))

    assert [] == calls(turn)


def test_choices_have_texts_of_their_own() -> None:
    """Pieces of two choices that come in turns are two texts."""
    half = len(CALL) // 2
    parts = [_chunk({"content": part}, index=n) for part in (CALL[:half], CALL[half:]) for n in (0, 1)]
    turn = read(_sse(*parts, _chunk({}, "stop"), _chunk({}, "stop", index=1)))

    assert ([DREDGE], [DREDGE]) == (calls(turn), calls(turn.others[1]))


def test_no_reason_is_a_mismatch() -> None:
    """A server that knows of no call says `stop`: that is not an anomaly where all calls came from text."""
    turn = read(chat(CALL))

    assert ("tool_calls", "stop", ()) == (turn.reason, turn.provider_reason, turn.anomalies)


def test_what_was_translated_is_listed() -> None:
    """The arguments of a tag are JSON that we wrote, which an edit at the start says."""
    [call] = read(
        chat("<tool_call>\n<function=dredge>\n<parameter=metres>\n4\n</parameter>\n</function>\n</tool_call>")
    ).calls

    assert ("normalised", '{"metres":4}') == (call.status, call.raw_arguments)
    assert [("translated", 0)] == [(edit.kind, edit.offset) for edit in call.edits]


TOOLS = {
    "dredge": {"type": "object", "properties": {"metres": {"type": "string"}}, "required": ["metres"]},
}


def test_tools_judge_calls_in_text() -> None:
    """An unknown tool and arguments that do not fit are drops, with the source text."""
    turn = read(chat(CALL, CALL.replace("dredge", "sink")), tools=TOOLS)

    assert [("dredge", "schema"), ("sink", "unknown_tool")] == drops(turn)
    assert CALL == turn.dropped[0].raw_arguments


def test_the_schema_says_of_which_type_a_value_is() -> None:
    """A digit is text where the tool wants text."""
    tagged = "<tool_call><function=dredge><parameter=metres>4</parameter></function></tool_call>"

    assert [("dredge", {"metres": "4"})] == calls(read(chat(tagged), tools=TOOLS))


def test_ids_in_the_text_are_public_and_unique() -> None:
    """An id that the model wrote is the call's; one that came before gets a number."""
    one = '<tool_call>{"name": "go", "id": "a1", "arguments": {}}</tool_call>'
    turn = read(chat(one, one))

    assert ["a1", "a1#2"] == [call.id for call in turn.calls]
    assert "duplicate_id" in turn.calls[1].flags


def test_a_marker_that_dangles_is_noted() -> None:
    """An opener with nothing after it is swallowed, and the turn says so."""
    turn = read(chat("Done. ", "<tool_call>"))

    assert ("Done. ", ("dangling_marker",)) == (turn.text, turn.anomalies)


ANTHROPIC = _sse(
    {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "model": "c",
     "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": CALL[:20]}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": CALL[20:]}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
    done=False,
)  # fmt: skip
OLLAMA = b"".join(
    json.dumps({"model": "m", "created_at": "2026-11-24T12:00:00Z",
                "message": {"role": "assistant", "content": part}, "done": False}).encode() + b"\n"
    for part in (CALL[:20], CALL[20:])
) + json.dumps({"model": "m", "created_at": "2026-11-24T12:00:00Z", "message": {"role": "assistant", "content": ""},
                "done": True, "done_reason": "stop"}).encode() + b"\n"  # fmt: skip
LEGACY = _sse(
    *({"id": "x", "object": "text_completion", "choices": [{"index": 0, "text": part, "finish_reason": None}]}
      for part in (CALL[:20], CALL[20:])),
    {"id": "x", "object": "text_completion", "choices": [{"index": 0, "text": "", "finish_reason": "stop"}]},
)  # fmt: skip


@pytest.mark.parametrize("data", [ANTHROPIC, OLLAMA, LEGACY], ids=["anthropic", "ollama", "legacy"])
def test_every_dialect_has_the_layer(data: bytes) -> None:
    """Text blocks, contents and completions are read alike: the layer sees the dialects' events, not the wire."""
    turn = read(data)

    assert ([DREDGE], "") == (calls(turn), turn.text)


def test_unknown_formats_are_refused() -> None:
    """A wrong name is the caller's mistake, and the message guesses which was meant."""
    with pytest.raises(UnknownDialect, match="did you mean 'hermes'"):
        ToolCallParser(text="hermse")


@pytest.mark.parametrize(
    "options", [{"in_fence": "maybe"}, {"in_reasoning": "never"}, {"weak": frozenset({"yaml"})}]
)
def test_unknown_words_are_refused(options: dict[str, Any]) -> None:
    """The same holds for a word that no option has."""
    with pytest.raises(ValueError, match=r"not|no weak shape"):
        TextCalls(**options)


def test_the_format_of_a_model() -> None:
    """A model's name picks its format; an unknown name is refused."""
    assert "qwen_xml" == TextCalls(model="Qwen/Qwen3-Coder-30B-A3B").format
    with pytest.raises(ValueError, match="auto"):
        TextCalls(model="house-model-1")
    with pytest.raises(ValueError, match="not both"):
        TextCalls("hermes", model="Qwen/Qwen3-Coder-30B-A3B")
    assert TextCalls("qwen_xml", weak={"json"}) == TextCalls(format="qwen_xml", weak=frozenset({"json"}))


def test_a_call_with_replaced_bytes_is_none() -> None:
    """Bytes that are not UTF-8 were replaced: the model's text there is not known."""
    data = chat(CALL.replace("4", '"Ume\u00e5"')).replace(b"\\u00e5", b"\xe5")

    assert [("dredge", "invalid_utf8")] == drops(read(data))


def test_lost_text_leaves_no_call_behind_it() -> None:
    """An unreadable frame may have held anything: a call around it, and those that follow it, are drops."""
    frames = chat(CALL, CALL[:25], CALL[25:], CALL).split(b"\n\n")
    broken = b"\n\n".join([*frames[:2], b"data: {broken", *frames[2:]])

    assert [DREDGE] == calls(read(broken))
    assert [("dredge", "incomplete_input")] * 2 == drops(read(broken))
    assert [DREDGE] * 3 == calls(read(b"\n\n".join(frames)))


def test_blanks_are_no_answer() -> None:
    """White space after the reasoning shows nothing, so that a call in it counts."""
    assert [DREDGE] == calls(read(chat(REASONED, "\n\n")))


def test_history_takes_them_like_others() -> None:
    """A call from text is a call of the message; a repeated call is in it once, and our own notes are not."""
    turn = read(chat(f"Go. {CALL}", CALL, {"tool_calls": [SAME]}, finish="tool_calls"))
    [message] = history.encode_calls(turn, "chat-completions").messages
    names = [call["function"]["name"] for call in message["tool_calls"]]
    results = history.encode_results(turn, {call.id: "ok" for call in turn.calls}, "chat-completions")

    assert (["dredge", "dredge"], "Go. ") == (names, message["content"])
    assert [call["id"] for call in message["tool_calls"]] == [result["tool_call_id"] for result in results]
    assert [{"id", "type", "function"}] * 2 == [set(call) for call in message["tool_calls"]]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("text", ["hermes", "auto", TextCalls(format="hermes", prompt="<think>")])
@pytest.mark.parametrize(
    "data",
    [chat("Go. ", CALL, " Done."), chat(REASONED), chat(CALL, {"tool_calls": [SAME]}), ANTHROPIC],
    ids=["text", "reasoning", "twice", "anthropic"],
)
def test_a_stream_is_moved_anywhere(data: bytes, text: Any) -> None:
    """Wherever a snapshot is taken, the parser that it makes continues as the first one would have."""
    whole: ToolCallParser[Any] = ToolCallParser(text=text)
    expected = [event for octet in data for event in whole.feed(bytes([octet]))] + whole.close()
    for place in range(0, len(data), 11):
        first: ToolCallParser[Any] = ToolCallParser(text=text)
        found = [event for octet in data[:place] for event in first.feed(bytes([octet]))]
        second = ToolCallParser.restore(first.snapshot())
        found += [event for octet in data[place:] for event in second.feed(bytes([octet]))]

        assert expected == found + second.close()
