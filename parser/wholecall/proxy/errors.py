"""Error answers of the proxy, in the form of the requested API, with a code and a sentence; SDKs raise for them.

No message holds an address, a header, a query or a text of a client or a model.
"""

from __future__ import annotations

from typing import Final

from wholecall import WholecallError
from wholecall.discreet import compact
from wholecall.proxy.wire import Headers
from wholecall.repairing.answers import dialect_of

__all__ = ["CutOff", "Refusal", "error_body", "error_headers"]
_private = True

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
