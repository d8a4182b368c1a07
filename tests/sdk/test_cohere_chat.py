"""Chat through the `cohere` SDK, of both versions of the API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.sdks import MESSAGES, Truth, expected, sdk, swept

pytestmark = pytest.mark.sdk


@contextmanager
def _v1(url: str) -> Iterator[Callable[[], Any]]:
    with sdk("cohere").Client(api_key="k", base_url=url) as client:
        yield lambda: client.chat_stream(model="m", message="x")


@contextmanager
def _v2(url: str) -> Iterator[Callable[[], Any]]:
    with sdk("cohere").ClientV2(api_key="k", base_url=url) as client:
        yield lambda: client.chat_stream(model="m", messages=MESSAGES)


# What fits no class the SDK takes for a message's start, or leaves out with a line in the log.
V2 = {
    "bare-message-error": Truth(dropped=(), reason="unknown"),
    "relay-lists-and-same-index": Truth(calls=(), reason="stop"),
}


def test_events_of_v1_tell_what_the_bytes_tell() -> None:
    """Events of the first version tell all calls and drops of the bytes."""
    assert expected("cohere-v1", {}, "ndjson") == swept(_v1, "cohere-v1", "ndjson")


def test_events_of_v2_tell_what_the_bytes_tell() -> None:
    """Events of the second version tell all calls and drops of the bytes, in the shapes that Cohere documents."""
    assert expected("cohere-v2", V2) == swept(_v2, "cohere-v2")
