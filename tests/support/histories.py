"""Random histories of every shape: one list of happenings, rendered as each host would store it.

A happening is neutral: the user writes, the model answers in blocks, a result arrives. Nothing keeps the
happenings in order, so histories hold orphans, duplicates, repeated ids, gaps, blanks and turns that were cut.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from wholecall.history import MISSING_RESULT

JSON = dict[str, Any]


@dataclass(frozen=True)
class Block:
    """A piece of an answer: `text`, `thinking`, `call`, `server` or `server_alone`."""

    kind: str
    text: str = ""
    id: str = ""
    name: str = "read"
    arguments: Any = field(default_factory=dict)  # a dict, or a text; None: no such member
    scratch: bool = False


@dataclass(frozen=True)
class Answer:
    """An answer of the model; `stop` is a reason of chat completions, `aborted` or `error`."""

    blocks: tuple[Block, ...]
    stop: str | None = None


@dataclass(frozen=True)
class Said:
    """A message of the user."""

    text: str


@dataclass(frozen=True)
class Result:
    """A result; glued to the user's message before it where a shape can do that."""

    id: str
    text: str = "done"
    name: str = "read"
    glued: bool = False


@dataclass(frozen=True)
class Note:
    """An entry of a session file that is not part of the conversation."""


Happening = Answer | Said | Result | Note

# --- strategies -----------------------------------------------------------------------------------------------

_ids = st.sampled_from(("c1", "c2", "c3", "functions.read:0", "read:1", "a1b2c3d4e", ""))
_names = st.sampled_from(("read", "read", "exec", "", " "))
_words = st.sampled_from(("hello", "look", "Zürich \u2192", "", "  \n", "x" * 30))
_arguments = st.sampled_from(
    (
        *({"path": "/x"}, {"path": "/x", "n": 1}, {}, None, '{"path":"/x"}', '{"pa', "", "[1]"),
        *('{"s":"\\ud83d"}', '{"a":1,}', ' {"a": 1} '),
    )
)
_calls = st.builds(
    Block,
    st.just("call"),
    id=_ids,
    name=_names,
    arguments=_arguments,
    scratch=st.sampled_from((False,) * 7 + (True,)),
)
_blocks = st.one_of(
    _calls,
    _calls,
    st.builds(Block, st.just("text"), text=_words),
    st.builds(Block, st.just("thinking"), text=st.just("hmm")),
    st.builds(Block, st.sampled_from(("server", "server_alone")), id=st.sampled_from(("s1", "s2"))),
)
_stops = st.sampled_from((None, "stop", "tool_calls", "length", "aborted", "error", "content_filter"))
_answers = st.builds(Answer, st.lists(_blocks, max_size=4).map(tuple), _stops)
_results = st.builds(
    Result,
    _ids,
    text=st.sampled_from(("done", "done", "", "No result provided", MISSING_RESULT)),
    name=st.sampled_from(("read", "exec")),
    glued=st.booleans(),
)
happenings = st.lists(
    st.one_of(_answers, _answers, _results, _results, st.builds(Said, _words), st.just(Note())), max_size=9
)

# --- role messages --------------------------------------------------------------------------------------------

_STOP_WORDS = {
    "anthropic": {
        "stop": "end_turn",
        "tool_calls": "tool_use",
        "length": "max_tokens",
        "content_filter": "refusal",
    },
    "pi": {"tool_calls": "toolUse", "content_filter": "stop"},
    "gemini": {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"},
}


def _stop(shape: str, member: str, answer: Answer) -> JSON:
    if answer.stop is None:
        return {}
    return {member: _STOP_WORDS.get(shape, {}).get(answer.stop, answer.stop)}


def _text(arguments: Any) -> Any:
    return json.dumps(arguments) if isinstance(arguments, dict) else arguments


def _present(**members: Any) -> JSON:
    return {name: value for name, value in members.items() if value is not None}


def _chat(happened: list[Happening]) -> Iterator[JSON]:
    for one in happened:
        if isinstance(one, Said):
            yield {"role": "user", "content": one.text}
        elif isinstance(one, Result):
            yield {"role": "tool", "tool_call_id": one.id, "content": one.text}
        elif isinstance(one, Answer):
            texts = [{"type": "text", "text": block.text} for block in one.blocks if block.kind == "text"]
            thoughts = [block.text for block in one.blocks if block.kind == "thinking"]
            calls = [_chat_call(block) for block in one.blocks if block.kind == "call"]
            content: Any = texts[0]["text"] if len(texts) == 1 else texts or None
            more: JSON = {"reasoning_content": thoughts[0]} if thoughts else {}
            more |= {"tool_calls": calls} if calls or len(one.blocks) == 3 else {}
            yield {"role": "assistant", "content": content} | more | _stop("chat", "finish_reason", one)


def _chat_call(block: Block) -> JSON:
    function = _present(name=block.name, arguments=_text(block.arguments))
    scratch = {"partialJson": '{"pa'} if block.scratch else {}
    return {"id": block.id, "type": "function", "function": function} | scratch


def _anthropic(happened: list[Happening]) -> Iterator[JSON]:
    messages: list[JSON] = []
    for one in happened:
        if isinstance(one, Said):
            messages.append({"role": "user", "content": one.text})
        elif isinstance(one, Result):
            block = {"type": "tool_result", "tool_use_id": one.id, "content": one.text}
            _glue(messages, block, "content", one)
        elif isinstance(one, Answer):
            blocks = [made for block in one.blocks for made in _anthropic_blocks(block)]
            messages.append({"role": "assistant", "content": blocks} | _stop("anthropic", "stop_reason", one))
    yield from messages


def _glue(messages: list[JSON], block: JSON, member: str, result: Result) -> None:
    last = messages[-1] if messages else {}
    if result.glued and last.get("role") == "user":
        if isinstance(last[member], str):
            last[member] = [{"type": "text", "text": last[member]}]
        last[member].append(block)
    else:
        messages.append({"role": "user", member: [block]})


def _anthropic_blocks(block: Block) -> list[JSON]:
    if block.kind == "text":
        return [{"type": "text", "text": block.text}]
    if block.kind == "thinking":
        return [{"type": "thinking", "thinking": block.text, "signature": "sig"}]
    if block.kind == "call":
        call = {"type": "tool_use", "id": block.id, "name": block.name} | _present(input=block.arguments)
        return [call | ({"partialJson": ""} if block.scratch else {})]
    use = {"type": "server_tool_use", "id": block.id, "name": "web_search", "input": {}}
    told = {"type": "web_search_tool_result", "tool_use_id": block.id, "content": []}
    return [use, told] if block.kind == "server" else [use]


def _pi_messages(happened: list[Happening]) -> Iterator[JSON]:
    for one in happened:
        if isinstance(one, Said):
            yield {"role": "user", "content": one.text, "timestamp": 5}
        elif isinstance(one, Result):
            content = [{"type": "text", "text": one.text}]
            named = {"toolCallId": one.id, "toolName": one.name}
            yield {"role": "toolResult", **named, "content": content, "isError": False, "timestamp": 6}
        elif isinstance(one, Answer):
            blocks = [made for block in one.blocks for made in _pi_blocks(block)]
            stop = _stop("pi", "stopReason", one)
            yield {"role": "assistant", "content": blocks, "timestamp": 7} | stop
        else:
            yield {"type": "note"}


def _pi_blocks(block: Block) -> list[JSON]:
    if block.kind == "text":
        return [{"type": "text", "text": block.text}]
    if block.kind == "thinking":
        return [{"type": "thinking", "thinking": block.text}]
    if block.kind != "call":
        return []
    call = {"type": "toolCall", "id": block.id, "name": block.name} | _present(arguments=block.arguments)
    return [call | ({"partialJson": '{"pa'} if block.scratch else {})]


# --- parts and items ------------------------------------------------------------------------------------------


def _gemini(happened: list[Happening]) -> Iterator[JSON]:
    contents: list[JSON] = []
    for one in happened:
        if isinstance(one, Said):
            contents.append({"role": "user", "parts": [{"text": one.text}]})
        elif isinstance(one, Result):
            response = {"name": one.name, "response": {"output": one.text}} | (
                {"id": one.id} if one.id else {}
            )
            _glue(contents, {"functionResponse": response}, "parts", one)
        elif isinstance(one, Answer):
            parts = [made for block in one.blocks for made in _gemini_parts(block)]
            contents.append({"role": "model", "parts": parts} | _stop("gemini", "finishReason", one))
    yield from contents


def _gemini_parts(block: Block) -> list[JSON]:
    if block.kind == "text":
        return [{"text": block.text}]
    if block.kind == "thinking":
        return [{"text": block.text, "thought": True}]
    if block.kind != "call":
        return []
    call = {"name": block.name} | ({"id": block.id} if block.id else {}) | _present(args=block.arguments)
    call |= {"willContinue": True} if block.scratch else {}
    return [{"functionCall": call, "thoughtSignature": "c2ln"}]


def _responses(happened: list[Happening]) -> Iterator[JSON]:
    number = itertools.count(1)
    for one in happened:
        if isinstance(one, Said):
            yield {"type": "message", "role": "user", "content": [{"type": "input_text", "text": one.text}]}
        elif isinstance(one, Result):
            yield {"type": "function_call_output", "call_id": one.id, "output": one.text}
        elif isinstance(one, Answer):
            items = [made for block in one.blocks for made in _items(block, number)]
            if items and one.stop in ("length", "aborted", "error"):
                items[-1]["status"] = "incomplete"
            yield from items


def _items(block: Block, number: Iterator[int]) -> list[JSON]:
    if block.kind == "text":
        content = [{"type": "output_text", "text": block.text, "annotations": []}]
        message = {"type": "message", "id": f"msg_{next(number)}", "role": "assistant", "status": "completed"}
        return [message | {"content": content}]
    if block.kind == "thinking":
        return [{"type": "reasoning", "id": f"rs_{next(number)}", "summary": []}]
    if block.kind == "call":
        call = {"type": "function_call", "id": f"fc_{next(number)}", "call_id": block.id, "name": block.name}
        return [call | _present(arguments=_text(block.arguments))]
    action = {"type": "search", "query": "x"}
    return [{"type": "web_search_call", "id": f"ws_{next(number)}", "status": "completed", "action": action}]


# --- session files --------------------------------------------------------------------------------------------


def _pi(happened: list[Happening]) -> Iterator[JSON]:
    yield {"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "c"}
    parent = None
    for number, message in enumerate(_pi_messages(happened)):
        about = {"id": f"e{number}", "parentId": parent, "timestamp": "t"}
        parent = about["id"]
        if "role" in message:
            yield {"type": "message", **about, "message": message}
        else:
            yield {"type": "model_change", **about, "modelId": "m"}


def _claude_code(happened: list[Happening]) -> Iterator[JSON]:
    yield {"type": "summary", "summary": "s", "leafUuid": "u0"}
    parent = None
    for number, message in enumerate(_lines_of_claude_code(happened)):
        kind = {"assistant": "assistant", "user": "user"}.get(message.get("role", ""), "system")
        line = {"type": kind, "uuid": f"u{number}", "parentUuid": parent, "sessionId": "s", "timestamp": "t"}
        parent = line["uuid"]
        yield line | ({} if kind == "system" else {"message": message})


def _lines_of_claude_code(happened: list[Happening]) -> Iterator[JSON]:
    """Split each answer into a line for each block; lines of one answer share `message.id`."""
    for number, one in enumerate(happened):
        if isinstance(one, Note):
            yield {}
            continue
        for message in _anthropic([one]):
            if not isinstance(one, Answer):
                yield message
                continue
            for block in message["content"]:
                yield message | {"id": f"msg_{number}", "content": [block]}


def _codex(happened: list[Happening]) -> Iterator[JSON]:
    yield {"timestamp": "t", "type": "session_meta", "payload": {"id": "s"}}
    for one in happened:
        if isinstance(one, Note):
            yield {"timestamp": "t", "type": "event_msg", "payload": {"type": "token_count"}}
        for item in _responses([one]):
            yield {"timestamp": "t", "type": "response_item", "payload": item}


SHAPES: dict[str, Callable[[list[Happening]], Iterator[JSON]]] = {
    "chat-completions": _chat,
    "responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "pi": _pi,
    "claude-code": _claude_code,
    "codex": _codex,
}


def render(shape: str, happened: list[Happening]) -> list[JSON]:
    """Return the happenings as messages of a shape."""
    return list(SHAPES[shape](happened))
