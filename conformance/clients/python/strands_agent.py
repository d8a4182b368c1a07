"""Strands Agents, which runs the tools itself while it streams, over Chat Completions and the Messages API.

A tool result with the status `error` for a call that did not run counts as refused.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from strands import Agent
from strands.tools.tools import PythonAgentTool

from protocol import ANTHROPIC, CHAT, KEY, QUESTION, Client, Run, serve


def model(run: Run) -> Any:
    """Return the model that reads the run's wire."""
    given: Any = {"api_key": KEY, "base_url": run.url, "max_retries": 0, "timeout": run.timeout}
    if run.wire == ANTHROPIC:
        from strands.models.anthropic import AnthropicModel  # noqa: PLC0415 - each SDK may be missing

        return AnthropicModel(client_args=given, model_id="m", max_tokens=64)
    from strands.models.openai import OpenAIModel  # noqa: PLC0415 - as above

    return OpenAIModel(client_args=given, model_id="m")


def tool(run: Run, name: str, schema: dict[str, Any]) -> Any:
    """Return a tool with a schema that tells its calls."""

    def served(use: Any, **_more: Any) -> Any:
        run.called(use["toolUseId"], use["name"], use["input"])
        return {"toolUseId": use["toolUseId"], "status": "success", "content": [{"text": "served"}]}

    spec: Any = {"name": name, "description": "A tool.", "inputSchema": {"json": schema}}
    return PythonAgentTool(name, spec, served)


def read(run: Run, **given: Any) -> None:
    """Let the agent answer the question; it is made with what else is given."""
    tools: Any = [tool(run, known["name"], known["schema"]) for known in run.tools]
    agent = Agent(model=model(run), tools=tools, callback_handler=None, retry_strategy=None, **given)
    try:
        agent(QUESTION)
    finally:
        tell_refused(run, agent.messages)


def tell_refused(run: Run, messages: list[Any]) -> None:
    """Tell the calls that the agent answered in the tool's place."""
    contents = [content for message in messages for content in message["content"]]
    names = {use["toolUseId"]: use["name"] for use in (content.get("toolUse") for content in contents) if use}
    for content in contents:
        result = content.get("toolResult")
        if result and result["status"] == "error":
            run.refuse(result["toolUseId"], names.get(result["toolUseId"]), str(result["content"]))


def clients() -> list[Client]:
    """Return the clients whose SDK is installed."""
    wires = {CHAT: "openai", ANTHROPIC: "anthropic"}
    return [
        Client("strands", wire, read, ("strands-agents", sdk), runs_tools=True)
        for wire, sdk in wires.items()
        if importlib.util.find_spec(sdk)
    ]


if __name__ == "__main__":
    serve(*clients())
