"""The views of a version 2 stream: its pieces of text, as narrow as they can be, and any event."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, Union

import msgspec

from wholecall.dialects.openai.chat_views import ToolCallView
from wholecall.dialects.translator import EventView

__all__ = ["DECODER", "PIECES", "ArgumentPiece", "ContentPiece", "Event", "Message", "PlanPiece"]

T = TypeVar("T")


class _Inner(msgspec.Struct, Generic[T], gc=False):
    message: T
    delta: None = None


class _Content(msgspec.Struct, gc=False):
    text: str = ""
    thinking: str = ""


class _Said(msgspec.Struct, gc=False):
    content: _Content
    tool_plan: None = None
    tool_calls: None = None


class _Planned(msgspec.Struct, gc=False):
    tool_plan: str
    content: None = None
    tool_calls: None = None


class _Function(msgspec.Struct, gc=False):
    arguments: str


class _Call(msgspec.Struct, gc=False):
    function: _Function


class _Called(msgspec.Struct, gc=False):
    tool_calls: _Call


class ContentPiece(msgspec.Struct, gc=False, tag="content-delta"):
    """A piece of visible text, or of thinking."""

    delta: _Inner[_Said]
    index: int
    message: None = None
    error: None = None


class PlanPiece(msgspec.Struct, gc=False, tag="tool-plan-delta"):
    """A piece of the plan."""

    delta: _Inner[_Planned]
    message: None = None
    error: None = None


class ArgumentPiece(msgspec.Struct, gc=False, tag="tool-call-delta"):
    """A piece of a call's text."""

    delta: _Inner[_Called]
    index: int
    message: None = None
    error: None = None


class Message(msgspec.Struct, gc=False):
    """The message's part of an event."""

    tool_plan: Any = None
    content: Any = None
    tool_calls: Union[list[ToolCallView], ToolCallView, None] = None


class Event(EventView, gc=False):
    """An event, or its delta; a whole body has the members of the last delta at its top level."""

    id: Any = None
    index: Any = None
    delta: Union[Event, None] = None
    message: Union[Message, None] = None
    finish_reason: Any = None
    usage: Any = None


PIECES = msgspec.json.Decoder(Union[ContentPiece, PlanPiece, ArgumentPiece])
DECODER = msgspec.json.Decoder(Event)
