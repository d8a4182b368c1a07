"""LangChain's messages as LangServe and LangGraph stream them.

    event: data      {"type": "AIMessageChunk", "id", "content", "tool_call_chunks": [{index, id, name, args}],
                      "response_metadata", "usage_metadata", "chunk_position"?: "last"}
    event: messages  [CHUNK, {…}]           LangGraph, a chunk and where it comes from
    event: messages/partial   [MESSAGE, …]  LangGraph, everything so far each time
    event: messages/complete  [MESSAGE, …]
    event: error     {"message", …}         event: end
    event: messages|PLACE, [PLACE, "messages", [CHUNK, {…}]]   LangGraph, of graphs within a graph; in lines

Also in LC-JSON, `{"lc": 1, "type": "constructor", "id": […], "kwargs": {…}}`. Chunks are bound by their labels, as in
chat completions; indices may be words. The id of a message distinguishes parallel streams; chunks without an id of the
provider get LangChain's own id of the run, after a first chunk with the provider's. `tool_calls` of a chunk are
guesses: LangChain closes the brackets of the text so far. They count only in a whole message without chunks, and there
the last call may be such a guess, so that the turn's reason decides on it. A whole message has the type `ai`; LangServe
wraps it in `output`. A tool's message is the result of a call that the graph executed itself; people's are skipped.

Source: LangChain documentation, "Streaming"; `langchain_core.messages`; LangServe and LangGraph API references.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from wholecall.deltas import (
    INVALID_INDEX,
    OBJECT,
    Delta,
    Fragment,
    Labelled,
    ReasoningFragment,
    TextFragment,
    TurnEnded,
    TurnOpened,
    by_transport,
)
from wholecall.dialects import report
from wholecall.dialects.decode import decode, is_done, is_noise, plain, read
from wholecall.dialects.frameworks import langchain_views as views
from wholecall.dialects.frameworks.langchain_views import BATCH, DECODER, Message
from wholecall.dialects.labels import id_label, index_label, name_label, text_label
from wholecall.dialects.openai.chat_views import ToolCallView, argument_text
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame

__all__ = ["LangChainTranslator"]

_RUN = ("lc_run-", "run-")  # the prefixes of ids that LangChain gives to chunks without one
_WHOLE = frozenset({"ai", "AIMessage"})
_OURS = _WHOLE | {"AIMessageChunk"}


class LangChainTranslator(ViewTranslator):
    """Frames of one stream to deltas; it remembers which parts of each message came in chunks."""

    decoder: ClassVar[msgspec.json.Decoder[Any]] = DECODER
    LISTS: ClassVar[frozenset[str]] = frozenset({"messages", "messages/partial", "messages/complete"})
    QUIET: ClassVar[frozenset[str]] = frozenset(
        {
            *("metadata", "messages/metadata", "updates", "values", "custom", "debug", "ping"),
            *("events", "tasks", "checkpoints", "feedback"),
        }
    )

    _key: str | None
    _open: set[str | None]
    _ended: set[str | None]
    _runs: dict[str, str]
    _called: set[str | None]
    _spoken: set[str | None]
    _shown: dict[tuple[str | None, object], str]

    def __init__(self) -> None:
        self._key = None
        self._open = set()
        self._ended = set()
        self._runs = {}  # ids of runs, and of their messages
        self._called = set()  # messages whose chunks brought calls
        self._spoken = set()  # messages whose chunks brought text
        self._shown = {}  # the texts of cumulative messages so far

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one frame."""
        mode = frame.event.partition("|")[0]  # more says where in the graph it comes from
        if mode == "error":
            return report.error(plain(frame.data) or frame.data)
        if mode == "end":
            return self._end_all()
        if is_done(frame.data):
            return by_transport(self._end_all())
        if mode in self.QUIET:
            return []
        if mode in self.LISTS:
            return self._list(frame, mode)
        return super().translate(frame)

    def _list(self, frame: Frame, mode: str) -> list[Delta]:
        batch = decode(BATCH, f'{{"items":{frame.data}}}')
        if batch is None or batch.items is None:
            return read(DECODER, frame).deltas
        partial, complete = mode == "messages/partial", mode == "messages/complete"
        rows = [self._read(message, complete=complete, partial=partial) for message in batch.items]
        return [delta for deltas in rows for delta in deltas]

    def _take(self, message: Any, frame: Frame, /) -> list[Delta]:
        if message.error:
            return report.error(message.error)
        message = message.output or message
        odd = views.kind_of(message) is None and not is_noise(frame)
        return report.unknown() if odd else self._read(message)

    def _read(self, message: Message, *, complete: bool = False, partial: bool = False) -> list[Delta]:
        """Return the deltas of a message from any author."""
        kind = views.kind_of(message)
        if kind not in _OURS:
            return views.answered(message)
        whole = complete or (kind in _WHOLE and not partial)
        return self._message(message.kwargs or message, None, whole=whole, partial=partial)

    def _message(
        self, message: Message, run: str | None, *, whole: bool, partial: bool = False
    ) -> list[Delta]:
        """Return the deltas of a message or a chunk; `run` is its key where it has no id."""
        id_ = self._id(message)
        key = run or id_ or self._key
        if key in self._ended and key is not None:
            return []  # LangGraph repeats finished messages
        deltas = self._opened(key, id_ or run, message)
        if not (whole and key in self._spoken):
            said = views.spoken(message)
            deltas += self._added(key, said) if partial else said
            if said:
                self._spoken.add(key)
        deltas += self._calls(key, message, whole=whole, partial=partial)
        lacks = whole and key in self._called and not (message.tool_calls or message.tool_call_chunks)
        deltas += views.ended(message, lacks_calls=lacks)
        if whole or message.chunk_position == "last":
            deltas += self._end(key)
        return deltas

    def _id(self, message: Message) -> str | None:
        """Return the id of a message: a run's id identifies the only message that it can mean."""
        id_ = id_label(message.id)
        if id_ is None or not id_.startswith(_RUN) or id_ in self._open:
            return id_
        chunked = set() if message.chunk_position == "last" else self._called | self._spoken
        taken = {*self._runs.values(), *chunked, None}
        waiting = [key for key in self._open - taken if key and not key.startswith(_RUN)]
        if id_ not in self._runs and len(waiting) == 1:
            self._runs[id_] = waiting[0]
        return self._runs.get(id_, id_)

    def _opened(self, key: str | None, id_: str | None, message: Message) -> list[Delta]:
        if key == self._key and key in self._open:
            return []
        known = key in self._open
        late = self._key is None and None in self._open and not known
        self._key = key
        self._open.add(key)
        if late:  # the first chunks had no id yet
            self._open.discard(None)
            self._called |= {key} if None in self._called else set()
            self._spoken |= {key} if None in self._spoken else set()
            return []
        model = None if known else views.model_of(message)
        return [TurnOpened(key, id_, model, restart=key is None and bool(self._ended))]

    def _end(self, key: str | None) -> list[Delta]:
        self._open.discard(key)
        self._ended.add(key)
        return [TurnEnded(key)]

    def _end_all(self) -> list[Delta]:
        return [delta for key in sorted(self._open, key=str) for delta in self._end(key)]

    # Calls.

    def _calls(self, key: str | None, message: Message, *, whole: bool, partial: bool) -> list[Delta]:
        chunks = message.tool_call_chunks or []
        chunked = key in self._called
        if whole and chunked:
            return []  # the text of chunks is the text itself
        if chunks:
            self._called.add(key)
            return [self._chunk(key, place, call, partial) for place, call in enumerate(chunks)]
        if partial or chunked:
            return []
        calls = [*(message.tool_calls or ()), *(message.invalid_tool_calls or ())]
        return [delta for place, call in enumerate(calls) for delta in _whole_call(place, call)]

    def _chunk(self, key: str | None, place: int, call: ToolCallView, partial: bool) -> Delta:
        index, id_, name = _index(call.index), id_label(call.id), name_label(call.name)
        text, whole = argument_text(call)
        if partial:
            text = self._news(key, place, text)
        if index in (None, INVALID_INDEX) or id_ or name or whole or not text:
            return Labelled(0, index, id_, name, text, rank=OBJECT if whole else 0)
        assert index is not None
        return Fragment(0, index, text)

    def _added(self, key: str | None, said: list[Delta]) -> list[Delta]:
        """Return the text that a cumulative message adds to the one before."""
        thought = "".join(delta.text for delta in said if isinstance(delta, ReasoningFragment))
        text = "".join(delta.text for delta in said if isinstance(delta, TextFragment))
        news = report.thought(self._news(key, "thought", thought))
        return news + report.text(self._news(key, "text", text))

    def _news(self, key: str | None, what: object, said: str) -> str:
        before = self._shown.get((key, what), "")
        self._shown[key, what] = said
        return said.removeprefix(before)


def _index(value: object) -> int | str | None:
    """Return an index; it may be a word in newer versions."""
    index = index_label(value)
    return text_label(value) if index == INVALID_INDEX and text_label(value) else index


def _whole_call(place: int, call: ToolCallView) -> list[Delta]:
    text, _ = argument_text(call)
    return report.whole_call(f"whole/{place}", id_label(call.id), name_label(call.name), text, final=False)
