"""Naive readers of strict streams: the usual loops, in two variants.

`once` sets a label at its first arrival, `append` concatenates all pieces. Both go by index, join text, and handle no
quirk. They read SSE by blank lines and `data:` alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Literal

from wholecall.encoders import argument_text

Style = Literal["once", "append"]
Call = tuple[str, str, str]  # id, name, text
STYLES: tuple[Style, ...] = ("once", "append")


def data_of(stream: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a stream up to its `[DONE]`."""
    for block in stream.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n\n"):
        lines = [line[5:].removeprefix(b" ") for line in block.split(b"\n") if line.startswith(b"data:")]
        text = b"\n".join(lines).decode("utf-8", "replace")
        if text.startswith("[DONE]"):
            return
        try:
            value = json.loads(text)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def error_of(stream: bytes) -> tuple[str | None, str] | None:
    """Return code and message of the error with which a stream ends, as clients find them; None without one."""
    *_, last = ({}, *data_of(stream))
    error = last.get("error")
    return (error.get("code"), error["message"]) if isinstance(error, dict) else None


class _Slots:
    """Calls by index."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._calls: dict[Any, dict[str, str]] = {}

    def add(self, index: Any, **labels: Any) -> None:
        call = self._calls.setdefault(index, {"id": "", "name": "", "text": ""})
        for label, value in labels.items():
            if value and (label == "text" or self._style == "append" or not call[label]):
                call[label] += value if isinstance(value, str) else repr(value)

    def calls(self) -> list[Call]:
        return [(call["id"], call["name"], call["text"]) for call in self._calls.values()]


def _chat(stream: bytes, style: Style) -> list[Call]:
    slots = _Slots(style)
    for chunk in data_of(stream):
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            for call in delta.get("tool_calls") or ():
                body = call.get("function") or call.get("custom") or {}
                text = body.get("arguments") or body.get("input")
                index = (choice.get("index"), call.get("index"))
                slots.add(index, id=call.get("id"), name=body.get("name"), text=text)
            if legacy := delta.get("function_call"):
                index = (choice.get("index"), "function_call")
                slots.add(index, name=legacy.get("name"), text=legacy.get("arguments"))
    return slots.calls()


def _anthropic(stream: bytes, style: Style) -> list[Call]:
    slots = _Slots(style)
    started: set[Any] = set()
    for event in data_of(stream):
        index, kind = event.get("index"), event.get("type")
        if kind == "content_block_start" and event["content_block"]["type"] == "tool_use":
            started.add(index)
            slots.add(index, id=event["content_block"]["id"], name=event["content_block"]["name"])
        elif kind == "content_block_delta" and index in started:
            slots.add(index, text=event["delta"]["partial_json"])
    return slots.calls()


def _responses(stream: bytes, style: Style) -> list[Call]:
    slots = _Slots(style)
    for event in data_of(stream):
        index, kind, item = event.get("output_index"), str(event.get("type")), event.get("item") or {}
        if kind == "response.output_item.added" and item["type"] in ("function_call", "custom_tool_call"):
            slots.add(index, id=item["call_id"], name=item["name"])
        elif kind in ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta"):
            slots.add(index, text=event["delta"])
    return slots.calls()


def _gemini(stream: bytes, _style: Style) -> list[Call]:
    """Read each part by itself, as calls never come in pieces here; the arguments as compact JSON."""
    parts = (
        part
        for response in data_of(stream)
        for candidate in sorted(response.get("candidates") or (), key=lambda one: one.get("index") or 0)
        for part in (candidate.get("content") or {}).get("parts") or ()
    )
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    return [
        (call.get("id") or "", call.get("name") or "", compact_json(call.get("args") or {})) for call in calls
    ]


def compact_json(value: Any) -> str:
    """Return a value as compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


READERS: dict[str, Callable[[bytes, Style], list[Call]]] = {
    "anthropic": _anthropic,
    "chat-completions": _chat,
    "gemini": _gemini,
    "responses": _responses,
}


def read_calls(dialect: str, stream: bytes, style: Style = "once") -> list[Call]:
    """Return id, name and text of the calls that a naive loop gets, in order of first appearance."""
    return READERS[dialect](stream, style)


def argument_text_in(dialect: str, call: Any) -> str:
    """Return the text that a naive loop gets of a call's arguments: Gemini has values in its place."""
    return compact_json(call.arguments) if dialect == "gemini" else argument_text(call)


def finish_reasons(stream: bytes) -> list[str]:
    """Return the reasons that the choices of a stream, its candidates, or the message of an Anthropic one, ended for."""
    found: list[str] = []
    for event in data_of(stream):
        views = [
            view
            for view in (
                *(event.get("choices") or ()),
                *(event.get("candidates") or ()),
                event.get("delta"),
            )
            if isinstance(view, dict)
        ]
        reasons = (
            view.get("finish_reason") or view.get("stop_reason") or view.get("finishReason") for view in views
        )
        found += [reason for reason in reasons if reason]
    return found


def visible_text(stream: bytes) -> str:
    """Return the text that a reader of a chat stream shows."""
    deltas = (choice.get("delta") or {} for chunk in data_of(stream) for choice in chunk.get("choices") or ())
    return "".join(delta.get("content") or "" for delta in deltas)
