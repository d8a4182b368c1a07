"""The options of the transports, and their checks."""

from __future__ import annotations

from inspect import iscoroutinefunction
from typing import Protocol, Union

from wholecall import Limits
from wholecall.repairing.notices import CALLBACKS, Counters, Exchange, Notices, Wanted

__all__ = ["Counters", "Exchange", "Notices", "PoolLimits", "RepairOptions", "refuse_coroutines"]


class PoolLimits(Protocol):
    """The `Limits` of httpx or httpx2: how many connections there may be."""

    max_connections: int | None
    max_keepalive_connections: int | None


class RepairOptions(Wanted, total=False):
    """The options of the transports: those of `Wanted`, and `limits`, which bounds a stream, or connections.

    Its type shows which of the two it is.
    """

    limits: Union[Limits, PoolLimits]


def refuse_coroutines(options: RepairOptions) -> None:
    """Raise `TypeError` if a function would have to be awaited."""
    for name in CALLBACKS:
        if iscoroutinefunction(options.get(name)):
            raise TypeError(f"{name} cannot be awaited here; AsyncRepairTransport and async_client await it")
