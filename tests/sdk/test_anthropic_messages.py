"""Messages through the `anthropic` SDK: its raw events, its helpers' events, its whole messages."""

from __future__ import annotations

import pytest

from tests.support.sdks import Truth, expected, swept

pytestmark = pytest.mark.sdk


# An error event is raised.
RAW = {"error-event": Truth("APIStatusError")}
# The helpers parse arguments themselves, and raise: calls open then are dropped.
HELPER = {
    **RAW,
    "delta-without-start": Truth("IndexError", calls=(), dropped=()),
    "eager-input-faulty": Truth(
        "ValueError",
        calls=(),
        dropped=(
            ("toolu_01Eager", "plot_points", "invalid_json", '{"points": [[1, 2] [3, 4]], "label": "swell"}'),
            ("toolu_01Fine", "save_plot", "aborted", '{"file": "swell'),
        ),
    ),
}


# Its events have their types in the data alone.
RAW["type-in-the-event-name"] = HELPER["type-in-the-event-name"] = Truth(calls=(), reason="unknown")


def test_raw_events_tell_what_the_bytes_tell() -> None:
    """Raw events give all calls and drops of the bytes; an error is raised."""
    assert expected("anthropic", RAW) == swept("anthropic", "anthropic")


def test_events_of_the_helper_tell_what_the_bytes_tell() -> None:
    """The helper's events give the same, none of them twice, until the helper raises."""
    assert expected("anthropic", HELPER) == swept("anthropic-helper", "anthropic")


def test_events_of_the_beta_helper_tell_what_the_bytes_tell() -> None:
    """The same for the beta's helper."""
    assert expected("anthropic", HELPER) == swept("anthropic-beta", "anthropic")
