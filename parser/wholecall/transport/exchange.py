"""The options of the transports, and what is told of an exchange."""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Protocol, TypedDict, Union

from wholecall.limits import Limits
from wholecall.output.events import StreamFault, ToolCallDropped
from wholecall.repairing import Report
from wholecall.repairing.news import CALLBACKS, Counters, Exchange, News
from wholecall.repairing.withholding import Withheld

if TYPE_CHECKING:
    from wholecall.policy import Policy
    from wholecall.text.options import TextWanted
    from wholecall.tools import AnyTools

__all__ = ["Counters", "Exchange", "News", "PoolLimits", "RepairOptions", "refuse_coroutines"]


class PoolLimits(Protocol):
    """The `Limits` of httpx or httpx2: how many connections there may be."""

    max_connections: int | None
    max_keepalive_connections: int | None


class RepairOptions(TypedDict, total=False):
    """The options of the transports.

    `tools`, `live_arguments`, `withheld`, `text` and `policy` are those of `Repairer`. `limits` bounds what a stream may
    hold, or connections, by its type. The functions get the exchange, too: `on_dropped` each call that was withheld,
    `on_fault` each fault of the wire, and `on_repaired` the report of each stream or body that was changed, once it
    is over. `counters` adds up all of them.
    """

    tools: AnyTools | None
    live_arguments: bool
    withheld: Withheld
    on_dropped: Callable[[ToolCallDropped, Exchange], object] | None
    on_fault: Callable[[StreamFault, Exchange], object] | None
    on_repaired: Callable[[Report, Exchange], object] | None
    counters: Counters | None
    text: TextWanted
    policy: Policy
    limits: Union[Limits, PoolLimits]


def refuse_coroutines(options: RepairOptions) -> None:
    """Raise `TypeError` if a function would have to be awaited."""
    for name in CALLBACKS:
        if iscoroutinefunction(options.get(name)):
            raise TypeError(f"{name} cannot be awaited here; AsyncRepairTransport and async_client await it")
