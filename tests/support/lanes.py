"""Streams that have a fast lane: their frames, documented and odd, and whole streams of any parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple


class Wire(NamedTuple):
    """A dialect with a lane.

    Attributes:
        opening: the first frame.
        documented: frames that the lane may take, by their names.
        odd: frames that it may not take, at any place.
        ends: names of documented frames that change earlier content.
        before: names of documented frames after which all odd frames are odd.
        whole: streams that never leave the lane, as names of documented frames after the opening; the last stream lacks
            its end.
        stream: makes a conforming stream of any parts.
    """

    opening: bytes
    documented: dict[str, bytes]
    odd: dict[str, bytes]
    ends: tuple[str, ...]
    before: tuple[str, ...]
    whole: tuple[tuple[str, ...], ...]
    stream: Callable[[Random], list[bytes]]

    @property
    def every(self) -> dict[str, bytes]:
        """All frames."""
        return {**self.documented, **self.odd}

    def streams(self) -> Iterator[list[bytes]]:
        """Yield the whole streams, one event a read, and with the second event in two reads."""
        for names in self.whole:
            frames = [self.opening, *(self.documented[name] for name in names)]
            yield frames
            yield [frames[0], frames[1][:9], frames[1][9:] + frames[2][:70], frames[2][70:], *frames[3:]]


def _pieces(rng: Random, text: str) -> list[str]:
    """Cut a text anywhere."""
    places = sorted({0, len(text), *(rng.randrange(1, len(text)) for _ in range(rng.randrange(4)))})
    return [text[start:end] for start, end in pairwise(places)]


_VALUES = (
    '{"a":1}',
    '{"a": "{\\"x\\": [1]}", "b": {"c": [2, null]}}',
    '{"path":"/tmp/a b","text":"h\u00e9\\n"}',
    json.dumps({"text": "".join(f"if (x) {{ y[{n}] = {{}} }} " for n in range(40))}),
)


# --- chat completions ---------------------------------------------------------------------------------------


_HEAD: dict[str, Any] = {"id": "r1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def _chunk(delta: Any = None, reason: str | None = None, **beside: Any) -> bytes:
    """Return an event with a chunk of one choice."""
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": reason}
    return _event({**_HEAD, "choices": [choice], **beside})


def _event(payload: Any) -> bytes:
    """Return an event."""
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def _call(
    index: int = 0, id: str | None = None, name: str | None = None, arguments: str | None = None
) -> bytes:
    """Return an event with an entry of `tool_calls`; members that are None are left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return _chunk(
        {"tool_calls": [{"index": index, **({} if id is None else {"id": id}), "function": function}]}
    )


def _detailed(said: str, **members: Any) -> bytes:
    """Return an event with reasoning, and a detail that repeats it."""
    detail = {"type": "reasoning.text", "text": said, "format": "unknown", "index": 0, **members}
    return _chunk({"reasoning": said, "reasoning_details": [detail]})


_CHAT_OPENS = _chunk({"role": "assistant", "content": ""})
_DONE = b"data: [DONE]\n\n"
_CHAT: dict[str, bytes] = {
    "text": _chunk({"content": "a"}),
    "thought": _chunk({"reasoning_content": "b"}),
    "detailed": _detailed("b"),
    "head": _call(0, "c1", "f", ""),
    "piece": _call(0, arguments='{"a"'),
    "last piece": _call(0, arguments=":1}"),
    "whole": _call(0, "c1", "f", '{"a":1}'),
    "second": _call(1, "c2", "g", '{"b":{"c":2}}'),
    "stop": _chunk(reason="stop"),
    "calls": _chunk(reason="tool_calls"),
    "length": _chunk(reason="length"),
    "empty object": _call(0, arguments="{}"),
    "without arguments": _call(0, "c1", "f", "{}"),
    "third without": _call(2, "c3", "f", ""),
    "same again": _call(1, "c4", "f", '{"a":1}'),
    "Groq": _chunk(reason="stop", x_groq={"id": "q", "usage": {"total_tokens": 1}}),
    "text and usage": _chunk({"content": "e"}, usage={"total_tokens": 2}),
    "usage": _event({**_HEAD, "choices": [], "usage": {"total_tokens": 3}}),
    "done": _DONE,
    "comment": b": ping\n\n",
    "blank": b"\n\n",
}
_ODD_CHAT: dict[str, bytes] = {
    "who speaks": _chunk({"role": "assistant", "content": ""}),
    "another id": _event({**_HEAD, "id": "r2", "choices": [{"index": 0, "delta": {"content": "c"}}]}),
    "no id": _event({"choices": [{"index": 0, "delta": {"content": "c"}}]}),
    "another choice": _event({**_HEAD, "choices": [{"index": 1, "delta": {"content": "d"}}]}),
    "object again": _call(0, arguments='{"a":1}'),
    "piece of the second": _call(1, arguments="x"),
    "same id": _call(1, "c1", "g", '{"b":2}'),
    "no name": _call(1, "c3", None, "{}"),
    "text and call": _chunk({"content": "e", "tool_calls": [{"index": 0, "function": {"arguments": "1"}}]}),
    "details alone": _chunk({"reasoning_details": [{"type": "reasoning.text", "text": "b"}]}),
    "two details": _chunk(
        {"reasoning": "b", "reasoning_details": [{"type": "reasoning.text", "text": "b"}] * 2}
    ),
    "another text in the detail": _detailed("b", text="c"),
    "a signed detail": _detailed("b", signature="c2ln"),
    "a sealed detail": _detailed("b", data="c2ln"),
    "a detail that is a summary": _detailed("b", type="reasoning.summary", summary="b"),
    "refusal": _chunk({"refusal": "no"}),
    "filter": _chunk(reason="content_filter"),
    "error": _event({"error": {"message": "overloaded"}}),
    "message": _event({**_HEAD, "choices": [{"index": 0, "message": {"content": "whole"}}]}),
    "strange call": _chunk({"client_tool_call": {"name": "f", "input": {"a": 1}}}),
    "comment in an event": b": ping\ndata: {}\n\n",
    "CRLF": b"data: {}\r\n\r\n",
    "named": b"event: error\n" + _event({"message": "x"}),
    "broken": b'data: {"id"\n\n',
    "not UTF-8": _chunk({"content": "e"}).replace(b'"e"', b'"\xff"'),
}


def _chat_call(rng: Random, n: int) -> list[bytes]:
    first, *pieces = ["", *_pieces(rng, rng.choice(_VALUES))][rng.randrange(2) :]
    return [_call(n, f"call_{n}", rng.choice("fg"), first), *(_call(n, arguments=piece) for piece in pieces)]


def _chat_stream(rng: Random) -> list[bytes]:
    kinds = ["thought", "text", "call", "call", "call"]
    chosen = [kind for kind in kinds if rng.random() < 0.5]
    if rng.random() < 0.4:
        rng.shuffle(chosen)
    frames, n_calls = [_CHAT_OPENS], 0
    for kind in chosen:
        if kind == "thought":
            think = rng.choice([lambda piece: _chunk({"reasoning_content": piece}), _detailed])
            frames += [think(piece) for piece in _pieces(rng, "Let me see.")]
        elif kind == "text":
            frames += [_chunk({"content": piece}) for piece in _pieces(rng, "I look it up.")]
        else:
            frames += _chat_call(rng, n_calls)
            n_calls += 1
    frames.append(_chunk(reason="tool_calls" if n_calls else rng.choice(["stop", "length"])))
    if rng.random() < 0.5:
        frames.append(_CHAT["usage"])
    elif rng.random() < 0.5:  # counts next to every piece
        frames = [_with_counts(frame, n) if n % 5 else frame for n, frame in enumerate(frames)]
    return [*frames, _DONE]


def _with_counts(frame: bytes, n: int) -> bytes:
    counts = {"completion_tokens": n, **({"total_tokens": n} if n % 2 else {})}
    return _event({**json.loads(frame[6:]), "usage": counts})


_CHAT_WIRE = Wire(
    _CHAT_OPENS,
    _CHAT,
    _ODD_CHAT,
    ("piece", "calls", "stop", "text"),
    ("head", "piece"),
    (
        ("text", "text", "stop", "usage", "done"),
        ("thought", "text", "head", "piece", "last piece", "second", "calls", "done"),
        ("detailed", "detailed", "text", "stop", "done"),
        ("whole", "second", "calls"),
        ("text", "head", "piece"),
    ),
    _chat_stream,
)


# --- Anthropic Messages -------------------------------------------------------------------------------------


def _named(kind: str, /, **members: Any) -> bytes:
    """Return an event."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n".encode()


def _start(index: int, **block: Any) -> bytes:
    return _named("content_block_start", index=index, content_block=block)


def _delta(index: int, kind: str, /, **members: Any) -> bytes:
    return _named("content_block_delta", index=index, delta={"type": kind, **members})


def _stop(index: int) -> bytes:
    return _named("content_block_stop", index=index)


def _tool(index: int, id: str, name: str = "f", **more: Any) -> bytes:
    return _start(index, type="tool_use", id=id, name=name, **{"input": {}, **more})


def _input(index: int, text: str) -> bytes:
    return _delta(index, "input_json_delta", partial_json=text)


def _ends(reason: str | None, **usage: Any) -> bytes:
    return _named("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=usage)


_MESSAGE: dict[str, Any] = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": []}
_ANTHROPIC_OPENS = _named(
    "message_start", message={**_MESSAGE, "stop_reason": None, "usage": {"input_tokens": 5}}
)
_ANTHROPIC: dict[str, bytes] = {
    "text": _start(0, type="text", text=""),
    "text piece": _delta(0, "text_delta", text="a"),
    "thinking": _start(0, type="thinking", thinking="", signature=""),
    "thinking piece": _delta(0, "thinking_delta", thinking="b"),
    "signature": _delta(0, "signature_delta", signature="S"),
    "stop": _stop(0),
    "call": _tool(1, "t1"),
    "called call": _tool(1, "t4", caller={"type": "direct"}),
    "first call": _tool(0, "t0", "g"),
    "empty piece": _input(1, ""),
    "piece": _input(1, '{"a"'),
    "last piece": _input(1, ":1}"),
    "empty object": _input(1, "{}"),
    "input": _input(0, '{"b":{"c":2}}'),
    "call stop": _stop(1),
    "end turn": _ends("end_turn", output_tokens=3, cache_read_input_tokens=None),
    "tool use": _ends("tool_use", output_tokens=4),
    "max tokens": _ends("max_tokens"),
    "message stop": _named("message_stop"),
    "ping": _named("ping"),
    "comment": b": ping\n\n",
    "blank": b"\n\n",
}
_ODD_ANTHROPIC: dict[str, bytes] = {
    "opening again": _ANTHROPIC_OPENS,
    "another message": _named("message_start", message={**_MESSAGE, "id": "m2"}),
    "text that has begun": _start(0, type="text", text="x"),
    "third block": _tool(2, "t2"),
    "same id": _tool(1, "t0"),
    "with input": _tool(1, "t3", input={"a": 1}),
    "with arguments": _tool(0, "t6", arguments='{"a":1}'),
    "with another member": _tool(0, "t7", another={"a": 1}),
    "with input beside it": _named(
        "content_block_start",
        index=0,
        content_block={"type": "tool_use", "id": "t8", "name": "f", "input": {}},
        input={"a": 1},
    ),
    "no name": _named(
        "content_block_start", index=1, content_block={"type": "tool_use", "id": "t5", "input": {}}
    ),
    "server tool": _start(1, type="server_tool_use", id="s1", name="web_search", input={}),
    "result": _start(0, type="web_search_tool_result", tool_use_id="s1", content=[]),
    "redacted": _start(0, type="redacted_thinking", data="x"),
    "citation": _delta(0, "citations_delta", citation={"type": "char_location"}),
    "another kind": _delta(0, "input_json_delta", partial_json="{}"),
    "whole object": _input(1, '{"a":1}'),
    "stop without start": _stop(7),
    "no reason": _ends(None, output_tokens=1),
    "refusal": _ends("refusal"),
    "pause": _ends("pause_turn"),
    "container": _named(
        "message_delta", delta={"stop_reason": "end_turn", "container": {"id": "k"}}, usage={}
    ),
    "error": _named("error", error={"type": "overloaded_error", "message": "x"}),
    "unknown": _named("content_block_note", index=0),
    "strange call": _named("ping", client_tool_call={"name": "f", "input": {"a": 1}}),
    "strange stop": _named("content_block_stop", index=1, tool_calls=[{"name": "f", "input": {"a": 1}}]),
    "other name": _stop(0).replace(b"event: content_block_stop", b"event: message_stop"),
    "no name of the event": _stop(0).partition(b"\n")[2],
    "comment in an event": b": ping\n" + _named("ping"),
    "done": _DONE,
    "CRLF": _named("ping").replace(b"\n", b"\r\n"),
    "broken": b'event: ping\ndata: {"type"\n\n',
    "three lines": b"event: ping\nid: 7\ndata: {}\n\n",
    "not UTF-8": _delta(0, "text_delta", text="e").replace(b'"e"', b'"\xff"'),
}


def _anthropic_block(rng: Random, kind: str, n: int) -> tuple[bytes, list[bytes]]:
    """Return the start of a block, and its pieces."""
    if kind == "thinking":
        pieces = [_delta(n, "thinking_delta", thinking=piece) for piece in _pieces(rng, "Let me see.")]
        seal = [_delta(n, "signature_delta", signature="S")]
        start = _start(n, type="thinking", thinking="", signature="")
        return start, [*pieces[rng.randrange(2) :], *seal[rng.randrange(2) :]]
    if kind == "text":
        pieces = [_delta(n, "text_delta", text=piece) for piece in _pieces(rng, "I look it up.")]
        return _start(n, type="text", text=""), pieces[rng.randrange(2) :]
    pieces = [_input(n, piece) for piece in ["", *_pieces(rng, rng.choice(_VALUES))]]
    return _tool(n, f"toolu_{n}", rng.choice("fg")), pieces[rng.randrange(2) :]


def _anthropic_blocks(rng: Random) -> Iterator[tuple[bytes, list[bytes]]]:
    kinds = ["thinking", "text", "text", "tool_use", "tool_use", "tool_use"]
    chosen = [kind for kind in kinds if rng.random() < 0.5]
    if rng.random() < 0.4:
        rng.shuffle(chosen)
    return (_anthropic_block(rng, kind, n) for n, kind in enumerate(chosen))


def _anthropic_stream(rng: Random) -> list[bytes]:
    frames, calls = [_ANTHROPIC_OPENS, _ANTHROPIC["ping"]][: rng.randrange(1, 3)], False
    for index, (start, pieces) in enumerate(_anthropic_blocks(rng)):
        frames += [start, *pieces, _stop(index)]
        calls = calls or b"tool_use" in start
    reason = "tool_use" if calls else rng.choice(["end_turn", "max_tokens", "stop_sequence"])
    return [*frames, _ends(reason, output_tokens=9), _named("message_stop")]


_ANTHROPIC_WIRE = Wire(
    _ANTHROPIC_OPENS,
    _ANTHROPIC,
    _ODD_ANTHROPIC,
    ("last piece", "call stop", "tool use", "end turn"),
    ("first call", "input", "stop", "call", "piece"),
    (
        ("text", "ping", "text piece", "text piece", "stop", "end turn", "message stop"),
        (
            "thinking",
            "thinking piece",
            "signature",
            "stop",
            "call",
            "empty piece",
            "piece",
            "last piece",
            "call stop",
            "tool use",
            "message stop",
        ),
        ("first call", "input", "stop", "call", "piece", "last piece", "call stop", "tool use"),
        ("text", "stop", "call", "piece"),
    ),
    _anthropic_stream,
)

# --- OpenAI Responses ---------------------------------------------------------------------------------------


def numbered(kinds: list[tuple[str, dict[str, Any]]], start: int = 0) -> list[bytes]:
    """Return events, numbered."""
    return [_named(kind, sequence_number=n, **members) for n, (kind, members) in enumerate(kinds, start)]


_Kind = tuple[str, dict[str, Any]]
_RESPONSE: dict[str, Any] = {"id": "r1", "object": "response", "model": "m", "tools": [], "output": []}


def _response(kind: str, status: str, **members: Any) -> _Kind:
    return f"response.{kind}", {"response": {**_RESPONSE, "status": status, **members}}


def _item(done: bool, index: int, **item: Any) -> _Kind:
    return f"response.output_item.{'done' if done else 'added'}", {"output_index": index, "item": item}


def _function(index: int, text: str, status: str, name: str = "f", **more: Any) -> dict[str, Any]:
    labels = {"type": "function_call", "id": f"fc_{index}", "call_id": f"call_{index}", "name": name}
    return {**labels, "arguments": text, "status": status, **more}


def _piece(index: int, text: str, kind: str = "function_call_arguments", item: str = "fc") -> _Kind:
    return f"response.{kind}.delta", {"item_id": f"{item}_{index}", "output_index": index, "delta": text}


def _arguments_done(index: int, text: str) -> _Kind:
    members = {"item_id": f"fc_{index}", "output_index": index, "arguments": text}
    return "response.function_call_arguments.done", members


def _said(index: int, text: str, status: str) -> dict[str, Any]:
    parts = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
    content = parts if status == "completed" else []
    return {
        "type": "message",
        "id": f"msg_{index}",
        "role": "assistant",
        "status": status,
        "content": content,
    }


def _thought(index: int, text: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text}] if text else []
    return {"type": "reasoning", "id": f"rs_{index}", "summary": summary, "encrypted_content": "E"}


def _message_kinds(index: int, pieces: list[str]) -> Iterator[_Kind]:
    part = {"item_id": f"msg_{index}", "output_index": index, "content_index": 0}
    yield _item(False, index, **_said(index, "", "in_progress"))
    yield "response.content_part.added", {**part, "part": {"type": "output_text", "text": ""}}
    yield from (_piece(index, piece, "output_text", "msg") for piece in pieces)
    yield "response.output_text.done", {**part, "text": "".join(pieces)}
    yield "response.content_part.done", {**part, "part": {"type": "output_text", "text": "".join(pieces)}}
    yield _item(True, index, **_said(index, "".join(pieces), "completed"))


def _thought_kinds(index: int, pieces: list[str]) -> Iterator[_Kind]:
    part = {"item_id": f"rs_{index}", "output_index": index, "summary_index": 0}
    yield _item(False, index, **_thought(index, ""))
    if pieces:
        yield "response.reasoning_summary_part.added", part
        yield from (_piece(index, piece, "reasoning_summary_text", "rs") for piece in pieces)
        yield "response.reasoning_summary_text.done", {**part, "text": "".join(pieces)}
    yield _item(True, index, **_thought(index, "".join(pieces)))


def _function_kinds(index: int, pieces: list[str], name: str = "f") -> Iterator[_Kind]:
    text = "".join(pieces)
    yield _item(False, index, **_function(index, "", "in_progress", name))
    yield from (_piece(index, piece) for piece in pieces)
    yield _arguments_done(index, text)
    yield _item(True, index, **_function(index, text, "completed", name))


def _responses_kinds(rng: Random) -> Iterator[_Kind]:
    yield _response("created", "in_progress")
    yield _response("in_progress", "in_progress")
    parts: list[list[_Kind]] = []
    kinds = ["thought", "text", "call", "call", "call"]
    chosen = [kind for kind in kinds if rng.random() < 0.5]
    if rng.random() < 0.4:
        rng.shuffle(chosen)
    for n, kind in enumerate(chosen):
        if kind == "thought":
            parts.append([*_thought_kinds(n, _pieces(rng, "Let me see.")[rng.randrange(2) * 9 :])])
        elif kind == "text":
            parts.append([*_message_kinds(n, _pieces(rng, "I look it up."))])
        else:
            parts.append([*_function_kinds(n, _pieces(rng, rng.choice(_VALUES)), rng.choice("fg"))])
    output = [part[-1][1]["item"] for part in parts]
    while parts:
        n = _n_calls(parts) if rng.random() < 0.5 else 1
        yield from in_turn(rng, parts[:n])
        del parts[:n]
    yield _response("completed", "completed", output=output, usage={"input_tokens": 5, "output_tokens": 9})


def _n_calls(parts: list[list[_Kind]]) -> int:
    """Return how many of the next items are calls, at least one."""
    calls = [part[0][1]["item"]["type"] == "function_call" for part in parts]
    return max([*calls, False].index(False), 1)


def in_turn(rng: Random, parts: list[list[_Kind]]) -> Iterator[_Kind]:
    """Yield the events of items side by side, in any order in which they begin one after the other."""
    left = [[*part] for part in parts]
    n_begun = 0
    while any(left):
        n = rng.choice([n for n in range(min(n_begun + 1, len(left))) if left[n]])
        n_begun = max(n_begun, n + 1)
        yield left[n].pop(0)


def _responses_stream(rng: Random) -> list[bytes]:
    return numbered([*_responses_kinds(rng)])


_CREATED, _IN_PROGRESS = numbered(
    [_response("created", "in_progress"), _response("in_progress", "in_progress")]
)
_TEXTS = numbered([*_message_kinds(0, ["a", "b"])], 1)
_NEXT = len(_TEXTS) + 1
_CALL = numbered([*_function_kinds(1, ['{"a"', ":1}"])], _NEXT)
_ENDS = _NEXT + len(_CALL)
_TURNS = numbered(
    [
        *in_turn(
            Random(1), [[*_function_kinds(0, ['{"a"', ":1}"])], [*_function_kinds(1, ['{"b":{', "}}"], "g")]]
        )
    ],
    1,
)
_LISTED = [_said(0, "ab", "completed"), _function(1, '{"a":1}', "completed")]


def _ended(n: int, *output: dict[str, Any], status: str = "completed", **members: Any) -> bytes:
    return numbered([_response(status, status, output=[*output], **members)], n)[0]


_RESPONSES: dict[str, bytes] = {
    **{f"text {n}": event for n, event in enumerate(_TEXTS)},
    **{f"call {n}": event for n, event in enumerate(_CALL)},
    **{f"turn {n}": event for n, event in enumerate(_TURNS)},
    "end of turns": _ended(
        len(_TURNS) + 1, _function(0, '{"a":1}', "completed"), _function(1, '{"b":{}}', "completed", "g")
    ),
    "end of text": _ended(_NEXT, *_LISTED[:1], usage={"output_tokens": 3}),
    "end": _ended(_ENDS, *_LISTED),
    "end without a list": _ended(_ENDS),
    "in progress": _IN_PROGRESS,
    "comment": b": ping\n\n",
    "blank": b"\n\n",
}
_AT_CALL = _NEXT + 2  # the number of the second piece of the call
_ODD_RESPONSES: dict[str, bytes] = {
    "created again": _CREATED,
    "another response": _CREATED.replace(b'"r1"', b'"r2"'),
    "gap": numbered([_piece(1, ":1}")], _AT_CALL + 1)[0],
    "not numbered": _named(
        "response.function_call_arguments.delta", item_id="fc_1", output_index=1, delta="1"
    ),
    "another stream": _named(
        "response.function_call_arguments.delta", stream_id="s", sequence_number=_AT_CALL
    ),
    **{
        name: numbered([kind], _AT_CALL)[0]
        for name, kind in {
            "empty piece": _piece(1, ""),
            "object again": _piece(1, '{"a":1}'),
            "piece of another item": _piece(1, ":1}", item="xx"),
            "piece of another index": _piece(0, ":1}"),
            "piece of text": _piece(0, "c", "output_text", "msg"),
            "custom piece": _piece(1, "c", "custom_tool_call_input", "fc"),
            "other arguments": _arguments_done(1, '{"a":2}'),
            "another item": _item(False, 2, **_function(2, "", "in_progress")),
            "done too early": _item(True, 1, **_function(1, '{"a":1}', "completed")),
            "done otherwise": _item(True, 1, **_function(1, '{"a"', "completed", "g")),
            "done with a caller": _item(
                True, 1, **_function(1, '{"a"', "completed", caller={"type": "program"})
            ),
            "unfinished": _item(True, 1, **_function(1, '{"a"', "incomplete")),
            "done at another place": _item(True, 0, **_function(1, '{"a"', "completed")),
            "custom tool": _item(False, 1, type="custom_tool_call", id="ct", call_id="c", name="f", input=""),
            "search": _item(False, 1, type="web_search_call", id="ws", status="in_progress"),
            "refusal": _piece(1, "no", "refusal", "msg"),
            "incomplete": _response(
                "incomplete", "incomplete", incomplete_details={"reason": "max_output_tokens"}
            ),
            "failed": _response("failed", "failed", error={"code": "server_error", "message": "x"}),
            "completed within": _response("completed", "completed"),
            "error": ("error", {"code": "x", "message": "y"}),
            "unknown": ("response.note", {}),
            "strange call": (
                "response.content_part.added",
                {"client_tool_call": {"name": "f", "input": {"a": 1}}},
            ),
        }.items()
    },
    "end with another value": _ended(_ENDS, _LISTED[0], _function(1, '{"a":2}', "completed")),
    "end with another spelling": _ended(_ENDS, _LISTED[0], _function(1, '{"a": 1}', "completed")),
    "end with another call": _ended(_ENDS, *_LISTED, _function(2, '{"a":2}', "completed")),
    "end with a phase": _ended(_ENDS, {**_LISTED[0], "phase": "final"}, _LISTED[1]),
    "end of another": _ended(_ENDS, *_LISTED, id="r2"),
    "other name": _CALL[1].replace(b"event: response", b"event: other"),
    "comment in an event": b": ping\n" + _CALL[2],
    "done": _DONE,
    "CRLF": _CALL[2].replace(b"\n", b"\r\n"),
    "broken": b'event: response.created\ndata: {"type"\n\n',
    "not UTF-8": _CALL[2].replace(b":1}", b"\xff"),
}
_RESPONSES_WIRE = Wire(
    _CREATED,
    _RESPONSES,
    _ODD_RESPONSES,
    ("text 1", "call 2", "end"),
    (*(f"text {n}" for n in range(len(_TEXTS))), "call 0", "call 1"),
    (
        (*(f"text {n}" for n in range(len(_TEXTS))), "end of text"),
        (*(name for name in _RESPONSES if name.startswith(("text ", "call "))), "end"),
        (*(name for name in _RESPONSES if name.startswith("turn ")), "end of turns"),
        ("text 0", "comment", "text 1", "text 2", "text 3"),
    ),
    _responses_stream,
)

# --- Gemini -------------------------------------------------------------------------------------------------


def _candidate(*parts: dict[str, Any], reason: str | None = None, **beside: Any) -> bytes:
    """Return a response of one candidate."""
    candidate: dict[str, Any] = {"content": {"parts": [*parts], "role": "model"}, "index": 0}
    if reason is not None:
        candidate["finishReason"] = reason
    return _event({"candidates": [candidate], "responseId": "r1", "modelVersion": "m", **beside})


def _asked(name: str = "f", args: Any = None, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {"a": 1} if args is None else args, **more}}


_COUNTS = {"usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2}}
_SEALED = {**_asked("g", {"b": [1]}), "thoughtSignature": "S"}
_GEMINI_OPENS = _candidate({"text": "H"}, **_COUNTS)
_GEMINI: dict[str, bytes] = {
    "text": _candidate({"text": "a"}, usageMetadata={"promptTokenCount": 5, "candidatesTokenCount": 3}),
    "thought": _candidate({"text": "b", "thought": True}),
    "call": _candidate(_asked()),
    "call with an id": _candidate(_asked(id="c1")),
    "call with id c0": _candidate(_asked("h", {"x": 1}, id="c0")),
    "sealed call": _candidate(_SEALED),
    "two calls": _candidate(_asked("g", {"b": "x"}), _asked("f", {"a": 2})),
    "text and call": _candidate({"text": "e"}, _asked("f", {"a": 3})),
    "text and reason": _candidate({"text": "f"}, reason="STOP", **_COUNTS),
    "stop": _candidate({"text": ""}, reason="STOP", **_COUNTS),
    "call and reason": _candidate(_asked("f", {"a": 4}), reason="STOP"),
    "length": _candidate(reason="MAX_TOKENS"),
    "comment": b": ping\n\n",
    "blank": b"\n\n",
}
_ODD_GEMINI: dict[str, bytes] = {
    "another answer": _candidate({"text": "c"}, responseId="r2"),
    "no id": _event({"candidates": [{"content": {"parts": [{"text": "c"}]}}]}),
    "another candidate": _event(
        {"candidates": [{"index": 1, "content": {"parts": [{"text": "c"}]}}], "responseId": "r1"}
    ),
    "two candidates": _event({"candidates": [{"content": {}}, {"index": 1}], "responseId": "r1"}),
    "no arguments": _candidate(_asked("f", {})),
    "without arguments": _candidate({"functionCall": {"name": "f"}}),
    "in pieces": _candidate({"functionCall": {"name": "f", "willContinue": True}}),
    "same id": _candidate(_asked("g", {"b": 2}, id="c0")),
    "no name": _candidate({"functionCall": {"args": {"a": 1}}}),
    "code": _candidate({"executableCode": {"code": "1", "language": "PYTHON"}}),
    "media": _candidate({"inlineData": {"mimeType": "image/png", "data": "x"}}),
    "sealed text": _candidate({"text": "c", "thoughtSignature": "S"}),
    "snake": _event(
        {"candidates": [{"content": {"parts": [{"function_call": {"name": "f"}}]}}], "response_id": "r1"}
    ),
    "malformed": _candidate(reason="MALFORMED_FUNCTION_CALL"),
    "filter": _candidate(reason="SAFETY"),
    "cut": _candidate({"text": "c"}, reason="MAX_TOKENS"),
    "blocked": _event({"promptFeedback": {"blockReason": "SAFETY"}, "responseId": "r1"}),
    "error": _event({"error": {"code": 503, "message": "x"}}),
    "wrapped": _event({"response": {"candidates": [], "responseId": "r1"}}),
    "strange call": _candidate(client_tool_call={"name": "f", "input": {"a": 1}}),
    "done": _DONE,
    "CRLF": _candidate({"text": "c"}).replace(b"\n", b"\r\n"),
    "broken": b'data: {"candidates"\n\n',
    "not UTF-8": _candidate({"text": "e"}).replace(b'"e"', b'"\xff"'),
}


def _gemini_stream(rng: Random) -> list[bytes]:
    chosen = rng.choices(["text", "thought", "call", "call", "calls"], k=rng.randrange(5))
    frames = [_GEMINI_OPENS]
    for n, kind in enumerate(chosen):
        more = _COUNTS if rng.random() < 0.5 else {}
        if kind in ("text", "thought"):
            thought = {"thought": True} if kind == "thought" else {}
            frames += [
                _candidate({"text": piece, **thought}, **more) for piece in _pieces(rng, "I look it up.")
            ]
        elif kind == "calls":
            frames.append(_candidate(_asked("f", {"a": n}), _asked("g", {"b": {"c": n}}), **more))
        else:
            seal = {"thoughtSignature": "S"} if rng.random() < 0.5 else {}
            frames.append(_candidate({**_asked("f", {"a": n}, id=f"c{n}"), **seal}, **more))
    called = any("call" in kind for kind in chosen)
    frames.append(
        _candidate({"text": ""}, reason="STOP" if called else rng.choice(["STOP", "MAX_TOKENS"]), **_COUNTS)
    )
    return [frame.replace(b"\n", b"\r\n") for frame in frames] if rng.random() < 0.5 else frames


_GEMINI_WIRE = Wire(
    _GEMINI_OPENS,
    _GEMINI,
    _ODD_GEMINI,
    ("text", "call", "stop"),
    ("call with id c0",),
    (
        ("text", "text", "thought", "comment", "stop"),
        ("thought", "call", "call with an id", "sealed call", "text", "two calls", "call and reason"),
        ("text", "call"),
    ),
    _gemini_stream,
)


# --- Ollama -------------------------------------------------------------------------------------------------


def _line(done: bool = False, content: str = "", **members: Any) -> bytes:
    """Return a line."""
    message = {"role": "assistant", "content": content}
    message |= {name: members.pop(name) for name in ("tool_calls", "thinking") if name in members}
    line = {"model": "m", "created_at": "2026", "message": message, "done": done, **members}
    return json.dumps(line).encode() + b"\n"


def _wanted(name: str = "f", arguments: Any = None, **more: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": {"a": 1} if arguments is None else arguments}, **more}


_OLLAMA_OPENS = _line(content="H")
_OLLAMA: dict[str, bytes] = {
    "text": _line(content="a"),
    "thought": _line(thinking="b"),
    "call": _line(tool_calls=[_wanted()]),
    "call with an id": _line(tool_calls=[_wanted(id="c1")]),
    "call with id c0": _line(tool_calls=[_wanted("h", {"x": 1}, id="c0")]),
    "two calls": _line(tool_calls=[_wanted("g", {"b": "x"}), _wanted("f", {"a": 2})]),
    "text and call": _line(content="e", tool_calls=[_wanted("f", {"a": 3})]),
    "stop": _line(True, done_reason="stop", prompt_eval_count=5, eval_count=2),
    "text and reason": _line(True, content="f", done_reason="stop"),
    "call and reason": _line(True, tool_calls=[_wanted("f", {"a": 4})], done_reason="stop"),
    "length": _line(True, done_reason="length", eval_count=3),
    "blank": b"\n",
}
_INDEXED = {"function": {"index": 0, "name": "f", "arguments": {"a": 1}}}
_ODD_OLLAMA: dict[str, bytes] = {
    "no arguments": _line(tool_calls=[_wanted("f", {})]),
    "broken arguments": _line(tool_calls=[_wanted("f", '{"a":')]),
    "same id": _line(tool_calls=[_wanted("g", {"b": 2}, id="c0")]),
    "index": _line(tool_calls=[_INDEXED]),
    "no name": _line(tool_calls=[{"function": {"arguments": {"a": 1}}}]),
    "both": _line(content="c", thinking="d"),
    "no reason": _line(True),
    "load": _line(True, done_reason="load"),
    "STOP": _line(True, done_reason="STOP"),
    "error": b'{"error":"model not found"}\n',
    "of another kind": b'{"model":"m","created_at":"2026","response":"c","done":false}\n',
    "strange call": _line(client_tool_call={"name": "f", "input": {"a": 1}}),
    "CRLF": _line(content="c").replace(b"\n", b"\r\n"),
    "broken": b'{"model":\n',
    "event": b"data: {}\n",
    "not UTF-8": _line(content="e").replace(b'"e"', b'"\xff"'),
}


def _ollama_stream(rng: Random) -> list[bytes]:
    chosen = rng.choices(["text", "thought", "call", "call", "calls"], k=rng.randrange(5))
    frames = [_OLLAMA_OPENS]
    for n, kind in enumerate(chosen):
        if kind in ("text", "thought"):
            name = "content" if kind == "text" else "thinking"
            frames += [_line(**{name: piece}) for piece in _pieces(rng, "I look it up.")]
        elif kind == "calls":
            frames.append(_line(tool_calls=[_wanted("f", {"a": n}), _wanted("g", {"b": {"c": n}})]))
        else:
            frames.append(_line(tool_calls=[_wanted("f", {"a": n}, id=f"c{n}")]))
    called = any("call" in kind for kind in chosen)
    return [
        *frames,
        _line(True, done_reason="stop" if called else rng.choice(["stop", "length"]), eval_count=9),
    ]


_OLLAMA_WIRE = Wire(
    _OLLAMA_OPENS,
    _OLLAMA,
    _ODD_OLLAMA,
    ("text", "call", "stop"),
    ("call with id c0",),
    (
        ("text", "text", "thought", "blank", "stop"),
        ("thought", "call", "call with an id", "text", "two calls", "call and reason"),
        ("text", "call"),
    ),
    _ollama_stream,
)

WIRES = {
    "chat-completions": _CHAT_WIRE,
    "anthropic": _ANTHROPIC_WIRE,
    "responses": _RESPONSES_WIRE,
    "gemini": _GEMINI_WIRE,
    "ollama": _OLLAMA_WIRE,
}
