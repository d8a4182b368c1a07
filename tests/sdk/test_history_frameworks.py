"""Recorded turns as messages of frameworks, against the frameworks' own types.

These tests need the extra `sdk`; `pytest -m sdk` runs them. Each message of each recording is read by the type that its
framework has for it, and must be unchanged after it: nothing refused, renamed or skipped.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import corpora
from tests.support.events import call, drop, turn
from wholecall import ToolCallParser
from wholecall.history import encode_calls

pytestmark = pytest.mark.sdk


def _recorded(format: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the messages of each recorded turn with content."""
    for entry in corpora.cases():
        parser = ToolCallParser()
        parser.feed(corpora.recorded(entry))
        parser.close()
        for one in parser.turns:
            if messages := encode_calls(one, format).messages:
                yield messages


def _langchain() -> Any:
    return importlib.import_module("langchain_core.messages")


def _of_langchain(message: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a message that LangChain read."""
    members = ("type", "content", "additional_kwargs", "tool_calls", "invalid_tool_calls")
    found = _langchain().AIMessage(**message)
    return {name: value for name in members if (value := getattr(found, name)) or name == "content"}


def test_langchain_reads_what_was_written() -> None:
    """An `AIMessage` of the members has them all, and the calls are where they were put."""
    messages = [message for (message,) in _recorded("langchain")]

    assert any("invalid_tool_calls" in message for message in messages)
    assert messages == [_of_langchain(message) for message in messages]


def test_langchains_own_readers_agree() -> None:
    """`messages_from_dict` makes the same message; so does `convert_to_messages`, except for dropped calls."""
    langchain = _langchain()
    messages = [message for (message,) in _recorded("langchain")]
    whole = [message for message in messages if "invalid_tool_calls" not in message]
    stored = [{"type": "ai", "data": message} for message in messages]

    assert langchain.messages_from_dict(stored) == [langchain.AIMessage(**message) for message in messages]
    assert langchain.convert_to_messages(whole) == [langchain.AIMessage(**message) for message in whole]


def test_langchain_refuses_text_for_arguments() -> None:
    """The check can fail: text among `tool_calls`, where a dropped call has no place, is refused."""
    pydantic = importlib.import_module("pydantic")
    (message,) = encode_calls(turn(call(), drop('{"a', index=1)), "langchain").messages
    message["tool_calls"] += message.pop("invalid_tool_calls")

    with pytest.raises((pydantic.ValidationError, TypeError)):
        _langchain().AIMessage(**message)


def _ag_ui() -> Any:
    types = importlib.import_module("ag_ui.core.types")
    return importlib.import_module("pydantic").TypeAdapter(list[types.Message])


def _of_ag_ui(messages: list[dict[str, Any]]) -> Any:
    adapter = _ag_ui()
    return adapter.dump_python(adapter.validate_python(messages), by_alias=True, exclude_unset=True)


def test_ag_ui_reads_what_was_written() -> None:
    """The protocol's types accept all messages, with reasoning and sealed content, and give them back."""
    recorded = list(_recorded("ag-ui"))

    assert {"assistant", "reasoning"} == {message["role"] for messages in recorded for message in messages}
    assert recorded == [_of_ag_ui(messages) for messages in recorded]


def test_ag_ui_refuses_messages_without_ids() -> None:
    """The check can fail: the protocol wants an id of every message."""
    pydantic = importlib.import_module("pydantic")
    (message,) = encode_calls(turn(call()), "ag-ui").messages
    del message["id"]

    with pytest.raises(pydantic.ValidationError):
        _of_ag_ui([message])


def _of_otel(messages: list[dict[str, Any]]) -> Any:
    """Return the messages as OpenTelemetry's types have them; a part of no known type loses its members."""
    types = importlib.import_module("opentelemetry.util.genai.types")
    adapter = importlib.import_module("pydantic").TypeAdapter(list[types.OutputMessage])
    return adapter.dump_python(adapter.validate_python(messages), exclude_none=True)


def test_opentelemetry_reads_what_was_written() -> None:
    """Each part is one that OpenTelemetry's own types know, whole, and malformed text is text."""
    recorded = list(_recorded("otel"))
    parts = [part for messages in recorded for message in messages for part in message["parts"]]

    assert {"text", "reasoning", "tool_call", "server_tool_call"} == {part["type"] for part in parts}
    assert any(isinstance(part.get("arguments"), str) for part in parts)
    assert recorded == [_of_otel(messages) for messages in recorded]


def test_opentelemetry_does_not_know_other_parts() -> None:
    """The check can fail: a part without a member of its type does not come back."""
    (message,) = encode_calls(turn(call()), "otel").messages
    del message["parts"][0]["name"]

    assert [message] != _of_otel([message])
