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

Covers: LangChain's message chunks as LangServe and LangGraph stream them, LC-JSON too, and whole messages; its own
    guesses, which close brackets, do not count.
Calls: told apart by index and id; each ends with the end of the message.
Source: LangChain documentation, "Streaming"; `langchain_core.messages`; LangServe and LangGraph API references.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Union

import msgspec
from msgspec.structs import replace

from wholecall import deltas
from wholecall.dialects import decode, labels, reasons, report, translator
from wholecall.dialects.hidden_text import Pieces
from wholecall.dialects.openai.chat.chunks import ToolCallView, argument_text
from wholecall.framing.frame import Frame

# Views.


class Message(msgspec.Struct, gc=False):
    """A message or a chunk of one; in LC-JSON its members are in `kwargs`, in LangServe's answers in `output`."""

    type: Any = None
    id: Any = None
    content: Any = None
    tool_call_chunks: Union[list[ToolCallView], None] = None
    tool_calls: Union[list[ToolCallView], None] = None
    invalid_tool_calls: Union[list[ToolCallView], None] = None
    response_metadata: Union[dict[str, Any], None] = None
    usage_metadata: Union[dict[str, Any], None] = None
    additional_kwargs: Union[dict[str, Any], None] = None
    chunk_position: Any = None
    tool_call_id: Any = None
    error: Any = None
    kwargs: Union[Message, None] = None
    output: Union[Message, None] = None


class _Batch(msgspec.Struct, gc=False):
    items: Union[list[Message], None] = None


_DECODER = msgspec.json.Decoder(Message)
_BATCH = msgspec.json.Decoder(_Batch)


# Parts of a message other than calls.

_TOOLS = frozenset({"tool", "ToolMessage", "ToolMessageChunk"})
_REASONS = ("finish_reason", "stop_reason", "stopReason", "finishReason", "done_reason")
_MODELS = ("model_name", "model", "model_id")


def _kind_of(message: Message) -> str | None:
    """Return whose message it is, in the words of either form."""
    if message.type == "constructor":
        path = message.id if isinstance(message.id, list) else []
        return labels.text_label(path[-1]) if path else None
    return labels.text_label(message.type)


def _model_of(message: Message) -> str | None:
    """Return the model's name, where the message knows it."""
    return next(_said(message.response_metadata, _MODELS), None)


def _answered(message: Message) -> list[deltas.Delta]:
    """Return the deltas of a tool's message: the call has its result, so the agent executed it."""
    return report.answered((message.kwargs or message).tool_call_id) if _kind_of(message) in _TOOLS else []


def _spoken_in(message: Message) -> list[deltas.Delta]:
    """Return reasoning and text; content is text or a list of blocks (quirk 95)."""
    blocks = message.content if isinstance(message.content, list) else [message.content]
    told = report.thought(decode.member(message.additional_kwargs, "reasoning_content"))
    for block in blocks:
        told += _block(block if isinstance(block, dict) else {"text": block})
    return told


def _block(block: dict[str, Any]) -> list[deltas.Delta]:
    thought = labels.text_label(block.get("thinking")) or block.get("reasoning")
    return report.thought(thought, signature=block.get("signature")) + report.text(block.get("text"))


def ended(message: Message, *, lacks_calls: bool = False) -> list[deltas.Delta]:
    """Return the counts and the reason, which come with the last chunk.

    The reason of a whole message that lacks the calls of its chunks is not that of these calls.
    """
    usage, metadata = report.usage(message.usage_metadata), message.response_metadata
    finish = report.finish(next(_said(metadata, _REASONS), None), drops_at="error") or _status(metadata)
    if lacks_calls:
        finish = [
            replace(delta, foreign=True) if isinstance(delta, deltas.Finish) else delta for delta in finish
        ]
    return usage + finish


def _status(metadata: object) -> list[deltas.Delta]:
    """Return why a message ended whose model uses Responses: it has a status there, and no reason."""
    status = decode.member(metadata, "status")
    if status == "completed":
        return [deltas.Finish(0, "stop", status)]
    if status == "incomplete":  # cut, for any word (quirk 76)
        word = reasons.turn_reason(decode.member(metadata, "incomplete_details", "reason"))
        return [
            deltas.Finish(0, "content_filter" if word and word[0] == "content_filter" else "length", status)
        ]
    return [deltas.Finish(0, "error", status, drops=True)] if status in ("failed", "cancelled") else []


def _said(metadata: object, members: tuple[str, ...]) -> Iterator[str]:
    known: dict[str, Any] = metadata if isinstance(metadata, dict) else {}
    for name in members:
        if text := labels.text_label(known.get(name)):
            yield text


# The stream.

_RUN = ("lc_run-", "run-")  # the prefixes of ids that LangChain gives to chunks without one
_WHOLE = frozenset({"ai", "AIMessage"})
_OURS = _WHOLE | {"AIMessageChunk"}


def chunks_in(*places: str) -> Pieces:
    """Return the pieces of calls in messages at some places: in lists of chunks, or where such a list would be."""
    listed, anywhere = ("|".join(f"{of}tool_call_chunks{step}args" for of in places) for step in ":.")
    return {'"tool_call_chunk"': f"{listed}|{anywhere}", '"tool_call_chunks":': listed}


class LangChainTranslator(translator.ViewTranslator):
    """Frames of one stream to deltas; it remembers which parts of each message came in chunks."""

    decoder: ClassVar[msgspec.json.Decoder[Any]] = _DECODER
    PIECES: ClassVar[Pieces] = chunks_in("", "kwargs.")
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

    def translate(self, frame: Frame) -> list[deltas.Delta]:
        """Return the deltas of one frame."""
        mode = frame.event.partition("|")[0]  # more says where in the graph it comes from
        if mode == "error":
            return report.error(decode.plain(frame.data) or frame.data)
        if mode == "end":
            return self._end_all()
        if decode.is_done(frame.data):
            return deltas.by_transport(self._end_all())
        if mode in self.QUIET:
            return []
        if mode in self.LISTS:
            return self._list(frame, mode)
        return super().translate(frame)

    def _list(self, frame: Frame, mode: str) -> list[deltas.Delta]:
        batch = decode.decode(_BATCH, f'{{"items":{frame.data}}}')
        if batch is None or batch.items is None:
            return decode.read(_DECODER, frame).deltas
        partial, complete = mode == "messages/partial", mode == "messages/complete"
        rows = [self._read(message, complete=complete, partial=partial) for message in batch.items]
        return [delta for told in rows for delta in told]

    def _take(self, message: Any, frame: Frame, /) -> list[deltas.Delta]:
        if message.error:
            return report.error(message.error)
        message = message.output or message
        odd = _kind_of(message) is None and not decode.is_noise(frame)
        return report.unknown() if odd else self._read(message)

    def _read(self, message: Message, *, complete: bool = False, partial: bool = False) -> list[deltas.Delta]:
        """Return the deltas of a message from any author."""
        kind = _kind_of(message)
        if kind not in _OURS:
            return _answered(message)
        whole = complete or (kind in _WHOLE and not partial)
        return self._message(message.kwargs or message, None, whole=whole, partial=partial)

    def _message(
        self, message: Message, run: str | None, *, whole: bool, partial: bool = False
    ) -> list[deltas.Delta]:
        """Return the deltas of a message or a chunk; `run` is its key where it has no id."""
        id_ = self._id(message)
        key = run or id_ or self._key
        if key in self._ended and key is not None:
            return []  # LangGraph repeats finished messages
        told = self._opened(key, id_ or run, message)
        if not (whole and key in self._spoken):
            said = _spoken_in(message)
            told += self._added(key, said) if partial else said
            if said:
                self._spoken.add(key)
        told += self._calls(key, message, whole=whole, partial=partial)
        lacks = whole and key in self._called and not (message.tool_calls or message.tool_call_chunks)
        told += ended(message, lacks_calls=lacks)
        if whole or message.chunk_position == "last":
            told += self._end(key)
        return told

    def _id(self, message: Message) -> str | None:
        """Return the id of a message: a run's id identifies the only message that it can mean."""
        id_ = labels.id_label(message.id)
        if id_ is None or not id_.startswith(_RUN) or id_ in self._open:
            return id_
        chunked = set() if message.chunk_position == "last" else self._called | self._spoken
        taken = {*self._runs.values(), *chunked, None}
        waiting = [key for key in self._open - taken if key and not key.startswith(_RUN)]
        if id_ not in self._runs and len(waiting) == 1:
            self._runs[id_] = waiting[0]
        return self._runs.get(id_, id_)

    def _opened(self, key: str | None, id_: str | None, message: Message) -> list[deltas.Delta]:
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
        model = None if known else _model_of(message)
        return [deltas.TurnOpened(key, id_, model, restart=key is None and bool(self._ended))]

    def _end(self, key: str | None) -> list[deltas.Delta]:
        self._open.discard(key)
        self._ended.add(key)
        return [deltas.TurnEnded(key)]

    def _end_all(self) -> list[deltas.Delta]:
        return [delta for key in sorted(self._open, key=str) for delta in self._end(key)]

    # Calls.

    def _calls(self, key: str | None, message: Message, *, whole: bool, partial: bool) -> list[deltas.Delta]:
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

    def _chunk(self, key: str | None, place: int, call: ToolCallView, partial: bool) -> deltas.Delta:
        index, id_, name = _index(call.index), labels.id_label(call.id), labels.name_label(call.name)
        text, whole = argument_text(call)
        if partial:
            text = self._news(key, place, text)
        if index in (None, deltas.INVALID_INDEX) or id_ or name or whole or not text:
            return deltas.Labelled(0, index, id_, name, text, rank=deltas.OBJECT if whole else 0)
        assert index is not None
        return deltas.Fragment(0, index, text)

    def _added(self, key: str | None, said: list[deltas.Delta]) -> list[deltas.Delta]:
        """Return the text that a cumulative message adds to the one before."""
        thought = "".join(delta.text for delta in said if isinstance(delta, deltas.ReasoningFragment))
        text = "".join(delta.text for delta in said if isinstance(delta, deltas.TextFragment))
        news = report.thought(self._news(key, "thought", thought))
        return news + report.text(self._news(key, "text", text))

    def _news(self, key: str | None, what: object, said: str) -> str:
        before = self._shown.get((key, what), "")
        self._shown[key, what] = said
        return said.removeprefix(before)


def _index(value: object) -> int | str | None:
    """Return an index; it may be a word in newer versions."""
    index = labels.index_label(value)
    return labels.text_label(value) if index == deltas.INVALID_INDEX and labels.text_label(value) else index


def _whole_call(place: int, call: ToolCallView) -> list[deltas.Delta]:
    text, _ = argument_text(call)
    return report.whole_call(
        f"whole/{place}", labels.id_label(call.id), labels.name_label(call.name), text, final=False
    )
