"""The wire of OpenAI Responses for leaks, where a text is sent in pieces, and then whole up to four times.

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
from typing import Any

from wholecall.repairing.encoders.base import server_sent
from wholecall.repairing.pieces import Piece
from wholecall.repairing.responses import places
from wholecall.repairing.responses.numbering import NUMBER, Numbering
from wholecall.repairing.wire import LeakWire


class ResponsesLeaks(LeakWire):
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
        self._shown: dict[places.Part, list[str]] = {}
        self._size = 0  # characters of them
        self._stripped: set[places.Part] = set()
        self._last: dict[bool, dict[str, Any]] = {}  # the last piece of text, and of reasoning
        self._unsaid: list[str] | None = None  # text without a piece on the wire

    def see(self, piece: Piece) -> bool:
        """Note a received event; return whether it is new."""
        return not self._came.is_replayed(piece.payload or {}, self._response_id)

    def ends(self, piece: Piece) -> bool:
        """Return whether an event ends the response."""
        return piece.is_done or piece.kind in places.ENDS

    def stripped(self, piece: Piece) -> bytes | None:
        """Return nothing for a piece of text, and None for every other event."""
        family, word = places.family_of(piece.kind)
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
        family, word = places.family_of(piece.kind)
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
        family, _ = places.family_of(like["type"])
        assert family is not None
        part = self._said_in(like, family)
        self._keep(part, text)
        self._stripped.add(part)
        rest = {name: value for name, value in like.items() if name != "logprobs"}
        return self._event(rest.pop("type"), **{**rest, "delta": text})

    def call(self, choice: int, id: str, name: str, arguments: str) -> list[bytes]:  # noqa: ARG002 - as above
        """Return the four events of a call's item."""
        index, self._next_index = self._next_index, self._next_index + 1
        item = places.call_item(id, name, arguments)
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

    def _said_in(self, payload: dict[str, Any], family: places.Family) -> places.Part:
        """Return the part that a piece of text belongs to, and note both."""
        part = places.part_of(payload, family.parts)
        if isinstance(payload.get("item_id"), str):
            self._items[payload["item_id"]] = part.item
        self._shown.setdefault(part, [])
        self._last[family.is_reasoning] = payload
        return part

    def _keep(self, part: places.Part, text: str) -> None:
        self._size += len(text)
        if self._size > self._most:
            self._shown[part].clear()
        else:
            self._shown[part].append(text)

    def _restated(self, kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return the changed members of an event that restates text."""
        if (not self._stripped and self._unsaid is None) or self._size > self._most:
            return {}
        family, word = places.family_of(kind)
        if family is not None and word == "done":
            text = self._text(places.part_of(payload, family.parts))
            return {} if text is None else {family.member: text, **places.without_logprobs(payload)}
        if kind in places.PART_EVENTS and isinstance(payload.get("part"), dict):
            return {"part": self._part(payload["part"], places.part_of(payload, places.PART_EVENTS[kind]))}
        if kind == "response.output_item.done" and isinstance(payload.get("item"), dict):
            return {"item": self._item(payload["item"], places.part_of(payload, "").item)}
        response = payload.get("response")
        if kind in places.ENDS and isinstance(response, dict) and isinstance(response.get("output"), list):
            return {"response": {**response, "output": self._output(response["output"])}}
        return {}

    def _output(self, items: list[Any]) -> list[Any]:
        if self._unsaid is not None:
            items = places.with_text(items, "".join(self._unsaid))
        return [
            self._item(item, self._items.get(str(item.get("id")), at)) if isinstance(item, dict) else item
            for at, item in enumerate(items)
        ]

    def _item(self, item: dict[str, Any], number: int | None) -> dict[str, Any]:
        found = {name: item[name] for name in places.PART_LISTS if isinstance(item.get(name), list)}
        edited = {
            name: [
                self._part(part, places.Part(number, name, at)) if isinstance(part, dict) else part
                for at, part in enumerate(parts)
            ]
            for name, parts in found.items()
        }
        return item if edited == found else {**item, **edited}

    def _part(self, part: dict[str, Any], which: places.Part) -> dict[str, Any]:
        text = self._text(which)
        return part if text is None else places.part_with_text(part, text)

    def _text(self, part: places.Part) -> str | None:
        """Return the sent text of a part; None if all of it was sent."""
        return "".join(self._shown[part]) if part in self._stripped else None
