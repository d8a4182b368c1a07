"""A small conformance suite, typed by hand, and adapters as small as programs can be."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from wholecall.grading.conform.cases import Case, Suite, open_suite

TIDE = {
    "id": "call_tide",
    "name": "get_tide",
    "arguments": {"port": "Brest"},
    "arguments_text": '{"port":"Brest"}',
}
RADIO = {"id": "call_radio", "name": "tune_radio", "arguments": {"khz": 518}, "arguments_text": '{"khz":518}'}

# An adapter: it answers each case with what its second line makes of the request `asked`.
ADAPTER = """\
import json, os, sys, time
def answer(asked):
    {body}
def said(calls=(), refused=(), error=None, text=None):
    return {{"calls": list(calls), "refused": list(refused), "error": error, "text": text}}
for line in sys.stdin.buffer:
    asked = json.loads(line)
    if asked["do"] == "bye":
        break
    if asked["do"] == "hello":
        clients = [{{"name": "small", "version": "1", "wire": wire, "mode": {mode!r}}} for wire in {wires!r}]
        made = {{"protocol": 1, "clients": clients}}
    else:
        made = answer(asked)
    sys.stdout.buffer.write(json.dumps(made, ensure_ascii=False).encode() + b"\\n")
    sys.stdout.buffer.flush()
"""


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    """Return an event of a chat stream."""
    payload = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return b"data: " + json.dumps(payload, separators=(",", ":")).encode() + b"\n\n"


def chat(*calls: dict[str, Any], done: bool = True) -> bytes:
    """Return a chat stream with calls, the argument text of each in two pieces."""
    events = [chunk({"role": "assistant", "content": None})]
    for index, call in enumerate(calls):
        text = call["arguments_text"]
        head = {"index": index, "id": call["id"], "type": "function"}
        events.append(
            chunk({"tool_calls": [{**head, "function": {"name": call["name"], "arguments": text[:5]}}]})
        )
        events.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": text[5:]}}]}))
    if done:
        events += [chunk({}, "tool_calls" if calls else "stop"), b"data: [DONE]\n\n"]
    return b"".join(events)


def sidecar(name: str = "chat-completions/plain", **members: Any) -> dict[str, Any]:
    """Return the sidecar of a case, with some members changed."""
    plain: dict[str, Any] = {
        "schema": 1,
        "id": name,
        "about": "One call.",
        "wire": name.partition("/")[0],
        "level": "core",
        "kind": "plain",
        "quirks": [],
        "origin": "typed",
        "licence": "CC0-1.0",
        "evidence": [],
        "spec": None,
        "http": {
            "status": 200,
            "content_type": "text/event-stream",
            "ending": "clean",
            "writes": ["frame", "byte", "1460", "seed:7"],
        },
        "request": {
            "stream": True,
            "tools": [{"name": one["name"], "schema": {"type": "object"}} for one in (TIDE, RADIO)],
            "asked": ["tools"],
        },
        "sent": [TIDE],
        "may": [],
        "retracted": [],
        "server": [],
        "accept": ["calls"],
        "text": None,
        "finish": "tool_calls",
        "usage": None,
    }
    return plain | members


def case_of(data: bytes = b"", **members: Any) -> Case:
    """Return a case that is on no disk."""
    case: Case = msgspec.convert(sidecar(**members), Case)
    return msgspec.structs.replace(case, data=data)


def write_case(folder: Path, data: bytes, name: str = "chat-completions/plain", **members: Any) -> Path:
    """Write a case into the folder of a suite, and return the path of its sidecar."""
    path = folder / "cases" / f"{name}.case.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(sidecar(name, **members)), "utf-8")
    path.with_name(path.name.replace(".case.json", ".sse")).write_bytes(data)
    return path


def small_suite(folder: Path) -> Suite:
    """Write a suite of three cases: one call, two calls of which one is cut, and text alone."""
    write_case(folder, chat(TIDE))
    write_case(
        folder,
        chat(TIDE, RADIO, done=False)[:-30],
        "chat-completions/cut",
        about="The connection ends in the second call.",
        level="damage",
        kind="cut",
        accept=["partial+error", "refuse"],
        http={**sidecar()["http"], "ending": "reset"},
    )
    write_case(folder, chat(), "chat-completions/text", about="No call.", level="common", sent=[])
    (folder / "farewells").mkdir()
    (folder / "farewells" / "chat-completions.sse").write_bytes(chunk({"content": "Done."}) + chat())
    (folder / "packs").mkdir()
    (folder / "packs" / "core.txt").write_text("# the plain ones\nchat-completions/plain\n", "utf-8")
    (folder / "VERSION").write_text("2026.12\n", "utf-8")
    return open_suite(folder)


def adapter_of(
    folder: Path, body: str, *, mode: str = "bytes", wires: tuple[str, ...] = ("chat-completions",)
) -> list[str]:
    """Write an adapter whose answer to the request `asked` is a body of Python, and return its command."""
    path = folder / "adapter.py"
    path.write_text(ADAPTER.format(body=body.replace("\n", "\n    "), mode=mode, wires=wires), "utf-8")
    return [sys.executable, str(path)]
