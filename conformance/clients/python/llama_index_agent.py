"""LlamaIndex's function agent, which runs the tools itself while it streams.

A result that is marked as an error counts as refused: the agent knows no such tool, or the tool was not run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.llms.openai import OpenAI

from protocol import CHAT, KEY, QUESTION, Client, Run, serve


class Known(ToolMetadata):
    """A tool's declaration with a schema that is given."""

    def __init__(self, name: str, schema: dict[str, Any]) -> None:
        super().__init__("A tool.", name)
        self._given = schema

    def get_parameters_dict(self) -> dict[str, Any]:
        """Return the schema."""
        return self._given


async def ask(run: Run, made: Callable[..., Any]) -> None:
    """Let an agent of a class answer the question."""
    # It needs a model's name that it knows.
    model = OpenAI("gpt-4o", api_key=KEY, api_base=run.url, max_retries=0, timeout=run.timeout)
    tools: Any = [
        FunctionTool(lambda **_arguments: "served", Known(tool["name"], tool["schema"])) for tool in run.tools
    ]
    agent = made(tools=tools, llm=model, streaming=run.stream, timeout=run.timeout)
    handler = agent.run(user_msg=QUESTION, max_iterations=3)
    async for event in handler.stream_events():
        if isinstance(event, ToolCallResult) and event.tool_output.is_error:
            run.refuse(event.tool_id, event.tool_name, str(event.tool_output.content))
        elif isinstance(event, ToolCallResult):
            run.called(event.tool_id, event.tool_name, event.tool_kwargs)
    await handler


def read(run: Run, made: Callable[..., Any] = FunctionAgent) -> None:
    """Ask once."""
    asyncio.run(ask(run, made))


if __name__ == "__main__":
    packages = ("llama-index-core", "llama-index-llms-openai", "openai")
    serve(Client("llama-index", CHAT, read, packages, runs_tools=True, whole=True))
