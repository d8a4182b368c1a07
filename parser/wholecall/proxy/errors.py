"""Bad ends of exchanges: error answers in the form of the requested API, and the outcomes for the log.

Theory of operation. An error has a code for programs and a sentence for people; SDKs raise for its status. If nothing
went out it is a `Refusal`, which becomes an answer; otherwise a `CutOff`, which breaks the connection. No message holds
an address, a header, a query or a text of a client or a model.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from wholecall import WholecallError
from wholecall.discreet import compact
from wholecall.proxy.entry import Entry, Outcome
from wholecall.proxy.wire import Headers
from wholecall.repairing.answers import dialect_of

_private = True


class CutOff(WholecallError):
    """Ends an answer that has begun: it makes a server close the connection without the end of the body."""


class Refusal(WholecallError):
    """An exchange without an answer so far, which ends with an error of ours.

    Attributes:
        status: the HTTP status.
        code: for programs.
        message: for people.
        headers: further headers of the answer.
    """

    def __init__(
        self, status: int, code: str, message: str, headers: tuple[tuple[bytes, bytes], ...] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers


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
    "upstream_unread": _End(502, "upstream_lost", "{} gave an answer that is none of its API"),
    "provider_error": _End(502, "upstream_lost", "{} reported an error"),
    "untranslatable": _End(502, "cut", "the answer of {} cannot be said in the API that was asked for"),
    "calls_withheld": _End(502, "withheld", "all tool calls of {} were withheld"),
    "too_much_held": _End(
        503, "cut", "the requests and answers that are open take all the memory for bodies"
    ),
    "too_many_streams": _End(503, "refused", "too many requests are open"),
    "draining": _End(503, "cut", "the proxy is stopping"),
    "message_too_large": _End(413, "cut", "a message is larger than the proxy takes"),
}
_LIMIT: Final = _End(502, "cut", "the answer of {} is beyond a limit")
_RETRY: Final = {503: ((b"retry-after", b"1"),)}
LEAST_ERROR: Final = 400  # statuses from here on are errors


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
    if entry.status >= LEAST_ERROR:
        return "upstream_status"
    if entry.unrepaired not in (None, "off"):
        return "unread"
    if entry.n_withheld:
        return "withheld"
    return "mended" if entry.mended else "ok"


# The body of an error.

# Anthropic's words for a status; all others are `api_error`.
_ANTHROPIC: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    503: "overloaded_error",
    504: "timeout_error",
}
# Google's; all others are `INTERNAL` or, below 500, `INVALID_ARGUMENT`.
_GOOGLE: Final = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_CLIENTS_FAULT: Final = 500  # statuses below it


def error_body(path: str, refusal: Refusal) -> bytes:
    """Return the body of an error, in the form of the dialect that the path belongs to.

    Args:
        path: the path of the request, without its query.
        refusal: the error.
    """
    if "/messages" in path:
        kind = _ANTHROPIC.get(refusal.status, "api_error")
        return compact({"type": "error", "error": {"type": kind, "message": refusal.message}}).encode()
    if dialect_of(path) == "gemini":
        usual = "INVALID_ARGUMENT" if refusal.status < _CLIENTS_FAULT else "INTERNAL"
        status = _GOOGLE.get(refusal.status, usual)
        error = {"code": refusal.status, "message": refusal.message, "status": status}
        return compact({"error": error}).encode()
    kind = "invalid_request_error" if refusal.status < _CLIENTS_FAULT else "server_error"
    told = {"message": refusal.message, "type": kind, "param": None, "code": refusal.code}
    return compact({"error": told}).encode()


def error_headers(body: bytes, refusal: Refusal) -> Headers:
    """Return the headers that go with the body of an error."""
    return [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *refusal.headers,
    ]
