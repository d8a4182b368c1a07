"""Count turns of other tasks in an event loop during long work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


def turns_beside(act: Callable[[], Awaitable[object]]) -> int:
    """Do something under asyncio; return how often another task ran meanwhile."""
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def both() -> None:
        beside = asyncio.ensure_future(others())
        await act()
        beside.cancel()

    asyncio.run(both())
    return turns
