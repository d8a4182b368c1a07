"""OpenAI Realtime (WebSocket; Azure and xAI too): server events, one JSON message per line.

    session.created                         session{id, model}
    response.created                        response{id}
    response.output_item.added              response_id, output_index, item{type, id, call_id, name, arguments: ""}
    response.function_call_arguments.delta  response_id, item_id, call_id, output_index, delta
    response.function_call_arguments.done   response_id, item_id, call_id, output_index, name, arguments
    response.output_item.done               response_id, output_index, item (whole)
    response.done                           response{id, status, status_details, output: [items], usage}
    error                                   error{type, code, message}

The events of a response are those of the Responses API, with an `event_id` and without numbers; several responses can
be in flight, and the response's id names the response of an event. Items are calls in the same way. The `call_id`, the
item's id and the output index are reported as they are. The index is the least reliable: xAI gives 0 to every item and
leaves it out of deltas.

A session outlives its errors: an `error` event, or a response that failed, does not end the stream. Items of the
conversation are not calls: a client seeds its history with the same events. Source: OpenAI API reference, "Realtime:
server events", and the types of openai-python.

Covers: OpenAI Realtime (also on Azure, and xAI's): the server events of a session as JSON lines; responses in flight
    side by side, interruptions, errors that the session outlives.
Calls: told apart by output index, item id; each ends with `output_item.done`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

import msgspec
from msgspec.structs import replace

from wholecall.deltas import Delta, Finish, Noted, Slot, TurnEnded, TurnOpened
from wholecall.dialects import decode, labels, report, translator
from wholecall.dialects.hidden_text import Pieces
from wholecall.dialects.openai.responses import events, items
from wholecall.framing.frame import Frame

# Views.


class _Session(msgspec.Struct, gc=False):
    """The view of a session."""

    model: Any = None


class _Event(events.Event, gc=False):
    """The view of an event."""

    response_id: Any = None
    usage: Any = None
    session: _Session | None = None


_DECODER: Final = msgspec.json.Decoder(_Event)
# Events that are not part of a response, or add nothing: sound, the user's side, the growing conversation.
_QUIET = (
    *events.QUIET,
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


def _is_quiet(kind: str) -> bool:
    """Return whether events of this type add nothing."""
    return kind.startswith(_QUIET)


# Responses.


class _Progress:
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

    def text(self, event: _Event) -> list[Delta]:
        """Return a piece of text, or of spoken text."""
        said = report.text(event.delta)
        self.spoken = self.spoken or bool(said)
        return said

    def item(self, event: _Event) -> list[Delta]:
        """Return the deltas of a finished item; an item of an unknown type was counted when it was added."""
        item = event.item or items.Item()
        return (
            items.finished_call(item, labels.index_label(event.output_index), self.done)
            if items.is_call(item)
            else []
        )

    # The end

    def conclude(self, response: items.Response, usage: Any) -> list[Delta]:
        """Return the deltas of the last event of the response; `usage` is in the event itself on some servers."""
        if self.ended:
            return []
        self.ended = True
        deltas = report.usage(response.usage or usage)
        details = response.status_details if isinstance(response.status_details, dict) else {}
        outcome = events.outcome_of("", response.status)
        if outcome == "failed":
            fault = decode.provider_error(details.get("error") or details or outcome)
            deltas.append(replace(fault, fatal=False))
        elif outcome != "cancelled":
            deltas = self._restated(response) + deltas
        return [*deltas, _finish(response, outcome, details.get("reason")), TurnEnded(self.key)]

    def _restated(self, response: items.Response) -> list[Delta]:
        deltas: list[Delta] = []
        for item in response.output or ():
            if not items.is_call(item):
                deltas += [] if self.spoken else items.message_text(item)
        return deltas + items.restated_calls(response.output, self.done)


def _finish(response: items.Response, outcome: str, reason: object) -> Finish:
    if outcome in {"completed", "incomplete"}:
        response.incomplete_details = items.Details(reason)
        return events.finish_of(response, outcome)
    word = labels.text_label(reason) or outcome
    return Finish(0, "error" if outcome == "failed" else "aborted", word, drops=True)


# The session.

_TEXTS = ("output_text", "output_audio_transcript", "text", "audio_transcript")  # the latter two in the beta


def _fragment(_now: _Progress, event: _Event) -> list[Delta]:
    index, alias, id_ = (
        labels.index_label(event.output_index),
        labels.id_label(event.item_id),
        labels.id_label(event.call_id),
    )
    text = "" if event.delta is None else decode.dumped(event.delta)
    return [Slot(0, index, alias, text, id_)] if text else []


class RealtimeTranslator(translator.TurnTranslator):
    """Messages of one Realtime session to deltas; the methods for the events of a response get that response."""

    decoder = _DECODER
    PIECES: ClassVar[Pieces] = events.PIECES
    AGAIN = ("conversation.item.", "response.done")
    EVENTS: ClassVar[translator.Events] = {
        **dict.fromkeys(events.FRAGMENTS, _fragment),
        **dict.fromkeys([f"response.{of}.delta" for of in _TEXTS], _Progress.text),
        **dict.fromkeys(events.DONE_EVENTS, lambda _now, event: events.whole_text(event)),
        "response.created": lambda _now, _event: [],  # its turn was opened by its id
        "response.output_item.added": lambda _now, event: events.added(event),
        "response.output_item.done": _Progress.item,
        "response.done": lambda now, event: now.conclude(event.response, event.usage),
    }

    _model: str | None
    _now: _Progress | None
    _responses: dict[str | None, _Progress]

    def __init__(self) -> None:
        super().__init__()
        self._model = self._now = None
        self._responses = {}

    def _take(self, event: _Event, frame: Frame) -> list[Delta]:
        if event.type is None and event.object == "realtime.response":  # a whole body
            event.type = "response.done"
        elif event.type is None and "." in frame.event:
            event.type = frame.event
        if event.type == "response.done" and event.response is None:
            event.response = decode.decode(events.BODY_DECODER, frame.data) or items.Response()
            if event.response.id is event.response.status is event.response.output is None:
                return super()._other(event, frame, event.type)  # its response is in another member
        known = self.EVENTS.get(event.type)
        if known is None:
            return self._other(event, frame, event.type or "")
        key = labels.id_label(event.response_id) or (
            labels.id_label(event.response.id) if event.response else None
        )
        deltas, now = self._switch(key, created=event.type == "response.created")
        return deltas if now is None else deltas + known(now, event)

    def _other(self, event: _Event, frame: Frame, kind: str) -> list[Delta]:
        if event.session is not None:
            self._model = labels.name_label(event.session.model) or self._model
        if kind == "error":
            payload = decode.plain(frame.data)
            flat = {name: decode.member(payload, name) for name in ("code", "message", "param")}
            return [replace(decode.provider_error(event.error or flat), fatal=False)]
        if event.type is None and event.error:  # of a gateway: sessions do not send this
            return self._fail(event.error)
        return [] if self._now is None or _is_quiet(kind) else super()._other(event, frame, kind)

    def _switch(self, key: str | None, *, created: bool = False) -> tuple[list[Delta], _Progress | None]:
        """Return the response of an event, and the deltas that make it the current one; None if it is over."""
        now = self._now
        over = now is not None and now.ended
        if now is not None and (key == now.key or key is None) and not (key is None and created and over):
            return [], now
        known = self._responses.get(key) if key is not None else None
        if known is not None and known.ended:  # and another response is open
            return [Noted(0, "data_after_end")], None
        self._now = known or _Progress(key)
        self._responses[key] = self._now
        opened = TurnOpened(key) if known else TurnOpened(key, key, self._model, restart=over)
        return [opened], self._now
