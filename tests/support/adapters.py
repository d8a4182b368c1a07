"""Adapters of the conformance suite, run over a few streams of their own that show one thing each."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wholecall.grading.conform.cases import Suite, open_suite
from wholecall.grading.conform.protocol import Program
from wholecall.grading.conform.results import Graded
from wholecall.grading.conform.running import Runner, Settings, plan

CLIENTS = Path(__file__).resolve().parents[2] / "conformance" / "clients"
WIRES = CHAT, RESPONSES, ANTHROPIC = "chat-completions", "responses", "anthropic"
# Verdicts on one call, on two calls, and on a call that was cut.
PASSED = {"one": "pass", "two": "pass", "cut": "pass"}
CLOSED = {**PASSED, "cut": "unsafe"}
ONE, TWO = ("call_a", "get_tide", {"port": "Brest"}), ("call_b", "get_wind", {"at": "Ushant"})

Call = tuple[str, str, dict[str, Any]]


def _frames(wire: str, n: int, call: Call, text: str) -> list[dict[str, Any]]:
    """Return the frames of a call: its beginning, and its arguments in two pieces."""
    id, name, _ = call
    pieces = [text[:5], text[5:]]
    if wire == "chat-completions":
        made = [{"id": id, "type": "function", "function": {"name": name, "arguments": ""}}]
        made += [{"function": {"arguments": piece}} for piece in pieces]
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        deltas = [{"tool_calls": [{"index": n, **one}]} for one in made]
        return [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
        ]
    if wire == "responses":
        item = _item(n, call, "", "in_progress")
        added = {"type": "response.output_item.added", "output_index": n, "item": item}
        delta = {
            "type": "response.function_call_arguments.delta",
            "item_id": f"fc_{n}",
            "output_index": n,
        }
        return [added, *({**delta, "delta": piece} for piece in pieces)]
    block = {"type": "tool_use", "id": id, "name": name, "input": {}}
    start = {"type": "content_block_start", "index": n, "content_block": block}
    delta = {"type": "content_block_delta", "index": n}
    return [
        start,
        *({**delta, "delta": {"type": "input_json_delta", "partial_json": piece}} for piece in pieces),
    ]


def _heads(wire: str) -> list[dict[str, Any]]:
    """Return the frames that begin an answer."""
    if wire == "responses":
        return [{"type": "response.created", "response": _response("in_progress", [])}]
    if wire == "anthropic":
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
        ends = {"stop_reason": None, "stop_sequence": None, "usage": usage}
        return [{"type": "message_start", "message": {**message, **ends}}]
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    delta = {"role": "assistant", "content": None}
    return [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}]


def _ends(wire: str, calls: Sequence[Call], texts: Sequence[str], *, is_cut: bool) -> list[dict[str, Any]]:
    """Return the frames that end an answer; a cut answer of Responses just breaks off."""
    if wire == "chat-completions":
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        reason = "length" if is_cut else "tool_calls" if calls else "stop"
        return [{**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}]
    if wire == "responses":
        items = [_item(n, *one, "completed") for n, one in enumerate(zip(calls, texts, strict=True))]
        done = [
            {"type": "response.output_item.done", "output_index": n, "item": item}
            for n, item in enumerate(items)
        ]
        end = {"type": "response.completed", "response": _response("completed", items)}
        return [] if is_cut else [*done, end]
    reason = "max_tokens" if is_cut else "tool_use" if calls else "end_turn"
    ended = {"stop_reason": reason, "stop_sequence": None}
    end = {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}}
    return [end, {"type": "message_stop"}]


def _item(n: int, call: Call, text: str, status: str) -> dict[str, Any]:
    known = {"type": "function_call", "id": f"fc_{n}", "call_id": call[0], "name": call[1]}
    return {**known, "arguments": text, "status": status}


def _response(status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    known = {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": status,
        "output": output,
    }
    return {**known, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}


def _stream(wire: str, calls: Sequence[Call], *, is_cut: bool = False) -> bytes:
    texts = [json.dumps(call[2], separators=(",", ":")) for call in calls]
    if is_cut:
        texts[-1] = texts[-1][:-4]
    frames = _heads(wire)
    for n, (call, text) in enumerate(zip(calls, texts, strict=True)):
        frames += _frames(wire, n, call, text)
        if wire == "anthropic" and not is_cut:
            frames.append({"type": "content_block_stop", "index": n})
    frames += _ends(wire, calls, texts, is_cut=is_cut)
    names = [f"event: {frame['type']}\n" if "type" in frame else "" for frame in frames]
    lines = [f"{name}data: {json.dumps(frame)}\n\n" for name, frame in zip(names, frames, strict=True)]
    return "".join(lines).encode() + (b"data: [DONE]\n\n" if wire == "chat-completions" else b"")


def _schema(call: Call) -> dict[str, Any]:
    return {"type": "object", "properties": {key: {"type": "string"} for key in call[2]}}


def small_suite(folder: Path) -> Suite:
    """Write a suite of three streams for each wire: one call, two calls, and a call that was cut."""
    known = {"one": ([ONE], ["calls"]), "two": ([ONE, TWO], ["calls"]), "cut": ([ONE], ["refuse"])}
    for wire in WIRES:
        (folder / "cases" / wire).mkdir(parents=True)
        for name, (calls, accept) in known.items():
            sent = [] if name == "cut" else calls
            sidecar = {
                "schema": 1,
                "id": f"{wire}/{name}",
                "about": name,
                "wire": wire,
                "level": "core",
                "http": {"writes": ["frame"]},
                "request": {"tools": [{"name": call[1], "schema": _schema(call)} for call in calls]},
                "sent": [{"id": call[0], "name": call[1], "arguments": call[2]} for call in sent],
                "accept": accept,
            }
            path = folder / "cases" / wire / name
            path.with_suffix(".case.json").write_text(json.dumps(sidecar), "utf-8")
            path.with_suffix(".sse").write_bytes(_stream(wire, calls, is_cut=name == "cut"))
    shutil.copytree(CLIENTS.parent / "farewells", folder / "farewells")
    (folder / "VERSION").write_text("2026.12\n", "utf-8")
    return open_suite(folder)


def graded(
    suite: Suite, program: str, *names: str, python: str = sys.executable, timeout: float = 20
) -> list[Graded]:
    """Return what an adapter's clients made of a suite.

    Args:
        suite: the suite.
        program: the adapter's path below the folder of the clients.
        names: the clients; without any, all of them.
        python: the interpreter; `node` for an adapter in JavaScript.
        timeout: seconds for a case; an adapter that imports its framework in the first one needs more.
    """
    command = [python, str(CLIENTS / program)]
    asked = Program(command)
    clients = [client for client in asked.hello() if not names or client.name in names]
    asked.close()
    settings = Settings(timeout=timeout)
    runner = Runner(suite, lambda: Program(command), settings)
    jobs = plan(clients, suite.cases(), settings)
    list(runner.run(jobs))
    return list(runner.results(clients, len(jobs)).clients)


def verdicts(found: list[Graded]) -> dict[str, dict[str, str]]:
    """Return the verdicts of the cases by their name, for each wire."""
    return {
        client.wire: {run.case.partition("/")[2]: run.verdict for run in client.cases} for client in found
    }
