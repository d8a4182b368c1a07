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
"""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace

from wholecall.deltas import Delta, Noted, Slot, TurnOpened
from wholecall.dialects.decode import decode, dumped, member, plain, provider_error
from wholecall.dialects.labels import id_label, index_label, name_label
from wholecall.dialects.openai.realtime_progress import DECODER, Event, Progress, is_quiet
from wholecall.dialects.openai.responses_events import BODY_DECODER, DONE_EVENTS, FRAGMENTS, added, whole_text
from wholecall.dialects.openai.responses_items import Response
from wholecall.dialects.translator import Events, TurnTranslator
from wholecall.framing.frame import Frame

__all__ = ["RealtimeTranslator"]

_TEXTS = ("output_text", "output_audio_transcript", "text", "audio_transcript")  # the latter two in the beta


def _fragment(_now: Progress, event: Event) -> list[Delta]:
    index, alias, id_ = index_label(event.output_index), id_label(event.item_id), id_label(event.call_id)
    text = "" if event.delta is None else dumped(event.delta)
    return [Slot(0, index, alias, text, id_)] if text else []


class RealtimeTranslator(TurnTranslator):
    """Messages of one Realtime session to deltas; the methods for the events of a response get that response."""

    decoder = DECODER
    AGAIN = ("conversation.item.", "response.done")
    EVENTS: ClassVar[Events] = {
        **dict.fromkeys(FRAGMENTS, _fragment),
        **dict.fromkeys([f"response.{of}.delta" for of in _TEXTS], Progress.text),
        **dict.fromkeys(DONE_EVENTS, lambda _now, event: whole_text(event)),
        "response.created": lambda _now, _event: [],  # its turn was opened by its id
        "response.output_item.added": lambda _now, event: added(event),
        "response.output_item.done": Progress.item,
        "response.done": lambda now, event: now.conclude(event.response, event.usage),
    }

    _model: str | None
    _now: Progress | None
    _responses: dict[str | None, Progress]

    def __init__(self) -> None:
        super().__init__()
        self._model = self._now = None
        self._responses = {}

    def _take(self, event: Event, frame: Frame) -> list[Delta]:
        if event.type is None and event.object == "realtime.response":  # a whole body
            event.type = "response.done"
        elif event.type is None and "." in frame.event:
            event.type = frame.event
        if event.type == "response.done" and event.response is None:
            event.response = decode(BODY_DECODER, frame.data) or Response()
        known = self.EVENTS.get(event.type)
        if known is None:
            return self._other(event, frame, event.type or "")
        key = id_label(event.response_id) or (id_label(event.response.id) if event.response else None)
        deltas, now = self._switch(key, created=event.type == "response.created")
        return deltas if now is None else deltas + known(now, event)

    def _other(self, event: Event, frame: Frame, kind: str) -> list[Delta]:
        if event.session is not None:
            self._model = name_label(event.session.model) or self._model
        if kind == "error":
            payload = plain(frame.data)
            flat = {name: member(payload, name) for name in ("code", "message", "param")}
            return [replace(provider_error(event.error or flat), fatal=False)]
        if event.type is None and event.error:  # of a gateway: sessions do not send this
            return self._fail(event.error)
        return [] if self._now is None or is_quiet(kind) else super()._other(event, frame, kind)

    def _switch(self, key: str | None, *, created: bool = False) -> tuple[list[Delta], Progress | None]:
        """Return the response of an event, and the deltas that make it the current one; None if it is over."""
        now = self._now
        over = now is not None and now.ended
        if now is not None and (key == now.key or key is None) and not (key is None and created and over):
            return [], now
        known = self._responses.get(key) if key is not None else None
        if known is not None and known.ended:  # and another response is open
            return [Noted(0, "data_after_end")], None
        self._now = known or Progress(key)
        self._responses[key] = self._now
        opened = TurnOpened(key) if known else TurnOpened(key, key, self._model, restart=over)
        return [opened], self._now
