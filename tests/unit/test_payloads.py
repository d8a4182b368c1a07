"""Decoded payloads and SDKs' objects are read as their original wire form."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from enum import Enum
from types import SimpleNamespace
from typing import Any, Literal

import msgspec
import pydantic
import pytest

from tests.support.together import together
from wholecall.framing import Frame
from wholecall.stream.payloads import frames_of


class Reason(str, Enum):
    """An enum of an SDK."""

    STOP = "stop"


class Inner(pydantic.BaseModel):
    """A model inside another; undeclared fields are kept."""

    model_config = pydantic.ConfigDict(extra="allow")
    index: int = 0
    text: str | None = None


class Outer(pydantic.BaseModel):
    """A model like the chunk of an SDK."""

    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    id: str | None = None
    choices: list[Any] | None = None
    args: Any = None


class Camel(pydantic.BaseModel):
    """A model with different names on the wire."""

    model_config = pydantic.ConfigDict(populate_by_name=True)
    finish_reason: Reason | None = pydantic.Field(default=None, alias="finishReason")
    thought_signature: bytes | None = pydantic.Field(default=None, serialization_alias="thoughtSignature")
    sdk_http_response: Any = None


class Serialises(pydantic.BaseModel):
    """A model that serialises itself."""

    value: int = 1

    @pydantic.model_serializer
    def write(self) -> dict[str, Any]:
        """Leave out unset fields."""
        return {"written": self.value}


class Chunk(pydantic.BaseModel):
    """The event of a helper that holds the raw chunk."""

    type: Literal["chunk"] = "chunk"
    chunk: Outer
    snapshot: Any = None


class Delta(pydantic.BaseModel):
    """An event of a helper."""

    type: str
    delta: str = "x"
    snapshot: Any = None


class Envelope(pydantic.BaseModel):
    """An SDK's object for a server-sent event."""

    event: str | None = None
    data: Any


class Struct(msgspec.Struct):
    """A Struct."""

    a: int
    inner: Any = None


@dataclass
class Data:
    """A dataclass with a model inside."""

    inner: Inner


class DictData(dict[str, Any]):
    """A dict of an SDK's own class."""


class Converts:
    """An object with its own method."""

    def to_dict(self) -> object:
        """Return builtins, with an object inside."""
        return {"inner": Inner(index=1)}


def read(payload: object, event: str | None = None) -> list[tuple[str, Any]]:
    """Return event names and decoded data of the frames of a payload."""
    return [(frame.event, json.loads(frame.data)) for frame in frames_of(payload, event)]


@together(
    ("payload", "expected"),
    [
        ({"a": [1, None]}, {"a": [1, None]}),
        (Outer(id="r", choices=[Inner(index=1, text="t")]), {"id": "r", "choices": [{"index": 1, "text": "t"}]}),
        (Inner(index=1, more={"b": None}), {"index": 1, "more": {"b": None}}),  # type: ignore[call-arg]
        (Camel(finish_reason=Reason.STOP, thought_signature=b"\xff"), {"finishReason": "stop", "thoughtSignature": "/w=="}),
        (Camel(sdk_http_response={"headers": {}}), {}),
        (Serialises(value=2), {"written": 2}),
        ({"deep": [Serialises()]}, {"deep": [{"written": 1}]}),
        (Struct(1, Inner()), {"a": 1, "inner": {"index": 0}}),
        (Data(Inner(index=3)), {"inner": {"index": 3}}),
        (DictData(a=DictData(b=1)), {"a": {"b": 1}}),
        (Converts(), {"inner": {"index": 1}}),
        (SimpleNamespace(a=1, b=None, _c=3, inner=Inner()), {"a": 1, "inner": {"index": 0}}),
        ({"when": dt.date(2026, 1, 2)}, {"when": "2026-01-02"}),
        ({"chunk": {"bytes": b'{"a":1}'}}, {"chunk": {"bytes": "eyJhIjoxfQ=="}}),
        (({"tuple": 1}, {"of": 2}), [{"tuple": 1}, {"of": 2}]),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_an_object_is_the_json_that_it_came_from(payload: object, expected: object) -> None:
    """Fields with a value, under the wire's names, and none of the SDK's additions."""
    assert [("", expected)] == read(payload)


def test_a_list_holds_payloads() -> None:
    """Each element is a separate frame, of the same event."""
    assert [("e", {"a": 1}), ("e", {"index": 0})] == read([{"a": 1}, Inner()], "e")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**80, "\ud800", -(2**70)])
def test_values_that_strict_json_lacks_stay_visible(value: object) -> None:
    """A NaN does not become null, and halves of characters and long numbers stay the same."""
    expected = json.dumps({"id": "r", "args": {"a": value}}, ensure_ascii=False, separators=(",", ":"))

    assert [Frame("", expected)] == list(frames_of(Outer(id="r", args={"a": value})))


def test_a_helpers_event_holds_the_raw_chunk() -> None:
    """Of an event with a chunk the chunk is read, without the gathered content."""
    assert [("", {"id": "r"})] == read(Chunk(chunk=Outer(id="r"), snapshot={"all": 1}))


@pytest.mark.parametrize(
    "kind", ["content.delta", "tool_calls.function.arguments.delta", "text", "input_json", "thinking"]
)
def test_what_a_helper_retells_is_no_frame(kind: str) -> None:
    """An event that only repeats a raw one is skipped; a dict of that type is read."""
    assert [] == read(Delta(type=kind))
    assert [("", {"type": kind})] == read({"type": kind})


def test_a_snapshot_is_never_read() -> None:
    """The content gathered so far is left out of raw events: reading it each time would be quadratic."""
    event = Delta(type="response.output_text.delta", snapshot=object())

    assert [("", {"type": "response.output_text.delta", "delta": "x"})] == read(event)


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (Envelope(data=Outer(id="r")), ("", {"id": "r"})),
        (Envelope(event="thread.run.created", data={"id": "r"}), ("thread.run.created", {"id": "r"})),
        (Envelope(event="error", data='{"message":"busy"}'), ("error", {"message": "busy"})),
    ],
)
def test_a_server_sent_event_is_taken_out_of_its_envelope(payload: object, expected: object) -> None:
    """Objects with `event` and `data` give the name and the data."""
    assert [expected] == read(payload)


def test_an_object_with_more_than_data_is_a_payload() -> None:
    """A field called `data` alone makes no envelope."""
    assert [("", {"data": 1, "kind": "k"})] == read(SimpleNamespace(data=1, kind="k"))


@pytest.mark.parametrize("payload", [object(), len, Inner, {"a": object()}, [lambda: 0]])
def test_what_is_no_data_is_a_callers_mistake(payload: object) -> None:
    """Functions, classes and bare objects are refused by their type's name."""
    with pytest.raises(TypeError):
        list(frames_of(payload))


def test_a_payload_that_contains_itself_is_a_callers_mistake() -> None:
    """A circle raises instead of running on."""
    payload: dict[str, Any] = {}
    payload["self"] = payload

    with pytest.raises(ValueError, match=r"[Cc]ircular"):
        list(frames_of(payload))
