"""Headers that pass through the proxy, in either direction."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.together import together
from wholecall.proxy.config import UpstreamConfig
from wholecall.proxy.headers import (
    CREDENTIALS,
    HOP_BY_HOP,
    BadHeaderError,
    credentials_of,
    id_of,
    live_of,
    to_client,
    to_upstream,
    value_of,
)
from wholecall.proxy.values import Secret

OPEN = UpstreamConfig(url="https://h.example")
KEYED = UpstreamConfig(url="https://h.example", key=Secret("env:K", "sk-ours"))
TOKEN = b"client-token"

SOME_NAMES = [
    *sorted(HOP_BY_HOP),
    *(
        b"host",
        b"cookie",
        b"content-length",
        b"x-forwarded-for",
        b"forwarded",
        b"expect",
        b"via",
        b"x-real-ip",
    ),
    *(
        b"x-wholecall-live",
        b"x-wholecall-token",
        b"content-type",
        b"content-encoding",
        b"accept-encoding",
        b"x-a",
    ),
    *(
        b"x-b",
        b"set-cookie",
        b"authorization",
        b"x-api-key",
        b"alt-svc",
        b"x-accel-buffering",
        b"cache-control",
    ),
]
NAMES = st.sampled_from(SOME_NAMES) | st.from_regex(rb"[a-zA-Z][a-zA-Z0-9-]{0,6}", fullmatch=True)
VALUES = st.sampled_from(
    [b"text/event-stream", b"gzip", b"close", b"x-a", b"X-B , x-a,,", b"12", b"Bearer client-token"]
)
PAIR = st.tuples(st.builds(lambda name, up: name.upper() if up else name, NAMES, st.booleans()), VALUES)
HEADERS = st.lists(PAIR, max_size=12)


def named_by_connection(headers: list[tuple[bytes, bytes]]) -> set[bytes]:
    """Return the headers that `Connection` declares to be about the connection alone."""
    values = [value for name, value in headers if name.lower() == b"connection"]
    return {word.strip().lower() for value in values for word in value.split(b",")}


def both_ways(headers: list[tuple[bytes, bytes]], **options: Any) -> list[list[tuple[bytes, bytes]]]:
    """Return the headers that pass in either direction."""
    is_read = options.pop("is_read", False)
    return [to_upstream(headers, OPEN, is_read=is_read, **options), to_client(headers, is_read=is_read)]


@given(HEADERS, st.booleans())
@example([(b"Connection", b"X-A"), (b"x-a", b"1"), (b"TE", b"trailers")], False)
def test_what_is_about_one_connection_never_passes(headers: list[tuple[bytes, bytes]], is_read: bool) -> None:
    """No hop-by-hop header passes, in either direction, and none that `Connection` names; our own headers are added."""
    added = {b"accept-encoding", b"x-accel-buffering", b"cache-control"}
    forbidden = {*HOP_BY_HOP, *(named_by_connection(headers) - added)}

    assert [set(), set()] == [
        {name.lower() for name, _ in passed} & forbidden for passed in both_ways(headers, is_read=is_read)
    ]


@given(HEADERS, st.booleans())
def test_what_passes_is_as_it_came(headers: list[tuple[bytes, bytes]], is_read: bool) -> None:
    """Values are not touched, repeated headers repeat, and the order stays."""
    ours = {b"accept-encoding", b"x-accel-buffering", b"cache-control"}
    lowered = [(name.lower(), value) for name, value in headers]
    for passed in both_ways(headers, is_read=is_read):
        names = {name for name, _ in passed} - ours
        assert [pair for pair in lowered if pair[0] in names] == [pair for pair in passed if pair[0] in names]


@given(HEADERS, st.booleans())
@example([(b"content-type", b"text/event-stream")], False)
def test_to_pass_twice_is_to_pass_once(headers: list[tuple[bytes, bytes]], is_read: bool) -> None:
    """Two proxies in a row pass the same as one."""
    up = to_upstream(headers, KEYED, is_read=is_read)
    down = to_client(headers, is_read=is_read)

    assert [up, down] == [to_upstream(up, KEYED, is_read=is_read), to_client(down, is_read=is_read)]


@given(HEADERS)
def test_a_key_replaces_every_credential(headers: list[tuple[bytes, bytes]]) -> None:
    """Where the upstream has a key, it is the only key that the upstream gets."""
    passed = to_upstream(headers, KEYED, is_read=False)

    assert [(b"authorization", b"Bearer sk-ours")] == [pair for pair in passed if pair[0] in CREDENTIALS]


@pytest.mark.parametrize(
    ("url", "chosen", "expected"),
    [
        ("https://api.openai.com", None, (b"authorization", b"Bearer sk-ours")),
        ("http://127.0.0.1:8000/v1", None, (b"authorization", b"Bearer sk-ours")),
        ("https://api.anthropic.com", None, (b"x-api-key", b"sk-ours")),
        ("https://mine.openai.azure.com/openai", None, (b"api-key", b"sk-ours")),
        ("https://api.anthropic.com.evil.example", None, (b"authorization", b"Bearer sk-ours")),
        ("https://api.anthropic.com", "authorization", (b"authorization", b"Bearer sk-ours")),
        ("https://h.example", "x-goog-api-key", (b"x-goog-api-key", b"sk-ours")),
    ],
)
def test_a_key_stands_where_the_host_looks(url: str, chosen: Any, expected: tuple[bytes, bytes]) -> None:
    """Known hosts have their own header; the file can name another."""
    upstream = UpstreamConfig(url=url, key=Secret("env:K", "sk-ours"), key_header=chosen)
    theirs = [(name, b"theirs") for name in sorted(CREDENTIALS)]

    assert [expected] == to_upstream(theirs, upstream, is_read=False)


def test_credentials_pass_where_there_is_no_key() -> None:
    """A client's own key goes to the upstream as it came."""
    headers = [
        (b"authorization", b"Bearer a"),
        (b"x-api-key", b"b"),
        (b"api-key", b"c"),
        (b"x-goog-api-key", b"d"),
    ]

    assert headers == to_upstream(headers, OPEN, is_read=False)


def test_a_client_s_token_stays_here() -> None:
    """The headers that hold it are dropped; another key of the client's passes."""
    headers = [
        (b"Authorization", b"bearer  client-token"),
        (b"x-api-key", b"sk-own"),
        (b"x-wholecall-token", TOKEN),
    ]

    assert [(b"x-api-key", b"sk-own")] == to_upstream(headers, OPEN, is_read=False, token=TOKEN)


def test_tokens_are_found_wherever_clients_put_them() -> None:
    """Each header for a credential may hold one, with or without the word `Bearer`."""
    headers = [
        *(
            (b"Authorization", b"Bearer a"),
            (b"x-api-key", b"b"),
            (b"Api-Key", b" c "),
            (b"x-goog-api-key", b"d"),
        ),
        *((b"x-wholecall-token", b"e"), (b"cookie", b"f"), (b"authorization", b"Basic g")),
    ]

    assert [b"a", b"b", b"c", b"d", b"e", b"Basic g"] == credentials_of(headers)


@together(
    "name",
    [
        *(
            "host",
            "content-length",
            "expect",
            "cookie",
            "forwarded",
            "x-forwarded-for",
            "X-Forwarded-Proto",
            "via",
        ),
        *("x-real-ip", "x-wholecall-live", "x-wholecall-id", "X-Wholecall-Anything", "proxy-authorization"),
    ],
)
def test_what_stays_with_the_client(name: str) -> None:
    """The upstream learns nothing about the client's network, and nothing that is meant for the proxy."""
    assert [] == to_upstream([(name.encode(), b"1")], OPEN, is_read=False)


@together(
    "name",
    [
        *(
            "anthropic-beta",
            "anthropic-version",
            "openai-organization",
            "x-stainless-retry-count",
            "user-agent",
        ),
        *(
            "x-request-id",
            "idempotency-key",
            "traceparent",
            "accept",
            "content-type",
            "content-encoding",
            "origin",
        ),
    ],
)
def test_what_providers_read_passes(name: str) -> None:
    """The answer passes byte for byte, whether it is read or not."""
    header = (name.encode(), b" a,\tb\xff ")

    assert [[header], [header, (b"accept-encoding", b"identity")]] == [
        to_upstream([header], OPEN, is_read=is_read) for is_read in (False, True)
    ]


def test_what_is_read_is_asked_for_as_it_is() -> None:
    """The client's codings are not passed on there, and elsewhere they are."""
    headers = [(b"Accept-Encoding", b"gzip, br"), (b"accept-encoding", b"zstd")]

    assert [
        [(b"accept-encoding", b"identity")],
        [(b"accept-encoding", b"gzip, br"), (b"accept-encoding", b"zstd")],
    ] == [to_upstream(headers, OPEN, is_read=is_read) for is_read in (True, False)]


def test_an_answer_that_is_edited_says_nothing_of_its_old_bytes() -> None:
    """Lengths, codings and digests are dropped then, and pass otherwise."""
    headers = [
        *(
            (b"content-encoding", b"gzip"),
            (b"content-length", b"3"),
            (b"etag", b'"a"'),
            (b"content-digest", b"b"),
        ),
        *((b"content-type", b"application/json"), (b"request-id", b"req_1")),
    ]

    assert [headers[-2:], headers] == [to_client(headers, is_read=is_read) for is_read in (True, False)]


@pytest.mark.parametrize(
    "headers",
    [
        [(b"content-length", b"3"), (b"Content-Length", b"3")],
        [(b"content-length", b"3"), (b"transfer-encoding", b"chunked")],
        [(b"content-length", b"3"), (b"connection", b"content-length")],
    ],
)
def test_a_doubtful_length_is_not_passed(headers: list[tuple[bytes, bytes]]) -> None:
    """Framing is made anew where it was not plain."""
    assert [] == to_client(headers, is_read=False)


def test_every_cookie_of_an_answer_passes() -> None:
    """Headers that repeat stay apart."""
    headers = [(b"set-cookie", b"a=1"), (b"set-cookie", b"b=2")]

    assert headers == to_client(headers, is_read=True)


@pytest.mark.parametrize(
    "name", ["alt-svc", "x-wholecall-id", "connection", "keep-alive", "trailer", "upgrade"]
)
def test_what_an_upstream_says_of_itself_stays(name: str) -> None:
    """The upstream's other addresses are not the proxy's, and its connections are not either."""
    assert [] == to_client([(name.title().encode(), b"h3")], is_read=False)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([], [(b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no")]),
        ([(b"cache-control", b"no-store")], [(b"cache-control", b"no-store"), (b"x-accel-buffering", b"no")]),
        ([(b"X-Accel-Buffering", b"yes")], [(b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no")]),
    ],
)
@pytest.mark.parametrize("is_read", [False, True])
def test_event_streams_are_not_to_be_kept_back(
    headers: list[tuple[bytes, bytes]], expected: list[tuple[bytes, bytes]], is_read: bool
) -> None:
    """A proxy in front is told to pass each piece at once."""
    kind = (b"content-type", b"Text/Event-Stream; charset=utf-8")

    assert [kind, *expected] == to_client([kind, *headers], is_read=is_read)


@together(
    "header",
    [
        *(
            (b"x-a", b"a\rb"),
            (b"x-a", b"a\nb"),
            (b"x-a", b"a\0b"),
            (b"x a", b"1"),
            (b"", b"1"),
            (b"x-a\n", b"1"),
        ),
        *((b"x:a", b"1"), (b"host", b"a\r\nx: y"), (b"connection", b"close\n")),
    ],
)
def test_headers_that_would_be_two(header: tuple[bytes, bytes]) -> None:
    """Line ends and NULs are refused both ways, also where the header would not have passed; nothing is shown."""
    messages: list[str] = []
    for pass_on in (
        lambda: to_upstream([header], OPEN, is_read=False),
        lambda: to_client([header], is_read=False),
    ):
        with pytest.raises(BadHeaderError) as caught:
            pass_on()
        messages.append(str(caught.value))

    assert ["a header holds a line end, a NUL, or a name that is none"] * 2 == messages


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"1", True),
        (b" TRUE ", True),
        (b"0", False),
        (b"false", False),
        (b"", None),
        (b"yes", None),
        (b"1, 1", None),
    ],
)
def test_a_request_may_ask_for_live_calls(value: bytes, expected: bool | None) -> None:
    """The header has the value yes or no; anything else means nothing."""
    assert expected is live_of([(b"X-Wholecall-Live", value)])


@together(
    ("values", "expected"),
    [
        ([b"a-Z_0.9:x"], "a-Z_0.9:x"),
        ([b"x" * 128], "x" * 128),
        ([b"x" * 129], None),
        ([b""], None),
        ([], None),
        ([b"a b"], None),
        ([b"a", b"b"], None),
        ([b"\xe9"], None),
        ([b"a\n"], None),
    ],
)
def test_an_id_of_the_client_s_is_kept_if_it_is_plain(values: list[bytes], expected: str | None) -> None:
    """A plain id is written to logs and returned to the client; text with another meaning there is not."""
    assert expected == id_of([(b"X-Request-Id", value) for value in values])


def test_values_of_a_repeated_header() -> None:
    """The values are one list, as HTTP specifies."""
    headers = [(b"Content-Encoding", b"gzip"), (b"x", b"1"), (b"content-encoding", b"br")]

    assert ["gzip, br", ""] == [value_of(headers, name) for name in (b"content-encoding", b"content-type")]
