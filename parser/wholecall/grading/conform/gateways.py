"""A gateway's other side: a request with the tools of a case, and what wholecall makes of the answer.

Theory of operation. The gateway has the runner as its upstream, so that its answer is made of the bytes of the case. It
may speak another wire to its clients than to its upstream. No proxy of the environment is used.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from wholecall.grading.conform.cases import Case, Request, Wire
from wholecall.grading.conform.own import read
from wholecall.grading.conform.protocol import TooSlow
from wholecall.grading.conform.verdicts import Answer

MODEL = "conformance-1"

_ASK = "Use the tools."
_READ = 65536


def ask(url: str, wire: Wire, case: Case, timeout: float) -> Answer:
    """Send the request of a case to a gateway, and return what its clients get.

    Args:
        url: the base URL of the gateway.
        wire: the wire that it speaks there.
        case: the case that its upstream answers with.
        timeout: seconds.

    Raises:
        TooSlow: the answer is not over in time.
    """
    parts, path = urlsplit(url), _PATHS[wire](case.request)
    body = json.dumps(_BODIES[wire](case.request)).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer x", "x-api-key": "x"}
    headers["anthropic-version"] = "2023-06-01"
    connection = http.client.HTTPConnection(parts.netloc, timeout=timeout)
    reads = _Reads(time.monotonic() + timeout)
    try:
        connection.request("POST", parts.path.rstrip("/") + path, body, headers)
        response = connection.getresponse()
        chunks = list(reads.of(response))
        return read(chunks, wire, response.status, reads.ending)
    except TimeoutError:
        raise TooSlow(f"the gateway's answer was not over in {timeout:.0f} seconds") from None
    except (OSError, http.client.HTTPException) as error:
        return Answer(error=f"{type(error).__name__}: {error}")
    finally:
        connection.close()


class _Reads:
    """The reads of an answer, and how it ended."""

    def __init__(self, until: float) -> None:
        self.ending = "clean"
        self._until = until

    def of(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        """Yield the bytes as they come, and those before a connection is lost.

        Raises:
            TimeoutError: they are not over in time.
        """
        try:
            while piece := response.read1(_READ):
                if time.monotonic() > self._until:
                    raise TimeoutError
                yield piece
        except http.client.IncompleteRead as error:
            self.ending = "no-terminator"
            yield error.partial
        except ConnectionError:
            self.ending = "reset"


# Requests, as small as they can be.


def _functions(request: Request) -> list[dict[str, Any]]:
    return [
        {"name": tool.name, "description": tool.name, "parameters": tool.schema} for tool in request.tools
    ]


def _chat(request: Request) -> dict[str, Any]:
    tools = [{"type": "function", "function": function} for function in _functions(request)]
    messages = [{"role": "user", "content": _ASK}]
    return {"model": MODEL, "messages": messages, "tools": tools, "stream": request.stream}


def _responses(request: Request) -> dict[str, Any]:
    tools = [{"type": "function", "strict": False, **function} for function in _functions(request)]
    return {"model": MODEL, "input": _ASK, "tools": tools, "stream": request.stream}


def _anthropic(request: Request) -> dict[str, Any]:
    tools = [
        {"name": tool.name, "description": tool.name, "input_schema": tool.schema} for tool in request.tools
    ]
    messages = [{"role": "user", "content": _ASK}]
    return {
        "model": MODEL,
        "max_tokens": 4096,
        "messages": messages,
        "tools": tools,
        "stream": request.stream,
    }


def _gemini(request: Request) -> dict[str, Any]:
    contents = [{"role": "user", "parts": [{"text": _ASK}]}]
    return {"contents": contents, "tools": [{"functionDeclarations": _functions(request)}]}


def _converse(request: Request) -> dict[str, Any]:
    tools = [
        {"toolSpec": {"name": tool.name, "description": tool.name, "inputSchema": {"json": tool.schema}}}
        for tool in request.tools
    ]
    return {"messages": [{"role": "user", "content": [{"text": _ASK}]}], "toolConfig": {"tools": tools}}


_BODIES: dict[str, Callable[[Request], dict[str, Any]]] = {
    "chat-completions": _chat,
    "responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock-converse": _converse,
    "ollama": _chat,
    "cohere-v2": _chat,
}
_GEMINI = f"/v1beta/models/{MODEL}:"
_PATHS: dict[str, Callable[[Request], str]] = {
    "chat-completions": lambda _: "/chat/completions",
    "responses": lambda _: "/responses",
    "anthropic": lambda _: "/v1/messages",
    "gemini": lambda its: _GEMINI + ("streamGenerateContent?alt=sse" if its.stream else "generateContent"),
    "bedrock-converse": lambda its: f"/model/{MODEL}/converse" + ("-stream" if its.stream else ""),
    "ollama": lambda _: "/api/chat",
    "cohere-v2": lambda _: "/v2/chat",
}
