from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from tests.support.exchanges import entry
from tests.support.together import together
from wholecall.proxy.admin import Admin, Status
from wholecall.proxy.log import line_of
from wholecall.proxy.metrics import Tally
from wholecall.proxy.watch import MOST_RECENT, Watch

LOCAL = [(b"host", b"127.0.0.1:8118")]


def answered(
    path: str,
    *statuses: Status,
    method: str = "GET",
    headers: list[tuple[bytes, bytes]] = LOCAL,
    error: Exception | None = None,
    hosts: Sequence[str] = (),
) -> tuple[int, dict[bytes, bytes], bytes]:
    """Return status, headers and body of an answer."""
    sent: list[dict[str, Any]] = []

    async def ask() -> Sequence[Status]:
        if error is not None:
            raise error
        return statuses

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    asyncio.run(Admin(ask, hosts=hosts)(scope, receive, send))
    start, body = sent
    return start["status"], dict(start["headers"]), body["body"]


def counted(n: int) -> Status:
    """Return the status of a process that has sent so many pings."""
    tally = Tally()
    tally.add("pings_total", (), n)
    return Status(numbers=tally.snapshot())


@pytest.mark.parametrize(
    ("unready", "status", "body"),
    [
        ([None], 200, b"ready\n"),
        (["draining"], 503, b"draining\n"),
        (["full"], 503, b"full\n"),
        (["full", None], 200, b"ready\n"),
        (["full", "draining", "full"], 503, b"draining, full\n"),
        ([], 503, b"no process answers\n"),
    ],
)
def test_ready_if_one_takes_requests(unready: list[str | None], status: int, body: bytes) -> None:
    """The proxy is ready while one process takes requests; else it reports why none does, and when to ask again."""
    found = answered("/ready", *(Status(unready=why) for why in unready))

    assert (status, body, status == 503) == (found[0], found[2], b"retry-after" in found[1])


def test_alive_whatever_the_workers_say() -> None:
    """A process that answers is alive, also while it drains and while it gets no answers."""
    assert [200, 200] == [
        answered("/health", Status(unready="draining"))[0],
        answered("/health", error=TimeoutError())[0],
    ]


def test_metrics_are_those_of_all_processes() -> None:
    """The counters of all processes are added up, in the text format of Prometheus."""
    status, headers, body = answered("/metrics", counted(2), counted(40))

    assert (200, b"text/plain; version=0.0.4; charset=utf-8") == (status, headers[b"content-type"])
    assert b"\nwholecall_proxy_pings_total 42\n" in body
    assert str(len(body)).encode() == headers[b"content-length"]


def test_recent_ones_of_all_processes() -> None:
    """The newest odd exchanges of all processes come first, at most a hundred."""
    parts = [
        Status(recent=[line_of(entry(id=f"{n}", started=1e9 + n)) for n in range(start, 160, 2)])
        for start in (0, 1)
    ]
    status, headers, body = answered("/recent", *parts)

    found = [line["id"] for line in json.loads(body)["recent"]]
    assert (200, b"application/json") == (status, headers[b"content-type"])
    assert [str(n) for n in range(159, 159 - MOST_RECENT, -1)] == found


def test_recent_ones_are_as_in_the_log() -> None:
    """An exchange has the same fields as in the log."""
    line = line_of(entry(model="\udc80"))
    body = answered("/recent", Status(recent=[line]))[2]

    assert [msgspec.to_builtins(line)] == json.loads(body)["recent"]


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [("/", "GET", 404), ("/metrics/", "GET", 404), ("/health", "POST", 405), ("/metrics", "DELETE", 405)],
)
def test_there_is_nothing_else(path: str, method: str, status: int) -> None:
    """Other paths are not found, and nothing can be changed."""
    assert status == answered(path, Status(), method=method)[0]


def test_head_has_no_body() -> None:
    """An answer to HEAD states the length of the body, and has no body."""
    status, headers, body = answered("/metrics", counted(1), method="HEAD")

    assert (200, b"", True) == (status, body, int(headers[b"content-length"]) > 0)


@together(
    ("host", "status"),
    [
        (b"127.0.0.1:8118", 200),
        (b"10.1.2.3", 200),
        (b"[::1]:8118", 200),
        (b"localhost:8118", 200),
        (b"LOCALHOST", 200),
        (b"proxy.internal:8118", 200),
        (b"evil.example:8118", 403),
        (b"127.0.0.1.evil.example", 403),
        (b"", 403),
        (b"[::1", 200),
        (b"\xff", 403),
    ],
)
@together("path", ["/metrics", "/recent"])
def test_no_web_page_reads_it(path: str, host: bytes, status: int) -> None:
    """Exchanges are reported only under a number or a name of this machine, not under another name that points here."""
    found = answered(path, Status(), headers=[(b"host", host)], hosts=["Proxy.internal"])

    assert status == found[0]


@pytest.mark.parametrize(
    ("headers", "status"), [([], 200), ([*LOCAL, (b"host", b"evil.example")], 403)], ids=["none", "two"]
)
def test_one_host_or_none(headers: list[tuple[bytes, bytes]], status: int) -> None:
    """HTTP/1.0 may omit the host; two hosts are refused."""
    assert status == answered("/recent", Status(), headers=headers)[0]


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_probes_may_use_any_name(path: str) -> None:
    """Pages that reveal nothing about exchanges are open to everyone."""
    assert 200 == answered(path, Status(), headers=[(b"host", b"pod-7.example")])[0]


@together("error", [TimeoutError(), asyncio.TimeoutError(), BrokenPipeError()], ids=repr)
@together("path", ["/ready", "/metrics", "/recent"])
def test_workers_that_do_not_answer(path: str, error: Exception) -> None:
    """When no process answers in time, the listener reports it and does not fail."""
    assert (503, b"no process answers\n") == answered(path, error=error)[::2]


def test_answers_are_not_kept() -> None:
    """No cache keeps an answer, and no browser guesses its type."""
    headers = answered("/recent", Status())[1]

    assert (b"no-store", b"nosniff") == (headers[b"cache-control"], headers[b"x-content-type-options"])


def test_a_status_is_plain_data() -> None:
    """A status survives a pipe."""
    watch = Watch()
    watch.begin(entry())
    watch.over(odd := entry(outcome="mended", mended=True))
    status = Status.of(watch, "full")
    copy = msgspec.json.decode(msgspec.json.encode(status), type=Status)

    assert answered("/metrics", status)[2] == answered("/metrics", copy)[2]
    assert ([line_of(odd)], "full") == (copy.recent, copy.unready)


@pytest.mark.parametrize("kind", ["lifespan", "websocket"])
def test_what_is_no_request(kind: str) -> None:
    """A server's beginning and end are acknowledged; a web socket is closed."""
    sent: list[str] = []
    news = iter(["lifespan.startup", "lifespan.shutdown"] if kind == "lifespan" else ["websocket.connect"])

    async def receive() -> dict[str, Any]:
        return {"type": next(news)}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message["type"])

    async def ask() -> Sequence[Status]:
        return ()

    asyncio.run(Admin(ask)({"type": kind}, receive, send))
    wanted = {
        "lifespan": ["lifespan.startup.complete", "lifespan.shutdown.complete"],
        "websocket": ["websocket.close"],
    }
    assert wanted[kind] == sent
