"""Unmodified coding agents over a provider that asks for one tool in an odd way.

Theory of operation. The provider answers the first question that offers the agent's tool with a stream that calls it.
The agent's next request shows the outcome of the call: the tool's result, another message to the model, or nothing.
Every run has a separate home, and its requests to other hosts go to a port without a listener.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.rivals import anthropic_streams, responses_streams, streams
from benchmarks.rivals.quirks import FAREWELLS
from benchmarks.rivals.streams import JSON
from tests.support.javascript import FOLDER
from wholecall.serving import Answer, IncomingRequest, Loopback

NOTE, NOTE_TEXT = "note.txt", "high water at 04:12"
_PACKAGES = FOLDER / "agents" / "node_modules"
_ASK = f"What does {NOTE} say?"
_PATIENCE = 120.0  # seconds after which an agent is taken to hang
_NOBODY = "http://127.0.0.1:9"
_NO_NETWORK = {"HTTP_PROXY": _NOBODY, "HTTPS_PROXY": _NOBODY, "NO_PROXY": "127.0.0.1"}
_BEGUN = (
    '{"id":"msg_t","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Tide"}],'
)
_TITLE = (
    f'{_BEGUN}"stop_reason":"end_turn","stop_sequence":null,"usage":{{"input_tokens":1,"output_tokens":1}}}}'
)
_PARTS = 4
_CLAUDE_TOOLS = ("Read", "Write", "Bash")
# What Codex offers the model beside its own tools exists on OpenAI's servers alone, or is no function.
_CODEX_LACKS = 'web_search="disabled"\n'
_CODEX_ALONE = "[agents]\nenabled=false\n"


class Agent(NamedTuple):
    """A coding agent.

    Attributes:
        dialect: its wire.
        tool: the name of the tool that reads the note.
        arguments: the tool's arguments for the path of the note.
        faults: makes the frames of streams that call the tool with these arguments, by the fault.
        command: takes the provider's address and the home; gives the words and the variables of its command.
    """

    dialect: str
    tool: str
    arguments: Callable[[Path], JSON]
    faults: Callable[[JSON], dict[str, list[bytes]]]
    command: Callable[[str, Path], tuple[list[str], dict[str, str]]]

    def ask(
        self, fault: str, home: Path, through: Callable[[str], AbstractContextManager[str]]
    ) -> list[IncomingRequest]:
        """Run the agent in an empty folder with the note; return all its requests to the provider.

        Args:
            fault: the fault of the call.
            home: an empty folder.
            through: maps the provider's address to the address that the agent asks.
        """
        note = _noted(home)
        call = Answer(self.faults(self.arguments(note))[fault])
        with _Provider(self, call) as provider, through(provider.url) as url:
            self._run(url, home)
            return list(provider.requests)

    def work(
        self,
        turns: Callable[[Path], Iterable[list[bytes]]],
        home: Path,
        through: Callable[[str], AbstractContextManager[str]],
    ) -> list[IncomingRequest]:
        """Run the agent at a task of several turns; return all its requests to the provider.

        Args:
            turns: makes the frames of the model's turns that call tools, in a folder; after them it says a few words.
            home: an empty folder; the agent works in its folder `work`, which holds the note.
            through: maps the provider's address to the address that the agent asks.
        """
        answers = map(Answer, turns(_noted(home).parent))
        with _Provider(self, *answers, dialect="chat-completions") as provider, through(provider.url) as url:
            self._run(url, home)
            return list(provider.requests)

    def _run(self, url: str, home: Path) -> None:
        words, variables = self.command(url, home)
        known = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **_NO_NETWORK}
        subprocess.run(  # noqa: S603 - as the lock file names it
            words,
            cwd=home / "work",
            env={**known, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )


def _noted(home: Path) -> Path:
    """Return the note, in a new folder `work` of a home."""
    work = home / "work"
    work.mkdir()
    note = work / NOTE
    note.write_text(f"{NOTE_TEXT}\n", encoding="utf-8")
    return note


class _Provider(Loopback):
    """A provider that gives the first questions with the tool prepared answers, all others a few words."""

    def __init__(self, agent: Agent, *prepared: Answer, dialect: str | None = None) -> None:
        super().__init__()
        self._agent = agent
        self._dialect = dialect or agent.dialect
        self._prepared = list(prepared)

    def answer(self, request: IncomingRequest) -> Answer:
        self.requests.append(request)
        asked: Any = request.json() if request.method == "POST" else {}
        if self._prepared and self._agent.tool in map(_name_of, asked.get("tools", ())):
            return self._prepared.pop(0)
        if asked.get("stream"):
            return Answer([FAREWELLS[self._dialect]])
        return Answer([_TITLE.encode()], "application/json")


def _name_of(tool: JSON) -> Any:
    return tool.get("name") or tool.get("function", {}).get("name")


def results(requests: Sequence[IncomingRequest]) -> list[str]:
    """Return the messages to the model about its calls, each once."""
    return list(dict.fromkeys(text for request in requests for text in _results(request)))


def _results(request: IncomingRequest) -> Iterator[str]:
    asked: Any = request.json() if request.method == "POST" else {}
    said = asked.get("messages") or asked.get("input") or ()
    parts = [part for one in said if isinstance(one.get("content"), list) for part in one["content"]]
    for one in (*said, *parts):
        if one.get("role") == "tool" or one.get("type") in {"function_call_output", "tool_result"}:
            yield json.dumps(one.get("content", one.get("output")))


# The faults.


def _cut(text: str) -> list[str]:
    step = -(-len(text) // _PARTS)
    return [text[at : at + step] for at in range(0, len(text), step)]


def _snapshots(text: str) -> list[str]:
    pieces = _cut(text)
    return ["".join(pieces[: n + 1]) for n in range(len(pieces))]


def _claude_faults(arguments: JSON) -> dict[str, list[bytes]]:
    text = json.dumps(arguments)

    def block(*deltas: Any, stops: bool = True, input: JSON | None = None) -> list[bytes]:
        begun = anthropic_streams.start(name="Read", input=input)
        stop = [anthropic_streams.stop()] if stops else []
        return anthropic_streams.events(begun, *anthropic_streams.deltas(deltas), *stop)

    return {
        "arguments twice": block(*_cut(text), text),
        "{} before the arguments": block("{}", text),
        "snapshots": block(*_snapshots(text)),
        "a delta that is an object": block(arguments),
        "input only at the start": block(input=arguments),
        "no stop of the block": block(*_cut(text), stops=False),
    }


def _codex_faults(arguments: JSON) -> dict[str, list[bytes]]:
    text, name = json.dumps(arguments), "exec_command"
    added = responses_streams.added(name=name)
    deltas = responses_streams.deltas(_cut(text))
    spoken = responses_streams.done(text, closes=False, name=name)
    odd = responses_streams.done(arguments, name=name)
    item = responses_streams.item(text, name=name)
    return {
        "call only in the final response": responses_streams.events(output=[item]),
        "the item is never done": responses_streams.events(added, *deltas, *spoken, output=[item]),
        "arguments as an object": responses_streams.events(added, *deltas, *odd, output=[odd[-1]["item"]]),
    }


def _opencode_faults(arguments: JSON) -> dict[str, list[bytes]]:
    text = json.dumps(arguments)

    def call(first: Any, *later: str) -> list[bytes]:
        opened = streams.entry(0, first, name="read", id="call_1")
        return streams.chat([opened], *streams.more(later))

    begun, rest = streams.entry(0, "", name="re", id="call_1"), streams.entry(0, text, name="ad")
    return {
        "snapshots": call("", *_snapshots(text)),
        "{} before the arguments": call("{}", text),
        "the name in pieces": streams.chat([begun], [rest]),
        "arguments as an object": call(arguments),
    }


# The commands.


def _claude(url: str, _home: Path) -> tuple[list[str], dict[str, str]]:
    program = str(_PACKAGES / "@anthropic-ai/claude-code/cli-wrapper.cjs")
    words = ["node", program, "-p", _ASK, "--model", "claude-sonnet-4-5", "--allowedTools", *_CLAUDE_TOOLS]
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    return words, {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "unused", **quiet}


def _codex(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    folder = home / ".codex"
    folder.mkdir()
    provider = f'name="p"\nbase_url="{url}/v1"\nwire_api="responses"\nsupports_websockets=false\n'
    chosen = f'model="m"\nmodel_provider="p"\n{_CODEX_LACKS}{_CODEX_ALONE}[model_providers.p]\n{provider}'
    (folder / "config.toml").write_text(chosen, encoding="utf-8")
    options = [
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
    ]  # all that it runs is in its folder
    return ["node", str(_PACKAGES / "@openai/codex/bin/codex.js"), "exec", *options, _ASK], {}


def _opencode(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "p",
        "options": {"baseURL": f"{url}/v1", "apiKey": "unused"},
        "models": {"m": {"name": "m", "tool_call": True}},
    }
    chosen = {"autoupdate": False, "share": "disabled", "provider": {"p": provider}}
    (folder / "opencode.json").write_text(json.dumps(chosen), encoding="utf-8")
    quiet = ("MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    programs = sorted(
        _PACKAGES.glob("opencode-*/bin/opencode")
    )  # of this system, the one for newer processors first
    words = [str(programs[0]), "run", "--model", "p/m", _ASK]
    return words, {f"OPENCODE_DISABLE_{what}": "1" for what in quiet}


AGENTS: dict[str, Agent] = {
    "Claude Code": Agent("anthropic", "Read", lambda note: {"file_path": str(note)}, _claude_faults, _claude),
    "Codex CLI": Agent(
        "responses", "exec_command", lambda note: {"cmd": f"cat {note.name}"}, _codex_faults, _codex
    ),
    "opencode": Agent(
        "chat-completions", "read", lambda note: {"filePath": str(note)}, _opencode_faults, _opencode
    ),
}
