"""Answers of the benchmark's upstream, by the model of a request.

All answers are Chat Completions. An event is a chunk of HTTP by itself, and a write by itself, as servers send them.
"""

from __future__ import annotations

import json
import re
import secrets
from typing import Final, NamedTuple

from benchmarks import workloads
from benchmarks.envelopes import ENVELOPES
from benchmarks.texts import KIB

DIALECT: Final = "chat-completions"
PACED: Final = "paced"  # the model whose events come one at a time, each with the moment at which it was sent
END: Final = b"0\r\n\r\n"
KEY: Final = f"sk-{secrets.token_hex(32)}"  # LiteLLM's proxy starts with no weaker one
_MOMENT: Final = b"t=" + b"0" * 19
_MOMENTS: Final = re.compile(rb"t=(\d{19})")


class Script(NamedTuple):
    """An answer.

    Attributes:
        content_type: the content type of the body.
        body: the whole of it.
        events: its events, each as a chunk of HTTP; empty where the body goes out with its length.
    """

    content_type: str
    body: bytes
    events: tuple[bytes, ...] = ()

    @property
    def n_chunks(self) -> int:
        """The number of chunks of the body."""
        return len(self.events)


def _chunk(event: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(event), event)


def _stream(workload: workloads.Workload) -> Script:
    return Script("text/event-stream", workload.data, tuple(map(_chunk, workload.events)))


def _json() -> Script:
    message = {"role": "assistant", "content": "The answer is forty-two.", "refusal": None}
    body = {
        "id": "chatcmpl-CPx7hWq3nTz0VbYk2LmDs8RfGeUa4",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": "gpt-4.1-mini-2025-04-14",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 6, "total_tokens": 15},
    }
    return Script("application/json", json.dumps(body, separators=(",", ":")).encode())


SCRIPTS: Final[dict[str, Script]] = {
    "text": _stream(workloads.plain_text(DIALECT, 16 * KIB)),  # 4,096 chunks
    "call": _stream(workloads.w2(DIALECT, 8 * KIB, 4)),  # 2,048 chunks of one call
    "json": _json(),
}


def _paced() -> tuple[bytes, bytes, bytes]:
    stream = ENVELOPES[DIALECT]()
    stream.opening()
    stream.text([_MOMENT.decode()])
    opening, text = map(_chunk, stream.events)
    before, _, after = text.partition(_MOMENT)
    return opening, before, after


_OPENING, _BEFORE, _AFTER = _paced()


def paced_event(moment: int | None) -> bytes:
    """Return an event with the moment at which it is sent, in nanoseconds; None opens the stream."""
    return _OPENING if moment is None else b"%st=%019d%s" % (_BEFORE, moment, _AFTER)


def moments_in(data: bytes) -> list[int]:
    """Return the moments in a client's read; a moment that the read cuts in two does not count."""
    return [int(digits) for digits in _MOMENTS.findall(data)]


def request_for(model: str, host: str) -> bytes:
    """Return a request, as it goes over the wire."""
    messages = [{"role": "user", "content": "What is the answer?"}]
    body = json.dumps({"model": model, "messages": messages, "stream": model != "json"}).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {KEY}\r\n"
        f"accept: */*\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def dechunked(data: bytes) -> bytes:
    """Return a body that came in chunks of HTTP.

    Raises:
        ValueError: it does not end with its last chunk.
    """
    parts: list[bytes] = []
    at = 0
    while True:
        end = data.index(b"\r\n", at)
        size = int(data[at:end], 16)
        if not size:
            return b"".join(parts)
        parts.append(data[end + 2 : end + 2 + size])
        at = end + 4 + size
