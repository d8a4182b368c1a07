"""Hostile answers next to healthy answers: `python -m tests.soak.floods --seconds 20 --floods 4`.

A separate process runs between clients and an upstream. Some clients ask without end for answers of a few kilobytes
that decode to megabytes of empty events; one client repeatedly asks for a small healthy answer, and measures its
duration. Its wait for the others is the difference to its duration alone. The exit code is 1 if it waited longer than a
tenth of a second, or did not get its call.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.soak.proxy import PATHS, STREAMS, Planned, Watched, complaint
from tests.support.houses import Conversation

UNITS = (
    *(
        b":\n\n",
        b"\n",
        b"data:\n\n",
        b"data: {}\n\n",
        b"data: 1\n\n",
        b"data: []\n\n",
        b"data: {\n\n",
        b"id: 1\n\n",
    ),
    *(b"event: x\n\n", b"data: [DONE]\n\n", b"event: ping\ndata: {}\n\n", b"retry: 1\n\n", b"x\n", b"data\n"),
)
_SIZE = 6_000_000  # bytes that a flood decodes to
_MOST = 0.1  # seconds that a healthy request may wait for others
_HEALTHY = next(number for number, stream in enumerate(STREAMS) if stream.dialect == "chat-completions")


async def _met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve a connection: a flood of the unit that the model's name numbers, or else a healthy answer."""
    with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
        while True:
            to = Conversation(reader, writer)
            await to.hear()
            model = json.loads(to.body)["model"]
            pieces = STREAMS[_HEALTHY].pieces
            if model == "healthy":
                await to.begin()
                for piece in pieces:
                    await to.chunk(piece)
            else:
                await to.begin(b"content-encoding: gzip")
                await to.chunk(FLOODS[int(model)])
            await to.end()
    writer.close()


def _flood(unit: bytes) -> bytes:
    first = STREAMS[_HEALTHY].pieces[0]
    return gzip.compress(first + unit * (_SIZE // len(unit)))


FLOODS = tuple(map(_flood, UNITS))


async def _ask(port: int, model: str) -> bytes:
    """Return the answer of the proxy, head and all."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        body = json.dumps({"model": model, "stream": True, "messages": []}).encode()
        path = PATHS["chat-completions"]
        head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        return await reader.read(-1)
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def _floods(port: int, first: int) -> None:
    """Ask for one flood after the other."""
    for number in itertools.count(first):
        await _ask(port, str(number % len(UNITS)))


async def _healthy(port: int, seconds: float) -> tuple[list[float], set[str]]:
    """Return the durations of healthy requests, and their faults."""
    took: list[float] = []
    wrong: set[str] = set()
    until = time.monotonic() + seconds
    plan = Planned(_HEALTHY, "well", "reads", 0)
    while time.monotonic() < until:
        began = time.perf_counter()
        answer = await _ask(port, "healthy")
        took.append(time.perf_counter() - began)
        wrong |= {complaint(plan, answer) or "nothing"} - {"nothing"}
        await asyncio.sleep(0.02)
    return sorted(took), wrong


async def _measured(seconds: float, n_floods: int) -> tuple[list[float], list[float], set[str]]:
    server = await asyncio.start_server(_met, "127.0.0.1", 0)
    with tempfile.TemporaryDirectory() as folder:
        watched = Watched(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", Path(folder))
        try:
            alone, wrong = await _healthy(watched.port, seconds / 4)
            beside = [asyncio.ensure_future(_floods(watched.port, 3 * n)) for n in range(n_floods)]
            among, also_wrong = await _healthy(watched.port, seconds)
            for each in beside:
                each.cancel()
            await asyncio.wait(beside)
        finally:
            watched.stop()
            server.close()
    return alone, among, wrong | also_wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program."""
    options = argparse.ArgumentParser(
        prog="python -m tests.soak.floods", description=(__doc__ or "").split("\n")[0]
    )
    options.add_argument("--seconds", type=float, default=20.0)
    options.add_argument("--floods", type=int, default=4, help="open at one time")
    chosen = options.parse_args(arguments)
    alone, among, wrong = asyncio.run(_measured(chosen.seconds, chosen.floods))
    for name, took in (("alone", alone), (f"among {chosen.floods} floods", among)):
        middle, longest = took[len(took) // 2], took[-1]
        sys.stdout.write(
            f"{name}: {len(took)} requests, median {middle * 1e3:.1f} ms, longest {longest * 1e3:.1f} ms\n"
        )
    waited = among[-1] - alone[len(alone) // 2]
    sys.stdout.write(f"waited {waited * 1e3:.1f} ms at most; {', '.join(wrong) or 'nothing is wrong'}\n")
    return 1 if wrong or waited > _MOST else 0


if __name__ == "__main__":
    sys.exit(main())
