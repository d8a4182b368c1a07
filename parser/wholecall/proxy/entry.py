"""The record of one exchange: the line of the access log, and the data for metrics and recordings.

Theory of operation. An entry is made when a request arrives and filled during the exchange. A `Watcher` gets it at its
beginning, for each piece of the upstream's body and, once, when it is over. It holds numbers, names and our own words.
It holds nothing of headers, queries, credentials and texts, except for the body of the request, which no `repr` and no
log shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, Optional, Protocol

import msgspec

from wholecall import ToolCallDropped

if TYPE_CHECKING:
    from wholecall.repairing.report import RepairReport  # it would import all of the repairers
    from wholecall.repairing.telemetry import Telemetry

_private = True

Outcome = Literal[
    "ok",  # passed unchanged
    "unread",  # it may hold calls, and passed without being read
    "mended",  # every call was emitted, some of them changed
    "withheld",  # at least one call was withheld
    "client_left",  # also a client that did not read: then `error` is client_stalled
    "upstream_status",  # the upstream's own status of 400 and more, passed
    "upstream_lost",  # unreachable, reset, undecodable, not HTTP
    "upstream_incomplete",  # a clean end, but not of the turn
    "upstream_stalled",  # silent for too long, also before its headers
    "refused",  # by us: the host, the token, the path, too many streams, draining
    "cut",  # by us, in the middle: a limit, or the drain was over
    "failed",  # our own fault
]
# How the answer was treated: its calls judged while it streamed, judged as a whole, or not at all.
Handling = Literal["repaired", "judged", "passed"]
# Why an answer that may hold calls passed nevertheless.
Unrepaired = Literal["dialect", "encoding", "off"]

_PLAIN_NAME: Final = re.compile(r"[\w.:/-]{1,64}\Z", re.ASCII)
_MOST_NAMED: Final = 64
_TOKENS_IN: Final = ("input_tokens", "prompt_tokens")
_TOKENS_OUT: Final = ("output_tokens", "completion_tokens")


class Lost(msgspec.Struct, frozen=True):
    """A call that was withheld.

    Attributes:
        name: the name of the tool; None if there was none, or it is not plain enough to be shown.
        reason: why, one of `wholecall.types.DropReason`.
    """

    name: Optional[str]
    reason: str


def _nothing() -> int:
    return 0


class Entry(msgspec.Struct, kw_only=True, eq=False):
    """One exchange; times are in seconds, and unknown fields have their defaults.

    Attributes:
        id: the client's `x-request-id` if that is plain, else minted; the answer has it as `x-wholecall-id`.
        started: when the request arrived, in seconds since 1970.
        method: the method of the request.
        path: the path of the request, as received, without its query, at most 512 characters.
        upstream: the name of the upstream, empty if none was chosen.
        model: the requested model, at most 128 characters; the client chooses it, so it is not a label.
        is_stream: whether the request asks for a stream.
        status: the status that the client got, 0 before that.
        content_type: the content type of the answer, without parameters.
        handling: how the answer was treated.
        unrepaired: why an answer that may hold calls passed nevertheless; None if it was judged or holds none.
        outcome: how it ended; None while it continues.
        error: the code of the error that the client got from us, or would have got; None if it got none.
        dialect: the dialect of the answer.
        is_decoded: whether its content coding is known, and was taken off.
        seconds_first: from the request to the first byte of the upstream's body; None if it was empty.
        seconds_last: from the request to its last byte.
        seconds: from the request to the end.
        own_seconds: the part of `seconds` spent in reading and repairing the upstream's bytes.
        held_seconds: the part of `seconds` during which received data waited, and nothing went out.
        bytes_in: size of the upstream's body on the wire.
        bytes_out: size of the answer's body, as sent to the client.
        chunks: the number of pieces of the upstream's body.
        calls: calls that were whole.
        n_withheld: calls that were withheld.
        withheld: the first of the withheld calls.
        reasons: how many were withheld for each reason.
        mended: whether anything was edited, omitted or added.
        pings: how many pings were sent.
        tokens_in, tokens_out: the provider's counts; None if it stated none.
        messages_in: the messages of the upstream's WebSocket; None of an exchange without one, as the next two.
        messages_out: the messages to the client.
        messages_asked: the messages of the client.
        close: the close code of a WebSocket: that of the side that ended it, 1006 where a connection broke.
        request: the body of the request, if it was read; for recordings that keep it.
        held: returns how many bytes wait for a verdict right now.
        telemetry: who tells OpenTelemetry of its calls, None if nobody does.
    """

    id: str
    started: float
    method: str
    path: str
    upstream: str = ""
    model: Optional[str] = None
    is_stream: bool = False
    status: int = 0
    content_type: str = ""
    handling: Handling = "passed"
    unrepaired: Optional[Unrepaired] = None
    outcome: Optional[Outcome] = None
    error: Optional[str] = None
    dialect: Optional[str] = None
    is_decoded: bool = True
    seconds_first: Optional[float] = None
    seconds_last: Optional[float] = None
    seconds: float = 0.0
    own_seconds: float = 0.0
    held_seconds: float = 0.0
    bytes_in: int = 0
    bytes_out: int = 0
    chunks: int = 0
    calls: int = 0
    n_withheld: int = 0
    withheld: list[Lost] = []
    reasons: dict[str, int] = {}
    mended: bool = False
    pings: int = 0
    tokens_in: Optional[int] = None
    tokens_out: Optional[int] = None
    messages_in: Optional[int] = None
    messages_out: Optional[int] = None
    messages_asked: Optional[int] = None
    close: Optional[int] = None
    request: bytes = b""
    held: Callable[[], int] = _nothing
    telemetry: Optional[Telemetry] = None

    def __repr__(self) -> str:
        return f"<Entry {self.id} {self.method} {self.outcome or 'open'}>"

    @property
    def is_odd(self) -> bool:
        """Return whether it is worth a look: something was withheld, mended, lost or faulty."""
        return (
            self.mended or self.n_withheld > 0 or self.outcome not in (None, "ok", "client_left", "refused")
        )

    def lose(self, drop: ToolCallDropped) -> None:
        """Count a call that was withheld, unless the provider executes it."""
        if drop.kind == "server":
            return
        self.n_withheld += 1
        self.reasons[drop.reason] = self.reasons.get(drop.reason, 0) + 1
        if len(self.withheld) < _MOST_NAMED:
            name = drop.name or ""
            self.withheld.append(Lost(name if _PLAIN_NAME.match(name) else None, drop.reason))
        if self.telemetry is not None:
            self.telemetry.on_dropped(drop)

    def report(self, report: RepairReport) -> None:
        """Take the final report of a repairer, or of the judge of a body."""
        self.dialect = report.dialect
        self.calls = report.n_calls
        self.mended = report.mended
        if report.mended and self.telemetry is not None:
            self.telemetry.on_repaired(report)
        self.error = self.error or report.error
        usage = report.usage or {}
        self.tokens_in = _count(usage, _TOKENS_IN)
        self.tokens_out = _count(usage, _TOKENS_OUT)


def _count(usage: dict[str, Any], names: tuple[str, ...]) -> int | None:
    counts = (usage.get(name) for name in names)
    return next((count for count in counts if type(count) is int), None)


class Watcher(Protocol):
    """An observer. Its methods are called in the event loop's thread; they must neither block nor raise."""

    def begin(self, entry: Entry) -> None:
        """Note that an exchange began; each exchange ends with `over`, also a refused one."""

    def chunk(self, entry: Entry, data: bytes) -> None:
        """Take a piece of the upstream's body, before repair and without its content coding.

        It is called for answers that may hold calls (`entry.handling` is not `passed`), after their status is known.
        """

    def over(self, entry: Entry) -> None:
        """Take a finished exchange; called once, last, when every field has its value."""


class NoWatcher:
    """A watcher that does nothing."""

    def begin(self, entry: Entry) -> None:
        """Do nothing."""

    def chunk(self, entry: Entry, data: bytes) -> None:
        """Do nothing."""

    def over(self, entry: Entry) -> None:
        """Do nothing."""
