"""The views of an Assistants stream: runs, steps, messages and their deltas in one."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from wholecall.dialects.decode import NO_TEXT

__all__ = ["DECODER", "Call", "Data", "Part", "calls_in", "name_of"]


class Function(msgspec.Struct, gc=False):
    """A function and its arguments, in pieces or whole."""

    name: Any = None
    arguments: msgspec.Raw = NO_TEXT


class Code(msgspec.Struct, gc=False):
    """Code for the interpreter, in pieces or whole."""

    input: Any = None


class Call(msgspec.Struct, gc=False):
    """A call of any type; whole ones have no index."""

    index: Any = None
    id: Any = None
    type: Any = None
    function: Function | None = None
    code_interpreter: Code | None = None


class Details(msgspec.Struct, gc=False):
    """The content of a step."""

    tool_calls: list[Call] | None = None


class Text(msgspec.Struct, gc=False):
    """Text with its annotations."""

    value: Any = None


class Part(msgspec.Struct, gc=False):
    """A part of a message."""

    text: Text | None = None
    refusal: Any = None


class Piece(msgspec.Struct, gc=False):
    """The content that a delta adds to a step or a message."""

    step_details: Details | None = None
    content: list[Part] | None = None


class Action(msgspec.Struct, gc=False):
    """The action that a run waits for."""

    submit_tool_outputs: Details | None = None


class Cut(msgspec.Struct, gc=False):
    """The reason why a run or a message is incomplete."""

    reason: Any = None


class Data(msgspec.Struct, gc=False):
    """The view of any event's data."""

    id: Any = None
    object: Any = None
    run_id: Any = None
    delta: Piece | None = None
    status: Any = None
    model: Any = None
    step_details: Details | None = None
    content: list[Part] | None = None
    required_action: Action | None = None
    incomplete_details: Cut | None = None
    usage: Any = None
    last_error: Any = None
    # An error, with or without an envelope.
    error: Any = None
    code: Any = None
    message: Any = None
    type: Any = None
    param: Any = None
    # An event as SDKs wrap it.
    event: Any = None
    data: msgspec.Raw = NO_TEXT


DECODER: Final = msgspec.json.Decoder(Data)


def calls_in(details: Details | None) -> list[Call]:
    """Return the calls that a step is made of, or that a run waits for."""
    return (details and details.tool_calls) or []


def name_of(data: Data) -> str:
    """Return the name of the event that its data implies: deltas by their type, states by their status."""
    if type(data.object) is not str or not data.object.startswith("thread."):
        return ""
    return f"{data.object}.{data.status}" if type(data.status) is str else data.object
