"""Rows of conversations: made of JSON texts, and summarized."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from tests.support import tables
from wholecall.bulk import ASSEMBLED, assemble_messages

JSON = dict[str, Any]


def assembled(*conversations: Any, **options: Any) -> list[JSON]:
    """Return the rows of conversations that are JSON texts."""
    texts = [json.dumps(one) for one in conversations]
    ids = [str(number) for number in range(len(texts))]
    out = assemble_messages(pa.table({"recording_id": ids, "messages": texts}), **options)
    out.validate(full=True)
    assert out.schema.equals(ASSEMBLED, check_metadata=True)
    return tables.rows(out)


def calls(*messages: JSON, **options: Any) -> list[JSON]:
    """Return the rows of the calls of one conversation."""
    (row,) = assembled(list(messages), **options)
    assert row["trouble"] is None
    found: list[JSON] = row["calls"]
    return found


def said(call: JSON) -> tuple[Any, ...]:
    """Return the row of a call, in short."""
    text = call["raw_arguments"] if call["arguments"] is None else call["arguments"]
    return call["outcome"], call["call_id"], call["name"], text, call["reason"], call["answered"]


def label(call: JSON) -> str:
    """Return how the report of a repair names a call."""
    return call["call_id"] or call["name"] or ""


def called(arguments: Any, *, id: str = "c1", **more: Any) -> JSON:
    """Return a message with one call, as chat completions have it."""
    entry = {"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [entry], **more}
