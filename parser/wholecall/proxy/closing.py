"""Close codes of WebSockets: what each side is told of the other's end.

Theory of operation. A close code is passed on with its reason. Three codes are never on a wire (RFC 6455, 7.4.1): 1005
stands for a frame without a code, which is an ordinary end; 1006 and 1015 for a connection that broke: the client is
told 1011 then, and the upstream 1001, because its client has gone away. An end of ours has the code that says what to
do: come again (1012 when the proxy stops, 1013 when it has no room), send less (1009), or count on nothing (1011).
"""

from __future__ import annotations

from typing import Final

from wholecall.proxy.wire import Closed

_private = True

ORDINARY: Final = frozenset({1000, 1001, 1005})  # the ends of those who have what they wanted
NO_CODE: Final = 1005
BROKEN: Final = 1006
TOO_LARGE: Final = 1009
_GOING_AWAY: Final = 1001
_FAILED: Final = 1011
_OURS: Final = {
    "draining": 1012,
    "too_much_held": 1013,
    "message_too_large": TOO_LARGE,
    "client_stalled": 1008,
}
_RESERVED: Final = frozenset({1004, NO_CODE, BROKEN, 1015})
_MOST_REASON: Final = 123  # bytes


def for_client(end: Closed) -> Closed:
    """Return how the client is told of an upstream's end."""
    return Closed(_sendable(end.code, otherwise=_FAILED), reason_of(end.reason))


def for_upstream(end: Closed) -> Closed:
    """Return how the upstream is told of a client's end."""
    return Closed(_sendable(end.code, otherwise=_GOING_AWAY), reason_of(end.reason))


def of_ours(error: str) -> Closed:
    """Return how the client is told of an end of ours."""
    return Closed(_OURS.get(error, _FAILED), error, error)


GONE: Final = Closed(_GOING_AWAY)  # how the upstream is told of an end of ours


def _sendable(code: int, *, otherwise: int) -> int:
    if code == NO_CODE:
        return 1000
    is_known = (1000 <= code <= 1014 and code not in _RESERVED) or 3000 <= code <= 4999
    return code if is_known else otherwise


def reason_of(text: str) -> str:
    """Return a reason that fits into a close frame."""
    return text.encode("utf-8", "replace")[:_MOST_REASON].decode("utf-8", "ignore")
