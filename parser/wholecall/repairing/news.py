"""What the caller hears of an exchange: drops, faults, the report at its end, and totals over all of them.

Theory of operation. A repairer reports while it is fed, in the middle of its work. What it reports is kept, and goes
to the caller's functions when that is done: called, or awaited where they return something to await. So an exception
of theirs goes to whoever reads the body, and leaves the repairer as it should be.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Final, TypedDict
from urllib.parse import urlsplit

import msgspec

from wholecall.output.events import StreamFault, ToolCallDropped
from wholecall.policy import Policy
from wholecall.repairing.answers import dialect_of
from wholecall.repairing.report import Report
from wholecall.repairing.withholding import Withheld

if TYPE_CHECKING:
    from wholecall.text.options import TextWanted
    from wholecall.tools import AnyTools

__all__ = ["CALLBACKS", "Counters", "Exchange", "News", "Wanted"]

CALLBACKS: Final = ("on_dropped", "on_fault", "on_repaired")
_OURS: Final = frozenset({*CALLBACKS, "counters"})  # options that are none of a repairer's


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
        """Return the exchange that a request of httpx or httpx2 begins."""
        url = request.url.copy_with(userinfo=b"", query=None, fragment=None)
        return cls(id=uuid.uuid4().hex, method=str(request.method), url=str(url))


class Counters:
    """Totals of all exchanges that were read for repair; any number of transports and threads may share one.

    Attributes:
        n_exchanges: event streams and bodies that are over.
        n_mended: those that came out otherwise than they came in.
        n_failed: those that ended with an error frame of ours.
        n_calls: calls that were whole.
        n_withheld: calls that must not be executed.
        n_unread: those that passed as they came, because nobody here could read them.
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

    def add(self, report: Report) -> None:
        """Add what became of an exchange."""
        with self._lock:
            self.n_exchanges += 1
            self.n_mended += report.mended
            self.n_failed += report.error is not None
            self.n_calls += report.n_calls
            self.n_withheld += report.n_withheld
            self.n_unread += report.unread


class Wanted(TypedDict, total=False):
    """What a caller wants of all exchanges.

    `tools`, `live_arguments`, `withheld`, `text` and `policy` are those of `Repairer`. The functions get the exchange,
    too: `on_dropped` each call that was withheld, `on_fault` each fault of the wire, and `on_repaired` the report of each
    stream or body that was changed, once it is over. `counters` adds up all of them.
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


class News:
    """What is to be told of one exchange.

    Attributes:
        options: those of a repairer, or of `repair_body`, which then reports to this.
        expected: the dialect that was asked for, None where the endpoint does not say it.
    """

    def __init__(self, options: Mapping[str, Any], exchange: Exchange) -> None:
        self.options: dict[str, Any] = {name: value for name, value in options.items() if name not in _OURS}
        for name in ("on_dropped", "on_fault"):
            if options.get(name) is not None:
                self.options[name] = self._keeper(options.get(name))
        self.expected = dialect_of(urlsplit(exchange.url).path)
        self._exchange = exchange
        self._on_repaired = options.get("on_repaired")
        self._counters = options.get("counters")
        self._waiting: list[tuple[Any, object]] = []  # a function, and what to call it with
        self._is_over = False

    def _keeper(self, function: Any) -> Callable[[object], None]:
        return lambda event: self._waiting.append((function, event))

    def end(self, report: Report) -> None:
        """Take the last report; another one changes nothing."""
        if self._is_over:
            return
        self._is_over = True
        if self._counters is not None:
            self._counters.add(report)
        if self._on_repaired is not None and report.mended:
            self._waiting.append((self._on_repaired, report))

    def tell(self) -> None:
        """Call the functions with what was reported."""
        while self._waiting:
            function, event = self._waiting.pop(0)
            function(event, self._exchange)

    async def atell(self) -> None:
        """Call the functions with what was reported, and await those that are asynchronous."""
        while self._waiting:
            function, event = self._waiting.pop(0)
            result = function(event, self._exchange)
            if isawaitable(result):
                await result
