"""A2A: answer in, deltas out, and never a call."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall.deltas import Delta, Finish, Noted, TextFragment, TurnEnded, TurnOpened, WireFault
from wholecall.dialects.agents.a2a import A2aTranslator
from wholecall.framing.frame import Frame
from wholecall.types import TurnReason

OPENED = TurnOpened("t", "t", None, restart=True)
ENDED = TurnEnded("t")


def translate(*messages: dict[str, Any] | str) -> list[Delta]:
    """Translate the messages of one stream, to its end."""
    translator = A2aTranslator()
    deltas: list[Delta] = []
    for message in messages:
        data = message if isinstance(message, str) else json.dumps(message)
        deltas += translator.translate(Frame("message", data))
    return deltas + translator.close()


def answer(**result: Any) -> dict[str, Any]:
    """Return an answer with this result."""
    return {"jsonrpc": "2.0", "id": 1, "result": result}


def said(*texts: str, role: str = "agent", **more: Any) -> dict[str, Any]:
    """Return a message, or an artifact."""
    return {"role": role, "parts": [{"kind": "text", "text": text} for text in texts], **more}


def status(state: str, *texts: str, final: bool = False, id_: str = "t") -> dict[str, Any]:
    """Return an update of the status of a task."""
    told = {"state": state} | ({"message": said(*texts)} if texts else {})
    return answer(kind="status-update", taskId=id_, status=told, final=final)


def artifact(*texts: str, id_: str = "a", **more: Any) -> dict[str, Any]:
    """Return an update of an artifact of a task."""
    return answer(kind="artifact-update", taskId="t", artifact=said(*texts, artifactId=id_), **more)


def task(state: str, **more: Any) -> dict[str, Any]:
    """Return a task."""
    return answer(kind="task", id="t", status={"state": state}, **more)


def test_messages_and_artifacts_are_text() -> None:
    """In the order in which they come; several parts are one text."""
    deltas = translate(
        task("submitted"), status("working", "w"), artifact("x", "y"), artifact("z", append=True)
    )

    assert [OPENED, TextFragment(0, "w"), TextFragment(0, "xy"), TextFragment(0, "z")] == deltas


def test_a_task_tells_only_what_is_new() -> None:
    """Earlier artifacts are not repeated (quirk 98); the user's text is not an answer."""
    listed = [said("x", artifactId="a"), said("y", artifactId="b")]
    again = task("working", artifacts=listed, history=[said("no", role="user")])

    assert [OPENED, TextFragment(0, "x"), TextFragment(0, "y")] == translate(artifact("x"), again, again)
    assert [OPENED] == translate(
        answer(kind="status-update", taskId="t", status={"message": said("no", role="user")})
    )


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("completed", "stop"),
        ("input-required", "pause"),
        ("auth-required", "pause"),
        ("canceled", "aborted"),
        ("TASK_STATE_COMPLETED", "stop"),
        ("TASK_STATE_INPUT_REQUIRED", "pause"),
        ("TASK_STATE_CANCELED", "aborted"),
    ],
)
def test_a_state_ends_the_turn(state: str, reason: TurnReason) -> None:
    """The end of a task ends its turn, and so does an interruption; the word is kept. It is reported once."""
    ends = [Finish(0, reason, state), ENDED]

    assert [OPENED, TextFragment(0, "x"), *ends] == translate(status(state, "x"), status(state), task(state))
    assert [OPENED, *ends] == translate(task(state))


@pytest.mark.parametrize("state", ["failed", "rejected", "TASK_STATE_FAILED", "TASK_STATE_REJECTED"])
def test_what_a_task_fails_with_is_a_fault(state: str) -> None:
    """Its message says why, else the state does."""
    ends = [Finish(0, "error", state), ENDED]
    why = WireFault("provider_error", "no ink", error={"message": "no ink"})
    bare = WireFault("provider_error", state, error={"message": state})

    assert [OPENED, why, *ends] == translate(status(state, "no ink"))
    assert [OPENED, bare, *ends] == translate(task(state))


def test_the_last_update_ends_the_turn() -> None:
    """`final` says so where the state does not."""
    assert [OPENED, Finish(0, "unknown", "working"), ENDED] == translate(status("working", final=True))


def test_a_message_is_a_whole_answer_where_there_is_no_task() -> None:
    """Within a task it is one of its texts."""
    message = answer(kind="message", **said("x"))
    within = answer(kind="message", taskId="t", **said("x"))
    alone = [
        TurnOpened(None, None, None, restart=True),
        TextFragment(0, "x"),
        Finish(0, "stop", None),
        TurnEnded(None),
    ]

    assert alone * 2 == translate(message, message)
    assert [OPENED, TextFragment(0, "x")] == translate(task("working"), within)


def test_version_one_has_members_for_kinds() -> None:
    """The same stream in both versions says the same; its parts have no kind."""
    update = {"taskId": "t", "artifact": {"artifactId": "a", "parts": [{"text": "x"}]}}
    newer = [
        answer(task={"id": "t", "status": {"state": "TASK_STATE_WORKING"}}),
        answer(artifactUpdate=update),
        answer(message={"taskId": "t", "role": "ROLE_AGENT", "parts": [{"text": "y"}]}),
        answer(statusUpdate={"taskId": "t", "status": {"state": "completed"}}),
    ]
    within = answer(kind="message", taskId="t", **said("y"))

    assert translate(task("working"), artifact("x"), within, status("completed")) == translate(*newer)


def test_parts_that_are_no_text() -> None:
    """Files and data say nothing, also where data looks like calls; parts of older versions have a type."""
    called = {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}
    parts = [
        {"kind": "data", "data": called, "text": "no"},
        {"kind": "file", "file": {"uri": "u"}},
        {"type": "text", "text": "x"},
        {"kind": "text", "text": 3},
    ]

    update = answer(kind="artifact-update", taskId="t", artifact={"artifactId": "a", "parts": parts})
    assert [OPENED, TextFragment(0, "x")] == translate(update)


def test_an_error_ends_the_stream() -> None:
    """A stream answers one request (quirk 52)."""
    error = {"code": -32603, "message": "no"}

    assert [WireFault("provider_error", "-32603: no", error=error, fatal=True)] == translate(
        {"jsonrpc": "2.0", "id": 1, "error": error}
    )


def test_another_task_is_another_turn() -> None:
    """A log may hold several."""
    other = TurnOpened("u", "u", None, restart=True)

    assert [OPENED, other, TextFragment(0, "x")] == translate(
        task("working"), status("working", "x", id_="u")
    )


def test_other_messages() -> None:
    """Requests, unknown kinds and pings say nothing; a frame that is not JSON-RPC is counted."""
    quiet = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "message/stream",
            "params": {"message": said("x", role="user")},
        },
        answer(kind="tomorrow"),
        answer(kind=["task"]),
        answer(),
        {"type": "ping"},
        "{}",
        "[DONE]",
    ]

    assert [] == translate(*quiet)
    assert [Noted(0, "unknown_events")] == translate({"novelty": 1})


def test_known_artifacts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound a task's artifact may be reported twice, and memory does not grow."""
    monkeypatch.setattr("wholecall.dialects.agents.a2a._MOST_ARTIFACTS", 1)
    again = task("working", artifacts=[said("x", artifactId="a"), said("y", artifactId="b")])

    texts = [TextFragment(0, "x"), TextFragment(0, "y"), TextFragment(0, "y")]
    assert [OPENED, *texts] == translate(artifact("x"), artifact("y", id_="b"), again)
