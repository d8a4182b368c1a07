"""Two lower bounds of time for any robust reader; neither knows calls.

The *bare floor* splits at blank lines and decodes each event, straight from its bytes, into the fewest typed fields
that tell pieces apart. It makes no frames, knows no limits and reads none of the odd forms that the standard allows; it
would suffice for a program without further needs. The *floor of frames* is wholecall's framing and its dialect's wide
decoding of the same frames: the time above it is the work on calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Union

import msgspec

from wholecall import Limits
from wholecall.dialects.anthropic import AnthropicTranslator
from wholecall.dialects.openai.chat import chunks
from wholecall.dialects.openai.responses import events as responses_events
from wholecall.framing import FRAMINGS

_DATA = b"data: "


# Without frames.


class _Function(msgspec.Struct, gc=False):
    name: Union[str, None] = None
    arguments: Union[str, None] = None


class _Call(msgspec.Struct, gc=False):
    index: int
    id: Union[str, None] = None
    function: Union[_Function, None] = None


class _Delta(msgspec.Struct, gc=False):
    content: Union[str, None] = None
    tool_calls: Union[list[_Call], None] = None


class _Choice(msgspec.Struct, gc=False):
    delta: _Delta
    finish_reason: Union[str, None] = None


class _Chunk(msgspec.Struct, gc=False):
    choices: list[_Choice]


class _InputPiece(msgspec.Struct, gc=False, tag="input_json_delta"):
    partial_json: str


class _TextPiece(msgspec.Struct, gc=False, tag="text_delta"):
    text: str


class _BlockDelta(msgspec.Struct, gc=False, tag="content_block_delta"):
    index: int
    delta: Union[_InputPiece, _TextPiece]


class _Block(msgspec.Struct, gc=False):
    type: str
    id: Union[str, None] = None
    name: Union[str, None] = None


class _Start(msgspec.Struct, gc=False, tag="content_block_start"):
    index: int
    content_block: _Block


class _TextDelta(msgspec.Struct, gc=False, tag="response.output_text.delta"):
    output_index: int
    delta: str


class _ArgumentsDelta(msgspec.Struct, gc=False, tag="response.function_call_arguments.delta"):
    output_index: int
    delta: str


class _ArgumentsDone(msgspec.Struct, gc=False, tag="response.function_call_arguments.done"):
    output_index: int
    arguments: str


class _Item(msgspec.Struct, gc=False):
    type: str
    call_id: Union[str, None] = None
    name: Union[str, None] = None


class _Added(msgspec.Struct, gc=False, tag="response.output_item.added"):
    output_index: int
    item: _Item


def _only_named(*types: str) -> list[type]:
    """Return views of events of which only the type counts."""
    return [msgspec.defstruct(f"_Named{number}", [], tag=type_) for number, type_ in enumerate(types)]


_ANTHROPIC = (
    _BlockDelta,
    _Start,
    *_only_named("content_block_stop", "message_start", "message_delta", "message_stop", "ping"),
)
_RESPONSES = (
    _TextDelta,
    _ArgumentsDelta,
    _ArgumentsDone,
    _Added,
    *_only_named(
        *("response.created", "response.in_progress", "response.completed", "response.output_item.done"),
        *("response.content_part.added", "response.content_part.done", "response.output_text.done"),
    ),
)


_NARROW: dict[str, Callable[[bytes], Any]] = {
    "chat-completions": msgspec.json.Decoder(_Chunk).decode,
    "anthropic": msgspec.json.Decoder(Union[_ANTHROPIC]).decode,
    "responses": msgspec.json.Decoder(Union[_RESPONSES]).decode,
}


def bare(reads: Iterable[bytes], dialect: str) -> int:
    """Split and decode a stream; return how many events there were."""
    decode = _NARROW[dialect]
    n_events = 0
    held: list[bytes] = []  # of an event that continues
    for read in reads:
        held.append(read)
        if b"\n\n" in read or (read[:1] == b"\n" and held[0]):
            *events, rest = b"".join(held).split(b"\n\n")
            held = [rest]
            for event in events:
                n_events += 1
                data = event[event.index(_DATA) + 6 :]
                if data != b"[DONE]":
                    decode(data)
    return n_events


# With them.

_WIDE: dict[str, Callable[[str], Any]] = {
    "chat-completions": chunks.NARROW.decode,
    "anthropic": AnthropicTranslator.decoder.decode,
    "responses": responses_events.DECODER.decode,
}


def framed(reads: Iterable[bytes], dialect: str) -> int:
    """Frame and decode a stream; return how many frames there were."""
    framing = FRAMINGS["sse"](Limits())
    decode = _WIDE[dialect]
    n_frames = 0
    for read in reads:
        for frame in framing.feed(read):
            n_frames += 1
            try:
                decode(frame.data)
            except msgspec.DecodeError:
                continue  # `[DONE]`
    framing.close()
    return n_frames
