"""The record of one exchange: the line of the access log, and the data for metrics and recordings.

Theory of operation. An entry is made when a request arrives, filled while the exchange goes on, and given to a
`Watcher` at its beginning, for each piece of the upstream's body and, once, when it is over. It holds numbers, names
and words of ours; of headers, queries, credentials and texts it has nothing, but for the body of the request, which
no `repr` and no log shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, Literal, Optional, Protocol

import msgspec

from wholecall import ToolCallDropped
from wholecall.repairing.report import Report

__all__ = ["Entry", "Handling", "Lost", "NoWatcher", "Outcome", "Unrepaired", "Watcher"]
_private = True

Outcome = Literal[
    "ok",  # came out as it came in
    "unread",  # it may hold calls, and passed without being read
    "mended",  # every call came out, some of them otherwise than they came
    "withheld",  # at least one call was withheld
    "client_left",  # also one that did not read: then `error` is client_stalled
    "upstream_status",  # the upstream's own status of 400 and more, passed
    "upstream_lost",  # unreachable, reset, undecodable, no HTTP
    "upstream_incomplete",  # a clean end, but not of the turn
    "upstream_stalled",  # silent for too long, before its headers too
    "refused",  # by us: the host, the token, the path, too many streams, draining
    "cut",  # by us, in the middle: a limit, or the drain was over
    "failed",  # a fault of ours
]
# How the answer was treated: its calls judged while it streamed, judged as a whole, or not at all.
Handling = Literal["repaired", "judged", "passed"]
# Why an answer that may hold calls passed all the same.
Unrepaired = Literal["dialect", "encoding", "off"]

_PLAIN_NAME: Final = re.compile(r"[\w.:/-]{1,64}\Z", re.ASCII)
_MOST_NAMED: Final = 64
_TOKENS_IN: Final = ("input_tokens", "prompt_tokens")
_TOKENS_OUT: Final = ("output_tokens", "completion_tokens")


class Lost(msgspec.Struct, frozen=True):
    """A call that was withheld.

    Attributes:
        name: of the tool; None where there was none, or it is not plain enough to be shown.
        reason: why, one of `wholecall.types.DropReason`.
    """

    name: Optional[str]
    reason: str


def _nothing() -> int:
    return 0


class Entry(msgspec.Struct, kw_only=True, eq=False):
    """One exchange; times are in seconds, and what is not known yet has its default.

    Attributes:
        id: the client's `x-request-id` if that is plain, else minted; the answer has it as `x-wholecall-id`.
        started: when the request arrived, in seconds since 1970.
        method: of the request.
        path: of the request, as it came, without its query, at most 512 characters.
        upstream: the name of the upstream, empty where none was chosen.
        model: what the request asks for, at most 128 characters; the client chooses it, so it is no label.
        is_stream: whether the request asks for a stream.
        status: what the client got, 0 while it got nothing.
        content_type: of the answer, without parameters.
        handling: how the answer was treated.
        unrepaired: why an answer that may hold calls passed all the same; None where it was judged or holds none.
        outcome: what became of it; None while it goes on.
        error: the code of the error that the client got from us, or would have got; None where it got none.
        dialect: of the answer.
        is_decoded: whether its content coding is known, and was taken off.
        seconds_first: from the request to the first byte of the upstream's body; None where none came.
        seconds_last: from the request to the last one.
        seconds: from the request to the end.
        own_seconds: of them spent in reading and repairing the upstream's bytes.
        held_seconds: of them during which something that had come waited, and nothing went out.
        bytes_in: of the upstream's body, as it came over the wire.
        bytes_out: of the answer's body, as it went to the client.
        chunks: pieces in which the upstream's body came.
        calls: calls that were whole.
        n_withheld: calls that were withheld.
        withheld: the first of them.
        reasons: how many were withheld for each reason.
        mended: whether anything was edited, left out or added.
        pings: how many were sent.
        tokens_in, tokens_out: what the provider counted; None where it said nothing.
        request: the body of the request, where it was read; for recordings that want it.
        held: returns how many bytes wait for a verdict right now.
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
    request: bytes = b""
    held: Callable[[], int] = _nothing

    def __repr__(self) -> str:
        return f"<Entry {self.id} {self.method} {self.outcome or 'open'}>"

    @property
    def is_odd(self) -> bool:
        """Whether it is worth a look: something was withheld, mended, lost or faulty."""
        return (
            self.mended or self.n_withheld > 0 or self.outcome not in (None, "ok", "client_left", "refused")
        )

    def lose(self, drop: ToolCallDropped) -> None:
        """Take note of a call that was withheld; what the provider executes is none."""
        if drop.kind == "server":
            return
        self.n_withheld += 1
        self.reasons[drop.reason] = self.reasons.get(drop.reason, 0) + 1
        if len(self.withheld) < _MOST_NAMED:
            name = drop.name or ""
            self.withheld.append(Lost(name if _PLAIN_NAME.match(name) else None, drop.reason))

    def report(self, report: Report) -> None:
        """Take what a repairer, or the judge of a body, says at the end."""
        self.dialect = report.dialect
        self.calls = report.n_calls
        self.mended = report.mended
        self.error = self.error or report.error
        usage = report.usage or {}
        self.tokens_in = _count(usage, _TOKENS_IN)
        self.tokens_out = _count(usage, _TOKENS_OUT)


def _count(usage: dict[str, Any], names: tuple[str, ...]) -> int | None:
    counts = (usage.get(name) for name in names)
    return next((count for count in counts if type(count) is int), None)


class Watcher(Protocol):
    """What looks on. Its methods are called in the event loop's thread; they must neither block nor raise."""

    def begin(self, entry: Entry) -> None:
        """Take note that an exchange began; each one ends with `over`, also one that is refused."""

    def chunk(self, entry: Entry, data: bytes) -> None:
        """Take a piece of the upstream's body, before repair and without its content coding.

        It is called for answers that may hold calls (`entry.handling` is not `passed`), after their status is known.
        """

    def over(self, entry: Entry) -> None:
        """Take what became of an exchange; called once, last, when every field has its value."""


class NoWatcher:
    """A watcher that does nothing."""

    def begin(self, entry: Entry) -> None:
        """Do nothing."""

    def chunk(self, entry: Entry, data: bytes) -> None:
        """Do nothing."""

    def over(self, entry: Entry) -> None:
        """Do nothing."""
