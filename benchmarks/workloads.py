"""Deterministic streams to measure with, in the envelopes that the providers send.

W1 is one response with 20 parallel calls of about 380 B arguments in 4-character deltas. W2 is one call whose arguments
grow to 8, 64 or 512 KB, in deltas of 4 (`d4`) or 40 (`d40`) characters. The others are the shapes in which cost could
grow faster than the input, each in every dialect whose wire has that shape. A workload knows the content of its stream,
so that no reader has to be trusted.
"""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from benchmarks.envelopes import (
    ENVELOPES,
    GATEWAYS,
    THINKING,
    Chat,
    Envelope,
    GeminiStreamed,
    Responses,
    Thinking,
)
from benchmarks.texts import KIB, Call, Result, every, long_arguments, prose, small_call, unaccented

DIALECTS = ("chat-completions", "anthropic", "responses")  # which have every shape below
READ = 1460  # the payload of one network packet


@dataclass(frozen=True)
class Workload:
    """A stream: its events, and the calls and the text in them."""

    name: str
    dialect: str
    events: Sequence[bytes]
    calls: Sequence[Call] = ()
    text: str = ""
    thought: str = ""

    @functools.cached_property
    def data(self) -> bytes:
        """Its bytes."""
        return b"".join(self.events)

    @property
    def n_events(self) -> int:
        """The number of its events."""
        return len(self.events)

    @functools.cached_property
    def result(self) -> Result:
        """The content that a reader must find in it."""
        calls = [(call.id, call.name, json.loads(call.arguments)) for call in self.calls]
        return Result(self.text, calls)


Pieces = Callable[[Envelope, Sequence[Call]], None]


def _one_by_one(stream: Envelope, calls: Sequence[Call]) -> None:
    """Write one call after the other."""
    for index, call in enumerate(calls):
        stream.head(index, call)
        for piece in call.pieces:
            stream.piece(index, piece)
        stream.tail(index, call)


def _taking_turns(stream: Envelope, calls: Sequence[Call]) -> None:
    """Write all calls side by side, a piece of each in turn."""
    for index, call in enumerate(calls):
        stream.head(index, call)
    for pieces in zip_longest(*(call.pieces for call in calls), fillvalue=""):
        for index, piece in enumerate(pieces):
            if piece:
                stream.piece(index, piece)
    for index, call in enumerate(calls):
        stream.tail(index, call)


def _labelled(stream: Envelope, calls: Sequence[Call], id_of: Callable[[int], str]) -> None:
    """Write one call; the n-th piece has the id that `id_of` says."""
    (call,) = calls
    stream.head(0, call)
    for number, piece in enumerate(call.pieces):
        stream.piece(0, piece, id_of(number))
    stream.tail(0, call)


def _calls(
    name: str,
    dialect: str,
    calls: Sequence[Call],
    pieces: Pieces = _one_by_one,
    stream: Envelope | None = None,
) -> Workload:
    stream = stream or ENVELOPES[dialect]()
    stream.opening()
    pieces(stream, calls)
    stream.ending(calls=True)
    return Workload(name, dialect, stream.events, calls)


def call_of(dialect: str, text: str, pieces: Sequence[str]) -> Workload:
    """Return one call with a text in these pieces."""
    return _calls("a call", dialect, [Call("call_0", "write_file", text, pieces)])


def parallel_calls(dialect: str, n: int) -> Workload:
    """Return `n` parallel calls of about 380 B arguments in 4-character deltas."""
    return _calls(f"{n} calls d4", dialect, [small_call(number) for number in range(n)])


@functools.cache
def w1(dialect: str, *, obfuscated: bool = False) -> Workload:
    """Return workload W1; `obfuscated` is for Responses."""
    calls = [small_call(number) for number in range(20)]
    if not obfuscated:
        return _calls("W1", dialect, calls)
    return _calls("W1 obfuscated", dialect, calls, stream=Responses(obfuscated=True))


@functools.lru_cache(maxsize=8)
def w2(dialect: str, size: int, delta: int, *, plain: bool = False) -> Workload:
    """Return workload W2: one call with `size` characters of text in deltas of `delta` characters.

    Some of its words have accents, unless it is `plain`.
    """
    arguments = unaccented(long_arguments(size)) if plain else long_arguments(size)
    call = Call("call_w2", "write_file", arguments, every(arguments, delta))
    return _calls(f"W2 {size // KIB}K d{delta}", dialect, [call])


def streamed_values(n: int) -> Workload:
    """Return `n` calls of Gemini, each with a string of about 360 characters that comes in pieces."""
    texts = (json.dumps({"content": prose(random.Random(number), 360)}) for number in range(n))
    calls = [Call(f"call_{number}", "write_file", text, ()) for number, text in enumerate(texts)]
    return _calls(f"{n} calls d4", "gemini", calls, stream=GeminiStreamed())


def one_call(dialect: str, n: int) -> Workload:
    """Return a call that arrives in `n` deltas of one character."""
    arguments = json.dumps({"content": "x" * max(n - 14, 0)})
    call = Call("call_n", "write_file", arguments, every(arguments, 1))
    return _calls(f"{n} one-character deltas", dialect, [call])


def interleaved(dialect: str, n: int = 20) -> Workload:
    """Return `n` calls whose deltas take turns."""
    return _calls("interleaved", dialect, [small_call(number) for number in range(n)], _taking_turns)


def id_churn(dialect: str, n: int) -> Workload:
    """Return one call of `n` fragments, each with a new id, all on one index: chat completions, Responses."""
    arguments = json.dumps({"content": "y" * (4 * n - 15)})
    call = Call("call_0", "write_file", arguments, every(arguments, 4))
    return _calls(f"{n} changing ids", dialect, [call], functools.partial(_labelled, id_of="call_{}".format))


def snapshots(dialect: str, n: int, step: int = 200) -> Workload:
    """Return a call that is sent `n` times, every time `step` characters longer; bytes grow as n².

    Only relays of chat completions do this.
    """
    arguments = json.dumps({"path": "a", "content": "z" * (n * step)})
    texts = [arguments[: 24 + number * step] for number in range(n)] + [arguments]
    return _calls(f"{n} snapshots", dialect, [Call("call_s", "write_file", arguments, texts)])


def blanks(dialect: str, n: int) -> Workload:
    """Return a call of 40 `n` characters, and `n` fragments of white space after its end.

    Those of chat completions repeat the id of the call.
    """
    arguments = json.dumps({"content": "y" * (40 * n)})
    call = Call("call_b", "write_file", arguments, [arguments, *["\n"] * n])
    repeated = call.id if dialect == "chat-completions" else ""
    return _calls(
        f"{n} blank fragments", dialect, [call], functools.partial(_labelled, id_of=lambda _: repeated)
    )


def many_calls(dialect: str, n: int) -> Workload:
    """Return `n` calls of few deltas each."""
    arguments = '{"city": "Oslo"}'
    pieces = every(arguments, 8)
    calls = [Call(f"call_{number}", "weather", arguments, pieces) for number in range(n)]
    return _calls(f"{n} calls", dialect, calls)


def big_event(dialect: str, size: int = KIB * KIB) -> Workload:
    """Return a call whose arguments of about `size` characters come in one event."""
    arguments = long_arguments(size)
    pieces = () if dialect == "responses" else (arguments,)  # there it is the `.done` event
    call = Call("call_big", "write_file", arguments, pieces)
    return _calls(f"{size // KIB}K event", dialect, [call])


def plain_text(dialect: str, size: int = 32 * KIB) -> Workload:
    """Return a turn that holds only text, in 4-character deltas."""
    return _text(dialect, ENVELOPES[dialect](), size)


def plain_thought(dialect: str, size: int = 32 * KIB) -> Workload:
    """Return a turn that holds only reasoning, in 4-character deltas."""
    return _thought(dialect, THINKING[dialect](), size)


def through(gateway: str, what: Literal["text", "reasoning", "calls"], size: int = 16 * KIB) -> Workload:
    """Return a turn of chat completions as a gateway sends it: text, reasoning, or calls of about 380 B."""
    stream = Chat(GATEWAYS[gateway])
    if what == "calls":
        calls = [small_call(number) for number in range(max(size // KIB, 1))]
        return _calls("calls", "chat-completions", calls, stream=stream)
    return (_text if what == "text" else _thought)("chat-completions", stream, size)


def _text(dialect: str, stream: Envelope, size: int) -> Workload:
    text = prose(random.Random(7), size)
    stream.opening()
    stream.text(every(text, 4))
    stream.ending(calls=False)
    return Workload("plain text", dialect, stream.events, (), text)


def _thought(dialect: str, stream: Thinking, size: int) -> Workload:
    text = prose(random.Random(8), size)
    stream.opening()
    stream.thought(every(text, 4))
    stream.ending(calls=False)
    return Workload("reasoning", dialect, stream.events, thought=text)


# The cuts of a stream into reads.


def cut(data: bytes, size: int) -> list[bytes]:
    """Cut a stream into reads of `size` bytes."""
    return [data[start : start + size] for start in range(0, len(data), size)]


def _frames(data: bytes) -> list[bytes]:
    *frames, rest = data.split(b"\n\n")
    reads = [frame + b"\n\n" for frame in frames]
    return [*reads, rest] if rest else reads


def _fuzzed(data: bytes, seed: int) -> list[bytes]:
    """Cut at seeded random places: mostly network-like reads, some of a few bytes."""
    random_ = random.Random(seed)
    reads: list[bytes] = []
    start = 0
    while start < len(data):
        size = random_.randint(1, 16) if random_.random() < 0.2 else random_.randint(17, 3000)
        reads.append(data[start : start + size])
        start += size
    return reads


CUTS: dict[str, Callable[[bytes], list[bytes]]] = {
    "whole": lambda data: [data],
    "frame": _frames,
    **{str(size): functools.partial(cut, size=size) for size in (READ, 64, 7, 1)},
    **{f"fuzzed {seed}": functools.partial(_fuzzed, seed=seed) for seed in (11, 12, 13)},
}
