"""The adapter protocol of the conformance suite: one JSON object a line on standard input and output.

A program makes `Client`s and gives them to `serve`. For every case `serve` calls the client's function with a `Run`,
and the function tells the run what its client ran, or would run, as soon as it knows: calls told before an exception
count. Only the standard library is needed.

Whatever the client prints goes to standard error, because standard output belongs to the protocol.
"""

from __future__ import annotations

import base64
import dataclasses
import importlib.metadata
import json
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

PROTOCOL = 1
KEY = "unused"
QUESTION = "When is the tide?"
MESSAGES = [{"role": "user", "content": QUESTION}]
CHAT, RESPONSES, ANTHROPIC, GEMINI = "chat-completions", "responses", "anthropic", "gemini"


class Unsupported(Exception):
    """The client cannot be asked for this case at all; the words say why."""


@dataclasses.dataclass
class Run:
    """One case and the client's end of it.

    Attributes:
        wire: the wire that the client is asked to read.
        url: the address that the client's setting for the base address takes; empty in the mode `bytes`.
        tools: the tools that the client offers, each with `name` and `schema`.
        timeout: seconds that the client has.
        chunks: the reads of the answer in the mode `bytes`.
        content_type: the answer's `Content-Type` in the mode `bytes`.
        status: the answer's HTTP status in the mode `bytes`.
        ending: how the answer ends in the mode `bytes`, `clean` or the fault of its connection.
        stream: whether a stream is asked for; else a whole body.
        asked: what the request asks with, `tools` or the older `functions`.
        calls: what was told by `called`.
        refused: what was told by `refuse`.
        text: the words of the answer; None if the client does not tell them.
    """

    wire: str
    url: str
    tools: list[dict[str, Any]]
    timeout: float
    chunks: list[bytes]
    content_type: str
    status: int
    ending: str
    stream: bool
    asked: list[str]
    calls: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    refused: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    text: str | None = None

    @classmethod
    def of(cls, asked: dict[str, Any]) -> Run:
        """Return the run that a line of the runner asks for."""
        return cls(
            wire=asked["wire"],
            url=asked.get("url", ""),
            tools=asked.get("tools", []),
            timeout=float(asked.get("timeout", 20)),
            chunks=[base64.b64decode(chunk) for chunk in asked.get("chunks", ())],
            content_type=asked.get("content_type", "text/event-stream"),
            status=asked.get("status", 200),
            ending=asked.get("ending", "clean"),
            stream=asked.get("stream", True),
            asked=asked.get("asked", ["tools"]),
        )

    @property
    def names(self) -> list[str]:
        """The names of the tools."""
        return [tool["name"] for tool in self.tools]

    def called(self, id: Any, name: Any, arguments: Any) -> None:
        """Tell that a call was run, or would be.

        Args:
            id: its id; None if the client does not tell it.
            name: the tool's name.
            arguments: the object that the tool got, or the text as the client hands it over.
        """
        self.calls.append({"id": _text(id), "name": name, "arguments": _plain(arguments)})

    def refuse(self, id: Any, name: Any, why: str) -> None:
        """Tell that the client answered the model in place of running a call."""
        self.refused.append({"id": _text(id), "name": name, "why": _line(why)})


@dataclasses.dataclass
class Client:
    """A way to read a wire.

    Attributes:
        name: the client, and its way of reading, in words without spaces.
        wire: the wire that it reads.
        read: asks once, and tells the run what came of it.
        packages: the distributions that decide what it does; the first is the client itself.
        runs_tools: whether it runs the tools itself.
        mode: how it gets a case, `http` or `bytes`.
        version: its version; by default that of its first package.
        whole: whether it can be asked for a whole body, too.
        functions: whether it can ask with the older `functions`.
    """

    name: str
    wire: str
    read: Callable[[Run], None]
    packages: tuple[str, ...] = ()
    runs_tools: bool = False
    mode: str = "http"
    version: str = ""
    whole: bool = False
    functions: bool = False

    def hello(self) -> dict[str, Any]:
        """Return what the runner is told of the client."""
        packages = {package: importlib.metadata.version(package) for package in self.packages}
        version = self.version or next(iter(packages.values()), "0")
        known = {"name": self.name, "version": version, "wire": self.wire, "mode": self.mode}
        return {**known, "runs_tools": self.runs_tools, "dependencies": packages}

    def answer(self, run: Run) -> dict[str, Any]:
        """Return what a run came to; what the client raises is its `error`."""
        error = None
        try:
            self._check(run)
            self.read(run)
        except Unsupported as why:
            return {"unsupported": _line(why)}
        except Exception as raised:  # noqa: BLE001 - every exception of a client is an answer of it
            error = _line(f"{type(raised).__name__}: {raised}")
        return {
            "calls": run.calls,
            "refused": run.refused,
            "error": error,
            "text": run.text if isinstance(run.text, str) else None,
        }

    def _check(self, run: Run) -> None:
        if not run.stream and not self.whole:
            raise Unsupported("this way of the client asks for streams only")
        if "functions" in run.asked and not self.functions:
            raise Unsupported("this way of the client asks with tools, not with functions")


def serve(*clients: Client) -> None:
    """Answer the runner's lines until it says `bye` or closes standard input."""
    out = _own_output()
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        if asked["do"] == "bye":
            return
        if asked["do"] == "hello":
            answer: dict[str, Any] = {
                "protocol": PROTOCOL,
                "clients": [client.hello() for client in clients],
            }
        else:
            answer = _run(clients, asked)
        out.write(json.dumps(answer, default=str) + "\n")
        out.flush()


def _run(clients: tuple[Client, ...], asked: dict[str, Any]) -> dict[str, Any]:
    for client in clients:
        if (client.name, client.wire) == (asked["client"], asked["wire"]):
            return client.answer(Run.of(asked))
    return {"unsupported": f"no client {asked['client']} for {asked['wire']} here"}


def _own_output() -> TextIO:
    """Return the protocol's own standard output; whatever else is printed goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return out


def _plain(arguments: Any) -> Any:
    """Return arguments as JSON takes them; NaN and infinities, which Python's reader takes, become words."""
    if arguments is None or isinstance(arguments, str):
        return arguments
    return json.loads(json.dumps(arguments), parse_constant=str)


def _text(id: Any) -> str | None:
    """Return an id as the protocol has it: a number is its digits."""
    return None if id is None else str(id)


def _line(said: object) -> str:
    return " ".join(str(said).split())[:500]


# Shapes of tools that several clients take.


def chat_tools(run: Run, **more: Any) -> list[dict[str, Any]]:
    """Return the tools as Chat Completions declares them, with more members of each function."""
    return [
        {"type": "function", "function": {"name": tool["name"], "parameters": tool["schema"], **more}}
        for tool in run.tools
    ]


def responses_tools(run: Run, **more: Any) -> list[dict[str, Any]]:
    """Return the tools as Responses declares them, with more members of each."""
    return [
        {"type": "function", "name": tool["name"], "parameters": tool["schema"], **more} for tool in run.tools
    ]


def anthropic_tools(run: Run) -> list[dict[str, Any]]:
    """Return the tools as the Messages API declares them."""
    return [{"name": tool["name"], "input_schema": tool["schema"]} for tool in run.tools]
