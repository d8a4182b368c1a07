"""OpenAI Realtime (WebSocket; Azure and xAI too): server events, one JSON message a line.

    session.created                         session{id, model}
    response.created                        response{id}
    response.output_item.added              response_id, output_index, item{type, id, call_id, name, arguments: ""}
    response.function_call_arguments.delta  response_id, item_id, call_id, output_index, delta
    response.function_call_arguments.done   response_id, item_id, call_id, output_index, name, arguments
    response.output_item.done               response_id, output_index, item (whole)
    response.done                           response{id, status, status_details, output: [items], usage}
    error                                   error{type, code, message}

The events of a response are those of the Responses API, with an `event_id` and without numbers; several
responses can be in flight, and the response's id tells whose an event is. Items are calls as they are there.
The `call_id`, the item's id and the output index are told as they are. The index says least: xAI gives 0 to every
item and leaves it out of deltas.

A session outlives its errors: an `error` event, or a response that failed, is no end of the stream. Items of the
conversation are no calls: a client seeds its history with the same events.
Source: OpenAI API reference, "Realtime: server events", and the types of openai-python.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from wholecall.deltas import Delta, Noted, Slot, TextFragment, TurnOpened
from wholecall.dialects.decode import decode, dumped, is_noise, provider_error
from wholecall.dialects.labels import id_label, index_label, name_label, text_label
from wholecall.dialects.openai.realtime_progress import (
    BODY_DECODER,
    DECODER,
    ERROR_DECODER,
    Body,
    Event,
    Progress,
    is_quiet,
)
from wholecall.dialects.openai.responses_events import DONE_EVENTS, FRAGMENTS, added, whole_text
from wholecall.dialects.openai.responses_items import Item, finished_call, is_call
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame

__all__ = ["RealtimeTranslator"]

_TEXTS = (
    "response.output_text.delta",
    "response.output_audio_transcript.delta",
    "response.text.delta",  # the names of the beta
    "response.audio_transcript.delta",
)


class RealtimeTranslator(ViewTranslator):
    """Messages of one Realtime session to deltas."""

    decoder = DECODER

    _model: str | None
    _now: Progress | None
    _responses: dict[str | None, Progress]

    def __init__(self) -> None:
        self._model = None
        self._now = None
        self._responses = {}
        self._events: dict[str | None, Callable[[Progress, Event], list[Delta]]] = {
            **dict.fromkeys(FRAGMENTS, _fragment),
            **dict.fromkeys(_TEXTS, _text),
            **dict.fromkeys(DONE_EVENTS, _whole_text),
            "response.created": _created,
            "response.output_item.added": _added,
            "response.output_item.done": _item_done,
        }

    def _take(self, event: Event, frame: Frame) -> list[Delta]:
        if event.type is None and "." in frame.event:
            event.type = frame.event
        known = self._events.get(event.type)
        if known is None and event.type != "response.done":
            return self._other(event, frame)
        key = id_label(event.response_id) or (id_label(event.response.id) if event.response else None)
        deltas, now = self._switch(key, created=event.type == "response.created")
        if now is None:
            return deltas
        if known is not None:
            return deltas + known(now, event)
        body = decode(BODY_DECODER, frame.data) or Body()
        return deltas + now.conclude(body.response or body, event.usage)

    def _other(self, event: Event, frame: Frame) -> list[Delta]:
        if event.session is not None:
            self._model = name_label(event.session.model) or self._model
        if event.type is None and event.object == "realtime.response":
            body = decode(BODY_DECODER, frame.data) or Body()
            deltas, now = self._switch(id_label(body.id))
            return deltas if now is None else deltas + now.conclude(body, None)
        if event.type == "error":
            flat = decode(ERROR_DECODER, frame.data)
            error = event.error or (flat and msgspec.structs.asdict(flat))
            return [msgspec.structs.replace(provider_error(error), fatal=False)]
        if event.type is None and event.error:  # of a gateway: no session speaks so
            return [provider_error(event.error)]
        if self._now is None or is_noise(frame) or is_quiet(event.type or ""):
            return []
        return [Noted(0, "unknown_events")]

    def _switch(self, key: str | None, *, created: bool = False) -> tuple[list[Delta], Progress | None]:
        """Return the response that an event belongs to, and what makes it the current one; None if it is over."""
        now = self._now
        over = now is not None and now.ended
        if now is not None and (key == now.key or key is None) and not (key is None and created and over):
            return [], now
        known = self._responses.get(key) if key is not None else None
        if known is not None and known.ended:  # and another one is under way
            return [Noted(0, "data_after_end")], None
        self._now = known or Progress(key)
        self._responses[key] = self._now
        if known is not None:
            return [TurnOpened(key)], known
        return [TurnOpened(key, key, self._model, restart=over)], self._now


# The events of a response


def _created(_now: Progress, _event: Event) -> list[Delta]:
    return []  # its turn was opened by its id


def _text(now: Progress, event: Event) -> list[Delta]:
    text = text_label(event.delta)
    if text is None:
        return []
    now.spoken = True
    return [TextFragment(0, text)]


def _fragment(_now: Progress, event: Event) -> list[Delta]:
    if event.delta in ("", None):
        return []
    index, alias, id_ = index_label(event.output_index), id_label(event.item_id), id_label(event.call_id)
    return [Slot(0, index, alias, dumped(event.delta), id_)]


def _whole_text(_now: Progress, event: Event) -> list[Delta]:
    return whole_text(event)


def _added(_now: Progress, event: Event) -> list[Delta]:
    return added(event)


def _item_done(now: Progress, event: Event) -> list[Delta]:
    item = event.item or Item()
    if not is_call(item):
        return []  # an item of an unknown type was counted when it was added
    return finished_call(item, index_label(event.output_index), now.done)
