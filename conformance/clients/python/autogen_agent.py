"""AutoGen's assistant agent, which runs the tools itself while it streams.

A result that is marked as an error, for a call that did not run, counts as refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import ToolCallExecutionEvent
from autogen_core import CancellationToken
from autogen_core.tools import BaseTool, ToolSchema
from autogen_ext.models.openai import OpenAIChatCompletionClient
from pydantic import BaseModel

from protocol import CHAT, KEY, QUESTION, Client, Run, serve


class Arguments(BaseModel):
    """Any arguments."""


class Served(BaseTool[Arguments, str]):
    """A tool with a schema that tells its calls."""

    def __init__(self, run: Run, name: str, schema: dict[str, Any]) -> None:
        super().__init__(Arguments, str, name, "A tool.")
        self._run, self._given = run, schema

    @property
    def schema(self) -> ToolSchema:
        """The schema as it was given."""
        return {"name": self.name, "description": "A tool.", "parameters": self._given}  # type: ignore[typeddict-item]

    async def run(self, _args: Arguments, _cancellation_token: CancellationToken) -> str:
        """Serve; `run_json` has told the call."""
        return "served"

    async def run_json(
        self, args: Mapping[str, Any], _cancellation_token: CancellationToken, call_id: str | None = None
    ) -> str:
        """Tell the call with its arguments before a model of them drops any."""
        self._run.called(call_id, self.name, dict(args))
        return "served"


async def ask(run: Run) -> None:
    """Let the agent make one step with tools."""
    info: Any = {
        "vision": False,
        "function_calling": True,
        "json_output": True,
        "family": "unknown",
        "structured_output": True,
    }
    model = OpenAIChatCompletionClient(
        model="m", api_key=KEY, base_url=run.url, max_retries=0, timeout=run.timeout, model_info=info
    )
    tools: list[Any] = [Served(run, tool["name"], tool["schema"]) for tool in run.tools]
    agent = AssistantAgent("harbour", model, tools=tools, model_client_stream=run.stream)
    async for event in agent.run_stream(task=QUESTION):
        for result in event.content if isinstance(event, ToolCallExecutionEvent) else ():
            if result.is_error:
                run.refuse(result.call_id, result.name, result.content)
    await model.close()


def read(run: Run) -> None:
    """Ask once."""
    asyncio.run(ask(run))


if __name__ == "__main__":
    serve(
        Client(
            "autogen",
            CHAT,
            read,
            ("autogen-agentchat", "autogen-core", "autogen-ext", "openai"),
            runs_tools=True,
            whole=True,
        )
    )
