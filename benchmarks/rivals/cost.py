"""What the SDK of OpenAI spends on a chunk, and what we add: `python -m benchmarks.rivals.cost [--quick]`.

The stream comes from memory, through an HTTP client without a network, so that every microsecond is the SDK's or
ours. Every figure but the microseconds is a ratio of times that were taken side by side in one run.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import importlib
import importlib.metadata
import platform
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from benchmarks import baselines, measure, workloads

__all__: list[str] = []

_ROW = "{:<58}{:>10}{:>10}  {}"
_READ = 1460
_WRAP_BUDGET = 0.10
_TRANSPORT_BUDGET = 0.25
_ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Tides?"}]}


def _transport(reads: Sequence[bytes]) -> Any:
    """Return a transport of httpx that answers every request with the same stream."""
    httpx = importlib.import_module("httpx")

    class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):  # type: ignore[misc, name-defined]
        def __iter__(self) -> Iterator[bytes]:
            yield from reads

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for read in reads:
                yield read

    headers = {"content-type": "text/event-stream"}
    return httpx.MockTransport(lambda _: httpx.Response(200, headers=headers, stream=Stream()))
