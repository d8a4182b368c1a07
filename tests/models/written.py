"""Spellings of models for the wire."""

from __future__ import annotations

import json
from typing import Any


def present(**members: Any) -> dict[str, Any]:
    """The members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def event_of(kind: str, **members: Any) -> bytes:
    """An event with its type as its name and in its data, and the members that are not None."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **present(**members)})}\n\n".encode()


def data_of(payload: Any) -> bytes:
    """An event without a name."""
    return f"data: {json.dumps(payload)}\n\n".encode()


def line_of(payload: Any) -> bytes:
    """A line."""
    return json.dumps(payload).encode() + b"\n"
