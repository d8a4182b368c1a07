"""Notices to the caller about exchanges: drops, faults, a report at the end, and totals.

Theory of operation. A repairer reports while it is fed, in the middle of its work. Its reports are kept, and passed to
the caller's functions when the work is done: these are called, or awaited if they return something to await. Therefore
an exception raised by them goes to the reader of the body, and does not disturb the repairer.

A function is called with the event, as everywhere: `list.append` and `print` will do. A function that requires a second
argument, or calls it `exchange`, gets the exchange.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter, isawaitable, signature
from typing import TYPE_CHECKING, Any, Final, TypedDict, TypeVar, Union
from urllib.parse import urlsplit

import msgspec

from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.events import StreamFault
from wholecall.policy import Policy
from wholecall.repairing.answers import dialect_of
from wholecall.repairing.report import RepairReport
from wholecall.repairing.withholding import Withheld

if TYPE_CHECKING:
    from wholecall.calls.tools.tool import AnyTools
    from wholecall.text.options import TextWanted

CALLBACKS: Final = ("on_dropped", "on_fault", "on_repaired")
_OURS: Final = frozenset({*CALLBACKS, "counters"})  # options that a repairer does not have


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """One request and its answer.

    Attributes:
        id: ours, drawn at random; the answer has it as its header `x-wholecall-id`.
        method: the HTTP method.
        url: without query, fragment and credentials, which may hold keys.
    """

    id: str
    method: str
    url: str

    @classmethod
    def of(cls, request: Any) -> Exchange:
        """Return the exchange begun by a request of httpx or httpx2."""
        url = request.url.copy_with(userinfo=b"", query=None, fragment=None)
        return cls(id=uuid.uuid4().hex, method=str(request.method), url=str(url))


ToldT = TypeVar("ToldT")
Hearer = Union[Callable[[ToldT], object], Callable[[ToldT, Exchange], object]]
"""A function that hears what happened, and the exchange if it needs that."""


class Counters:
    """Totals of all exchanges that were read for repair; any number of transports and threads may share one.

    Attributes:
        n_exchanges: event streams and bodies that are over.
        n_mended: those whose output differs from their input.
        n_failed: those that ended with an error frame of ours.
        n_calls: whole calls.
        n_withheld: calls that must not be executed.
        n_unread: those that passed unchanged, because they could not be read here.
    """

    def __init__(self) -> None:
        self.n_exchanges = 0
        self.n_mended = 0
        self.n_failed = 0
        self.n_calls = 0
        self.n_withheld = 0
        self.n_unread = 0
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value}" for name, value in vars(self).items() if name.startswith("n_"))
        return f"<Counters {told}>"

    def add(self, report: RepairReport) -> None:
        """Add the result of an exchange."""
        with self._lock:
            self.n_exchanges += 1
            self.n_mended += report.mended
            self.n_failed += report.error is not None
            self.n_calls += report.n_calls
            self.n_withheld += report.n_withheld
            self.n_unread += report.unread


class Wanted(TypedDict, total=False):
    """A caller's options for all exchanges.

    `tools`, `live_arguments`, `withheld`, `text` and `policy` are those of `Repairer`, and so are the functions:
    `on_dropped` is called with each withheld call, `on_fault` with each fault of the wire, and `on_repaired` with the
    report of each changed stream or body, once it is over. A function that requires a second argument, or calls it
    `exchange`, gets the `Exchange`. `counters` adds up all exchanges.
    """

    tools: AnyTools | None
    live_arguments: bool
    withheld: Withheld
    on_dropped: Hearer[ToolCallDropped] | None
    on_fault: Hearer[StreamFault] | None
    on_repaired: Hearer[RepairReport] | None
    counters: Counters | None
    text: TextWanted
    policy: Policy


class Notices:
    """The reports of one exchange.

    Attributes:
        options: those of a repairer, or of `repair_body`, which then reports to this.
        expected: the requested dialect, None where the endpoint does not show it.

    Raises:
        TypeError: a function can be called neither with the event nor with the event and the exchange.
    """

    def __init__(self, options: Mapping[str, Any], exchange: Exchange) -> None:
        self.options: dict[str, Any] = {name: value for name, value in options.items() if name not in _OURS}
        hearers = {name: options[name] for name in CALLBACKS if options.get(name) is not None}
        self._told_exchange = {name: _needs_exchange(name, function) for name, function in hearers.items()}
        self._hearers = hearers
        for name in hearers.keys() & {"on_dropped", "on_fault"}:
            self.options[name] = partial(self._keep, name)
        self.expected = dialect_of(urlsplit(exchange.url).path)
        self._exchange = exchange
        self._counters = options.get("counters")
        self._waiting: list[tuple[str, object]] = []  # a function's name, and its argument
        self._is_over = False

    def _keep(self, name: str, event: object) -> None:
        self._waiting.append((name, event))

    def end(self, report: RepairReport) -> None:
        """Take the last report; a further one changes nothing."""
        if self._is_over:
            return
        self._is_over = True
        if self._counters is not None:
            self._counters.add(report)
        if "on_repaired" in self._hearers and report.mended:
            self._keep("on_repaired", report)

    def tell(self) -> None:
        """Call the functions with the reports."""
        while self._waiting:
            self._call_next()

    async def atell(self) -> None:
        """Call the functions with the reports, and await those that are asynchronous."""
        while self._waiting:
            result = self._call_next()
            if isawaitable(result):
                await result

    def _call_next(self) -> object:
        name, event = self._waiting.pop(0)
        more = (self._exchange,) if self._told_exchange[name] else ()
        return self._hearers[name](event, *more)


_BY_PLACE: Final = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def _needs_exchange(name: str, function: Any) -> bool:
    """Return whether a function is to be called with the exchange as well.

    Raises:
        TypeError: it can be called neither with one argument nor with two.
    """
    try:
        how = signature(function)
    except ValueError:  # written in C, without a signature
        return False
    second = [one for one in how.parameters.values() if one.kind in _BY_PLACE][1:2]
    needs = any(one.default is one.empty or one.name == "exchange" for one in second)
    try:
        how.bind(*(None,) * (1 + needs))
    except TypeError as error:
        raise TypeError(
            f"{name} is called with what happened, and with the exchange if it takes two: {error}"
        ) from None
    return needs
