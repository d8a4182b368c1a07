"""What LangChain's `astream_events` (version 2) says of chat models, one JSON object an event.

    {"event": "on_chat_model_start",  "run_id", "name", "data": {"input"}}
    {"event": "on_chat_model_stream", "run_id", "name", "data": {"chunk": CHUNK}}
    {"event": "on_chat_model_end",    "run_id", "name", "data": {"output": MESSAGE}}

A run of a model is a turn; runs may be side by side. Chunks and messages are those of the dialect `langchain`,
and what the end restates counts only where no chunk came. Events of chains, tools and retrievers are skipped.

Source: LangChain reference, `Runnable.astream_events`.
"""

from __future__ import annotations

from wholecall.deltas import Delta, Noted, by_transport
from wholecall.dialects.decode import UNREADABLE, is_done, is_noise, plain, provider_error, read
from wholecall.dialects.frameworks.langchain import LangChainTranslator
from wholecall.dialects.frameworks.langchain_views import EVENT, Event
from wholecall.dialects.labels import id_label
from wholecall.framing.frame import Frame

__all__ = ["LangChainEventsTranslator"]


class LangChainEventsTranslator(LangChainTranslator):
    """Events of one stream to deltas."""

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one event."""
        if frame.event == "error":
            return [provider_error(plain(frame.data) or frame.data)]
        if frame.event == "end":
            return self._end_all()
        if is_done(frame.data):
            return by_transport(self._end_all())
        try:
            return self._event(EVENT.decode(frame.data), frame)
        except UNREADABLE:
            events, _, deltas = read(EVENT, frame)
        return deltas + [delta for event in events for delta in self._event(event, frame)]

    def _event(self, event: Event, frame: Frame) -> list[Delta]:
        if event.error:
            return [provider_error(event.error)]
        if event.event not in ("on_chat_model_stream", "on_chat_model_end"):
            named = isinstance(event.event, str) or event.type == "ping" or frame.event == "metadata"
            return [] if named or is_noise(frame) else [Noted(0, "unknown_events")]
        whole = event.event == "on_chat_model_end"
        told = event.data and (event.data.output if whole else event.data.chunk)
        if not told:
            return self._end(id_label(event.run_id)) if whole else []
        return self._message(told.kwargs or told, id_label(event.run_id), whole=whole)
