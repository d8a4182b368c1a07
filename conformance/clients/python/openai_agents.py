"""OpenAI's agents SDK, which runs the tools itself while it streams.

It hands the arguments to a tool as text. A tool refuses text that is no JSON object, as tools made by its
`function_tool` do, and tells the model.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable
from typing import Any

import agents
from openai import AsyncOpenAI

from protocol import CHAT, KEY, QUESTION, RESPONSES, Client, Run, serve


async def served(run: Run, called: str, context: Any, text: str) -> str:
    """Serve as every tool: tell the call, or refuse it in a word to the model, as `function_tool` does."""
    try:
        arguments = json.loads(text) if text else {}
    except json.JSONDecodeError as error:
        arguments = error
    if not isinstance(arguments, dict):
        said = f"Invalid JSON input for tool {called}: {arguments}"
        run.refuse(context.tool_call_id, called, said)
        return said
    run.called(context.tool_call_id, called, arguments)
    return "served"


async def ask(run: Run, wrap: Callable[[Any], Any]) -> None:
    """Let the agent answer the question, with a wrapped model."""
    tools = [
        agents.FunctionTool(
            tool["name"],
            "A tool.",
            tool["schema"],
            functools.partial(served, run, tool["name"]),
            strict_json_schema=False,
        )
        for tool in run.tools
    ]
    given: Any = {"api_key": KEY, "base_url": run.url, "max_retries": 0, "timeout": run.timeout}
    made = agents.OpenAIResponsesModel if run.wire == RESPONSES else agents.OpenAIChatCompletionsModel
    async with AsyncOpenAI(**given) as client:
        agent = agents.Agent(name="harbour", model=wrap(made("m", client)), tools=tools)
        if not run.stream:
            await agents.Runner.run(agent, QUESTION, max_turns=3)
            return
        result = agents.Runner.run_streamed(agent, QUESTION, max_turns=3)
        async for _ in result.stream_events():
            pass


def read(run: Run, wrap: Callable[[Any], Any] = lambda model: model) -> None:
    """Ask once."""
    asyncio.run(ask(run, wrap))


if __name__ == "__main__":
    agents.set_tracing_disabled(disabled=True)
    packages = ("openai-agents", "openai")
    serve(
        *(
            Client("openai-agents", wire, read, packages, runs_tools=True, whole=True)
            for wire in (CHAT, RESPONSES)
        )
    )
