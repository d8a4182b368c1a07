"""Find the agent's or framework's dialect for which a frame is decisive; see `wholecall.dialects.detect`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from wholecall.dialects.decode import member

__all__ = [
    "AG_UI_QUIET",
    "LANGCHAIN_METHODS",
    "LANGCHAIN_WHOLE",
    "LANGGRAPH_LISTS",
    "a2a",
    "acp",
    "ag_ui",
    "claude_code",
    "codex_app_server",
    "copilot",
    "is_message",
    "is_session_event",
    "langchain",
    "langchain_events",
    "langchain_protocol",
    "langgraph_mode",
    "mcp",
    "pi",
    "vercel_data",
    "vercel_ui",
]

_ACP_METHODS = ("session/update", "session/request_permission", "session/prompt")


def acp(payload: Mapping[str, Any], _event: str) -> bool:
    """A message about a prompt, or the answer to a prompt; next to a content the reason is that of a sample in MCP."""
    if payload.get("jsonrpc") != "2.0":
        return False
    result = payload.get("result")
    answers = (
        isinstance(result, dict) and isinstance(result.get("stopReason"), str) and "content" not in result
    )
    return answers or payload.get("method") in _ACP_METHODS


_A2A_METHODS: Final = ("message/send", "message/stream", "SendMessage", "SendStreamingMessage")
_A2A_KINDS: Final = ("task", "message", "status-update", "artifact-update")


def a2a(payload: Mapping[str, Any], _event: str) -> bool:
    """A task, an update of one, or a message of an agent, under its kind or in a member; or the request for it."""
    if payload.get("jsonrpc") != "2.0":
        return False
    result = payload.get("result")
    if not isinstance(result, dict):
        return payload.get("method") in _A2A_METHODS
    updated = isinstance(result.get("statusUpdate", result.get("artifactUpdate")), dict)
    said = isinstance(member(result, "message", "parts"), list)
    # A task of MCP has a word as its status.
    return (
        updated
        or said
        or result.get("kind") in _A2A_KINDS
        or isinstance(member(result, "task", "status"), dict)
    )


_MCP_FAMILIES: Final = (
    "notifications/",
    "tools/",
    "sampling/",
    "elicitation/",
    "roots/",
    "resources/",
    "prompts/",
)
_MCP_LISTS: Final = ("content", "tools", "resources", "prompts")


def mcp(payload: Mapping[str, Any], _event: str) -> bool:
    """A request or a notification by its family, a result of a tool, a list or a sample, or a handshake by its date."""
    if payload.get("jsonrpc") != "2.0":
        return False
    method, result = payload.get("method"), payload.get("result")
    if isinstance(method, str):
        dated = isinstance(member(payload, "params", "protocolVersion"), str)
        return method.startswith(_MCP_FAMILIES) or (method == "initialize" and dated)
    if not isinstance(result, dict):
        return False
    sampled = isinstance(result.get("content"), dict) and "model" in result
    listed = any(isinstance(result.get(name), list) for name in _MCP_LISTS)
    return sampled or listed or isinstance(result.get("protocolVersion"), str)


# Events that are not about the answer.
AG_UI_QUIET: Final = frozenset(
    {
        *("RAW", "CUSTOM", "STEP_STARTED", "STEP_FINISHED"),
        *("STATE_SNAPSHOT", "STATE_DELTA", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA"),
        *("REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_END", "REASONING_END"),
        *("THINKING_START", "THINKING_END", "THINKING_TEXT_MESSAGE_START", "THINKING_TEXT_MESSAGE_END"),
        *("SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR"),
    }
)
# Events whose type identifies the dialect.
_AG_UI_TYPES: Final = (AG_UI_QUIET - {"RAW", "CUSTOM"}) | {
    *("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "MESSAGES_SNAPSHOT"),
    *("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "TEXT_MESSAGE_CHUNK"),
    *("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_CHUNK", "TOOL_CALL_RESULT"),
    *("REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_CHUNK", "REASONING_ENCRYPTED_VALUE"),
    "THINKING_TEXT_MESSAGE_CONTENT",
}


def ag_ui(payload: Mapping[str, Any], _event: str) -> bool:
    """An event of a known type, which is written in capitals."""
    kind = payload.get("type")
    return isinstance(kind, str) and kind in _AG_UI_TYPES


_CLAUDE_CODE_LINES: Final = {"stream_event": "event", "assistant": "message", "user": "message"}


def claude_code(payload: Mapping[str, Any], _event: str) -> bool:
    """A line of a session, or a request between the agent and its client."""
    kind = payload.get("type")
    if kind in ("control_request", "control_response"):
        asked = payload.get(kind.removeprefix("control_"))
        return isinstance(asked, dict) and isinstance(asked.get("subtype"), str)
    if not isinstance(kind, str) or not isinstance(payload.get("session_id"), str):
        return False
    if kind in ("system", "result"):
        return isinstance(payload.get("subtype"), str)
    return isinstance(payload.get(_CLAUDE_CODE_LINES.get(kind, "")), dict)


_CODEX_METHODS: Final = ("item/", "thread/", "turn/")


def codex_app_server(payload: Mapping[str, Any], _event: str) -> bool:
    """A message about a thread, one of its turns or items, or the answer that gives a thread."""
    method, params, result = payload.get("method"), payload.get("params"), payload.get("result")
    if isinstance(result, dict) and isinstance(thread := result.get("thread"), dict):
        return isinstance(thread.get("id"), str) and "id" in payload
    if not isinstance(method, str) or not method.startswith(_CODEX_METHODS) or not isinstance(params, dict):
        return False
    return isinstance(params.get("threadId"), str) or isinstance(params.get("thread"), dict)


# The possible first words of a type, also of events about the session itself.
_COPILOT_FAMILIES: Final = frozenset(
    {
        *("assistant", "tool", "external_tool", "session", "user", "system"),
        *("permission", "subagent", "hook", "skill", "model", "mcp"),
    }
)


def is_session_event(kind: object) -> bool:
    """Return whether a type is one of a session's events."""
    family, dot, name = kind.partition(".") if isinstance(kind, str) else ("", "", "")
    return family in _COPILOT_FAMILIES and bool(dot and name)


def copilot(payload: Mapping[str, Any], _event: str) -> bool:
    """An event of a session: its type is in two words, and its content is in `data`."""
    return is_session_event(payload.get("type")) and isinstance(payload.get("data"), dict)


_PI_MESSAGES: Final = frozenset({"message_start", "message_end", "turn_end"})
_PI_EXECUTIONS: Final = frozenset({"tool_execution_start", "tool_execution_update", "tool_execution_end"})


def pi(payload: Mapping[str, Any], _event: str) -> bool:
    """A message with its time, the new part of a message, an execution of a tool, or the answer to a command."""
    kind, message = payload.get("type"), payload.get("message")
    if not isinstance(kind, str):
        return False
    if kind in _PI_MESSAGES:
        return isinstance(message, dict) and "role" in message and "timestamp" in message
    if kind == "message_update":
        return isinstance(payload.get("assistantMessageEvent"), dict)
    if kind == "response":
        return isinstance(payload.get("command"), str) and isinstance(payload.get("success"), bool)
    if kind == "agent_end":
        return isinstance(payload.get("messages"), list)
    return kind in _PI_EXECUTIONS and "toolCallId" in payload


LANGCHAIN_WHOLE = frozenset({"ai", "AIMessage"})
LANGGRAPH_LISTS = frozenset({"messages", "messages/partial", "messages/complete"})


def langchain(payload: Mapping[str, Any], event: str) -> bool:
    """A message of a model, wrapped or not; LangGraph's lists of them are known by their event."""
    if langgraph_mode(event) in LANGGRAPH_LISTS:
        return not payload
    output = payload.get("output")
    return is_message(payload) or (isinstance(output, dict) and is_message(output))


def is_message(payload: Mapping[str, Any]) -> bool:
    """Return whether the payload is a message of a model, or a chunk of one."""
    kind, path = payload.get("type"), payload.get("id")
    if kind == "constructor":
        return isinstance(path, list) and path[-1:] in (["AIMessageChunk"], ["AIMessage"])
    called = "tool_calls" in payload or "response_metadata" in payload
    return kind == "AIMessageChunk" or (isinstance(kind, str) and kind in LANGCHAIN_WHOLE and called)


def langgraph_mode(event: str) -> str:
    """Return the kind of an event; LangGraph appends where in the graph it comes from."""
    return event.partition("|")[0]


def langchain_events(payload: Mapping[str, Any], _event: str) -> bool:
    """An event of a run."""
    name = payload.get("event")
    return isinstance(name, str) and name.startswith("on_") and "run_id" in payload


# The kinds of a frame's subject; only messages hold calls. Custom channels have their own names.
LANGCHAIN_METHODS: Final = frozenset(
    {
        *("messages", "tools", "lifecycle", "values", "updates", "checkpoints", "tasks", "custom"),
        *("input", "input.requested", "debug"),
    }
)
_PROTOCOL_DECISIVE = frozenset(
    {"message-start", "content-block-start", "content-block-delta", "content-block-finish"}
)


def langchain_protocol(payload: Mapping[str, Any], _event: str) -> bool:
    """An event of a message, bare or in its envelope, or any other event in that envelope."""
    kind, method, params = payload.get("event"), payload.get("method"), payload.get("params")
    if isinstance(kind, str):
        return kind in _PROTOCOL_DECISIVE and "data" not in payload  # as an envelope has
    if payload.get("type") != "event" or not isinstance(params, dict):
        return False
    return isinstance(method, str) and method in LANGCHAIN_METHODS and "data" in params


_VERCEL_CODES = frozenset("0123456789abcdefghijk")
_VERCEL_CALL_PART = "tool-invocation"


def vercel_data(payload: Mapping[str, Any], event: str) -> bool:
    """A line with a code, or a whole message with tool invocations."""
    if event in _VERCEL_CODES:
        return True
    parts = payload.get("parts")
    called = isinstance(parts, list) and any(
        isinstance(part, dict) and part.get("type") == _VERCEL_CALL_PART for part in parts
    )
    return payload.get("role") == "assistant" and (called or isinstance(payload.get("toolInvocations"), list))


_VERCEL_UI_TELLING = frozenset(
    {"text-start", "reasoning-start", "start-step", "finish-step", "message-metadata"}
)
_VERCEL_UI_START = frozenset({"type", "messageId", "messageMetadata"})


def vercel_ui(payload: Mapping[str, Any], _event: str) -> bool:
    """A chunk whose type no other protocol has, or a whole message of an assistant."""
    kind, parts = payload.get("type"), payload.get("parts")
    if isinstance(parts, list):
        return payload.get("role") == "assistant" and _typed(parts)
    if not isinstance(kind, str):
        return False
    if kind == "start":
        return payload.keys() <= _VERCEL_UI_START
    if kind.startswith(("tool-input-", "tool-output-")):
        return "toolCallId" in payload
    if kind in ("text-delta", "reasoning-delta"):
        return isinstance(payload.get("delta"), str) and "id" in payload
    return kind in _VERCEL_UI_TELLING and not isinstance(payload.get("delta"), dict)


def _typed(parts: list[Any]) -> bool:
    return all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in parts)
