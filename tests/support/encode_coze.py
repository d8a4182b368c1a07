"""Render abstract turns as the events of a chat with an agent of Coze.

Written from Coze's documentation; knows nothing of wholecall.
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.encode import JSON, Call, Pieces, Turn, sse, whole


def _message(turn: Turn, id: str, kind: str, content: str) -> JSON:
    about = {"conversation_id": "7381473525342978089", "bot_id": "7379462189365198898", "role": "assistant"}
    return {"id": id, **about, "type": kind, "content": content, "content_type": "text", "chat_id": turn.id}


def _chat(turn: Turn, status: str, **more: Any) -> JSON:
    """Return the chat, as it is in its events."""
    about = {"conversation_id": "7381473525342978089", "bot_id": "7379462189365198898"}
    return {"id": turn.id, **about, "status": status, **more}


def _calls(turn: Turn, call: Call, number: int) -> list[tuple[str, JSON]]:
    """Return the message of a call, under its id, and that of its result."""
    of_plugin = {"plugin_id": 7281192623887548473, "plugin_type": 1}
    content = f'{{"name":{json.dumps(call.name)},"arguments":{call.arguments},{json.dumps(of_plugin)[1:]}'
    return [
        ("conversation.message.completed", _message(turn, call.id, "function_call", content)),
        ("conversation.message.completed", _message(turn, f"result_{number}", "tool_response", "done")),
    ]


def events(turn: Turn, pieces: Pieces = whole) -> list[tuple[str, JSON]]:
    """Return the events of a turn, with their names."""
    told = [("conversation.chat.created", _chat(turn, "created"))]
    told += [
        ("conversation.message.delta", _message(turn, "answer_1", "answer", piece))
        for piece in pieces(turn.text)
    ]
    for number, call in enumerate(turn.calls):
        told += _calls(turn, call, number)
    counts = {"token_count": 41 + turn.tokens, "output_count": turn.tokens, "input_count": 41}
    return [*told, ("conversation.chat.completed", _chat(turn, "completed", usage=counts))]


def render(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as Coze streams it."""
    return (
        b"".join(sse(event, name) for name, event in events(turn, pieces)) + b'event:done\ndata:"[DONE]"\n\n'
    )
