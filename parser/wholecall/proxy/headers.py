"""Filter headers between client and upstream: pure functions on lists of pairs, because headers may repeat.

Theory of operation. Headers about one connection (hop-by-hop, with all that `Connection` names) and about framing never
pass: each sender makes its own. Headers that reveal the client's network, and our own, stay here. Credentials pass
unchanged, unless the upstream has a key: then all of them are dropped, and the key replaces them. Everything else
passes byte for byte, except for names, which are in lower case as in ASGI.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from wholecall import WholecallError
from wholecall.proxy.config import UpstreamConfig
from wholecall.proxy.wire import Headers
from wholecall.repairing.answers import EVENT_STREAM, OUTDATED

_private = True

HOP_BY_HOP: Final = frozenset(
    {
        *(
            b"connection",
            b"http2-settings",
            b"keep-alive",
            b"proxy-authenticate",
            b"proxy-authentication-info",
        ),
        *(b"proxy-authorization", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade"),
    }
)
# Dropped from requests: headers about the client's network, its browser or the body's framing. The client need not wait
# for a 100.
_STAYS: Final = frozenset(
    {b"content-length", b"cookie", b"cookie2", b"expect", b"forwarded", b"host", b"via", b"x-real-ip"}
)
_OURS: Final = b"x-wholecall-"
LIVE: Final = "x-wholecall-live"
_NETWORK: Final = b"x-forwarded-"
CREDENTIALS: Final = frozenset({b"api-key", b"authorization", b"x-api-key", b"x-goog-api-key"})
# Headers in which a client brings a token; the last leaves the others free for the upstream's credentials.
_TOKENS: Final = CREDENTIALS | {b"x-wholecall-token"}
# Dropped from answers: other addresses of the same service, which are not ours, and statements about the original
# bytes.
_ELSEWHERE: Final = frozenset({b"alt-svc"})
_OUTDATED: Final = frozenset(
    {
        *(name.encode() for name in OUTDATED),
        b"content-digest",
        b"content-md5",
        b"digest",
        b"etag",
        b"repr-digest",
    }
)
_LENGTH: Final = b"content-length"

_NAME: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_FORBIDDEN: Final = re.compile(rb"[\r\n\0]")
_BEARER: Final = re.compile(rb"\s*bearer\s+", re.IGNORECASE)
_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}\Z")
_FLAGS: Final = {"1": True, "true": True, "0": False, "false": False}


class BadHeaderError(WholecallError, ValueError):
    """A header that must not be sent on; the message has no part of it."""

    def __init__(self) -> None:
        super().__init__("a header holds a line end, a NUL, or a name that is none")


def to_upstream(
    headers: Headers, upstream: UpstreamConfig, *, is_read: bool, token: bytes | None = None
) -> Headers:
    """Return the headers of a request as the upstream gets them, without `host` and the length of the body.

    Args:
        headers: the headers of the client.
        upstream: the upstream that is asked.
        is_read: whether the answer is to be read here: then it is requested without a content coding.
        token: the token by which the client was admitted; it is not passed to the upstream.

    Raises:
        BadHeaderError: a header must not be sent on.
    """
    passing = [
        (name, value)
        for name, value in _end_to_end(headers)
        if name not in _STAYS and not name.startswith((_OURS, _NETWORK)) and not _is_token(name, value, token)
    ]
    if upstream.key is not None:
        passing = [(name, value) for name, value in passing if name not in CREDENTIALS]
        passing.append(_credential(upstream, upstream.key.value))
    if is_read:
        passing = [(name, value) for name, value in passing if name != b"accept-encoding"]
        passing.append((b"accept-encoding", b"identity"))
    return passing


def to_client(headers: Headers, *, is_read: bool) -> Headers:
    """Return the headers of an answer as the client gets them.

    Args:
        headers: the headers of the upstream.
        is_read: whether the body is decoded and may be edited here; then headers about its bytes are dropped.

    Raises:
        BadHeaderError: a header must not be sent on.
    """
    passing = [
        (name, value)
        for name, value in _end_to_end(headers)
        if not name.startswith(_OURS) and name not in _ELSEWHERE and not (is_read and name in _OUTDATED)
    ]
    if not _has_one_length(headers):
        passing = [(name, value) for name, value in passing if name != _LENGTH]
    if value_of(passing, b"content-type").partition(";")[0].strip().lower() != EVENT_STREAM:
        return passing
    if not value_of(passing, b"cache-control"):
        passing.append((b"cache-control", b"no-cache"))
    passing = [(name, value) for name, value in passing if name != b"x-accel-buffering"]
    passing.append((b"x-accel-buffering", b"no"))  # nginx would buffer the answer
    return passing


def value_of(headers: Headers, name: bytes) -> str:
    """Return the value of a header, repeated values joined with commas; empty if there is none.

    Args:
        headers: where to look.
        name: the name in lower case.
    """
    return ", ".join(value.decode("latin-1") for key, value in headers if key.lower() == name)


def credentials_of(headers: Headers) -> list[bytes]:
    """Return the parts of a request that may be a client's token, without the word `Bearer`."""
    return [_bare(value) for name, value in headers if name.lower() in _TOKENS]


def live_of(headers: Headers) -> bool | None:
    """Return whether a request asks for calls while they arrive, or asks not to; None if it does neither."""
    return _FLAGS.get(value_of(headers, LIVE.encode()).strip().lower())


def id_of(headers: Headers) -> str | None:
    """Return the id that a request brings, None if there is none that can be logged and sent back."""
    found = value_of(headers, b"x-request-id")
    return found if _ID.match(found) else None


def _end_to_end(headers: Headers) -> Iterator[tuple[bytes, bytes]]:
    """Yield the end-to-end headers, names in lower case."""
    lowered = [(name.lower(), value) for name, value in headers]
    if any(not _NAME.match(name) or _FORBIDDEN.search(value) for name, value in lowered):
        raise BadHeaderError
    named = b",".join(value for name, value in lowered if name == b"connection").lower()
    dropped = HOP_BY_HOP | {word.strip(b" \t") for word in named.split(b",")}
    return ((name, value) for name, value in lowered if name not in dropped)


def _has_one_length(headers: Headers) -> bool:
    """Return whether a header states the length of the body; with chunks, or two lengths, none is known."""
    names = [name.lower() for name, _ in headers]
    return names.count(_LENGTH) == 1 and b"transfer-encoding" not in names


def _bare(value: bytes) -> bytes:
    return _BEARER.sub(b"", value, 1).strip()


def _is_token(name: bytes, value: bytes, token: bytes | None) -> bool:
    return token is not None and name in _TOKENS and _bare(value) == token


def _credential(upstream: UpstreamConfig, key: str) -> tuple[bytes, bytes]:
    name = upstream.credential_header
    return name.encode(), (f"Bearer {key}" if name == "authorization" else key).encode()
