"""Amazon Bedrock InvokeModelWithResponseStream: another dialect's events, each wrapped in a chunk.

    event chunk  {"bytes": "<base64 of one event>", "p": "<padding>"}
    ...Exception message

The event inside is that of the model's maker, without its framing: Anthropic's models send Anthropic Messages, Amazon's
Nova sends ConverseStream, most others send chat completions. The translator of that dialect does the work. Decoded by
an SDK, an event is `{"chunk": {"bytes": ...}}`; in JSON its bytes are base64 again, or their content. Frames that are
not chunks, such as the body of a whole response, go to the inner translator as they are.

Bytes that are not UTF-8 are lost with their chunk: the text cannot be known. Source: AWS, "Bedrock Runtime API",
InvokeModelWithResponseStream.

Covers: Amazon Bedrock InvokeModelWithResponseStream: chunks with the events of the model's own dialect; text of
    Llama, Mistral and Titan.
Calls: told apart by as inside; each ends with as inside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from wholecall.deltas import Delta, WireFault
from wholecall.dialects import decode, translator
from wholecall.dialects.amazon.errors import error_of, exception_in
from wholecall.framing.frame import Frame


class _Chunk(msgspec.Struct, gc=False, rename={"coded": "bytes"}):
    coded: Any = None


class _Event(_Chunk, gc=False):
    chunk: _Chunk | None = None


_DECODER = msgspec.json.Decoder(_Event)


class InvokeTranslator(translator.Translator):
    """Chunks of one stream to the deltas of the inner dialect, whose translator `start` makes."""

    DERIVED = frozenset({"_inner"})

    def __init__(self, start: Callable[[], translator.Translator]) -> None:
        self._inner = start()

    @property
    def wrapped(self) -> translator.Translator:
        """The translator of the inner dialect."""
        return self._inner

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one chunk."""
        deltas: list[Delta] = []
        for found in _unwrapped(frame):
            deltas += self._inner.translate(found) if isinstance(found, Frame) else [found]
        return deltas

    def told(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one chunk, and its effect on the stream."""
        said = (
            self._inner.told(found) if isinstance(found, Frame) else [found] for found in _unwrapped(frame)
        )
        return [delta for deltas in said for delta in deltas]

    def translate_all(self, frames: list[Frame]) -> list[Delta]:
        """Return the deltas of chunks in a row; the inner translator sees as many of them in a row as it can."""
        deltas: list[Delta] = []
        row: list[Frame] = []
        for frame in frames:
            for found in _unwrapped(frame):
                if isinstance(found, Frame):
                    row.append(found)
                else:
                    deltas += [*self._inner.translate_all(row), found]
                    row = []
        return deltas + self._inner.translate_all(row)

    def close(self) -> list[Delta]:
        """Return the inner dialect's deltas for the end of the stream."""
        return self._inner.close()


def _unwrapped(frame: Frame) -> list[Frame | Delta]:
    """Return the frames of the inner dialect, or the fault."""
    if frame.event == "error":
        return [error_of(frame)]
    if decode.is_done(frame.data):  # proxies add it
        return [frame]
    try:
        return [_from(_DECODER.decode(frame.data), frame.data, frame)]
    except decode.UNREADABLE:
        views, texts, faults = decode.read(_DECODER, frame)
    return [_from(view, text, frame) for view, text in zip(views, texts, strict=True)] or [*faults]


def _from(event: _Event, text: str, frame: Frame) -> Frame | WireFault:
    coded = (event.chunk or event).coded
    if coded is None:
        error = exception_in(decode.plain(text))
        return Frame(frame.event, text) if error is None else decode.provider_error(error)
    found = decode.opened_chunk(coded) if isinstance(coded, str) else None
    if isinstance(found, str) and found.lstrip()[:1] in ("", "{", "["):
        return Frame("", found)
    fault = msgspec.structs.replace(
        decode.undecodable(text), hole=True
    )  # an event of this kind is always a piece
    if isinstance(found, str):  # words are not comments here
        return fault
    if found is None:
        return msgspec.structs.replace(fault, detail="a chunk holds no base64")
    return msgspec.structs.replace(
        fault, kind="invalid_utf8", detail="a chunk holds bytes that are not UTF-8"
    )
