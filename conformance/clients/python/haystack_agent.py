"""Haystack's agent, which runs the tools itself while it streams.

A tool result that is marked as an error counts as refused.
"""

from __future__ import annotations

import functools
from typing import Any

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import Tool
from haystack.utils import Secret

from protocol import CHAT, KEY, QUESTION, Client, Run, serve


def served(run: Run, called: str, /, **arguments: Any) -> str:
    """Serve as every tool: tell the call; Haystack does not tell a tool the id."""
    run.called(None, called, arguments)
    return "served"


def read(run: Run) -> None:
    """Let the agent answer the question."""
    tools: Any = [
        Tool(
            name=tool["name"],
            description="A tool.",
            parameters=tool["schema"],
            function=functools.partial(served, run, tool["name"]),
        )
        for tool in run.tools
    ]
    model = OpenAIChatGenerator(
        api_key=Secret.from_token(KEY), model="m", api_base_url=run.url, timeout=run.timeout, max_retries=0
    )
    listen = (lambda _chunk: None) if run.stream else None
    agent = Agent(chat_generator=model, tools=tools, max_agent_steps=3, streaming_callback=listen)
    messages = agent.run(messages=[ChatMessage.from_user(QUESTION)])["messages"]
    for message in messages:
        for result in message.tool_call_results:
            if result.error:
                run.refuse(result.origin.id, result.origin.tool_name, str(result.result))


if __name__ == "__main__":
    serve(Client("haystack", CHAT, read, ("haystack-ai", "openai"), runs_tools=True, whole=True))
