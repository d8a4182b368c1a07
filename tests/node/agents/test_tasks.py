"""Coding agents at a whole task over a server of another API: the proxy translates, and the server is odd.

The server speaks Chat Completions. Its model reads a note, writes a file, runs a command and ends. These tests need what
those of `test_agents.py` need.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.rivals.streams import chat, entry, more
from tests.support.agents import AGENTS, NOTE_TEXT, results
from tests.support.proxy_process import proxied

pytestmark = [pytest.mark.node, pytest.mark.slow]

SAID = "low water at 10:30\n"
WRITE = f"printf '%s' '{SAID}' > copy.txt"
COUNT = "wc -c < copy.txt > size.txt"
Call = tuple[str, dict[str, Any]]


def claude(work: Path) -> list[Call]:
    """Return the calls of the task, as Claude Code has its tools."""
    return [
        ("Read", {"file_path": str(work / "note.txt")}),
        ("Write", {"file_path": str(work / "copy.txt"), "content": SAID}),
        ("Bash", {"command": COUNT, "description": "Count the bytes"}),
    ]


def codex(_: Path) -> list[Call]:
    """Return them as Codex has its one tool."""
    return [("exec_command", {"cmd": command}) for command in ("cat note.txt", WRITE, COUNT)]


TASKS = {"Claude Code": claude, "Codex CLI": codex}


def pieces(call: Call) -> list[str]:
    """Return the arguments of a call in four pieces."""
    text = json.dumps(call[1])
    step = -(-len(text) // 4)
    return [text[at : at + step] for at in range(0, len(text), step)]


def whole(n: int, call: Call) -> list[bytes]:
    """Return a turn with a call."""
    return chat([entry(0, "", name=call[0], id=f"call_{n}")], *more(pieces(call)))


def relabelled(n: int, call: Call) -> list[bytes]:
    """Return a turn whose call gets a new id with each piece."""
    later = [[entry(0, text, id=f"call_{n}_{at}")] for at, text in enumerate(pieces(call))]
    return chat([entry(0, "", name=call[0], id=f"call_{n}")], *later)


def cut(n: int, call: Call, reason: str | None) -> list[bytes]:
    """Return a turn whose call is cut before its last piece."""
    return chat([entry(0, "", name=call[0], id=f"cut_{n}")], *more(pieces(call)[:-1]), reason=reason)


def straight(turn: Callable[[int, Call], list[bytes]], calls: list[Call]) -> Iterator[list[bytes]]:
    """Yield a turn for each call."""
    return (turn(n, call) for n, call in enumerate(calls))


def with_a_cut(reason: str | None, calls: list[Call]) -> Iterator[list[bytes]]:
    """Yield the same; the second call is cut first, and sent again."""
    for n, call in enumerate(calls):
        if n == 1:
            yield cut(n, call, reason)
        yield whole(n, call)


HABITS: dict[str, Callable[[list[Call]], Iterator[list[bytes]]]] = {
    "as documented": partial(straight, whole),
    "ids that change": partial(straight, relabelled),
    "a cut call that claims success": partial(with_a_cut, "tool_calls"),
    "a call cut at the token limit": partial(with_a_cut, "length"),
    "a stream that breaks off in a call": partial(with_a_cut, None),
}
# Codex ends its run when a turn reaches the token limit: what was not whole has not been run.
ENDS = {("Codex CLI", "a call cut at the token limit")}


def translated(dialect: str, url: str) -> AbstractContextManager[str]:
    """Run the proxy that serves a dialect from the server of Chat Completions at an address."""
    return proxied(f"chat={url}", "--serve", dialect)


@pytest.mark.parametrize("habit", HABITS)
@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_done_over_another_api(name: str, habit: str, tmp_path: Path) -> None:
    """The agent runs each whole call once, goes on after a cut one, and the model gets the results; a chat template gets one system message."""
    agent, calls = AGENTS[name], TASKS[name]
    through = partial(translated, agent.dialect)
    requests = agent.work(lambda work: HABITS[habit](calls(work)), tmp_path, through)
    told, roles = results(requests), [one["role"] for one in requests[-1].json()["messages"]]
    made = {
        path.name: path.read_text("utf-8")
        for path in (tmp_path / "work").iterdir()
        if path.name != "note.txt"
    }
    done = {} if (name, habit) in ENDS else {"copy.txt": SAID, "size.txt": f"{len(SAID)}\n"}

    assert done == made
    assert (3 if done else 1) == len(told)
    assert NOTE_TEXT in told[0]
    assert [0] == [n for n, role in enumerate(roles) if role == "system"]
