"""The base of sessions: messages as they are read and written, and what all wires of sessions have in common.

Theory of operation. A message is one event, so no framing is needed and a message is never joined with the next one. A
session outlives its errors: what went wrong ends one response, and the next one is read afresh. Messages that hold no
JSON text (sound in binary messages) are not for us, and pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Union

import msgspec

from wholecall.calls.output.events import Event
from wholecall.calls.tools.tool import Tools
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.repairing.encoders.base import json_bytes
from wholecall.repairing.pieces import once
from wholecall.repairing.report import RepairReport
from wholecall.repairing.withholding import Withheld
from wholecall.text.options import TextWanted

Raw = Union[str, bytes]

_SPACE: Final = b" \t\r\n"


class Message(NamedTuple):
    """One message of a server.

    Attributes:
        raw: as it came.
        text: its JSON text.
        payload: its object, None where it holds none: no client reads it.
        is_odd: whether readers may differ about its text.
    """

    raw: Raw
    text: str
    payload: dict[str, Any] | None
    is_odd: bool

    @property
    def kind(self) -> str:
        """The `type` of its payload, `""` where there is none."""
        kind = (self.payload or {}).get("type")
        return kind if type(kind) is str else ""


def read(raw: Raw) -> Message | None:
    """Return a message as clients read it, None for a binary one that holds no JSON text."""
    if isinstance(raw, str):
        text = raw
    elif raw.lstrip(_SPACE).startswith(b"{"):
        text = raw.decode("utf-8", "replace")
    else:
        return None
    value, is_odd = once(text)
    return Message(raw, text, value if isinstance(value, dict) else None, is_odd)


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller chose.

    Attributes:
        tools: those that calls are checked against; None for no check.
        learns: whether the tools that the client's messages name are known from there on.
        text: calls that the model writes as text.
        policy: how calls are judged.
        limits: bounds of a response.
        withheld: how a turn ends whose calls were all withheld.
        live: whether calls are shown while they arrive.
        note: takes all events of the parsers.
    """

    tools: Union[Tools[Any], None]
    learns: bool
    text: TextWanted
    policy: Policy
    limits: Limits
    withheld: Withheld
    live: bool
    note: Callable[[Sequence[Event[Any]]], None]


class Session(ABC):
    """The messages of one connection, in one wire format.

    Args:
        options: what the caller chose.

    Attributes:
        is_over: whether an error of ours ended the session; nothing may follow then.
    """

    is_over = False

    def __init__(self, options: Options) -> None:
        self._options = options
        self._is_binary = False  # messages of ours are like those of the server

    def receive(self, message: Message) -> list[Raw]:
        """Take a server's message; return the messages that go on to the client."""
        self._is_binary = isinstance(message.raw, bytes)
        return self._take(message)

    @abstractmethod
    def _take(self, message: Message) -> list[Raw]:
        """Take a message; return those that may be sent now."""

    @abstractmethod
    def send(self, payload: Mapping[str, Any]) -> None:
        """Take note of a client's message."""

    @abstractmethod
    def fail(self, code: str, text: str) -> list[Raw]:
        """End what is open, because its messages cannot be read; return the messages that say so."""

    @abstractmethod
    def close(self) -> list[Raw]:
        """End what is open; return the messages that say so."""

    @property
    @abstractmethod
    def report(self) -> RepairReport:
        """The report so far."""

    def _written(self, payload: Mapping[str, Any]) -> Raw:
        """Return a message of ours, text or binary as those of the server are."""
        data = json_bytes(payload)
        return data if self._is_binary else data.decode()


def named_tools(listed: object) -> Tools[Any] | None:
    """Return the tools of a request by their names alone; None where they have none, or not all are known."""
    if not isinstance(listed, list):
        return None
    names = [_name_of(tool) for tool in listed]
    if None in names or not any(names):
        return None
    return Tools([{"type": "custom", "name": name} for name in dict.fromkeys(names) if name])


def _name_of(tool: object) -> str | None:
    """Return the name of a client's tool, `""` for one that the provider executes; None for an unknown kind."""
    if not isinstance(tool, dict):
        return None
    name = tool.get("name")
    if isinstance(name, str) and name:
        return name
    kind = tool.get("type")
    is_ours = not isinstance(kind, str) or kind in {"function", "custom", "namespace", "tool_search"}
    return None if is_ours else ""
