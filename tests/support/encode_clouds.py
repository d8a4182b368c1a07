"""Render abstract turns as DashScope, Mistral's conversations, Workers AI, Meta's Llama API and ERNIE send them.

Written from the providers' references; knows nothing of wholecall.
"""

# ruff: noqa: A002 - ids and types are called so on the wire
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.support.encode import (
    ABSENT,
    JSON,
    Call,
    Pieces,
    Turn,
    done,
    members,
    sse,
    typed_sse,
    whole,
)


def _usage(turn: Turn) -> JSON:
    return {"prompt_tokens": 41, "completion_tokens": turn.tokens, "total_tokens": 41 + turn.tokens}


# DashScope


def dashscope_call(
    index: Any, *, id: Any = ABSENT, name: Any = ABSENT, arguments: Any = ABSENT, type: Any = "function"
) -> JSON:
    """Return one entry of `tool_calls`."""
    return members(index=index, id=id, type=type, function=members(name=name, arguments=arguments))


def dashscope_frame(
    *calls: JSON,
    content: Any = "",
    reasoning: Any = ABSENT,
    finish: Any = "null",
    id: str = "5a1c-req",
    tokens: int = 7,
) -> JSON:
    """Return one frame with one choice."""
    message = {"role": "assistant", "content": content}
    message |= members(reasoning_content=reasoning, tool_calls=list(calls) or ABSENT)
    usage = {"input_tokens": 212, "output_tokens": tokens, "total_tokens": 212 + tokens}
    output = {"choices": [{"message": message, "finish_reason": finish}]}
    return {"output": output, "usage": usage, "request_id": id}


def dashscope_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the frames of a turn with `incremental_output`."""
    payloads = [dashscope_frame(reasoning=piece, id=turn.id) for piece in pieces(turn.reasoning)]
    payloads += [dashscope_frame(content=piece, id=turn.id) for piece in pieces(turn.text)]
    for index, call in enumerate(turn.calls):
        first = dashscope_call(index, id=call.id, name=call.name, arguments="")
        rest = [dashscope_call(index, id="", arguments=piece) for piece in pieces(call.arguments)]
        payloads += [dashscope_frame(entry, id=turn.id) for entry in (first, *rest)]
    finish = turn.stopped or ("tool_calls" if turn.calls else "stop")
    return [*payloads, dashscope_frame(finish=finish, id=turn.id, tokens=turn.tokens)]


def restating(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the frames of a turn without `incremental_output`: each repeats all earlier content."""
    texts = ["".join(pieces(turn.text)[:n]) for n in range(1, len(pieces(turn.text)) + 1)] or [""]
    states: list[tuple[str, list[JSON]]] = [(text, []) for text in texts]
    before: list[JSON] = []
    for index, call in enumerate(turn.calls):
        parts = pieces(call.arguments)
        for n in range(len(parts) + 1):
            entry = dashscope_call(index, id=call.id, name=call.name, arguments="".join(parts[:n]))
            states.append((texts[-1], [*before, entry]))
        before = states[-1][1]
    reasons = ["null"] * (len(states) - 1) + [turn.stopped or ("tool_calls" if turn.calls else "stop")]
    return [
        dashscope_frame(*calls, content=text, finish=reason, id=turn.id, tokens=n)
        for n, ((text, calls), reason) in enumerate(zip(states, reasons, strict=True), 1)
    ]


def dashscope_stream(payloads: Iterable[JSON], *, event: str = "result", status: int = 200) -> bytes:
    """Return frames as a stream: an id, a name, the status as a comment, no space after the colons."""
    heads = (f"id:{n}\nevent:{event}\n:HTTP_STATUS/{status}\n" for n, _ in enumerate(payloads, 1))
    return b"".join(
        head.encode() + sse(payload, space=False) for head, payload in zip(heads, payloads, strict=False)
    )


def render_dashscope(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a stream of increments."""
    return dashscope_stream(dashscope_payloads(turn, pieces))


def render_dashscope_restating(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a stream whose frames tell everything again."""
    return dashscope_stream(restating(turn, pieces))


# Mistral's conversations

_WHEN = "2026-03-04T10:20:30.512Z"


def conversation_start(id: str) -> JSON:
    """Return the first event."""
    return {"type": "conversation.response.started", "created_at": _WHEN, "conversation_id": id}


def conversation_end(tokens: int = 9) -> JSON:
    """Return the last event."""
    usage = {"prompt_tokens": 87, "completion_tokens": tokens, "total_tokens": 87 + tokens}
    counts: JSON = usage | {"connector_tokens": None, "connectors": None}
    return {"type": "conversation.response.done", "created_at": _WHEN, "usage": counts}


def said(content: Any, *, output: int = 0, part: int = 0, id: str = "msg_01k3") -> JSON:
    """Return a piece of the visible answer."""
    where = {"id": id, "output_index": output, "content_index": part, "role": "assistant"}
    return {"type": "message.output.delta", "created_at": _WHEN, **where, "content": content}


def entry(output: Any, id: Any, tool_call_id: Any, name: Any, arguments: Any, **more: Any) -> JSON:
    """Return one event of a function call; each has all of its labels."""
    labels = members(id=id, output_index=output, name=name, tool_call_id=tool_call_id)
    return {"type": "function.call.delta", "created_at": _WHEN, **labels, "arguments": arguments, **more}


def conversation_call(output: Any, call: Call, pieces: Pieces = whole, **more: Any) -> list[JSON]:
    """Return the events of a call: at least one, because there is no start."""
    texts = list(pieces(call.arguments)) or [""]
    return [entry(output, f"fc_{call.id}", call.id, call.name, text, **more) for text in texts]


def conversation_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the events of a turn."""
    payloads = [conversation_start(turn.id)]
    thoughts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": p}]} for p in pieces(turn.reasoning)
    ]
    payloads += [said(content) for content in (*thoughts, *pieces(turn.text))]
    for output, call in enumerate(turn.calls, 1):
        payloads += conversation_call(output, call, pieces)
    return [*payloads, conversation_end(turn.tokens)]


def render_conversation(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a stream of a conversation."""
    return typed_sse(conversation_payloads(turn, pieces))


# Workers AI


def workers_call(
    index: Any = ABSENT, *, id: Any = ABSENT, name: Any = ABSENT, arguments: Any = ABSENT, type: Any = ABSENT
) -> JSON:
    """Return one entry of `tool_calls`."""
    return members(id=id, type=type, index=index, function=members(name=name, arguments=arguments))


def _sentinel(index: int) -> JSON:
    return workers_call(index, id=None, type=None, name=None, arguments="")


def workers_frame(*calls: JSON, response: Any = ABSENT, **more: Any) -> JSON:
    """Return one frame: its text is null where it holds calls."""
    text = (None if calls else "") if response is ABSENT else response
    return {"response": text} | members(tool_calls=list(calls) or ABSENT) | more


def workers_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the frames of a turn."""
    payloads = [
        workers_frame(response=piece, p="abdefghijk"[: len(piece) % 9]) for piece in pieces(turn.text)
    ]
    for index, call in enumerate(turn.calls):
        start = workers_call(index, id=call.id, type="function", name=call.name)
        rest = [workers_call(index, arguments=piece) for piece in pieces(call.arguments)]
        payloads += [workers_frame(each) for each in (start, *rest, _sentinel(index))]
    return [*payloads, workers_frame(usage=_usage(turn))]


def workers_stream(payloads: Iterable[JSON], *, ended: bool = True) -> bytes:
    """Return frames as a stream."""
    return b"".join(map(sse, payloads)) + (done() if ended else b"")


def render_workers(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a stream of Workers AI."""
    return workers_stream(workers_payloads(turn, pieces))


# Meta's Llama API


def llama_event(kind: str, delta: Any = None, *, id: str = "AbQ9-llama", **more: Any) -> JSON:
    """Return one event."""
    shown = {"type": "text", "text": ""} if delta is None else delta
    return {"id": id, "event": {"event_type": kind, "delta": shown} | more}


def llama_text(text: str, *, kind: str = "progress", **more: Any) -> JSON:
    """Return a piece of text."""
    return llama_event(kind, {"type": "text", "text": text}, **more)


def llama_call(
    call_id: Any = ABSENT, name: Any = ABSENT, arguments: Any = ABSENT, *, id: str = "AbQ9-llama"
) -> JSON:
    """Return a piece of a call."""
    function = members(name=name, arguments=arguments)
    delta = {"type": "tool_call"} | members(id=call_id) | {"function": function}
    return llama_event("progress", delta, id=id)


def llama_metrics(tokens: int) -> list[JSON]:
    """Return the counts of a response."""
    named = (("num_completion_tokens", tokens), ("num_prompt_tokens", 88), ("num_total_tokens", 88 + tokens))
    return [{"metric": name, "value": value, "unit": "tokens"} for name, value in named]


def llama_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the events of a turn."""
    about: JSON = {"id": turn.id}
    payloads = [llama_event("start", **about)]
    payloads += [llama_text(piece, **about) for piece in pieces(turn.text)]
    for call in turn.calls:
        payloads.append(llama_call(call.id, call.name, **about))
        payloads += [llama_call(arguments=piece, **about) for piece in pieces(call.arguments)]
    reason = turn.stopped or ("tool_calls" if turn.calls else "stop")
    payloads.append(llama_event("complete", **about, stop_reason=reason))
    return [*payloads, llama_event("metrics", **about, metrics=llama_metrics(turn.tokens))]


def llama_stream(payloads: Iterable[JSON]) -> bytes:
    """Return events as a stream; it has no end mark."""
    return b"".join(map(sse, payloads))


def render_llama(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a stream of the Llama API."""
    return llama_stream(llama_payloads(turn, pieces))


# ERNIE, before the second version of Qianfan's API


def ernie_frame(turn: Turn, **more: Any) -> JSON:
    """Return one frame of an answer; a body is one without the members of a stream."""
    frame = {"id": turn.id, "object": "chat.completion", "created": turn.created, "result": ""}
    return frame | {"is_truncated": False, "need_clear_history": False, "usage": _usage(turn)} | more


def ernie_call(call: Call) -> JSON:
    """Return a frame's call, with the reason why the model made it."""
    return {"name": call.name, "thoughts": f"I need {call.name}.", "arguments": call.arguments}


def ernie_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the frames of a turn."""
    said: list[JSON] = [{"result": piece} for piece in pieces(turn.text)]
    said += [{"function_call": ernie_call(call)} for call in turn.calls]
    reason = turn.stopped or ("function_call" if turn.calls else "normal")
    said.append({"is_end": True, "is_truncated": turn.stopped is not None, "finish_reason": reason})
    return [
        ernie_frame(turn, **{"sentence_id": number, "is_end": False, **more})
        for number, more in enumerate(said)
    ]


def render_ernie(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as ERNIE streams it."""
    return b"".join(map(sse, ernie_payloads(turn, pieces)))


# Tencent Hunyuan, the native API


def hunyuan_chunk(turn: Turn, reason: str = "", **delta: Any) -> JSON:
    """Return one chunk of an answer."""
    usage = _usage(turn)
    return {
        "Note": "Made by AI.",
        "Choices": [{"FinishReason": reason, "Delta": {"Role": "assistant", "Content": "", **delta}}],
        "Created": turn.created,
        "Id": turn.id,
        "Usage": {"PromptTokens": usage["prompt_tokens"], "TotalTokens": usage["total_tokens"]},
    }


def hunyuan_call(call: Call, name: str, text: str) -> JSON:
    """Return a piece of a call, whose name only the first piece has."""
    return {"Id": call.id, "Type": "function", "Function": {"Name": name, "Arguments": text}}


def hunyuan_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the chunks of a turn."""
    chunks = [hunyuan_chunk(turn, Content=piece) for piece in pieces(turn.text)]
    for call in turn.calls:
        chunks.append(hunyuan_chunk(turn, ToolCalls=[hunyuan_call(call, call.name, "")]))
        chunks += [
            hunyuan_chunk(turn, ToolCalls=[hunyuan_call(call, "", piece)]) for piece in pieces(call.arguments)
        ]
    return [*chunks, hunyuan_chunk(turn, turn.stopped or ("tool_calls" if turn.calls else "stop"))]


def render_hunyuan(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as Hunyuan streams it."""
    return b"".join(map(sse, hunyuan_payloads(turn, pieces)))
