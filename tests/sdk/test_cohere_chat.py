"""Chat through the `cohere` SDK, of both versions of the API."""

from __future__ import annotations

import pytest

from tests.support.sdks import Truth, expected, swept

pytestmark = pytest.mark.sdk


# The SDK takes an event that fits no class for a message's start, or omits it with a line in the log.
V2 = {
    "bare-message-error": Truth(dropped=(), reason="unknown"),
    "relay-lists-and-same-index": Truth(calls=(), reason="stop"),
}


def test_events_of_v1_tell_what_the_bytes_tell() -> None:
    """Events of the first version give all calls and drops of the bytes."""
    assert expected("cohere-v1", {}, "ndjson") == swept("cohere-v1", "cohere-v1", "ndjson")


def test_events_of_v2_tell_what_the_bytes_tell() -> None:
    """Events of the second version give all calls and drops of the bytes, in the shapes that Cohere documents."""
    assert expected("cohere-v2", V2) == swept("cohere-v2", "cohere-v2")
