"""The messages of one Realtime call: which of them came, what they say, and how they have to say it.

Theory of operation. Clients execute a call on any of three events: the whole text, the finished item, the finished
response. All of them must say what the verdict says, so each message is compared with it and edited in place; messages
that are missing are made. A call without a message of its own, which only the finished response names, gets all four.

Source: OpenAI API reference, "Realtime: server events".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from wholecall.repairing.encoders.base import Executable, argument_text
from wholecall.repairing.encoders.responses import ResponsesEncoder
from wholecall.repairing.responses import places
from wholecall.repairing.sessions.base import Message

ADDED: Final = "response.output_item.added"
DONE: Final = "response.output_item.done"
CONVERSATION: Final = "conversation.item."

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
        kinds: the types of its messages that wait.
        text: the pieces of its text, joined.
        call: the verdict: the call, None if it is withheld or there is none yet.
        is_judged: whether the verdict is there.
    """

    def __init__(self, place: Labels) -> None:
        self.place = place
        self.kinds: set[str] = set()
        self.text = ""
        self.call: Executable | None = None
        self.is_judged = False
        self._is_said = False  # a piece with the whole text was written
        self._left: set[str] = set()  # types of the events that left and that clients act on

    def note(self, message: Message) -> None:
        """Take note of a message that waits."""
        payload = message.payload or {}
        kind = message.kind
        self.kinds.add(kind)
        if kind == ADDED:
            text = payload["item"].get(places.CALL_TEXTS.get(payload["item"].get("type"), ""))
            self.text += text if isinstance(text, str) else ""
        elif kind.startswith(places.CALL_EVENTS) and kind.endswith(".delta"):
            delta = payload.get("delta")
            self.text += delta if isinstance(delta, str) else "\0"  # no text holds it

    def judge(self, call: Executable | None) -> None:
        """Take the verdict."""
        self.call, self.is_judged = call, True

    # What the client gets.

    def written(self, message: Message, *, is_last: bool) -> Iterator[Payload | Message]:
        """Yield what the client gets instead of a message: itself, if it says what the verdict says.

        Args:
            message: of this call.
            is_last: whether no other message of the call waits; missing ones follow.
        """
        call = self.call
        kind, payload = message.kind, message.payload or {}
        if call is None or kind in self._left:
            return
        if not kind.startswith(CONVERSATION) and not kind.endswith(".delta"):
            self._left.add(kind)  # a repeated one would be executed again
        for missing in self._missing_before(kind, call):
            yield self._made(missing, call, payload)
        edited = self._edited(kind, payload, call)
        if edited is not None:
            yield message if edited == payload and not message.is_odd else edited
        if is_last:
            for missing in self._missing_after(call):
                yield self._made(missing, call, payload)

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
            is_said = event.endswith(".delta") and (self._is_said or self.text or not argument_text(call))
            if event not in self.kinds and not is_said:
                self.kinds.add(event)
                yield event

    def _missing_after(self, call: Executable) -> Iterator[str]:
        if DONE not in self.kinds:
            yield from self._missing_before(DONE, call)
            self.kinds.add(DONE)
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
            return {**made, "delta": argument_text(call)}
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
