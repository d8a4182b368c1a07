"""OpenAI Responses: the frames of calls, a naive reader's view of them, and the numbers of items and events.

Functions, free-text tools and the provider's tools that the client executes are calls; calls that the server executes
pass. The finished response restates the items: withheld calls are removed from its list, and emitted calls are in it.
If a server leaves it empty it is filled, because some clients read nothing else. If it held nothing but a cut call, the
response is incomplete. Events whose numbers were seen before are replays; clients that do not look at the numbers must
not see them.

A call whose result follows (`function_call_output`) was executed elsewhere, and clients would execute it again. Servers
send results after each call, or all of them after the last call. Therefore calls wait while frames of calls, results
and signs of life come, and are withheld, with their results, if these hold one; any other frame releases them.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final

from wholecall.calls.output.events import Event
from wholecall.limits import Limits
from wholecall.repairing.encoders.responses import ResponsesEncoder
from wholecall.repairing.items import ItemRewriter, Role, begins_with
from wholecall.repairing.pieces import Piece
from wholecall.repairing.responses import places
from wholecall.repairing.responses.numbering import Numbering
from wholecall.repairing.schema import EVENTS, RESPONSE, stand_ins
from wholecall.repairing.strict import Track
from wholecall.repairing.withholding import CALLS_WITHHELD, Withheld

_ITEMS: Final = {"response.output_item.added": Role.OPENS, "response.output_item.done": Role.WHOLE}
_MEMBERS: Final = stand_ins(RESPONSE)


class ResponsesRewriter(ItemRewriter[ResponsesEncoder]):
    """The rewriter of one Responses stream."""

    may_be_answered = True
    text_frames = begins_with(*(f"{kind}.delta" for kind in places.FAMILIES))

    def __init__(self, limits: Limits, *, live: bool, withheld: Withheld = "auto") -> None:
        super().__init__(ResponsesEncoder(), limits, live=live, withheld=withheld)
        self._slots: set[Any] = set()  # the wire's numbers of items that are calls, and their ids
        self._numbers: dict[Any, int] = {}  # of sent items: ours by the wire's
        self._wires_numbers = Numbering()
        self._is_begun = self._is_over = False  # a response, for the client
        self._begun: str | None = None  # its id
        self._members = dict(_MEMBERS)  # its required members
        self._item_ids: dict[int, str] = {}  # of sent items, by our numbers
        self._places: dict[str, int] = {}  # and the reverse
        self._begin_tracks()

    def is_sound(self, payload: dict[str, Any]) -> bool:
        """Return whether a frame is as the published schema asks, and has a number."""
        return super().is_sound(payload) and type(payload.get("sequence_number")) is int

    def passed(self, payload: dict[str, Any]) -> None:
        """Note the number of a frame that passed unchanged."""
        self.shown(payload["sequence_number"])

    def take(self, pieces: Sequence[Piece], events: Sequence[Event[Any]]) -> bytes:
        """Take frames; replayed frames are left out.

        Clients do not raise for a failed response, only for an `error` at the top of a frame.
        """
        numbers, known = self._wires_numbers, self._response_id
        fresh = [
            self._typed(piece) for piece in pieces if not numbers.is_replayed(piece.payload or {}, known)
        ]
        out = super().take(fresh, events)
        void, self._void = self._void, None
        if void is None or self.failed is not None or any(map(_is_raised, pieces)):
            return out
        self.failed, self.template = CALLS_WITHHELD, None
        return out + self._encoder.raised(void, CALLS_WITHHELD)

    def _sort(self, piece: Piece, role: Role) -> bytes:
        if self._is_answer((piece.payload or {}).get("item")):
            self._is_shifted = True
            return b""  # its call was withheld
        return super()._sort(piece, role)

    def _is_answer(self, item: object) -> bool:
        """Return whether an item is the result of a call that was withheld, because it was executed elsewhere."""
        return places.is_output(item) and str(item.get("call_id")) in self._answered  # type: ignore[attr-defined]

    def _is_result(self, piece: Piece) -> bool:
        return places.is_output((piece.payload or {}).get("item"))

    def _is_named(self, piece: Piece) -> bool:
        return (piece.event or "").startswith("response.")

    def is_readable(self, piece: Piece) -> bool:
        """Return whether clients can read a frame, bare responses among them."""
        return super().is_readable(piece) or places.bare_kind(piece.event, piece.payload or {}) is not None

    def _typed(self, piece: Piece) -> Piece:
        """Return a frame with its type; a bare response is wrapped in the event of its name or status."""
        payload = piece.payload or {}
        kind = places.bare_kind(piece.event, payload)
        if kind is None or payload.get("error") is not None:
            return super()._typed(piece)
        whole = {"type": kind, "response": payload}
        return piece.changed(whole, plain=False)

    def _is_speech(self, piece: Piece) -> bool:
        item = (piece.payload or {}).get("item")
        if piece.kind not in _ITEMS:
            return piece.kind.startswith(places.SPOKEN_EVENTS)
        if not isinstance(item, dict) or str(item.get("type")) not in places.SPOKEN_ITEMS:
            return False
        index = (piece.payload or {}).get("output_index")
        self._note_spoken(
            index if isinstance(index, (int, str)) else None, begins=piece.kind.endswith(".added")
        )
        return True

    def _is_end(self, piece: Piece) -> bool:
        return piece.kind in places.ENDS

    @property
    def _has_ended(self) -> bool:
        return self._is_over

    @property
    def _is_running(self) -> bool:
        return self._is_begun

    def _role(self, piece: Piece) -> Role:
        payload = piece.payload or {}
        kind = piece.kind
        if not kind.startswith("response."):
            return Role.LIVES if kind in {"ping", "keepalive"} else Role.PASSES
        if self._begins(kind, payload):
            return Role.BEGINS
        if kind in places.ENDS:
            return Role.ENDS
        labels = {
            payload.get(name) for name in ("output_index", "item_id") if type(payload.get(name)) in (int, str)
        }
        if kind in _ITEMS:
            return self._item_role(kind, labels, payload.get("item"))
        if labels & self._slots:
            return Role.BELONGS
        if not kind.startswith(places.CALL_EVENTS):
            return Role.PASSES
        self._slots |= labels  # the item was never added
        return Role.OPENS

    def _begins(self, kind: str, payload: dict[str, Any]) -> bool:
        """Return whether a response begins: it is created, or another than the last runs, or none did."""
        if kind not in places.RUNS:
            return kind == "response.created"
        running = places.response_label(payload)
        return not self._is_begun or (running is not None and running != self._begun)

    def _item_role(self, kind: str, labels: set[Any], item: Any) -> Role:
        if not places.is_ours(item):
            self._slots -= labels  # the number has a new item
            return Role.PASSES
        ids = {item[name] for name in ("id",) if type(item.get(name)) is str}
        known = (
            bool((labels | ids) & self._slots)
            and kind == "response.output_item.done"
            and (self._queue is not None or self._live is not None)
        )
        self._slots |= labels | ids
        return Role.BELONGS if known else _ITEMS[kind]

    # A naive reader's view.

    def _begin_tracks(self) -> None:
        self._tracks: dict[int, Track] = {}
        self._done: set[int] = set()
        self._tracked_ids: set[str] = set()

    def _track(self, piece: Piece) -> bool:
        payload = piece.payload or {}
        kind, index = piece.kind, payload.get("output_index")
        if type(index) is not int or index in self._done or piece.event not in (kind, None):
            return False
        if kind == "response.output_item.added":
            return self._track_added(index, payload["item"])
        track = self._tracks.get(index)
        if track is None:
            return False
        if kind == "response.output_item.done":
            return self._track_done(index, track, payload["item"])
        if not kind.startswith(places.CALL_EVENTS):
            return track.kind not in places.CALL_TEXTS  # progress of a provider-defined tool
        if track.kind not in places.CALL_TEXTS or payload.get("item_id") != track.item_id:
            return False
        if kind.endswith(".delta"):
            return not track.is_restated and track.add(payload.get("delta"))
        track.is_restated = True
        return kind.endswith(".done") and payload.get(places.CALL_TEXTS[track.kind]) == track.text

    def _track_added(self, index: int, item: dict[str, Any]) -> bool:
        kind = str(item["type"])
        if index in self._tracks or index != len(self._numbers) + len(self._tracks):
            return False
        if len(self._done) != len(self._tracks):
            return False  # the previous item is not done: some clients read one item at a time
        track = self._tracks[index] = Track(kind, "text")
        track.item_id = self._item_id(item.get("id"))
        if track.item_id is None:
            return False
        name = item.get("name") if kind in places.CALL_TEXTS else "-"
        text = item.get(places.CALL_TEXTS[kind]) if kind in places.CALL_TEXTS else ""
        return text in ("", None) and track.begin(item.get("call_id") or "", {"name": name, "text": ""})

    def _item_id(self, id: object) -> str | None:
        """Return the id of an item if it is unique, None if the wire sends none: some clients go by it alone."""
        if type(id) is not str or not id or id in self._tracked_ids:
            return None
        self._tracked_ids.add(id)
        return None if any(item.get("id") == id for item in self._encoder.output) else id

    def _track_done(self, index: int, track: Track, item: dict[str, Any]) -> bool:
        self._done.add(index)
        if item.get("type") != track.kind or (item.get("id"), item.get("call_id")) != (
            track.item_id,
            track.id,
        ):
            return False
        if track.kind not in places.CALL_TEXTS:
            return True
        return track.is_restated and (item.get("name"), item.get(places.CALL_TEXTS[track.kind])) == (
            track.name,
            track.text,
        )

    def _heard(self, piece: Piece) -> tuple[object, Track | None] | None:
        payload = piece.payload or {}
        index = payload.get("output_index")
        if (
            not piece.kind.startswith(places.CALL_EVENTS)
            or not piece.kind.endswith(".delta")
            or "stream_id" in payload
        ):
            return None
        return payload.get("delta"), self._tracks.get(index) if type(index) is int else None

    def _number_of(self, piece: Piece) -> int | None:
        number = (piece.payload or {}).get("sequence_number")
        return number if type(number) is int else None

    def shown(self, number: int | None) -> None:
        """Note that text was shown, up to the frame of this number."""
        if number is not None:
            self._wires_numbers.expect_after(number)
            self._encoder.next_number = number + 1

    def go_on(self, block: bytes, text: str, events: Sequence[Event[Any]]) -> bytes:
        """Take a frame from the template with a further piece of a call; its number is the next one."""
        if self.template is not None and self.template.number is not None:
            self._wires_numbers.expect_after(self.template.number)
        return super().go_on(block, text, events)

    def _pass_more(self, piece: Piece) -> None:
        if type((piece.payload or {}).get("sequence_number")) is int:
            self._encoder.next_number += len(piece.more)

    def _read(self) -> list[tuple[str, str, str]]:
        if self._done != self._tracks.keys():
            return [("", "", "")]  # a call that was never done
        return [
            (track.id, track.name, track.text) if track.kind in places.CALL_TEXTS else (track.id, "", "")
            for track in self._tracks.values()
        ]

    # The output.

    def _reach(self, piece: Piece) -> None:
        number = (piece.payload or {}).get("sequence_number")
        if type(number) is int:
            self._encoder.next_number = number

    def _passing(self, piece: Piece) -> bytes:
        payload = piece.payload or {}
        kind, index = piece.kind, payload.get("output_index")
        is_number = type(index) is int
        if self._begins(kind, payload):
            self._begun = places.response_label(payload)
            self._numbers, self._is_shifted = {}, False
            self._slots.clear()
            self._item_ids.clear()
            self._places.clear()
            self._members = dict(_MEMBERS)
            self._forget_turn()
            self._encoder.next_index, self._encoder.output = 0, []
            self._is_begun, self._is_over = True, False
            if isinstance(payload.get("response"), dict):
                self._encoder.set_response(payload["response"])
        if kind == "response.output_item.added" or (is_number and index not in self._numbers):
            self._numbers[index if is_number else None] = self._encoder.next_index
            self._encoder.next_index += 1
        edits = self._placed(kind, payload)
        place = self._numbers.get(index) if is_number else edits.get("output_index")
        edits |= self._identified(payload, place)
        if kind == "response.output_item.done" and isinstance(payload.get("item"), dict):
            self._encoder.output.append({**payload, **edits}["item"])
        if self._is_end(piece):
            self._is_begun, self._is_over = False, True
            if self._is_empty_handed(payload):
                return self._fail_empty_handed()
            edits |= self._with_output(payload)
            edits |= self._with_ids({**payload, **edits})
            edits |= self._with_outcome({**payload, **edits})
        edits |= self._completed({**payload, **edits})
        if self._is_shifted:
            edits |= self._numbered(payload)
        elif type(payload.get("sequence_number")) is int:
            self._encoder.next_number = payload["sequence_number"] + 1
        elif kind.startswith("response."):
            edits["sequence_number"] = self._encoder.next_number
            self._encoder.next_number += 1
        if edits.items() <= payload.items():
            return piece.raw
        edited = {**payload, **edits}
        event = edited["type"] if piece.event == kind else piece.event
        return piece._replace(event=event).with_payload(edited)

    def _numbered(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the numbers of a frame after something that was withheld or encoded again."""
        numbers: dict[str, Any] = {}
        if type(payload.get("output_index")) is int:
            numbers["output_index"] = self._numbers[payload["output_index"]]
        if type(payload.get("sequence_number")) is int or str(payload.get("type")).startswith("response."):
            numbers["sequence_number"] = self._encoder.next_number
            self._encoder.next_number += 1
        return numbers

    def _placed(self, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Return our number of an item where the wire sends none: by the item's id, else the last number."""
        schema = EVENTS.of.get(kind)
        if type(payload.get("output_index")) is int or schema is None or "output_index" not in schema.members:
            return {}
        last = max(self._encoder.next_index - 1, 0)
        if kind == "response.output_item.added":
            return {"output_index": last}
        id = payload.get("item_id") or (payload.get("item") or {}).get("id")
        return {"output_index": self._places.get(str(id), last)}

    def _identified(self, payload: dict[str, Any], place: int | None) -> dict[str, Any]:
        """Return an item's id where the wire sends none: the id sent earlier for the item, or a minted id."""
        item = payload.get("item")
        if place is None:
            return {}
        if not isinstance(item, dict):
            known = self._item_ids.get(place)
            lacks = "content_index" in payload or "summary_index" in payload or "item_id" in payload
            return {"item_id": known} if known and lacks and not payload.get("item_id") else {}
        id = item.get("id")
        if type(id) is str and id and place not in self._item_ids:
            self._note_id(place, id)
        if place not in self._item_ids:
            self._note_id(place, places.minted_id(item, self._begun, place))
        return {} if id == self._item_ids[place] else {"item": {**item, "id": self._item_ids[place]}}

    def _note_id(self, place: int, id: str) -> None:
        self._item_ids[place] = id
        self._places[id] = place

    def _completed(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the response with the members that strict clients expect, as they were sent before or empty."""
        response = payload.get("response")
        if not isinstance(response, dict):
            return {}
        known = {**self._members, "output": self._encoder.output}
        missing = {name: value for name, value in known.items() if response.get(name) in (None, "")}
        self._members |= {name: response[name] for name in _MEMBERS.keys() - missing.keys()}
        filled = {**response, **missing}
        return {} if filled == response else {"response": filled}

    def _with_output(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the finished response with exactly the emitted calls; an empty list is filled with all items."""
        response = payload.get("response")
        if not isinstance(response, dict):
            return {}
        listed = response.get("output") or []
        if not isinstance(listed, list):
            return {}
        output = self._encoder.output
        n_listed = len(listed)
        listed = [item for item in listed if not self._is_answer(item)]
        given, ours = (
            [places.same_label(item) for item in items if places.is_ours(item)] for items in (listed, output)
        )
        if given == ours and len(listed) == n_listed:
            return {}
        waiting = {str(places.same_label(item)[1]): item for item in output if places.is_ours(item)}
        kept = [
            waiting.pop(str(places.same_label(item)[1]), None) if places.is_ours(item) else item
            for item in listed
        ]
        whole = [item for item in kept if item is not None] + list(waiting.values()) if listed else output
        return {"response": {**response, "output": _in_order(whole, output)}}

    def _with_ids(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the finished response with the ids of its items as they were sent, where it lacks them."""
        response = payload.get("response")
        if not isinstance(response, dict) or not isinstance(listed := response.get("output"), list):
            return {}
        items = [
            {**item, "id": self._item_ids[place]}
            if isinstance(item, dict) and not item.get("id") and place in self._item_ids
            else item
            for place, item in enumerate(listed)
        ]
        return {} if items == listed else {"response": {**response, "output": items}}

    def _is_empty_handed(self, payload: dict[str, Any]) -> bool:
        """Return whether a response claims to be complete, and must end as an error."""
        return _is_completed(payload) and self._losses.is_error("stop", executed=bool(self._executed))

    def _with_outcome(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the members that make a response incomplete if it was cut and all its calls were withheld."""
        response = payload.get("response")
        if not _is_completed(payload) or self._executed or not self._losses.is_cut():
            return {}
        assert isinstance(response, dict)
        return {"type": "response.incomplete", "response": {**response, **places.cut_response()}}


def _in_order(items: list[Any], sent: list[dict[str, Any]]) -> list[Any]:
    """Return items in the order in which they were sent, if all of them were."""
    sent_at = {str(item.get("id")): place for place, item in enumerate(sent)}
    ids = [str(item.get("id")) if isinstance(item, dict) else "" for item in items]
    if not sent_at.keys() >= set(ids):
        return items
    return [
        item for _, item in sorted(zip(map(sent_at.__getitem__, ids), items, strict=True), key=itemgetter(0))
    ]


def _is_completed(payload: dict[str, Any]) -> bool:
    """Return whether a frame ends a response that claims to be complete."""
    response = payload.get("response")
    return isinstance(response, dict) and places.response_claim(response, str(payload["type"])) == "stop"


def _is_raised(piece: Piece) -> bool:
    return bool((piece.payload or {}).get("error"))
