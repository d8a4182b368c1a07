"""The server of the self-test as a pure function, and over HTTP on the loopback interface.

Theory of operation. An answer is made in stages: the script, the events or the body, the bytes, the reply. A fault
changes one or more stages, and nothing else, so that the good server and a faulty one differ in that alone. The spelling
of events that the standard leaves free (line ends, the space after a colon, comments, the cuts) varies with the seed.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Any

from wholecall.discreet import compact
from wholecall.grading.probe.exchange import Asked, Wire
from wholecall.grading.probe.selftest import anthropic, chat, gemini, responses
from wholecall.grading.probe.selftest.fault import Fault, Frames, Payload, Reply
from wholecall.grading.probe.selftest.faults import FAULTS, faults_of
from wholecall.grading.probe.selftest.script import Script, script_of

if TYPE_CHECKING:
    from typing_extensions import Self

FRAMES: dict[Wire, Callable[[Script, Random], list[Payload]]] = {
    "chat-completions": chat.frames,
    "responses": responses.frames,
    "anthropic": anthropic.frames,
    "gemini": gemini.frames,
}
BODIES: dict[Wire, Callable[[Script], Payload]] = {
    "chat-completions": chat.body,
    "responses": responses.body,
    "anthropic": anthropic.body,
    "gemini": gemini.body,
}
_ERRORS = {
    "chat-completions": chat.error,
    "responses": chat.error,
    "anthropic": anthropic.error,
    "gemini": gemini.error,
}
_STREAM = ":streamGenerateContent"
_PATHS: dict[str, Wire] = {
    "/chat/completions": "chat-completions",
    "/responses": "responses",
    "/messages": "anthropic",
    ":generateContent": "gemini",
    _STREAM: "gemini",
}
_JSON, _SSE = {"content-type": "application/json"}, {"content-type": "text/event-stream; charset=utf-8"}
_GOOD = Fault(id="", rule="", says="nothing is wrong")

Oracle = Callable[[dict[str, Any], Wire], Asked]  # what a request asks for


def respond(
    request: dict[str, Any],
    asked: Asked,
    wire: Wire,
    *,
    fault: str | None = None,
    seed: int = 0,
    is_streamed: bool | None = None,
) -> Reply:
    """Return the answer to one request; the same one for the same arguments.

    Args:
        request: the JSON object of the request.
        asked: what it asks for, which a model would understand.
        wire: the wire format.
        fault: the name of a fault (`FAULTS`) of this wire; None for a good server.
        seed: decides ids, texts, spellings and cuts.
        is_streamed: whether a stream is asked for; None if the request says so itself.

    Raises:
        KeyError: there is no such fault.
    """
    flawed = _GOOD if fault is None else FAULTS[fault]
    random = Random(f"{seed} {fault} {compact(request)}")  # noqa: S311 - a repeatable one
    streams = request.get("stream") is True if is_streamed is None else is_streamed
    script = script_of(request, asked, wire, random, is_streamed=streams)
    if flawed.script is not None:
        flawed.script(script, random)
    reply = _refusal(wire) if asked.outcome == "refusal" else _answer(script, flawed, random)
    replaced = flawed.reply(script, reply) if flawed.reply is not None else None
    return reply if replaced is None else replaced


def _refusal(wire: Wire) -> Reply:
    error = compact(_ERRORS[wire]("The messages do not fit together.")).encode()
    return Reply(400, dict(_JSON), (error,))


def _answer(script: Script, flawed: Fault, random: Random) -> Reply:
    if script.is_streamed:
        frames: Frames = [*FRAMES[script.wire](script, random)]
        frames += ["[DONE]"] if script.wire == "chat-completions" else []
        frames = flawed.frames(frames, random) if flawed.frames is not None else frames
        data = _written(frames, script.wire, random)
    else:
        body = BODIES[script.wire](script)
        if flawed.body is not None:
            flawed.body(body, random)
        data = json.dumps(body, ensure_ascii=random.random() < 0.5).encode()
    data = flawed.data(data, script.is_streamed) if flawed.data is not None else data
    return Reply(200, dict(_SSE if script.is_streamed else _JSON), _cut(data, random))


def _written(frames: Frames, wire: Wire, random: Random) -> bytes:
    """Return the bytes of events, in one of the spellings that the standard allows."""
    end, colon = random.choice(("\n", "\n", "\r\n")), random.choice((": ", ": ", ":"))
    found = [f": {random.choice(('ping', 'keep-alive', ''))}{end}{end}"] if random.random() < 0.3 else []
    is_ascii = random.random() < 0.5
    for frame in frames:
        data = frame if isinstance(frame, str) else json.dumps(frame, ensure_ascii=is_ascii)
        name = frame.get("type") if isinstance(frame, dict) and wire != "chat-completions" else None
        found.append(f"event{colon}{name}{end}" if isinstance(name, str) else "")
        found.append(f"data{colon}{data}{end}{end}")
    return "".join(found).encode("utf-8", "surrogatepass")


def _cut(data: bytes, random: Random) -> tuple[bytes, ...]:
    most = random.choice((7, 64, 1024, len(data) or 1))
    chunks, at = [], 0
    while at < len(data):
        size = random.randint(1, most)
        chunks.append(data[at : at + size])
        at += size
    return tuple(chunks)


class SelfTestServer:
    """The server of the self-test on a free port of the loopback interface.

    ::

        with SelfTestServer(oracle, fault="id-missing") as server:
            probe(server.url)

    Args:
        oracle: returns what a request asks for.
        fault: the name of a fault; None for a good server. Requests of wires that have no such fault get good answers.
        seed: as for `respond`; each request takes the next one.

    Attributes:
        fault: may be changed between requests.
        url: the base of the API, with `/v1`.
    """

    def __init__(self, oracle: Oracle, *, fault: str | None = None, seed: int = 0) -> None:
        self.fault = fault
        self._oracle = oracle
        self._seed = seed
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reply(self, path: str, body: bytes) -> Reply:
        """Return the answer to a request over HTTP: 404 for an unknown path, 400 for a body that is no JSON object."""
        wire = _wire_of(path)
        if wire is None:
            return Reply(404, dict(_JSON), (compact(chat.error("There is no such path.")).encode(),))
        try:
            request = json.loads(body)
        except ValueError:
            request = None
        if not isinstance(request, dict):
            return Reply(400, dict(_JSON), (compact(_ERRORS[wire]("The body is no JSON object.")).encode(),))
        with self._lock:
            self._seed += 1
            seed = self._seed
        fault = self.fault if self.fault in {each.id for each in faults_of(wire)} else None
        streams = path.partition("?")[0].endswith(_STREAM) if wire == "gemini" else None
        asked = self._oracle(request, wire)
        return respond(request, asked, wire, fault=fault, seed=seed, is_streamed=streams)


def _wire_of(path: str) -> Wire | None:
    """Return the wire of a path; None for one that is unknown."""
    for end, wire in _PATHS.items():
        if path.partition("?")[0].endswith(end):
            return wire
    return None


def _handler(server: SelfTestServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One connection."""

        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            """Answer a request."""
            size = int(self.headers.get("content-length") or 0)
            reply = server.reply(self.path, self.rfile.read(size))
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for chunk in reply.chunks:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    return Handler
