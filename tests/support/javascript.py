"""JavaScript clients over the streams of `benchmarks.rivals`, all run by one Node process.

Theory of operation. A server on the loopback interface answers by path: the first request below a path gets the stream,
later requests get the model's words after tool results. Node gets a list of clients and addresses, and reports the
outcome of each; it is judged like the Python libraries.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from benchmarks.rivals.quirks import FAREWELLS, STREAMS, Verdict, is_right, verdict
from benchmarks.rivals.streams import Stream
from benchmarks.rivals.systems import Got
from wholecall.repairing import Repairer
from wholecall.serving import Answer, IncomingRequest, Loopback

FOLDER = Path(__file__).resolve().parents[1] / "node"
_PATIENCE = 300.0  # seconds after which Node is taken to hang
_CUT_OFF = frozenset({"chat-completions", "anthropic"})  # dialects in which an error cuts the connection

Streams = Mapping[str, Sequence[Stream]]
Serve = Callable[[Stream], Answer]


class Client(NamedTuple):
    """A way to read streams in JavaScript.

    Attributes:
        name: the package, and its way of reading; the name in `run.mjs`.
        dialect: the wire that it reads.
    """

    name: str
    dialect: str


class Outcome(NamedTuple):
    """The outcome of a client on a stream.

    Attributes:
        stream: the stream.
        verdict: the verdict on the calls that were run, or would be.
        error: the exception, or the message to the model in place of running a tool; empty if none.
    """

    stream: Stream
    verdict: Verdict
    error: str

    @property
    def is_right(self) -> bool:
        """Whether exactly the permitted calls ran; where none may run, whether none ran or there was an error."""
        return is_right(self.stream, self.verdict)


class StreamServer(Loopback):
    """A server of streams by path: `/CLIENT/DIALECT/NUMBER/...`.

    Args:
        serve: makes the answer of a stream; by default the stream as it is.
        streams: the streams by dialect; by default those of `benchmarks.rivals`.
    """

    def __init__(self, serve: Serve | None = None, streams: Streams = STREAMS) -> None:
        super().__init__()
        self._streams = streams
        self._serve = serve or (lambda stream: Answer(stream.pieces))
        self._asked: set[tuple[str, ...]] = set()
        self._asking = Lock()

    def answer(self, request: IncomingRequest) -> Answer:
        """Return the stream for the first request below a path, the end of the conversation for later ones."""
        _, client, dialect, number, *_ = request.path.split("/")
        with self._asking:
            is_first = (client, dialect, number) not in self._asked
            self._asked.add((client, dialect, number))
        return self._serve(self._streams[dialect][int(number)]) if is_first else Answer([FAREWELLS[dialect]])


def mended(stream: Stream, *, live: bool = False, pings: bool = False) -> Answer:
    """Return the answer of a proxy that repairs a stream: piece by piece, and cut off after an error.

    Args:
        stream: the provider's stream.
        live: whether calls are shown while they arrive.
        pings: whether a ping follows each piece.
    """
    repairer = Repairer(live_arguments=live)
    pieces: list[bytes] = []
    for piece in stream.pieces:
        pieces += [repairer.feed(piece), repairer.ping() if pings else b""]
    pieces.append(repairer.close())
    is_cut = repairer.report.error is not None and stream.dialect in _CUT_OFF
    return Answer([piece for piece in pieces if piece], ending="cut" if is_cut else "clean")


def run_node(clients: Sequence[Client], url: str, streams: Streams = STREAMS) -> dict[Client, list[Outcome]]:
    """Run clients over all streams of their dialects.

    Args:
        clients: the clients.
        url: the address of a `StreamServer`, or of a proxy before it.
        streams: the server's streams by dialect.

    Raises:
        RuntimeError: Node failed.
    """
    found: dict[Client, list[Outcome]] = {client: [] for client in clients}
    asked = [(client, n, stream) for client in clients for n, stream in enumerate(streams[client.dialect])]
    lines = [
        json.dumps(
            {
                **client._asdict(),
                "url": f"{url}/{clients.index(client)}/{client.dialect}/{n}",
                "tools": stream.tools,
            }
        )
        for client, n, stream in asked
    ]
    for (client, _, stream), answer in zip(asked, _node(lines), strict=True):
        found[client].append(_outcome(stream, answer))
    return found


def _node(lines: Sequence[str]) -> list[dict[str, Any]]:
    """Return Node's outcome of each line."""
    program = shutil.which("node") or "node"
    ran = subprocess.run(  # noqa: S603 - our own program
        [program, "run.mjs"],
        cwd=FOLDER,
        input="\n".join(lines),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=_PATIENCE,
        check=False,
    )
    answers = [json.loads(line) for line in ran.stdout.split("\n") if line]
    if ran.returncode or len(answers) != len(lines):
        at = lines[len(answers)] if len(answers) < len(lines) else "the end"
        raise RuntimeError(f"node ended with {ran.returncode} at {at}: {ran.stderr[-2000:]}")
    return answers


def _outcome(stream: Stream, answer: dict[str, Any]) -> Outcome:
    """Judge a run: an invented call counts, regardless of later exceptions."""
    calls = [Got(call.get("name"), call.get("arguments")) for call in answer["calls"]]
    said = verdict(calls, stream.expected)
    if answer["error"] is not None and said != "wrong":
        said = "raise"
    return Outcome(stream, said, answer["error"] or "")
