"""A2A: answer in, deltas out, and never a call."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall.deltas import Delta, Finish, TextFragment, TurnEnded, TurnOpened
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


def test_known_artifacts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound a task's artifact may be reported twice, and memory does not grow."""
    monkeypatch.setattr("wholecall.dialects.agents.a2a._MOST_ARTIFACTS", 1)
    again = task("working", artifacts=[said("x", artifactId="a"), said("y", artifactId="b")])

    texts = [TextFragment(0, "x"), TextFragment(0, "y"), TextFragment(0, "y")]
    assert [OPENED, *texts] == translate(artifact("x"), artifact("y", id_="b"), again)
