"""The responses of a Realtime session: the views of their events, their reported content, and their end."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from wholecall.deltas import Delta, Finish, TurnEnded
from wholecall.dialects import report
from wholecall.dialects.decode import provider_error
from wholecall.dialects.labels import index_label, text_label
from wholecall.dialects.openai import responses_events
from wholecall.dialects.openai.responses_events import QUIET, finish_of, outcome_of
from wholecall.dialects.openai.responses_items import (
    Details,
    Item,
    Response,
    finished_call,
    is_call,
    message_text,
    restated_calls,
)

__all__ = ["DECODER", "Event", "Progress", "is_quiet"]

# Events that are not part of a response, or add nothing: sound, the user's side, the growing conversation.
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
    usage: Any = None
    session: Session | None = None


DECODER: Final = msgspec.json.Decoder(Event)


def is_quiet(kind: str) -> bool:
    """Return whether events of this type add nothing."""
    return kind.startswith(_QUIET)


class Progress:
    """The state of one response.

    Attributes:
        key: the response's id.
        ended, spoken: whether its turn was ended, and whether text was reported.
        done: of the finished calls, by their public ids, a checksum of their items (`summed`).
    """

    __slots__ = ("done", "ended", "key", "spoken")

    key: str | None
    ended: bool
    spoken: bool
    done: dict[str, int]

    def __init__(self, key: str | None) -> None:
        self.key = key
        self.ended = self.spoken = False
        self.done = {}

    def text(self, event: Event) -> list[Delta]:
        """Return a piece of text, or of spoken text."""
        said = report.text(event.delta)
        self.spoken = self.spoken or bool(said)
        return said

    def item(self, event: Event) -> list[Delta]:
        """Return the deltas of a finished item; an item of an unknown type was counted when it was added."""
        item = event.item or Item()
        return finished_call(item, index_label(event.output_index), self.done) if is_call(item) else []

    # The end

    def conclude(self, response: Response, usage: Any) -> list[Delta]:
        """Return the deltas of the last event of the response; `usage` is in the event itself on some servers."""
        if self.ended:
            return []
        self.ended = True
        deltas = report.usage(response.usage or usage)
        details = response.status_details if isinstance(response.status_details, dict) else {}
        outcome = outcome_of("", response.status)
        if outcome == "failed":
            fault = provider_error(details.get("error") or details or outcome)
            deltas.append(msgspec.structs.replace(fault, fatal=False))
        elif outcome != "cancelled":
            deltas = self._restated(response) + deltas
        return [*deltas, _finish(response, outcome, details.get("reason")), TurnEnded(self.key)]

    def _restated(self, response: Response) -> list[Delta]:
        deltas: list[Delta] = []
        for item in response.output or ():
            if not is_call(item):
                deltas += [] if self.spoken else message_text(item)
        return deltas + restated_calls(response.output, self.done)


def _finish(response: Response, outcome: str, reason: object) -> Finish:
    if outcome in {"completed", "incomplete"}:
        response.incomplete_details = Details(reason)
        return finish_of(response, outcome)
    word = text_label(reason) or outcome
    return Finish(0, "error" if outcome == "failed" else "aborted", word, drops=True)
