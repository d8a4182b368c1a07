"""agno's agent, which runs the tools itself while it streams.

A call that agno answers in the tool's place (a message of the role `tool` for a call that did not run) counts as
refused.
"""

from __future__ import annotations

import asyncio
import functools
from typing import Any

from agno.agent import Agent
from agno.models.openai import OpenAIChat
from agno.tools.function import Function

from protocol import CHAT, KEY, QUESTION, Client, Run, serve

SERVED = "served"


def served(run: Run, called: str, /, **arguments: Any) -> str:
    """Serve as every tool: tell the call; agno does not tell a tool the id."""
    run.called(None, called, arguments)
    return SERVED


async def ask(run: Run) -> None:
    """Let the agent answer the question."""
    tools: list[Any] = [
        Function(
            name=tool["name"],
            description="A tool.",
            parameters=tool["schema"],
            entrypoint=functools.partial(served, run, tool["name"]),
            skip_entrypoint_processing=True,
        )
        for tool in run.tools
    ]
    model = OpenAIChat(id="m", api_key=KEY, base_url=run.url, max_retries=0, timeout=run.timeout)
    failed = None
    async for event in Agent(model=model, tools=tools, telemetry=False).arun(
        QUESTION, stream=True, stream_events=True, yield_run_output=True
    ):
        if getattr(event, "event", None) == "RunError":
            failed = event
        for message in getattr(event, "messages", None) or ():
            if message.role == "tool" and message.content != SERVED:
                run.refuse(message.tool_call_id, message.tool_name, str(message.content))
    if failed is not None:
        raise RuntimeError(failed.content)


def read(run: Run) -> None:
    """Ask once."""
    asyncio.run(ask(run))


if __name__ == "__main__":
    serve(Client("agno", CHAT, read, ("agno", "openai"), runs_tools=True))
