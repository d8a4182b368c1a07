"""The server of the self-test over HTTP: the answers of the pure function, on the loopback interface."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from wholecall.grading.probe.exchange import Asked, AskedCall, Wire
from wholecall.grading.probe.selftest.server import SelfTestServer, respond

CALL = Asked(outcome="calls", calls=(AskedCall("echo", {"text": "tide"}),))


def oracle(request: dict[str, Any], _wire: Wire) -> Asked:
    """Return what a request asks for: a call where it says so."""
    return CALL if request.get("model") == "calls" else Asked(outcome="text")


def posted(server: SelfTestServer, path: str, body: bytes) -> tuple[int, str | None, bytes]:
    """Return status, content type and body of an answer."""
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    connection.request("POST", parts.path + path, body, {"content-type": "application/json"})
    response = connection.getresponse()
    found = response.status, response.getheader("content-type"), response.read()
    connection.close()
    return found


def test_answers_over_http_are_those_of_the_function() -> None:
    """Each request gets the answer with the next seed, with its status, its content type and its bytes."""
    request: dict[str, Any] = {"model": "calls", "stream": True}
    with SelfTestServer(oracle, seed=7) as server:
        status, kind, body = posted(server, "/chat/completions", json.dumps(request).encode())
        server.fault = "id-missing"
        _, _, faulty = posted(server, "/chat/completions", json.dumps(request).encode())

    expected = respond(request, CALL, "chat-completions", seed=8)
    assert (expected.status, expected.headers["content-type"], b"".join(expected.chunks)) == (
        status,
        kind,
        body,
    )
    assert b"".join(respond(request, CALL, "chat-completions", fault="id-missing", seed=9).chunks) == faulty


def test_paths_name_the_wire() -> None:
    """The end of the path decides; an unknown path is 404, a body that is no object 400, both with a message."""
    with SelfTestServer(oracle) as server:
        bodies = [posted(server, path, b"{}")[2] for path in ("/responses", "/messages")]
        missing = posted(server, "/nothing", b"{}")
        broken = [posted(server, "/messages", body) for body in (b"[]", b"{")]

    assert ["response", "message"] == [json.loads(bodies[0])["object"], json.loads(bodies[1])["type"]]
    assert [404, 400, 400] == [answer[0] for answer in (missing, *broken)]
    assert all(json.loads(answer[2])["error"]["message"] for answer in (missing, *broken))
