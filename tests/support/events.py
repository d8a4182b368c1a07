"""Calls, drops and turns as users get them, made by hand for the tests of the history."""

from __future__ import annotations

from typing import Any

from wholecall import parse_arguments
from wholecall.calls.output.call_events import (
    BuiltinToolCall,
    CustomToolCall,
    ServerToolCall,
    ToolCall,
    ToolCallDropped,
)
from wholecall.calls.output.turns import Reasoning, ReasoningBlock, Turn
from wholecall.policy import Policy


def call(
    raw: str = "{}", id: str = "c1", name: str = "f", index: int = 0, keep: bool = False, **more: Any
) -> ToolCall:
    """Return the call that the text makes after a clean end; `keep` lets lone surrogates pass."""
    verdict = parse_arguments(raw, policy=Policy(lone_surrogates="keep" if keep else "drop"))
    assert verdict.status != "dropped"
    assert verdict.arguments is not None
    facts = {"edits": verdict.edits, "flags": verdict.flags, **more}
    return ToolCall(0, 0, index, id, name, verdict.arguments, raw, verdict.status, **facts)


def drop(
    raw: str,
    id: str | None = "c1",
    name: str | None = "f",
    index: int = 0,
    reason: Any = "truncated",
    kind: Any = "function",
) -> ToolCallDropped:
    """Return a call that was dropped."""
    return ToolCallDropped(0, 0, index, id, name, kind, raw, reason)


def custom(text: str, id: str = "c1", name: str = "f", index: int = 0, **more: Any) -> CustomToolCall:
    """Return a free-text call."""
    return CustomToolCall(0, 0, index, id, name, text, **more)


def builtin(
    kind: Any, arguments: dict[str, Any], id: str = "c1", index: int = 0, **more: Any
) -> BuiltinToolCall:
    """Return a call of a tool that the provider defines."""
    return BuiltinToolCall(0, 0, index, id, kind, arguments, **more)


def server(
    name: str, arguments: dict[str, Any], id: str = "s1", index: int = 0, raw: str = "{}", **more: Any
) -> ServerToolCall:
    """Return a call that the provider executed."""
    return ServerToolCall(0, 0, index, id, name, arguments, raw, **more)


_FIELDS = {
    ToolCall: "calls",
    CustomToolCall: "custom_calls",
    BuiltinToolCall: "builtin_calls",
    ServerToolCall: "server_calls",
    ToolCallDropped: "dropped",
}


def turn(*content: Any, dialect: str = "chat-completions", reason: Any = "tool_calls") -> Turn:
    """Return a turn of these texts, blocks of reasoning and ended calls, in this order."""
    fields: dict[str, list[Any]] = {name: [] for name in _FIELDS.values()}
    for piece in content:
        if type(piece) in _FIELDS:
            fields[_FIELDS[type(piece)]].append(piece)
    return Turn(
        dialect,
        text="".join(piece for piece in content if isinstance(piece, str)),
        reasoning=Reasoning(tuple(piece for piece in content if isinstance(piece, ReasoningBlock))),
        reason=reason,
        content=tuple(piece.index if type(piece) in _FIELDS else piece for piece in content),
        **{name: tuple(events) for name, events in fields.items()},
    )
