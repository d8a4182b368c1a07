"""A process that listens, is asked to stop, and logs its actions."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.houses import Conversation, House, head_of, request
from tests.support.loopback import serve
from tests.support.naive import error_of
from tests.support.proxying import DONE, frame
from wholecall.proxy.config import ConfigError
from wholecall.proxy.errors import CutOff
from wholecall.proxy.log import Teller, quieten
from wholecall.proxy.process import CannotListenError, bound, close_all
from wholecall.proxy.values import Address
from wholecall.serving import Answer

HELLO = frame({"role": "assistant", "content": "canary-text"})
END = frame({}, "stop") + DONE


@pytest.fixture(params=["httptools", "h11"])
def parser(request: pytest.FixtureRequest) -> str:
    """Give the name of each parser."""
    name: str = request.param
    return name


def stopped(parser: str, *, drain: float, n_stops: int, goes_on: bool) -> tuple[bytes, House]:
    """Stop a proxy while an answer is open; return its client's bytes."""
    house = House(parser, {"drain": drain})
    gate = asyncio.Event()

    async def serve(conversation: Conversation) -> None:
        await conversation.begin()
        await conversation.chunk(HELLO)
        await gate.wait()
        await conversation.chunk(END)
        await conversation.end()

    async def go() -> bytes:
        reader, writer = await house.connect()
        writer.write(request())
        early = await reader.readuntil(b"canary-text")
        for _ in range(n_stops):
            house.process.stop()
        if goes_on:
            gate.set()
        answer = early + await reader.read()
        writer.close()
        return answer

    answer = house.play(go, serve)
    house.finish()
    return answer, house


def test_open_answers_may_end(parser: str) -> None:
    """A process that is asked to stop waits for them."""
    answer, house = stopped(parser, drain=60, n_stops=1, goes_on=True)

    assert ("ok", True) == (house.entries[0].outcome, answer.endswith(b"0\r\n\r\n"))


@pytest.mark.parametrize(("drain", "n_stops"), [(0.05, 1), (60, 2)])
def test_an_answer_that_does_not_end_is_ended(parser: str, drain: float, n_stops: int) -> None:
    """When its time is over, or the process is asked twice; its client gets the reason."""
    answer, house = stopped(parser, drain=drain, n_stops=n_stops, goes_on=False)
    body = b"".join(re.findall(rb"data: .*\n\n", head_of(answer)[1]))

    assert ("cut", "draining", False) == (
        house.entries[0].outcome,
        house.entries[0].error,
        answer.endswith(b"0\r\n\r\n"),
    )
    assert ("draining", "the proxy is stopping") == error_of(body)


def test_a_configuration_that_cannot_be_used_changes_nothing() -> None:
    """The error is reported, and the old one stays."""

    def load() -> None:
        raise ConfigError("upstream: there is none")

    house = House("h11", load=load)
    house.process.reload()

    async def small(conversation: Conversation) -> None:
        await conversation.say(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")

    answer = house.play(lambda: house.ask(request("/v1/models", b"", method="GET")), small)
    said = house.close()

    assert (200, b"ok") == head_of(answer)
    assert '{"event":"the configuration stays as it was","detail":"upstream: there is none"}' in said


def test_an_address_that_is_taken() -> None:
    """It is reported by its name, and no part of it stays open."""
    sockets = bound(Address("127.0.0.1"))
    port = sockets[0].getsockname()[1]
    try:
        with pytest.raises(CannotListenError, match=rf"127\.0\.0\.1:{port}: "):
            bound(Address("127.0.0.1", port))
    finally:
        close_all(sockets)
    close_all(bound(Address("127.0.0.1", port)))


def test_a_socket_in_the_file_system(tmp_path: Path) -> None:
    """One that a dead process has left is taken over, one of a living is not; the file goes with the socket."""
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    sockets = bound(Address("", path=str(path)))
    with pytest.raises(CannotListenError):
        bound(Address("", path=str(path)))
    close_all(sockets)

    assert not path.exists()


def test_a_file_of_somebody_stays(tmp_path: Path) -> None:
    """Only sockets are taken over."""
    path = tmp_path / "f"
    path.write_text("mine")
    with pytest.raises(CannotListenError):
        bound(Address("", path=str(path)))

    assert "mine" == path.read_text()


@pytest.fixture
def said() -> Iterator[io.StringIO]:
    """Return the libraries' log as it is written."""
    stream = io.StringIO()
    names = ("uvicorn", "asyncio", "aiohttp")
    before = [(logging.getLogger(name), logging.getLogger(name).handlers) for name in names]
    quieten(Teller("json", stream))
    yield stream
    for logger, handlers in before:
        logger.handlers, logger.propagate = handlers, True


def test_libraries_say_no_more_than_they_may(said: io.StringIO) -> None:
    """The end of an answer is not a fault; of a fault its type and its place are kept, not its message."""
    logger = logging.getLogger("uvicorn.error")

    def fail(error: Exception) -> None:
        raise error

    for error in (CutOff("canary"), RuntimeError("canary")):
        with pytest.raises(type(error)) as caught:
            fail(error)
        logger.error("Exception in ASGI application\n", exc_info=caught.value)
    logger.warning("Unsupported upgrade request.")
    logger.info("nothing")
    logger.warning("something\nmore")
    lines = [json.loads(line) for line in said.getvalue().splitlines()]

    assert ["uvicorn.error"] * 2 == [line["event"] for line in lines]
    assert lines[0]["detail"].startswith(f"RuntimeError at {__file__}:")
    assert "something" == lines[1]["detail"]


# The whole program.


def started(*options: str) -> tuple[subprocess.Popen[str], str]:
    """Start the program; return it, and where it listens."""
    command = [sys.executable, "-m", "wholecall", "proxy", "--listen", "127.0.0.1:0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603 - our own
    assert process.stderr is not None
    return process, json.loads(process.stderr.readline())["detail"]


def asked(url: str) -> bytes:
    """Return a client's answer."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.sendall(request())
        return b"".join(iter(lambda: client.recv(65536), b""))


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_program(workers: str) -> None:
    """It listens, answers, logs, and stops on request, with or without workers."""
    with serve(Answer([HELLO, END], "text/event-stream")) as upstream:
        process, url = started("--upstream", upstream.url, "--workers", workers)
        answer = asked(url)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)

    assert (0, 200) == (process.returncode, head_of(answer)[0])
    assert HELLO in answer
    assert ["ok"] == [json.loads(line)["outcome"] for line in said.splitlines() if '"outcome"' in line]
    assert "canary" not in said


@pytest.mark.slow
def test_the_program_cannot_listen() -> None:
    """It reports this, with the status for that."""
    sockets = bound(Address("127.0.0.1"))
    address = f"127.0.0.1:{sockets[0].getsockname()[1]}"
    command = [
        sys.executable,
        "-m",
        "wholecall",
        "proxy",
        "--listen",
        address,
        "--upstream",
        "http://127.0.0.1:1",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)  # noqa: S603
    close_all(sockets)

    assert 3 == done.returncode
    assert address in done.stderr
