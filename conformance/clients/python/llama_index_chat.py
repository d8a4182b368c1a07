"""LlamaIndex: the calls that its function agent takes from the last piece of a stream, by the same two methods."""

from __future__ import annotations

import asyncio
from typing import Any

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


async def ask(run: Run) -> None:
    """Take the calls of the last piece."""
    # It needs a model's name that it knows.
    model = OpenAI("gpt-4o", api_key=KEY, api_base=run.url, max_retries=0, timeout=run.timeout)
    tools = [
        FunctionTool(lambda **_arguments: "served", Known(tool["name"], tool["schema"])) for tool in run.tools
    ]
    last = None
    if not run.stream:
        last = await model.achat_with_tools(tools, QUESTION, allow_parallel_tool_calls=True)
    else:
        async for piece in await model.astream_chat_with_tools(
            tools, QUESTION, allow_parallel_tool_calls=True
        ):
            last = piece
    if last is None:
        return
    run.text = last.message.content or ""
    for call in model.get_tool_calls_from_response(last, error_on_no_tool_call=False):
        run.called(call.tool_id, call.tool_name, call.tool_kwargs)


def read(run: Run) -> None:
    """Ask once."""
    asyncio.run(ask(run))


if __name__ == "__main__":
    serve(
        Client(
            "llama-index", CHAT, read, ("llama-index-llms-openai", "llama-index-core", "openai"), whole=True
        )
    )
