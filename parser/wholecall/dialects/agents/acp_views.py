"""The views of ACP messages, and a session's memory of its prompt."""

from __future__ import annotations

from typing import Any, Final, Union

import msgspec

from wholecall.dialects import report
from wholecall.dialects.decode import NO_TEXT

__all__ = ["DECODER", "QUIET", "KnownCall", "Message", "Params", "Result", "Session", "Update"]

# Updates that are not about the answer.
QUIET: Final = frozenset(
    {
        *("user_message_chunk", "user_message", "plan", "plan_update", "plan_removed"),
        *("available_commands_update", "current_mode_update", "config_option_update"),
        *("session_info_update", "usage_update", "tool_call_content_chunk"),
    }
)


class Update(msgspec.Struct, gc=False, rename="camel"):
    """The content of one update; of a call only the changes."""

    session_update: Any = None
    content: Any = None
    tool_call_id: Any = None
    title: Any = None
    kind: Any = None
    status: Any = None
    locations: Any = None
    raw_input: msgspec.Raw = NO_TEXT
    meta: Any = msgspec.field(name="_meta", default=None)
    stop_reason: Any = None

    @property
    def extra(self) -> dict[str, Any] | None:
        """Return the other members of a call."""
        return report.extra(title=self.title, kind=self.kind, locations=self.locations, _meta=self.meta)


class Params(msgspec.Struct, gc=False, rename="camel"):
    """The parameters of a request or of a notification."""

    session_id: Any = None
    update: Union[Update, None] = None
    tool_call: Union[Update, None] = None


class Result(msgspec.Struct, gc=False, rename="camel"):
    """The result of a request: of a prompt, if it has a reason."""

    stop_reason: Any = None
    usage: Any = None


class Message(msgspec.Struct, gc=False):
    """A message of JSON-RPC."""

    jsonrpc: Any = None
    method: Any = None
    params: Union[Params, None] = None
    id: Any = None
    result: Union[Result, None] = None
    error: Any = None
    type: Any = None


DECODER = msgspec.json.Decoder(Message)


class KnownCall:
    """The state of a call: its slot, and its last text."""

    slot: int
    named: bool
    text: str
    rank: int

    def __init__(self, slot: int) -> None:
        self.slot = slot
        self.named = False
        self.text = ""
        self.rank = 0


class Session:
    """A session, and the turn that its latest prompt began."""

    id: str | None
    open: bool
    calls: dict[str, KnownCall]
    n_slots: int
    _n_turns: int

    def __init__(self, id: str | None) -> None:
        self.id = id
        self.open = False
        self.calls = {}
        self.n_slots = 0
        self._n_turns = 0

    @property
    def key(self) -> str:
        """Return the key of the turn."""
        return f"{self.id}#{self._n_turns}"

    def begin(self) -> None:
        """Begin the next turn."""
        self.open = True
        self._n_turns += 1
        self.calls.clear()
        self.n_slots = 0

    def call(self, id: str | None) -> tuple[KnownCall, bool]:
        """Return the call of this id, and whether it is new; without an id it always is."""
        known = self.calls.get(id) if id is not None else None
        if known is not None:
            return known, False
        call = KnownCall(self.n_slots)
        self.n_slots += 1
        if id is not None:
            self.calls[id] = call
        return call, True
