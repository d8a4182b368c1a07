"""Responses, Assistants and Realtime through the `openai` SDK."""

from __future__ import annotations

import pytest

from tests.support.sdks import Truth, expected, swept

pytestmark = pytest.mark.sdk


# A member that is null on the wire is left out, as one that is not there.
SHELL = {"commands": ["ls charts", "wc -l charts/*.csv"], "max_output_length": 4096}
PATCH = {"type": "create_file", "diff": '+{"port": "Brest"}\n+\n', "path": "charts/brest.json"}
EVENTS = {
    "shell-and-patch": Truth(
        builtin_calls=(
            ("call_sh", "shell", {"action": SHELL}),
            ("call_ap", "apply_patch", {"operation": PATCH}),
        )
    )
}


def test_events_of_responses_tell_what_the_bytes_tell() -> None:
    """Events give all calls and drops of the bytes, an error and a failure among them included."""
    assert expected("responses", EVENTS) == swept("responses", "responses")


HELPER = {
    **EVENTS,
    # The helper assembles the response itself, and refuses events that do not fit: calls open then are dropped.
    "deltas-before-added": Truth("RuntimeError", calls=()),
    "item-id-rotates": Truth(
        "RuntimeError",
        calls=(),
        dropped=(("call_rot", "stage_hunk", "aborted", '{"file":"a.py","hunk":2}'),),
    ),
    "items-never-done": Truth(
        "RuntimeError",
        calls=(),
        dropped=(
            ("call_op1", "plot", "aborted", '{"mark":"Elbe 1"}'),
            ("call_op2", "plot", "aborted", '{"mark":"Elbe 2"}'),
        ),
    ),
    "type-in-the-event-name": Truth("RuntimeError", calls=()),
}


def test_events_of_the_responses_helper_tell_what_the_bytes_tell() -> None:
    """The helper's events give the same as the raw events, until the helper raises."""
    assert expected("responses", HELPER) == swept("responses-helper", "responses")


def test_events_of_runs_tell_what_the_bytes_tell() -> None:
    """Events of an assistant's run give all calls and drops of the bytes."""
    assert expected("openai-assistants", {}) == swept("assistants", "openai-assistants")


# The helper leaves an error event out: the stream just ends.
RUNS = {
    "error-event": Truth(
        dropped=(("call_chart_4", "fetch_chart", "unterminated", '{"no":"INT 1'),), reason="malformed"
    )
}


def test_events_of_the_runs_helper_tell_what_the_bytes_tell() -> None:
    """The helper's events give the same, except an error that it keeps."""
    assert expected("openai-assistants", RUNS) == swept("assistants-helper", "openai-assistants")
