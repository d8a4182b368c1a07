"""The messages of one Realtime call: which of them came, what they say, and how they have to say it.

Theory of operation. Clients execute a call on any of three events: the whole text, the finished item, the finished
response. All of them must say what the verdict says, so each message is compared with it and edited in place; messages
that are missing are made. A call without a message of its own, which only the finished response names, gets all four.

A call can be *shown* while it arrives: its first message and the pieces of its text leave at once, as far as no
correction can change them. The events on which clients act wait for the verdict.

Source: OpenAI API reference, "Realtime: server events".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from wholecall.limits import Limits
from wholecall.repairing.encoders.base import Executable, argument_text
from wholecall.repairing.encoders.responses import ResponsesEncoder
from wholecall.repairing.live import LiveText
from wholecall.repairing.responses import places
from wholecall.repairing.sessions.base import Message

ADDED: Final = "response.output_item.added"
DONE: Final = "response.output_item.done"
CONVERSATION: Final = "conversation.item."

_SHOWN: Final = ("function_call", "custom_tool_call")

Payload = dict[str, Any]


class Labels(NamedTuple):
    """The labels that a message gives a call: the item's id, the call's id, and the number of the output."""

    item: str | None
    call: str | None
    number: int | None


def labels_of(payload: Mapping[str, Any]) -> Labels:
    """Return the labels of the call in an event, or of the item that the event holds."""
    item = payload.get("item")
    inner: Mapping[str, Any] = item if isinstance(item, dict) else {"id": payload.get("item_id"), **payload}
    index = payload.get("output_index")
    id = inner.get("id") if isinstance(item, dict) else payload.get("item_id")
    return Labels(_label(id), _label(inner.get("call_id")), index if type(index) is int else None)


def _label(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def is_of_call(message: Message) -> bool:
    """Return whether a response's event is about a call that the client executes."""
    if message.kind in {ADDED, DONE}:
        return places.is_ours((message.payload or {}).get("item"))
    return message.kind.startswith(places.CALL_EVENTS)


def conversation_item(message: Message) -> Payload | None:
    """Return the call in an event about the conversation; None for any other event."""
    item = (message.payload or {}).get("item") if message.kind.startswith(CONVERSATION) else None
    return item if isinstance(item, dict) and places.is_ours(item) else None


class Track:
    """One call of a response.

    Attributes:
        place: the labels of its first message.
        text: the pieces of its text, joined.
        call: the verdict: the call, None if it is withheld or there is none yet.
        is_judged: whether the verdict is there.
    """

    def __init__(self, place: Labels) -> None:
        self.place = place
        self.text = ""
        self.call: Executable | None = None
        self.is_judged = False
        self._is_said = False  # a piece with the whole text was written
        self._shown: LiveText | None = None  # of a call that is shown while it arrives
        self._labels = ("", "")  # the id and the name with which it was shown
        self._owed = ""  # the text that must follow the shown one
        self._left: set[str] = set()  # types of the events that left and that clients act on

    def note(self, message: Message) -> None:
        """Take note of a message that waits."""
        payload = message.payload or {}
        kind = message.kind
        if kind == ADDED:
            text = payload["item"].get(places.CALL_TEXTS.get(payload["item"].get("type"), ""))
            self.text += text if isinstance(text, str) else ""
        elif kind.startswith(places.CALL_EVENTS) and kind.endswith(".delta"):
            delta = payload.get("delta")
            self.text += delta if isinstance(delta, str) else "\0"  # no text holds it

    def judge(self, call: Executable | None) -> None:
        """Take the verdict."""
        self.call, self.is_judged = call, True

    # A call that is shown while it arrives.

    @property
    def is_shown(self) -> bool:
        """Whether its beginning has left."""
        return self._shown is not None

    def show(self, message: Message, limits: Limits) -> list[Payload | Message] | None:
        """Return what may be sent of a message before the verdict; None if it has to wait for that."""
        kind, payload = message.kind, message.payload or {}
        item = payload.get("item")
        if isinstance(item, dict):
            is_begun = kind == ADDED or (kind.startswith(CONVERSATION) and not kind.endswith(".done"))
            return self._show_item(message, item, limits) if is_begun else None
        if self._shown is None or not kind.endswith(".delta"):
            return None
        piece = payload.get("delta")
        text = self._shown.add(piece) if isinstance(piece, str) else ""
        own = {"item_id": self.place.item} if self.place.item is not None else {}
        edited = {**payload, **own, "delta": text}
        return [] if not text else [message] if edited == payload else [edited]

    def _show_item(self, message: Message, item: Payload, limits: Limits) -> list[Payload | Message] | None:
        """Return the first message of a call, and an event of the conversation about its beginning."""
        id, name, kind = _label(item.get("call_id")), _label(item.get("name")), str(item.get("type"))
        if id is None or name is None or kind not in _SHOWN or item.get(places.CALL_TEXTS[kind]):
            return None
        if self._shown is not None:
            is_same = (id, name) == self._labels and item.get("id") == self.place.item
            return [message] if is_same and message.kind != ADDED else None
        if message.kind != ADDED or self.text:
            return None
        self._shown, self._labels = LiveText(limits, is_json=kind == _SHOWN[0]), (id, name)
        self._left.add(ADDED)
        return [message]

    def objection(self, reason: str) -> str | None:
        """Return why a shown call does not hold after its verdict, None if it does; the rest of its text is owed.

        Args:
            reason: why it is withheld, if it is.
        """
        if self._shown is None:
            return None
        call = self.call
        if call is None:
            return f"a tool call must not be executed: {reason}"
        if (call.id, call.name) != self._labels:
            return "a tool call was relabelled after it was shown"
        rest = self._shown.rest(argument_text(call))
        self._owed = rest or ""
        return "the arguments of a tool call were corrected after they were shown" if rest is None else None

    def last(self, response_id: str | None) -> Iterator[Payload]:
        """Yield the events that a shown call lacks at the end of its response."""
        if self._shown is not None and self.call is not None:
            for missing in self._missing_after(self.call):
                yield self._made(missing, self.call, {"response_id": response_id})

    # What the client gets.

    def written(self, message: Message, *, is_last: bool) -> Iterator[Payload | Message]:
        """Yield what the client gets instead of a message: itself, if it says what the verdict says.

        Args:
            message: of this call.
            is_last: whether no other message of the call waits; missing ones follow.
        """
        call = self.call
        if call is None:
            return
        if message.kind not in self._left:  # a repeated one would be executed again
            yield from self._written(message, call)
        if is_last:
            for missing in self._missing_after(call):
                yield self._made(missing, call, message.payload or {})

    def _written(self, message: Message, call: Executable) -> Iterator[Payload | Message]:
        kind, payload = message.kind, message.payload or {}
        if not kind.startswith(CONVERSATION) and not kind.endswith(".delta"):
            self._left.add(kind)
        for missing in self._missing_before(kind, call):
            yield self._made(missing, call, payload)
        edited = self._edited(kind, payload, call)
        if edited is not None:
            yield message if edited == payload and not message.is_odd else edited

    def whole(self, response_id: str | None, index: int) -> Iterator[Payload]:
        """Yield all events of a call that has no message of its own."""
        assert self.call is not None
        self.place = self.place._replace(number=index if self.place.number is None else self.place.number)
        for kind in (ADDED, *_text_events(self.call), DONE):
            yield self._made(kind, self.call, {"response_id": response_id})

    def _missing_before(self, kind: str, call: Executable) -> Iterator[str]:
        """Yield the types of the events that have to come before one of this type, and did not."""
        if kind.startswith(CONVERSATION):
            return
        for event in (ADDED, *_text_events(call)):
            if event == kind:
                return
            is_said = event.endswith(".delta") and self._has_said(call)
            if event not in self._left and not is_said:
                yield event

    def _has_said(self, call: Executable) -> bool:
        """Return whether no piece of the text has to be made."""
        if self._shown is not None:
            return not self._owed
        return bool(self._is_said or self.text or not argument_text(call))

    def _missing_after(self, call: Executable) -> Iterator[str]:
        if DONE not in self._left:
            yield from self._missing_before(DONE, call)
            yield DONE

    def _edited(self, kind: str, payload: Payload, call: Executable) -> Payload | None:
        """Return an event that says what the verdict says; None for a piece that is not needed."""
        text = argument_text(call)
        if isinstance(payload.get("item"), dict):
            is_begun = kind == ADDED or (kind.startswith(CONVERSATION) and not kind.endswith(".done"))
            return {**payload, "item": item_with(payload["item"], call, self.place.item, is_begun=is_begun)}
        own: Payload = {"call_id": call.id} if "call_id" in payload else {}
        own |= {} if self.place.item is None else {"item_id": self.place.item}
        if not kind.endswith(".delta"):
            own |= {"name": call.name} if "name" in payload else {}
            return {**payload, **own, _member(call): text}
        if self.text == text:
            return {**payload, **own}
        said, self._is_said = self._is_said, True
        return None if said else {**payload, **own, "delta": text}

    def _made(self, kind: str, call: Executable, like: Mapping[str, Any]) -> Payload:
        """Return an event of the call, with the labels of its other messages."""
        self._left.add(kind)
        item = {**ResponsesEncoder().item(call), "object": "realtime.item"}
        if self.place.item is not None:
            item["id"] = self.place.item
        made: Payload = {"type": kind, "response_id": like.get("response_id")}
        made |= {"output_index": self.place.number or 0}
        if kind in {ADDED, DONE}:
            begun = {"status": "in_progress", _member(call): ""} if kind == ADDED else {}
            return {**made, "item": {**item, **begun}}
        made |= {"item_id": item["id"], "call_id": call.id}
        if kind.endswith(".delta"):
            self._is_said = True
            return {**made, "delta": argument_text(call) if self._shown is None else self._owed}
        return {**made, "name": call.name, _member(call): argument_text(call)}


def _text_events(call: Executable) -> tuple[str, ...]:
    """Return the types of the events with a call's text."""
    if call.kind == "builtin":
        return ()
    head = places.CALL_EVENTS[call.kind == "custom"]
    return f"{head}delta", f"{head}done"


def _member(call: Executable) -> str:
    return "input" if call.kind == "custom" else "arguments"


def item_with(item: Payload, call: Executable, id: str | None, *, is_begun: bool = False) -> Payload:
    """Return an item with what the verdict says of its call, under its first id.

    Args:
        item: as it came.
        call: the verdict.
        id: of the item in the first event of the call; clients go by it.
        is_begun: whether it has just begun, and has no text yet.
    """
    member = places.CALL_TEXTS.get(str(item.get("type")))
    if member is None:
        return item
    text = argument_text(call)
    said = item.get(member)
    texts = {member: "" if said else said} if is_begun and said != text else {member: text}
    if is_begun and member not in item:
        texts = {}
    named = {} if id is None else {"id": id}
    edited = {**item, **named, "call_id": call.id, "name": call.name, **texts}
    return item if edited == item else edited
