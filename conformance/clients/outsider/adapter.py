"""The adapter of the pasted agent, written from the rules of the suite alone: it shares nothing with the others."""

from __future__ import annotations

import functools
import json
import sys
from typing import Any

from pasted_agent import Agent

CLIENT = {
    "name": "outsider",
    "version": "1",
    "wire": "chat-completions",
    "mode": "http",
    "runs_tools": True,
}


def run(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what the agent did with a case."""
    if not asked.get("stream", True):
        return {"unsupported": "the agent only streams"}
    if "functions" in asked.get("asked", []):
        return {"unsupported": "the agent asks with tools"}
    calls: list[dict[str, Any]] = []

    def tool(name: str, id: Any, arguments: Any) -> str:
        calls.append({"id": said(id), "name": name, "arguments": arguments})
        return "ok"

    functions = {known["name"]: functools.partial(tool, known["name"]) for known in asked["tools"]}

    declared = [
        {"type": "function", "function": {"name": tool["name"], "parameters": tool["schema"]}}
        for tool in asked["tools"]
    ]
    agent = Agent(asked["url"], declared, functions, asked["timeout"])
    text, error = None, None
    try:
        text = agent.ask("Go.")
    except Exception as raised:  # noqa: BLE001 - whatever the agent raises is its answer
        error = f"{type(raised).__name__}: {raised}".replace("\n", " ")
    refused = [{"id": said(id), "name": name, "why": why} for id, name, why in agent.failed]
    return {"calls": calls, "refused": refused, "error": error, "text": text}


def said(id: Any) -> str | None:
    """Return an id as the protocol has it: a text, or nothing."""
    return str(id) if id else None


def main() -> None:
    """Answer the runner's lines."""
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        if asked["do"] == "bye":
            return
        answer = {"protocol": 1, "clients": [CLIENT]} if asked["do"] == "hello" else run(asked)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
