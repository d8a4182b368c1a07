"""The wire of OpenAI Responses, where a text is sent in pieces, and then whole up to four times.

Theory of operation. The sent text of each part is kept, because the events that end the part, its item and the response
restate it. If text of a part was stripped, its sent text is restated; all other parts pass unchanged. Text that a
server sends only in the finished response is sent there, and nowhere else.

A gap in the numbers of events is a loss. Therefore an event that is left out gives its number to the next one, and each
of our events moves the following ones; the server's own gaps stay. Texts that are longer than an event may be cannot be
restated, and are not kept.

Source: OpenAI API reference, "Responses: streaming events".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from wholecall.encoders.base import server_sent
from wholecall.repairing.leak_wire import Wire
from wholecall.repairing.numbering import NUMBER, Numbering
from wholecall.repairing.pieces import Piece

__all__ = ["ResponsesWire", "call_item", "with_text"]

_LISTS: Final = ("content", "summary")  # of an item: the lists of its parts
_TEXTS: Final = ("text", "refusal")  # of a part
_SPEECH: Final = ("output_text", "text", "refusal")  # types of parts that are shown
_ENDS: Final = frozenset(
    f"response.{word}" for word in ("completed", "incomplete", "failed", "cancelled", "done")
)


class _Family(NamedTuple):
    """The events of one kind of text: the item's list of its parts, and the member with the text."""

    parts: str
    member: str
    is_reasoning: bool


_FAMILIES: Final[Mapping[str, _Family]] = MappingProxyType(
    {
        "response.output_text": _Family("content", "text", False),
        "response.refusal": _Family("content", "refusal", False),
        "response.reasoning_text": _Family("content", "text", True),
        "response.reasoning_summary_text": _Family("summary", "text", True),
    }
)
_PARTS: Final[Mapping[str, str]] = MappingProxyType(  # events that restate a part, and the list that it is in
    {"response.content_part.done": "content", "response.reasoning_summary_part.done": "summary"}
)


class _Part(NamedTuple):
    """A part of an item, by the numbers of the wire."""

    item: int | None
    parts: str
    number: int | None


class ResponsesWire(Wire):
    """The events of one stream, one response after the other."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._came = Numbering()
        self._wires: int | None = None  # the wire's number of the last event
        self._ours = 0  # our number of it
        self._begin(None)

    def _begin(self, response_id: str | None) -> None:
        self._response_id = response_id
        self._items: dict[str, int | None] = {}  # the numbers of items by their ids
        self._next_index = 0
        self._shown: dict[_Part, list[str]] = {}
        self._size = 0  # characters of them
        self._stripped: set[_Part] = set()
        self._last: dict[bool, dict[str, Any]] = {}  # the last piece of text, and of reasoning
        self._unsaid: list[str] | None = None  # text without a piece on the wire

    def see(self, piece: Piece) -> bool:
        """Note a received event; return whether it is new."""
        return not self._came.is_replayed(piece.payload or {}, self._response_id)

    def ends(self, piece: Piece) -> bool:
        """Return whether an event ends the response."""
        return piece.is_done or piece.kind in _ENDS

    def stripped(self, piece: Piece) -> bytes | None:
        """Return nothing for a piece of text, and None for every other event."""
        family, word = _family_of(piece.kind)
        if family is None or word != "delta":
            return None
        payload = piece.payload or {}
        self._stripped.add(self._said_in(payload, family))
        if self._numbered(payload) and self._wires:
            self._ours -= 1  # its number is free
        return b""

    def passing(self, piece: Piece) -> bytes:
        """Return an event with its number, and with its restated text, as they were sent."""
        payload = piece.payload or {}
        if piece.kind == "response.created":
            response = payload.get("response")
            self._begin(response.get("id") if isinstance(response, dict) else None)
        index = payload.get("output_index")
        if type(index) is int:
            self._next_index = max(self._next_index, index + 1)
        family, word = _family_of(piece.kind)
        if family is not None and word == "delta" and isinstance(payload.get("delta"), str):
            self._keep(self._said_in(payload, family), payload["delta"])
        edits = self._restated(piece.kind, payload) | self._numbered(payload)
        return piece.raw if edits.items() <= payload.items() else piece.with_payload({**payload, **edits})

    def said(self, choice: int, text: str, *, reasoning: bool) -> bytes:  # noqa: ARG002 - there is one
        """Return a piece of text, in the part of the last piece."""
        like = self._last.get(reasoning)
        if like is None:  # the end of the item, or of the response, says it
            self._unsaid = [*(self._unsaid or ()), *([] if reasoning else [text])]
            return b""
        family, _ = _family_of(like["type"])
        assert family is not None
        part = self._said_in(like, family)
        self._keep(part, text)
        self._stripped.add(part)
        rest = {name: value for name, value in like.items() if name != "logprobs"}
        return self._event(rest.pop("type"), **{**rest, "delta": text})

    def call(self, choice: int, id: str, name: str, arguments: str) -> list[bytes]:  # noqa: ARG002 - as above
        """Return the four events of a call's item."""
        index, self._next_index = self._next_index, self._next_index + 1
        item = call_item(id, name, arguments)
        place = {"item_id": item["id"], "output_index": index}
        begun = {**item, "status": "in_progress", "arguments": ""}
        return [
            self._event("response.output_item.added", output_index=index, item=begun),
            self._event("response.function_call_arguments.delta", **place, delta=arguments),
            self._event("response.function_call_arguments.done", **place, name=name, arguments=arguments),
            self._event("response.output_item.done", output_index=index, item=item),
        ]

    # Numbers.

    def _numbered(self, payload: Mapping[str, Any]) -> dict[str, int]:
        """Return the number of a sent event, where it has one."""
        number = payload.get(NUMBER)
        if type(number) is not int:
            return {}
        is_first = number == 0 or self._wires is None  # a constant 0 is no count, another 0 restarts it
        self._ours = number if is_first else self._ours + number - (self._wires or 0)
        self._wires = number
        return {NUMBER: self._ours}

    def _event(self, kind: str, **members: Any) -> bytes:
        """Return an event of ours, numbered if those of the stream are."""
        members.pop(NUMBER, None)
        if self._wires is not None:
            self._ours += self._wires > 0
            members[NUMBER] = self._ours
        return server_sent({"type": kind, **members}, kind)

    # Parts.

    def _said_in(self, payload: dict[str, Any], family: _Family) -> _Part:
        """Return the part that a piece of text belongs to, and note both."""
        part = _part_of(payload, family.parts)
        if isinstance(payload.get("item_id"), str):
            self._items[payload["item_id"]] = part.item
        self._shown.setdefault(part, [])
        self._last[family.is_reasoning] = payload
        return part

    def _keep(self, part: _Part, text: str) -> None:
        self._size += len(text)
        if self._size > self._most:
            self._shown[part].clear()
        else:
            self._shown[part].append(text)

    def _restated(self, kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return the changed members of an event that restates text."""
        if (not self._stripped and self._unsaid is None) or self._size > self._most:
            return {}
        family, word = _family_of(kind)
        if family is not None and word == "done":
            text = self._text(_part_of(payload, family.parts))
            return {} if text is None else {family.member: text, **_without_logprobs(payload)}
        if kind in _PARTS and isinstance(payload.get("part"), dict):
            return {"part": self._part(payload["part"], _part_of(payload, _PARTS[kind]))}
        if kind == "response.output_item.done" and isinstance(payload.get("item"), dict):
            return {"item": self._item(payload["item"], _part_of(payload, "").item)}
        response = payload.get("response")
        if kind in _ENDS and isinstance(response, dict) and isinstance(response.get("output"), list):
            return {"response": {**response, "output": self._output(response["output"])}}
        return {}

    def _output(self, items: list[Any]) -> list[Any]:
        if self._unsaid is not None:
            items = with_text(items, "".join(self._unsaid))
        return [
            self._item(item, self._items.get(str(item.get("id")), at)) if isinstance(item, dict) else item
            for at, item in enumerate(items)
        ]

    def _item(self, item: dict[str, Any], number: int | None) -> dict[str, Any]:
        found = {name: item[name] for name in _LISTS if isinstance(item.get(name), list)}
        edited = {
            name: [
                self._part(part, _Part(number, name, at)) if isinstance(part, dict) else part
                for at, part in enumerate(parts)
            ]
            for name, parts in found.items()
        }
        return item if edited == found else {**item, **edited}

    def _part(self, part: dict[str, Any], which: _Part) -> dict[str, Any]:
        text = self._text(which)
        return part if text is None else _with_text(part, text)

    def _text(self, part: _Part) -> str | None:
        """Return the sent text of a part; None if all of it was sent."""
        return "".join(self._shown[part]) if part in self._stripped else None


def _family_of(kind: str) -> tuple[_Family | None, str]:
    """Return an event's kind of text, and whether it holds a piece of it or all of it."""
    name, _, word = kind.rpartition(".")
    return _FAMILIES.get(name), word


def _part_of(payload: Mapping[str, Any], parts: str) -> _Part:
    item, number = payload.get("output_index"), payload.get(f"{parts}_index")
    return _Part(item if type(item) is int else None, parts, number if type(number) is int else None)


def _with_text(part: dict[str, Any], text: str) -> dict[str, Any]:
    texts = {name: text for name in _TEXTS if isinstance(part.get(name), str)}
    return {**part, **texts, **_without_logprobs(part)}


def _without_logprobs(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the empty list for probabilities of tokens, some of which were removed."""
    return {"logprobs": []} if payload.get("logprobs") else {}


def call_item(id: str, name: str, arguments: str) -> dict[str, Any]:
    """Return the item of a whole call."""
    labels = {"type": "function_call", "id": f"fc_{id}", "call_id": id, "name": name}
    return {**labels, "arguments": arguments, "status": "completed"}


def _texts_of(items: list[Any]) -> list[dict[str, Any]]:
    """Return the parts of messages that hold shown text."""
    messages = (item for item in items if isinstance(item, dict) and item.get("type") == "message")
    lists = (message["content"] for message in messages if isinstance(message.get("content"), list))
    return [
        part for parts in lists for part in parts if isinstance(part, dict) and part.get("type") in _SPEECH
    ]


def with_text(items: list[Any], text: str) -> list[Any]:
    """Return items whose messages say this text: in the first part with text, the other parts get none."""
    spoken = _texts_of(items)

    def edited(part: Any) -> Any:
        if not any(part is one for one in spoken):
            return part
        return _with_text(part, text if part is spoken[0] else "")

    return [
        {**item, "content": [edited(part) for part in item["content"]]}
        if isinstance(item, dict) and item.get("type") == "message" and isinstance(item.get("content"), list)
        else item
        for item in items
    ]
