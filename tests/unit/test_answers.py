"""Requests and answers that are searched for tool calls."""

from __future__ import annotations

import pytest

from tests.support.together import together
from wholecall.repairing import answers


@together(
    ("method", "path", "asks"),
    [
        ("POST", "/v1/chat/completions", True),
        ("POST", "/v1/chat/completions/", True),
        ("POST", "/responses", True),
        ("POST", "/anthropic/v1/messages", True),
        ("POST", "/V1/Chat/Completions", True),
        ("POST", "//v1//chat//completions//", True),
        ("POST", "/v1;a=b/chat/completions;v=1", True),
        ("POST", "/v1/chat%2Fcompletion%73", True),
        ("GET", "/v1/chat/completions", False),
        ("HEAD", "/v1/messages", False),
        ("POST", "/v1/completions", False),
        ("POST", "/v1/messages/count_tokens", False),
        ("POST", "/v1/responses/compact", False),
        ("POST", "/", False),
        ("POST", "", False),
    ],
)
def test_requests(method: str, path: str, *, asks: bool) -> None:
    """A POST to an endpoint for tool calls asks for them, wherever it is mounted, with or without a trailing slash."""
    assert asks == answers.asks_for_calls(method, path)


def test_endpoints_of_others() -> None:
    """Named endpoints are the only ones that count."""
    found = [
        answers.asks_for_calls("POST", path, ["/generate"]) for path in ("/v1/generate/", "/v1/responses")
    ]

    assert [True, False] == found


@together(
    ("status", "content_type", "kind"),
    [
        (200, "text/event-stream", "text/event-stream"),
        (200, "Text/Event-Stream ; charset=utf-8", "text/event-stream"),
        (200, "application/json", "application/json"),
        (200, "text/plain; charset=utf-8", "text/plain"),
        (200, "text/html", "text/html"),
        (200, "application/x-ndjson", "application/x-ndjson"),
        (200, "text/event-stream, text/event-stream", "text/event-stream"),
        (200, "application/json, text/event-stream;charset=utf-8", "text/event-stream"),
        (200, "", ""),
        (201, "application/json", "application/json"),
        (299, "text/event-stream", "text/event-stream"),
        (204, "text/event-stream", None),
        (302, "text/event-stream", None),
        (429, "text/event-stream", None),
    ],
)
def test_kinds(status: int, content_type: str, kind: str | None) -> None:
    """Whatever the label, the answer to such a request may hold calls if its status is a success."""
    assert kind == answers.kind_of(status, content_type)


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b'{"id"', True),
        (b"\xef\xbb\xbf \r\n[", True),
        (b"data: {", False),
        (b": hi", False),
        (b"", None),
        (b" \n\xef", None),
    ],
)
def test_the_first_byte_decides(head: bytes, *, found: bool | None) -> None:
    """A bracket begins JSON, anything else a stream; blanks and parts of a byte order mark decide nothing yet."""
    assert found is answers.is_json(head)
