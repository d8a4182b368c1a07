"""Chat model events of LangChain's `astream_events` (version 2), one JSON object an event.

    {"event": "on_chat_model_start",  "run_id", "name", "data": {"input"}}
    {"event": "on_chat_model_stream", "run_id", "name", "data": {"chunk": CHUNK}}
    {"event": "on_chat_model_end",    "run_id", "name", "data": {"output": MESSAGE}}

A run of a model is a turn; runs may be side by side. Chunks and messages are those of the dialect `langchain`, and the
restatements at the end count only where no chunk came. Events of chains, tools and retrievers are skipped.

Covers: the chat models in LangChain's `astream_events`.
Calls: told apart by run, index and id; each ends with `on_chat_model_end`.
Source: LangChain reference, `Runnable.astream_events`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Union

import msgspec

from wholecall.deltas import Delta
from wholecall.dialects import decode, labels, report
from wholecall.dialects.frameworks.langchain import LangChainTranslator, Message, chunks_in
from wholecall.dialects.hidden_text import Pieces
from wholecall.framing.frame import Frame


class _Data(msgspec.Struct, gc=False):
    chunk: Union[Message, None] = None
    output: Union[Message, None] = None


class _Event(msgspec.Struct, gc=False):
    event: Any = None
    type: Any = None
    run_id: Any = None
    data: Union[_Data, None] = None
    error: Any = None


_DECODER = msgspec.json.Decoder(_Event)


class LangChainEventsTranslator(LangChainTranslator):
    """Events of one stream to deltas."""

    decoder = _DECODER
    PIECES: ClassVar[Pieces] = chunks_in("data.chunk.", "data.chunk.kwargs.")
    LISTS = frozenset()
    QUIET = frozenset({"metadata"})

    def _take(self, event: _Event, frame: Frame) -> list[Delta]:
        run, data, whole = labels.id_label(event.run_id), event.data, event.event == "on_chat_model_end"
        if event.error:
            return report.error(event.error)
        if not whole and event.event != "on_chat_model_stream":
            named = isinstance(event.event, str) or event.type == "ping"
            return [] if named or decode.is_noise(frame) else report.unknown()
        message = data and (data.output if whole else data.chunk)
        if message:
            return self._message(message.kwargs or message, run, whole=whole)
        return self._end(run) if whole else []
