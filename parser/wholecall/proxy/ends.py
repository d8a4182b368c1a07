"""Bad ends of exchanges: their codes, their messages for people, and their outcomes."""

from __future__ import annotations

from typing import Final, NamedTuple

from wholecall.proxy.entry import Entry, Outcome
from wholecall.proxy.errors import Refusal

__all__ = ["message_of", "outcome_of", "refusal_of"]
_private = True


class _End(NamedTuple):
    """The properties of an error code.

    Attributes:
        status: the status of the answer, if nothing went out.
        outcome: the outcome of the exchange.
        message: a sentence for people, with the name of the upstream.
    """

    status: int
    outcome: Outcome
    message: str


_ENDS: Final = {
    "upstream_unreachable": _End(502, "upstream_lost", "{} cannot be reached"),
    "upstream_invalid": _End(502, "upstream_lost", "{} sent what is not HTTP, or too large"),
    "upstream_lost": _End(502, "upstream_lost", "the connection to {} was lost before the end of the answer"),
    "upstream_incomplete": _End(502, "upstream_incomplete", "{} ended the answer before the turn was over"),
    "upstream_timeout": _End(504, "upstream_stalled", "{} did not answer in time"),
    "upstream_stalled": _End(504, "upstream_stalled", "{} stopped in the middle of the answer"),
    "client_stalled": _End(408, "client_left", "the answer was not read"),
    "calls_withheld": _End(502, "withheld", "all tool calls of {} were withheld"),
    "too_much_held": _End(
        503, "cut", "the requests and answers that are open take all the memory for bodies"
    ),
    "draining": _End(503, "cut", "the proxy is stopping"),
}
_LIMIT: Final = _End(502, "cut", "the answer of {} is beyond a limit")
_RETRY: Final = {503: ((b"retry-after", b"1"),)}
_ERROR: Final = 400  # statuses from here on are errors


def message_of(code: str, upstream: str) -> str:
    """Return a sentence for people.

    Args:
        code: the code of the error.
        upstream: the name of the upstream.
    """
    return _ENDS.get(code, _LIMIT).message.format(upstream or "the upstream")


def refusal_of(code: str, upstream: str) -> Refusal:
    """Return the error answer for a client that got no answer."""
    status = _ENDS.get(code, _LIMIT).status
    return Refusal(status, code, message_of(code, upstream), _RETRY.get(status, ()))


def outcome_of(entry: Entry) -> Outcome:
    """Return the outcome of an exchange, from the rest of its entry."""
    if entry.error is not None:
        return _ENDS.get(entry.error, _LIMIT).outcome
    if entry.status >= _ERROR:
        return "upstream_status"
    if entry.unrepaired not in (None, "off"):
        return "unread"
    if entry.n_withheld:
        return "withheld"
    return "mended" if entry.mended else "ok"
