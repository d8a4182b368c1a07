"""An endpoint of Chat Completions on the loopback interface that answers the probe's scenarios as they ask.

A hook may answer instead, or do something first.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from wholecall.grading.probe.oracle import asked_of

_BASE = {"id": "chatcmpl-1", "created": 1_700_000_000, "model": "m"}
_USAGE = {"prompt_tokens": 50, "completion_tokens": 12, "total_tokens": 62}


class Answered(NamedTuple):
    """An answer: its status, content type, pieces, and further headers."""

    status: int
    kind: str
    pieces: tuple[bytes, ...]
    headers: tuple[tuple[str, str], ...] = ()


class Got(NamedTuple):
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


Hook = Callable[[Got, int], Answered | None]  # the request, and its number from 1


def good(got: Got) -> Answered:
    """Return the answer that a request asks for."""
    asked = asked_of(got.body, "chat-completions")
    if asked.outcome == "refusal":
        error = {"error": {"message": "the history is wrong", "type": "invalid_request_error"}}
        return Answered(400, "application/json", (json.dumps(error).encode(),))
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for number, call in enumerate(asked.calls)
    ]
    reason = "tool_calls" if calls else "stop"
    if asked.outcome == "cut":
        calls[-1]["function"]["arguments"] = calls[-1]["function"]["arguments"][:20]  # type: ignore[index]
        reason = "length"
    return streamed(calls, reason, got.body) if got.body.get("stream") else plain(calls, reason)


def plain(calls: list[dict[str, Any]], reason: str) -> Answered:
    """Return a whole answer."""
    message: dict[str, Any] = {"role": "assistant", "content": None if calls else "Done."}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    whole = _BASE | {"object": "chat.completion", "choices": [choice], "usage": _USAGE}
    return Answered(200, "application/json", (json.dumps(whole).encode(),))


def streamed(calls: list[dict[str, Any]], reason: str, body: dict[str, Any]) -> Answered:
    """Return an answer as a stream, each event a piece."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None if calls else "Done."}]
    for index, call in enumerate(calls):
        text = call["function"]["arguments"]
        begun = call | {"index": index, "function": call["function"] | {"arguments": ""}}
        deltas.append({"tool_calls": [begun]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": text[at : at + 9]}}]}
            for at in range(0, len(text), 9)
        ]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": reason})
    frames = [_BASE | {"object": "chat.completion.chunk", "choices": [choice]} for choice in choices]
    if body.get("stream_options"):
        frames.append(_BASE | {"object": "chat.completion.chunk", "choices": [], "usage": _USAGE})
    lines = [f"data: {json.dumps(frame)}\n\n".encode() for frame in frames]
    return Answered(200, "text/event-stream", (*lines, b"data: [DONE]\n\n"))


class Served:
    """An endpoint that runs.

    Attributes:
        url: its base URL.
        got: the requests that arrived.
    """

    def __init__(self, hook: Hook) -> None:
        self.url = ""
        self.got: list[Got] = []
        self.hook = hook
        self.lock = threading.Lock()

    def answer(self, got: Got) -> Answered:
        """Return the answer to a request."""
        with self.lock:
            self.got.append(got)
            number = len(self.got)
        return self.hook(got, number) or good(got)


@contextmanager
def endpoint(hook: Hook = lambda _got, _number: None) -> Iterator[Served]:
    """Run an endpoint until the block is left."""
    served = Served(hook)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = served.answer(Got(self.path, headers, json.loads(data)))
            self.send_response(answer.status)
            for name, value in (("content-type", answer.kind), *answer.headers):
                self.send_header(name, value)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for piece in (*answer.pieces, b""):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_arguments: object) -> None:
            """Let a client leave early."""

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        served.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
