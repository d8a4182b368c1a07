"""Conforming streams of the conformance suite, typed as turns and rendered for each wire."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tests.support import encode, encode_bedrock, encode_cohere, encode_gemini, encode_ollama
from tests.support.conformance_case import ANY_END, HTTP_WIRES, INPUT, JSON, Case, call_of, is_common
from tests.support.encode import Call, Pieces, Turn, compact, every

_SUFFIXES = dict.fromkeys(HTTP_WIRES, "sse") | {"bedrock-converse": "bin", "ollama": "ndjson"}
_IDS = {"anthropic": "toolu_01Conform", "bedrock-converse": "tooluse_conform", "gemini": "fc_"}
_MODELS = {"anthropic": "claude-conformance-1", "gemini": "gemini-conformance-1"}
# The wires whose arguments are values, and not text.
VALUES = frozenset({"gemini", "ollama"})
MAIN = ("chat-completions", "responses", "anthropic")
_SIZE = 7


def suffix_of(wire: str) -> str:
    """Return the suffix of a wire's streams."""
    return _SUFFIXES[wire]


# From turns to payloads, and to frames


def _responses(turn: Turn, pieces: Pieces) -> list[JSON]:
    """Return the events of a turn, with two members that the reference has had since 2026."""
    payloads = encode.responses_payloads(turn, pieces)
    names = {f"fc_{call.id}": call.name for call in turn.calls}
    for payload in payloads:
        if payload["type"] == "response.function_call_arguments.done":
            payload["name"] = names[payload["item_id"]]
    payloads[-1]["response"]["usage"]["input_tokens_details"]["cache_write_tokens"] = 0
    return payloads


def _converse(turn: Turn, pieces: Pieces) -> list[JSON]:
    return [{name: payload} for name, payload in encode_bedrock.converse_events(turn, pieces)]


_PAYLOADS: dict[str, Callable[[Turn, Pieces], list[JSON]]] = {
    "chat-completions": encode.chat_payloads,
    "responses": _responses,
    "anthropic": encode.anthropic_payloads,
    "gemini": encode_gemini.payloads,
    "bedrock-converse": _converse,
    "ollama": encode_ollama.chat_payloads,
    "cohere-v2": encode_cohere.v2_payloads,
}


def payloads_of(wire: str, turn: Turn, pieces: Pieces) -> list[JSON]:
    """Return the payloads of a turn."""
    return _PAYLOADS[wire](turn, pieces)


def frames_of(wire: str, payloads: Sequence[JSON]) -> list[bytes]:
    """Return each payload as a frame, without the end that some wires have."""
    if wire == "chat-completions":
        return [encode.sse(payload) for payload in payloads]
    if wire == "gemini":
        return [encode.sse(payload, newline=b"\r\n") for payload in payloads]
    if wire == "ollama":
        return [encode.json_lines([payload]) for payload in payloads]
    if wire == "bedrock-converse":
        events = [event for payload in payloads for event in payload.items()]
        return in_messages(encode_bedrock.converse_stream(events))
    return [encode.sse(payload, payload["type"]) for payload in payloads]


def in_messages(data: bytes) -> list[bytes]:
    """Cut a binary event stream into its messages."""
    found = []
    while data:
        (size,) = struct.unpack(">I", data[:4])
        found.append(data[:size])
        data = data[size:]
    return found


def end_of(wire: str) -> bytes:
    """Return the frame behind the last payload, where the wire has one."""
    return encode.done() if wire in ("chat-completions", "cohere-v2") else b""


def stream_of(wire: str, turn: Turn, pieces: Pieces) -> bytes:
    """Return a turn as a stream."""
    return b"".join(frames_of(wire, payloads_of(wire, turn, pieces))) + end_of(wire)


# From typed data to turns


def call_id(wire: str, name: str, position: int) -> str:
    """Return the id of a call, in the fashion of the wire."""
    word = re.sub(r"[^a-z]", "", name)
    return f"{_IDS.get(wire, 'call_')}{word}{position + 1}"


def turn_of(wire: str, typed: JSON) -> Turn:
    """Return a typed turn with the ids and the model of a wire."""
    is_empty = wire in typed.get("empty", ())
    calls = [
        Call(
            typed.get("ids", {}).get(str(n)) or call_id(wire, call["name"], n),
            call["name"],
            "" if is_empty and not call["arguments"] else compact(call["arguments"]),
        )
        for n, call in enumerate(typed.get("calls", ()))
    ]
    return Turn(
        calls,
        text=typed.get("text", ""),
        reasoning=typed.get("reasoning", ""),
        id=re.sub(r"[^a-z]", "", typed["name"]),
        model=_MODELS.get(wire, "conformance-1"),
        created=1_796_000_000,
    )


def sent_of(wire: str, turn: Turn) -> list[JSON]:
    """Return the calls of a turn as the suite writes them."""
    return [
        call_of(
            call.id,
            call.name,
            json.loads(call.arguments or "{}"),
            None if wire in VALUES else call.arguments,
        )
        for call in turn.calls
    ]


def typed_turns() -> list[JSON]:
    """Return the turns that were typed for the suite."""
    found: list[JSON] = json.loads((INPUT / "typed.json").read_bytes())
    return found


def _case(wire: str, typed: JSON, **more: Any) -> Case:
    turn = turn_of(wire, typed)
    about: dict[str, Any] = {"level": "core", "kind": "plain", "origin": "typed"}
    about |= {key: typed[key] for key in ("level", "kind", "numbers", "asked") if key in typed}
    text = None if wire == "cohere-v2" and turn.calls else turn.text
    return Case(
        wire=wire,
        name=typed["name"],
        about=typed["about"],
        data=stream_of(wire, turn, every(typed.get("pieces", _SIZE))),
        suffix=suffix_of(wire),
        sent=sent_of(wire, turn),
        text=text,
        finish="tool_calls" if turn.calls else "stop",
        **about | more,
    )


def core() -> list[Case]:
    """Return the conforming cases."""
    return [_case(wire, typed) for typed in typed_turns() for wire in typed.get("wires", HTTP_WIRES)]


# Other forms of the same events

_COMMENT, _LINES = 53, 55
_FORMS: dict[str, tuple[str, int, Callable[[bytes], bytes]]] = {
    "sse-comments": (
        "Comments stand between the events, as servers send them that keep a connection open.",
        _COMMENT,
        lambda frame: b": keep-alive\n\n" + frame,
    ),
    "sse-crlf": (
        "All lines end in CRLF.",
        _LINES,
        lambda frame: frame.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    ),
    "sse-no-space": (
        "No space follows the colons of fields.",
        _LINES,
        lambda frame: re.sub(rb"^(event|data): ", rb"\1:", frame, flags=re.MULTILINE),
    ),
}


def framed() -> list[Case]:
    """Return two calls in event streams whose form the standard of server-sent events allows."""
    typed = next(typed for typed in typed_turns() if typed["name"] == "two-calls")
    return [
        _framed(wire, typed | {"name": name, "about": about, "text": "Both, then."}, number, change)
        for wire in HTTP_WIRES
        if suffix_of(wire) == "sse"
        for name, (about, number, change) in _FORMS.items()
    ]


def _framed(wire: str, typed: JSON, number: int, change: Callable[[bytes], bytes]) -> Case:
    case = _case(wire, typed, kind="framing", quirks=[number])
    frames = frames_of(wire, payloads_of(wire, turn_of(wire, typed), every(_SIZE)))
    data = b"".join(map(change, [*frames, *filter(None, [end_of(wire)])]))
    return replace(case, data=data, level="common" if is_common(number) else "rare")


# Large, deep and many


def hostile() -> list[Case]:
    """Return streams that are large, deep or many: to refuse them is right as well."""
    found = json.loads((INPUT / "hostile.json").read_bytes())
    return [_hostile(wire, typed) for typed in found for wire in typed.get("wires", MAIN)]


def _hostile(wire: str, typed: JSON) -> Case:
    case = _case(
        wire, _grown(wire, typed), level="hostile", kind="limits", origin="generated", accept=ANY_END
    )
    if "index" not in typed:
        return case
    changed = f'"tool_calls":[{{"index":{typed["index"]},'.encode()
    return replace(case, data=case.data.replace(b'"tool_calls":[{"index":0,', changed))


def _grown(wire: str, typed: JSON) -> JSON:
    """Return a turn of the size that its numbers say."""
    arguments: JSON = {"note": "ebb and flow, "[: typed.get("string", 3)] + _repeated(typed.get("string", 0))}
    for level in range(typed.get("depth", 0)):
        arguments = {"in": [arguments]} if level % 2 else {"in": arguments}
    calls = [
        {"name": "keep_note", "arguments": arguments | ({"n": n} if n else {})}
        for n in range(typed.get("calls", 1))
    ]
    more = {"ids": {"0": call_id(wire, "", 0) + "x" * typed["id"]}} if "id" in typed else {}
    return {key: typed[key] for key in ("name", "about", "pieces")} | {"calls": calls} | more


def _repeated(size: int) -> str:
    words = "high water at six, low water at noon; "
    return (words * (size // len(words) + 1))[:size]


# What the server says once tools have answered


def farewells() -> dict[str, bytes]:
    """Return the farewells by file name: a stream for each wire, and a body."""
    found = {}
    for wire in HTTP_WIRES:
        turn = turn_of(wire, {"name": "farewell", "text": "All is done."})
        found[f"{wire}.{suffix_of(wire)}"] = stream_of(wire, turn, encode.whole)
        found[f"{wire}.json"] = body_of(wire, turn)
    return found


# Bodies


def bodies() -> list[Case]:
    """Return the conforming answers that are not streamed."""
    typed = next(typed for typed in typed_turns() if typed["name"] == "two-calls")
    told = typed | {
        "name": "body-two-calls",
        "about": "A body with a sentence and two calls.",
        "text": "Both, then.",
    }
    return [
        replace(_case(wire, told), data=body_of(wire, turn_of(wire, told)), suffix="json", kind="body")
        for wire in HTTP_WIRES
    ]


def body_of(wire: str, turn: Turn) -> bytes:
    """Return a turn as a body."""
    return (compact(_BODIES[wire](turn)) + "\n").encode()


def _chat_body(turn: Turn) -> JSON:
    message: JSON = {"role": "assistant", "content": turn.text, "refusal": None}
    if turn.calls:
        message["tool_calls"] = list(map(_function_call, turn.calls))
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": encode.chat_finish(turn)}
    head = {"id": f"chatcmpl-{turn.id}", "object": "chat.completion", "created": turn.created}
    return head | {"model": turn.model, "choices": [choice], "usage": encode.chat_usage(64, turn.tokens)}


def _responses_body(turn: Turn) -> JSON:
    response: JSON = _responses(turn, encode.whole)[-1]["response"]
    return response


def _anthropic_body(turn: Turn) -> JSON:
    message: JSON = encode.anthropic_start(f"msg_{turn.id}", turn.model)["message"]
    content: list[JSON] = [{"type": "text", "text": turn.text}]
    content += [encode.tool_use(call, input=json.loads(call.arguments)) for call in turn.calls]
    usage = encode.anthropic_usage(turn.tokens)
    return message | {"content": content, "stop_reason": encode.anthropic_reason(turn), "usage": usage}


def _gemini_body(turn: Turn) -> JSON:
    parts = [{"text": turn.text}, *map(encode_gemini.call_part, turn.calls)]
    return encode_gemini.frame(*parts, reason="STOP", id=turn.id, model=turn.model)


def _converse_body(turn: Turn) -> JSON:
    content: list[JSON] = [{"text": turn.text}]
    content += [
        {"toolUse": {"toolUseId": call.id, "name": call.name, "input": json.loads(call.arguments)}}
        for call in turn.calls
    ]
    usage = {"inputTokens": 64, "outputTokens": turn.tokens, "totalTokens": 64 + turn.tokens}
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": "tool_use" if turn.calls else "end_turn",
        "usage": usage,
        "metrics": {"latencyMs": 412},
    }


def _ollama_body(turn: Turn) -> JSON:
    calls = [
        encode_ollama.call_entry(c.name, json.loads(c.arguments), id=c.id, index=n)
        for n, c in enumerate(turn.calls)
    ]
    message = encode_ollama.said(turn.text, **({"tool_calls": calls} if calls else {}))
    return encode_ollama.last(message, tokens=turn.tokens, model=turn.model)


def _cohere_body(turn: Turn) -> JSON:
    message: JSON = {"role": "assistant"}
    if turn.calls:
        message |= {"tool_plan": turn.text, "tool_calls": list(map(_function_call, turn.calls))}
    else:
        message |= {"content": [{"type": "text", "text": turn.text}]}
    reason = "TOOL_CALL" if turn.calls else "COMPLETE"
    return {
        "id": turn.id,
        "finish_reason": reason,
        "message": message,
        "usage": encode_cohere.usage(turn.tokens),
    }


def _function_call(call: Call) -> JSON:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


_BODIES: dict[str, Callable[[Turn], JSON]] = {
    "chat-completions": _chat_body,
    "responses": _responses_body,
    "anthropic": _anthropic_body,
    "gemini": _gemini_body,
    "bedrock-converse": _converse_body,
    "ollama": _ollama_body,
    "cohere-v2": _cohere_body,
}
