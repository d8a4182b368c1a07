"""Connections of the transports: their number, and how they are kept, as the SDKs' own clients do."""

from __future__ import annotations

import asyncio
import importlib
import socket
import threading
from typing import Any

import pytest

from tests.support.loopback import serve
from tests.unit.test_transport import DONE, FINISH, PATH, TEXT, WHOLE, each_library
from wholecall import Limits
from wholecall.serving import Answer, Loopback
from wholecall.transport import AsyncRepairTransport, RepairTransport, async_client, client

N_STREAMS = 200


class Meeting(threading.Semaphore):
    """A gate that opens once so many answers wait at it, and only then."""

    def __init__(self, n_answers: int) -> None:
        super().__init__()
        self._barrier = threading.Barrier(n_answers)

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:  # noqa: ARG002
        """Wait for the others; False if they do not come."""
        try:
            self._barrier.wait(timeout)
        except threading.BrokenBarrierError:
            return False
        return True


@pytest.mark.slow
def test_two_hundred_streams_have_two_hundred_connections() -> None:
    """No stream waits for another one to end: each has its connection before the first byte of any comes."""
    whole = TEXT + WHOLE + FINISH + DONE

    async def read(http: Any, server: Loopback) -> bytes:
        async with http.stream("POST", server.url + PATH) as response:
            return b"".join([piece async for piece in response.aiter_raw()])

    async def read_all(server: Loopback) -> tuple[list[bytes], int]:
        async with async_client() as http:
            read_now = [read(http, server) for _ in range(N_STREAMS)]
            return list(await asyncio.gather(*read_now)), len(server.requests)

    with serve(Answer([whole], gate=Meeting(N_STREAMS))) as server:
        found, n_requests = asyncio.run(read_all(server))

    assert ([whole] * N_STREAMS, N_STREAMS) == (found, n_requests)


@each_library
@pytest.mark.parametrize("make", [client, async_client])
def test_clients_are_made_as_the_sdks_make_theirs(
    library: Any, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand connections, a hundred of them idle, ten minutes, five seconds to connect, redirects; proxies too."""
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    http = importlib.import_module(library)
    made = make(library=library)
    pools = [transport._inner._pool for transport in (made._transport, *filter(None, made._mounts.values()))]

    assert len(pools) > 1
    assert {(1000, 100)} == {(pool._max_connections, pool._max_keepalive_connections) for pool in pools}
    assert (http.Timeout(600, connect=5.0), True) == (made.timeout, made.follow_redirects)


@each_library
def test_options_of_the_caller_win(library: Any) -> None:
    """Limits of connections bound them, also in a transport that is made here."""
    http = importlib.import_module(library)
    limits = http.Limits(max_connections=3, max_keepalive_connections=2)
    pools = [
        client(library=library, limits=limits)._transport._inner._pool,
        RepairTransport(library=library, limits=limits)._inner._pool,
        AsyncRepairTransport(library=library, limits=limits)._inner._pool,
    ]
    usual = RepairTransport(library=library, limits=Limits())._inner._pool

    assert [(3, 2)] * 3 == [(pool._max_connections, pool._max_keepalive_connections) for pool in pools]
    assert (1000, 100) == (usual._max_connections, usual._max_keepalive_connections)
    assert http.Timeout(9) == client(library=library, timeout=9).timeout
    with pytest.raises(TypeError, match="belong to the inner transport"):
        RepairTransport(http.HTTPTransport(), limits=limits)


@each_library
def test_transports_of_the_caller_stay_as_they_are(library: Any) -> None:
    """Only connections of a transport that is made here are probed."""
    http = importlib.import_module(library)
    mine, mounted = http.HTTPTransport(), http.HTTPTransport()
    client(library=library, transport=mine, mounts={"https://x": mounted})

    assert [None, None] == [transport._pool._socket_options for transport in (mine, mounted)]


@each_library
@pytest.mark.parametrize("kind", ["client", "transport"])
def test_silent_connections_are_probed(library: Any, kind: str) -> None:
    """A model may think for minutes: the system asks whether the other side is alive, so nothing between gives up."""
    http = importlib.import_module(library)
    made = (
        client(library=library)
        if kind == "client"
        else http.Client(transport=RepairTransport(library=library))
    )
    with (
        serve(Answer([TEXT, FINISH, DONE])) as server,
        made,
        made.stream("POST", server.url + PATH) as response,
    ):
        connection = response.extensions["network_stream"].get_extra_info("socket")
        probed = connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)

    assert probed
