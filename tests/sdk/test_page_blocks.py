"""The blocks of README and docs/text.md that need SDKs, unchanged, against a server on this machine.

Tutorials show `examples`. The first answer is cut inside a call, the second makes the call whole, the third reports the
model's result.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.hygiene.source_tree import CORPORA
from tests.hygiene.test_readme import blocks
from tests.support.encode import Call, Pieces, Turn, every, render_chat
from wholecall.serving import Loopback

pytestmark = pytest.mark.sdk

TURNS = (
    Turn([Call("call_1", "get_tide", '{"port": "Br')], stopped="length", id="turn-1"),
    Turn([Call("call_2", "get_tide", '{"port": "Brest"}')], id="turn-2"),
    Turn(text="At 04:12 and 16:37.", id="turn-3"),
)
TIDE = "Brest, today: 04:12 and 16:37"
ASKED = "When is high water at Brest?"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """Give a server that the SDKs' own clients find in the environment."""
    with Loopback() as server:
        for name, url in (("OPENAI", f"{server.url}/v1"), ("ANTHROPIC", server.url)):
            monkeypatch.setenv(f"{name}_BASE_URL", url)
            monkeypatch.setenv(f"{name}_API_KEY", "x")

        yield server


def answers(render: Callable[[Turn, Pieces], bytes], *turns: Turn) -> list[bytes]:
    """Return turns as a dialect streams them, cut after every four characters."""
    return [render(turn, every(4)) for turn in turns]


def run(code: str, **names: Any) -> tuple[dict[str, Any], str]:
    """Run a program, close its client, and return its variables and output."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, names)  # noqa: S102 - the pages are ours
    if "client" in names:
        names["client"].close()
    return names, out.getvalue()


def program(page: str, needs: str) -> str:
    """Return the blocks of a page that need an SDK, one after the other."""
    return "\n".join(code for _, code in blocks("python", page=page, needs=needs))


def test_the_failure_of_the_readme_is_real(server: Loopback) -> None:
    """Without the transport the loop gets the cut call, as README shows; with its two lines it does not."""
    server.serve(str(CORPORA / "recordings" / "anthropic" / "cut-max-tokens.sse"), repeat=2)
    asked = {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": []}
    loop, transport = (code for _, code in blocks("python", needs="anthropic"))
    _, rest = loop.split("client = anthropic.Anthropic()\n")
    _, before = run(loop, **asked)
    _, after = run("import anthropic\n" + transport + rest, **asked)
    shown = [code for word in ("before", "after") for _, code in blocks("text", needs=word)]

    assert shown == [before, after]


def test_the_loop_of_the_readme_goes_on(server: Loopback) -> None:
    """The loop reports the cut call to the model, executes the whole one and ends; ids of calls and results pair."""
    server.serve(*answers(render_chat, *TURNS))
    given = {
        "model": "m",
        "tools": [],
        "messages": [{"role": "user", "content": ASKED}],
        "run": lambda *_: TIDE,
    }
    names, _ = run(program("README.md", "openai"), **given)

    assert ["user", "assistant", "tool", "assistant", "tool", "assistant"] == [
        m["role"] for m in names["messages"]
    ]
    assert _chat_calls(names["messages"]) == [
        m["tool_call_id"] for m in names["messages"] if m["role"] == "tool"
    ]
    ((_, shown),) = blocks("text", page="docs/tutorials/openai-chat.md", needs="openai-chat")
    assert shown == "".join(f"{message['role']}: {_said(message)}\n" for message in names["messages"])


def test_a_server_without_its_tool_parser(server: Loopback) -> None:
    """The loop of docs/text.md runs the call that the server left in the content."""
    server.serve(str(CORPORA / "text" / "streams" / "chat-completions" / "hermes-in-content.sse"))
    ran: list[Any] = []
    given = {"model": "m", "messages": [{"role": "user", "content": ASKED}], "tools": None}
    run(program("docs/text.md", "openai"), run=lambda *call: ran.append(call), **given)

    assert [("get_tide", {"port": "Ullapool"})] == ran


def _chat_calls(messages: list[dict[str, Any]]) -> list[str]:
    return [call["id"] for message in messages for call in message.get("tool_calls") or ()]


def _said(message: dict[str, Any]) -> str:
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    return message["content"] or " ".join(f"{call['name']} {call['arguments']}" for call in calls)
