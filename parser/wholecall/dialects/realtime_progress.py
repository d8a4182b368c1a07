"""The responses of a Realtime session: the views of their events, the numbers of their calls, and their end."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from wholecall.deltas import Delta, Finish, Index, TurnEnded, UsageSeen
from wholecall.dialects import responses_events
from wholecall.dialects.decode import provider_error
from wholecall.dialects.labels import id_label, text_label
from wholecall.dialects.responses_events import QUIET, finish_of, outcome_of
from wholecall.dialects.responses_items import (
    Details,
    Item,
    Response,
    is_call,
    message_text,
    public_id,
    restated_call,
    summed,
)
from wholecall.dialects.restated import told_together

__all__ = ["BODY_DECODER", "DECODER", "ERROR_DECODER", "Body", "Event", "Progress", "is_quiet"]

# What is no part of a response, or says nothing new: sound, the user's side, the conversation as it grows.
_QUIET = (
    *QUIET,
    "response.output_audio",
    "response.audio",
    "response.text.",
    "session.",
    "transcription_session.",
    "conversation.",
    "input_audio_buffer.",
    "output_audio_buffer.",
    "mcp_list_tools.",
)


class Session(msgspec.Struct, gc=False):
    """The view of a session."""

    model: Any = None


class Event(responses_events.Event, gc=False):
    """The view of an event."""

    response_id: Any = None
    call_id: Any = None
    usage: Any = None
    session: Session | None = None


class Body(Response, gc=False):
    """The view of a finished response, on its own or in its last event."""

    status_details: Any = None  # some servers send a word
    response: Body | None = None


DECODER: Final = msgspec.json.Decoder(Event)
BODY_DECODER: Final = msgspec.json.Decoder(Body)
ERROR_DECODER: Final = responses_events.ERROR_DECODER


def is_quiet(kind: str) -> bool:
    """Whether events of this type say nothing new."""
    return kind.startswith(_QUIET)


class Progress:
    """The state of one response.

    Attributes:
        key: the response's id.
        ended, spoken: whether its turn was ended, and whether text was told.
        done: of the finished calls, by their public ids, what stands for all of their items (`summed`).
        n_calls: how many calls have a number.
    """

    __slots__ = ("_last", "_numbers", "done", "ended", "key", "n_calls", "spoken")

    key: str | None
    ended: bool
    spoken: bool
    done: dict[str, int]
    n_calls: int
    _numbers: dict[tuple[str, Index], int]
    _last: tuple[object, int | None]

    def __init__(self, key: str | None) -> None:
        self.key = key
        self.ended = self.spoken = False
        self.done = {}
        self.n_calls = 0
        self._numbers = {}
        self._last = None, None  # the labels that came last, and their number

    # Which call is meant

    def number(
        self, item_id: str | None, call_id: str | None, index: Index | None, *, announced: bool = False
    ) -> int | None:
        """Return the number of the call with these labels, a new one if it has none; None without any label.

        An item that is announced under a new id is a new call, whatever its other labels.
        """
        if self._last[0] == (item_id, call_id, index) and not announced:  # the next piece of a call
            return self._last[1]
        given = (("item", item_id), ("call", call_id))
        labels = [(kind, label) for kind, label in given if label is not None]
        position = [("index", index)] if index is not None else []
        known = labels[:1] if announced else labels or position
        number = next((self._numbers[label] for label in known if label in self._numbers), None)
        if number is None:
            if not labels and not position:
                return None
            number = self.n_calls
            self.n_calls += 1
        for label in (*labels, *position):
            if announced or label not in self._numbers:
                self._numbers[label] = number
        self._last = (item_id, call_id, index), number
        return number

    def number_of(self, item: Item, index: Index | None, *, announced: bool = False) -> int | None:
        """Return the number of the call that an item is."""
        return self.number(id_label(item.id), id_label(item.call_id), index, announced=announced)

    # The end

    def conclude(self, response: Body, usage: Any) -> list[Delta]:
        """Say what the last event of the response says; `usage` stands in the event itself on some servers."""
        if self.ended:
            return []
        self.ended = True
        counts = response.usage or usage
        deltas: list[Delta] = [UsageSeen(counts)] if isinstance(counts, dict) and counts else []
        details = response.status_details if isinstance(response.status_details, dict) else {}
        outcome = outcome_of("", response.status)
        if outcome == "failed":
            fault = provider_error(details.get("error") or details or outcome)
            deltas.append(msgspec.structs.replace(fault, fatal=False))
        elif outcome != "cancelled":
            deltas = self._restated(response) + deltas
        return [*deltas, _finish(response, outcome, details.get("reason")), TurnEnded(self.key)]

    def _restated(self, response: Body) -> list[Delta]:
        deltas: list[Delta] = []
        for item in response.output or ():
            if not is_call(item):
                deltas += [] if self.spoken else message_text(item)
            elif self.done.get(public_id(item) or "") != summed(item):
                deltas += restated_call(item, self.number_of(item, None))
        return told_together(deltas, self.done)


def _finish(response: Body, outcome: str, reason: object) -> Finish:
    if outcome in {"completed", "incomplete"}:
        response.incomplete_details = Details(reason)
        return finish_of(response, outcome)
    word = text_label(reason) or outcome
    return Finish(0, "error" if outcome == "failed" else "aborted", word, drops=True)
