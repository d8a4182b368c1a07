"""Wires whose calls come whole: of agents that execute them and tell their results, and those for the client."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tests.models.streams import Calls, Event, Habits, Label, Model, kinds, told_in
from tests.models.written import data_of, line_of, present

_JSON = ("{}", '{"x":1}', '{"x":{}}')
# A state of a call: its id, its name, and its arguments to an event.
State = Callable[[str | None, str, dict[str, Any]], bytes]


class Wire(NamedTuple):
    """One dialect.

    Attributes:
        dialect: as the parser calls it.
        states: of a call, in their order, up to its result.
        result: the last state, None where the client executes the calls.
        text: an event of a text.
        over: the events of a whole answer's end, which may list all calls: ids, names and arguments.
        ends: those of a cut one, besides silence.
        opening: sent before all events.
        ids: "agent" if the sender makes them up itself, "model" if they are of the model's server, "none" without any.
        reads_apart: whether results name calls, so that they may come in another order than the calls.
    """

    dialect: str
    states: tuple[State, ...]
    result: State | None
    text: bytes
    over: bytes | Callable[[Sequence[tuple[str | None, str, Any]]], bytes]
    ends: Mapping[str, bytes]
    opening: bytes = b""
    ids: str = "agent"
    reads_apart: bool = True


def _habits(wire: Wire) -> Habits:
    ids = {"none": {"none": (0, "the sender")}}.get(wire.ids, {"own": (0, "the sender")})
    if wire.ids == "model":
        ids["same"] = (1, "quirk 64: models whose ids are the tool's, or the answer's, for all calls")
    orders = {"row": (0, "the sender")}
    if wire.result is not None:
        orders = {
            "answered": (0, "the sender: each with its result before the next one"),
            "returned": (0, "the sender: all results after all calls"),
        }
        if wire.reads_apart:
            orders["backwards"] = (0, "the sender: results as they come")
    if len(wire.states) > 1:
        orders["opened"] = (0, "the sender: all calls begin first")
    return {
        "id": ids,
        "order": orders,
        "speech": {"none": (0, "the sender"), "first": (0, "the sender"), "last": (0, "the sender")},
    }


def _sensible(habit: Any, n_calls: int) -> bool:
    """Return whether a sender can have these habits at once: calls under one id come one after the other."""
    return habit.order in {"row", "answered"} or (n_calls > 1 and habit.id != "same")


def _sent(wire: Wire) -> Callable[[Calls, Any, Any], list[Event]]:
    def send(calls: Calls, _cuts: Any, habit: Any) -> list[Event]:
        rows: list[list[Event]] = []
        results: list[Event] = []
        for number, (name, text) in enumerate(calls):
            label = {"own": Label("call", number), "same": Label("call", ())}.get(habit.id)
            result: list[Event] = [] if wire.result is None else [("result", label, name, text)]
            told: list[Event] = [(state, label, name, text) for state in range(len(wire.states))]
            rows.append(told + (result if habit.order == "answered" else []))
            results += result if habit.order != "answered" else []
        results = results[::-1] if habit.order == "backwards" else results
        first, last = ([("text",)] if habit.speech == at else [] for at in ("first", "last"))
        listed = tuple(row[0][1:] for row in rows) if callable(wire.over) else ()
        return [*first, *told_in(habit.order, rows), *results, *last, ("over", *listed)]

    return send


def _encoded(wire: Wire) -> Callable[[Event], bytes]:
    def encode(event: Event) -> bytes:
        kind, *of = event
        if kind == "text":
            return wire.text
        if kind == "over":
            listed = [(id, name, json.loads(text)) for id, name, text in of]
            return wire.over(listed) if callable(wire.over) else wire.over
        state = wire.result if kind == "result" else wire.states[kind]
        assert state is not None
        return state(of[0], of[1], json.loads(of[2]))

    return encode


def model_of(wire: Wire) -> Model:
    """Return the model of a dialect; no id of it means a repeated call, for a result is between two calls under one."""
    return Model(
        wire.dialect,
        _habits(wire),
        _sent(wire),
        _encoded(wire),
        {**wire.ends, "silence": b""},
        _sensible,
        wire.opening,
        kinds=kinds(_JSON, whole=True),
        is_shared=lambda _habit: False,
        has_heads=lambda _habit: False,
        of_server=wire.result is not None,
    )


def _event(name: str, /, **members: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(members)}\n\n".encode()


# Gemini CLI.


def _gemini_cli(kind: str, **members: Any) -> bytes:
    return line_of({"type": kind, "timestamp": "2026-11-01T06:10:09Z", **members})


GEMINI_CLI = Wire(
    "gemini-cli",
    (lambda id, name, given: _gemini_cli("tool_use", tool_name=name, tool_id=id, parameters=given),),
    lambda id, _name, _given: _gemini_cli("tool_result", tool_id=id, status="success", output="ok"),
    _gemini_cli("message", role="assistant", content="hm", delta=True),
    _gemini_cli("result", status="success", stats={}),
    {"error": _gemini_cli("result", status="error", error={"type": "FatalError", "message": "lost"})},
    _gemini_cli("init", session_id="s", model="m"),
)


# Codex without a terminal.


def _codex(event: str, status: str) -> State:
    def state(id: str | None, name: str, given: dict[str, Any]) -> bytes:
        about = {"id": id, "type": "mcp_tool_call", "server": "s", "tool": name, "arguments": given}
        return line_of({"type": event, "item": {**about, "status": status}})

    return state


CODEX_EXEC = Wire(
    "codex-exec",
    (_codex("item.started", "in_progress"),),
    _codex("item.completed", "completed"),
    line_of({"type": "item.completed", "item": {"id": "t", "type": "agent_message", "text": "hm"}}),
    line_of({"type": "turn.completed", "usage": {"output_tokens": 9}}),
    {"error": line_of({"type": "turn.failed", "error": {"message": "lost"}})},
    line_of({"type": "thread.started", "thread_id": "t"}) + line_of({"type": "turn.started"}),
)


# Cursor.


def _cursor(subtype: str, *, bare: bool = False) -> State:
    def state(id: str | None, name: str, given: dict[str, Any]) -> bytes:
        args = {} if bare else {"args": {"name": f"s-{name}", "args": given, "toolName": name}}
        result = {"result": {"success": {}}} if subtype == "completed" else {}
        call = {"mcpToolCall": {**args, **result}}
        return line_of(
            {
                "type": "tool_call",
                "subtype": subtype,
                **present(call_id=id),
                "tool_call": call,
                "session_id": "s",
            }
        )

    return state


def _cursor_over(subtype: str, *, is_error: bool) -> bytes:
    return line_of(
        {"type": "result", "subtype": subtype, "duration_ms": 9, "is_error": is_error, "session_id": "s"}
    )


CURSOR = Wire(
    "cursor",
    (_cursor("started"),),
    _cursor("completed", bare=True),
    line_of(
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "hm"}]},
            "session_id": "s",
        }
    ),
    _cursor_over("success", is_error=False),
    {"error": _cursor_over("error", is_error=True)},
    ids="model",
)


# goose.


def _goose(role: str, *parts: dict[str, Any]) -> bytes:
    return line_of(
        {"type": "message", "message": {"id": role, "role": role, "created": 1, "content": list(parts)}}
    )


def _goose_call(kind: str) -> State:
    def state(id: str | None, name: str, given: dict[str, Any]) -> bytes:
        call = {"status": "success", "value": {"name": name, "arguments": given}}
        return _goose("assistant", {"type": kind, "id": id, "toolCall": call})

    return state


GOOSE = Wire(
    "goose",
    (_goose_call("toolRequest"),),
    lambda id, _name, _given: _goose(
        "user", {"type": "toolResponse", "id": id, "toolResult": {"status": "success", "value": {}}}
    ),
    _goose("assistant", {"type": "text", "text": "hm"}),
    line_of({"type": "complete", "total_tokens": 9}),
    {"error": line_of({"type": "error", "error": "lost"})},
    ids="model",
)


# opencode.


def _opencode(*statuses: str) -> tuple[State, ...]:
    def of(status: str) -> State:
        def state(id: str | None, name: str, given: dict[str, Any]) -> bytes:
            told = {"status": status, "input": {} if status == "pending" else given}
            part = {"id": f"prt_{id}", "messageID": "m", "type": "tool", "callID": id, "tool": name}
            return _opencode_part({**part, "state": told})

        return state

    return tuple(map(of, statuses))


def _opencode_part(part: dict[str, Any]) -> bytes:
    return data_of({"type": "message.part.updated", "properties": {"part": {"messageID": "m", **part}}})


def _opencode_message(**more: Any) -> bytes:
    info = {"id": "m", "role": "assistant", "modelID": "x", **more}
    return data_of({"type": "message.updated", "properties": {"info": info}})


OPENCODE = Wire(
    "opencode",
    _opencode("pending", "running"),
    _opencode("completed")[0],
    _opencode_part({"id": "prt_t", "type": "text", "text": "hm"}),
    _opencode_part({"id": "prt_e", "type": "step-finish", "reason": "tool-calls", "tokens": {}}),
    {"error": _opencode_message(error={"name": "MessageAbortedError", "data": {"message": "lost"}})},
    _opencode_message() + _opencode_part({"id": "prt_s", "type": "step-start"}),
)


# opencode's newer events, beside the parts of their message in older servers.


def _newer(kind: str, **members: Any) -> bytes:
    data = {"sessionID": "s", "assistantMessageID": "m", **members}
    return data_of({"id": "evt_1", "type": f"session.{kind}", "data": data})


OPENCODE_NEWER = Wire(
    "opencode",
    (
        lambda id, name, _given: _newer("tool.input.started", callID=id, name=name),
        lambda id, _name, given: _newer("tool.called", callID=id, input=given, executed=False),
    ),
    lambda id, _name, _given: _newer("tool.success", callID=id, structured={}, content=[], executed=False),
    _newer("text.delta", ordinal=0, delta="hm"),
    _newer("step.ended", finish="tool-calls", cost=0, tokens={}),
    {
        "error": _newer("step.failed", error={"type": "provider.auth", "message": "lost"}),
        "interrupted": _newer("execution.interrupted", reason="user"),
    },
    _newer("step.started", agent="build", model={"id": "x"}),
)


# LM Studio.


def _lmstudio(kind: str, **members: Any) -> bytes:
    return _event(f"{kind}", type=kind, **members)


LMSTUDIO = Wire(
    "lmstudio",
    (
        lambda _id, name, _given: _lmstudio("tool_call.start", tool=name),
        lambda _id, name, given: _lmstudio("tool_call.arguments", tool=name, arguments=given),
    ),
    lambda _id, name, given: _lmstudio("tool_call.success", tool=name, arguments=given, output="ok"),
    _lmstudio("message.start") + _lmstudio("message.delta", content="hm") + _lmstudio("message.end"),
    _lmstudio("chat.end", result={"output": [], "stats": {"total_output_tokens": 9}}),
    {"error": _lmstudio("error", error={"type": "e", "message": "lost"}) + _lmstudio("chat.end", result={})},
    _lmstudio("chat.start", model_instance_id="m"),
    ids="none",
    reads_apart=False,
)


# Coze: an agent's calls by order, and the client's by ids.


def _coze(kind: str, content: str, id: str | None = "m") -> bytes:
    return _event("conversation.message.completed", id=id, chat_id="c", type=kind, content=content)


def _coze_chat(name: str, **more: Any) -> bytes:
    return _event(f"conversation.chat.{name}", id="c", bot_id="b", status=name, **more)


COZE = Wire(
    "coze",
    (
        lambda id, name, given: _coze(
            "function_call", json.dumps({"name": name, "arguments": given, "plugin_id": 1}), id
        ),
    ),
    lambda _id, _name, _given: _coze("tool_response", "ok"),
    _coze("answer", "hm", "t"),
    _coze_chat("completed", usage={"token_count": 9}),
    {"error": _coze_chat("failed", last_error={"code": 1, "msg": "lost"})},
    _coze_chat("created"),
    reads_apart=False,
)


def _requires(listed: Sequence[tuple[str | None, str, Any]]) -> bytes:
    calls = [
        {"id": f"asked_{id}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for id, name, given in listed
    ]
    action = {"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": calls}}
    return _coze_chat("requires_action", required_action=action)


COZE_CLIENT = COZE._replace(result=None, over=_requires)


# Dify: a step with one call, told again with its result.


def _dify(kind: str, **members: Any) -> bytes:
    return data_of({"event": kind, "message_id": "m", "task_id": "t", **members})


def _dify_step(observation: str) -> State:
    def state(id: str | None, name: str, given: dict[str, Any]) -> bytes:
        call = {"tool": name, "tool_input": json.dumps({name: given})}
        return _dify("agent_thought", id=id, thought="", observation=observation, **call)

    return state


DIFY = Wire(
    "dify",
    (_dify_step(""),),
    _dify_step("ok"),
    _dify("agent_message", answer="hm"),
    _dify("message_end", metadata={"usage": {"total_tokens": 9}}),
    {"error": _dify("error", status=400, code="e", message="lost")},
)


# Snowflake's agents: calls that the agent executes, and those of the client.


def _snowflake(kind: str, id: str | None, name: str, **more: Any) -> bytes:
    return _event(f"response.{kind}", content_index=1, tool_use_id=id, type="generic", name=name, **more)


_SNOWFLAKE_TEXT = _event("response.text.delta", content_index=0, text="hm")
_SNOWFLAKE_OVER = _event("response", role="assistant", content=[])
_SNOWFLAKE_ENDS = {"error": _event("error", code="1", message="lost")}
SNOWFLAKE_AGENTS = Wire(
    "snowflake-agents",
    (lambda id, name, given: _snowflake("tool_use", id, name, input=given, client_side_execute=False),),
    lambda id, name, _given: _snowflake("tool_result", id, name, content=[], status="success"),
    _SNOWFLAKE_TEXT,
    _SNOWFLAKE_OVER,
    _SNOWFLAKE_ENDS,
)
SNOWFLAKE_CLIENT = Wire(
    "snowflake-agents",
    (lambda id, name, given: _snowflake("tool_use", id, name, input=given, client_side_execute=True),),
    None,
    _SNOWFLAKE_TEXT,
    _SNOWFLAKE_OVER,
    _SNOWFLAKE_ENDS,
)


# Claude Managed Agents: the client's tools, and those of the server.


def _idle(reason: str) -> bytes:
    return data_of({"type": "session.status_idle", "stop_reason": {"type": reason}})


_MANAGED_TEXT = data_of({"type": "agent.message", "id": "t", "content": [{"type": "text", "text": "hm"}]})
_MANAGED_ENDS = {
    "exhausted": _idle("retries_exhausted"),
    "terminated": data_of({"type": "session.status_terminated"}),
}
MANAGED_AGENTS = Wire(
    "managed-agents",
    (
        lambda id, name, given: data_of(
            {
                "type": "agent.tool_use",
                "id": id,
                "name": name,
                "input": given,
                "evaluated_permission": "allow",
            }
        ),
    ),
    lambda id, _name, _given: data_of({"type": "agent.tool_result", "tool_use_id": id, "content": []}),
    _MANAGED_TEXT,
    _idle("end_turn"),
    _MANAGED_ENDS,
    data_of({"type": "session.status_running"}),
)
MANAGED_CLIENT = Wire(
    "managed-agents",
    (
        lambda id, name, given: data_of(
            {"type": "agent.custom_tool_use", "id": id, "name": name, "input": given}
        ),
    ),
    None,
    _MANAGED_TEXT,
    _idle("requires_action"),
    _MANAGED_ENDS,
    data_of({"type": "session.status_running"}),
)


# ADK: calls that the agent executes, and those of long-running tools.


def _adk(*parts: dict[str, Any], role: str = "model", **more: Any) -> bytes:
    content = {"parts": list(parts), "role": role}
    return data_of({"content": content, "invocationId": "i", "author": "pilot", **more})


_ADK_TEXT = _adk({"text": "hm"}, partial=True)
ADK = Wire(
    "adk",
    (lambda id, name, given: _adk({"functionCall": {"id": id, "name": name, "args": given}}),),
    lambda id, name, _given: _adk(
        {"functionResponse": {"id": id, "name": name, "response": {}}}, role="user"
    ),
    _ADK_TEXT,
    _adk({"text": "hm"}, finishReason="STOP"),
    {"error": data_of({"errorCode": "500", "errorMessage": "lost", "invocationId": "i", "author": "pilot"})},
)


ADK_CLIENT = ADK._replace(
    states=(
        lambda id, name, given: _adk(
            {"functionCall": {"id": id, "name": name, "args": given}}, longRunningToolIds=[id]
        ),
    ),
    result=None,
    over=_adk({"text": ""}, finishReason="STOP"),
)


# Claude Code, without the model's events.


def _claude(role: str, *content: dict[str, Any], id: str = "m") -> bytes:
    message = {"id": id, "type": "message", "role": role, "content": list(content)}
    return line_of({"type": role, "message": message, "session_id": "s", "parent_tool_use_id": None})


CLAUDE_CODE = Wire(
    "claude-code",
    (
        lambda id, name, given: _claude(
            "assistant", {"type": "tool_use", "id": id, "name": name, "input": given}
        ),
    ),
    lambda id, _name, _given: _claude("user", {"type": "tool_result", "tool_use_id": id, "content": "ok"}),
    _claude("assistant", {"type": "text", "text": "hm"}),
    line_of({"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "result": "hm"}),
    {
        "error": line_of(
            {"type": "result", "subtype": "error_during_execution", "is_error": True, "session_id": "s"}
        )
    },
    line_of({"type": "system", "subtype": "init", "session_id": "s", "model": "m"}),
)


# Dify's logs of agents in workflows.


def _dify_log(status: str) -> State:
    def state(id: str | None, name: str, given: dict[str, Any]) -> bytes:
        output = {"tool_call_id": id, "tool_call_name": name, "tool_call_input": given, "tool_response": "ok"}
        about = {
            "id": f"log_{id}",
            "label": f"CALL {name}",
            "status": status,
            "parent_id": "r",
            "error": None,
        }
        return _dify("agent_log", data={**about, "data": {} if status == "start" else {"output": output}})

    return state


DIFY_LOGS = DIFY._replace(states=(_dify_log("start"),), result=_dify_log("success"))


# ACP: what an agent shows of its calls.


def _acp(kind: str, /, **members: Any) -> bytes:
    update = {"sessionUpdate": kind, **members}
    params = {"sessionId": "s", "update": update}
    return line_of({"jsonrpc": "2.0", "method": "session/update", "params": params})


ACP = Wire(
    "acp",
    (
        lambda id, name, given: _acp(
            "tool_call", toolCallId=id, title=name, kind="other", status="pending", rawInput=given
        ),
    ),
    lambda id, _name, _given: _acp("tool_call_update", toolCallId=id, status="completed", rawOutput={}),
    _acp("agent_message_chunk", content={"type": "text", "text": "hm"}),
    line_of({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}}),
    {
        "cancelled": line_of({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "cancelled"}}),
        "error": line_of({"jsonrpc": "2.0", "id": 3, "error": {"code": -32000, "message": "lost"}}),
    },
)


# ERNIE: a call per frame, without ids. Its frames have no numbers here: a numbered one that comes twice is one frame.


def _ernie(**members: Any) -> bytes:
    about = {
        "id": "a1",
        "object": "chat.completion",
        "need_clear_history": False,
    }
    return data_of({**about, "is_end": False, "is_truncated": False, "result": "", **members})


ERNIE = Wire(
    "ernie",
    (
        lambda _id, name, given: _ernie(
            function_call={"name": name, "thoughts": "", "arguments": json.dumps(given)}
        ),
    ),
    None,
    _ernie(result="hm"),
    _ernie(is_end=True, finish_reason="function_call"),
    {
        "length": _ernie(is_end=True, is_truncated=True, finish_reason="length"),
        "error": data_of({"error_code": 1, "error_msg": "lost"}),
    },
    ids="none",
)

MODELS = tuple(
    model_of(wire)._replace(name=name)
    for wire, name in (
        (GEMINI_CLI, ""),
        (CODEX_EXEC, ""),
        (CURSOR, ""),
        (GOOSE, ""),
        (OPENCODE, ""),
        (OPENCODE_NEWER, "opencode with newer events"),
        (LMSTUDIO, ""),
        (COZE, ""),
        (COZE_CLIENT, "coze with tools of the client"),
        (DIFY, ""),
        (DIFY_LOGS, "dify with logs of agents"),
        (SNOWFLAKE_AGENTS, ""),
        (SNOWFLAKE_CLIENT, "snowflake-agents with tools of the client"),
        (MANAGED_AGENTS, ""),
        (MANAGED_CLIENT, "managed-agents with tools of the client"),
        (ADK, ""),
        (ADK_CLIENT, "adk with tools of the client"),
        (CLAUDE_CODE, ""),
        (ACP, ""),
        (ERNIE, ""),
    )
)
