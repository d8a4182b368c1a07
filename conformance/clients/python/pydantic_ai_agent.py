"""pydantic-ai's agent, which runs the tools itself while it streams.

A call that it answers in the tool's place (by a return that is no success, or by a prompt to retry) counts as refused.
"""

from __future__ import annotations

import asyncio
import functools
import importlib.util
from typing import Any

from pydantic_ai import Agent, Tool, capture_run_messages

from protocol import ANTHROPIC, CHAT, KEY, QUESTION, RESPONSES, Client, Run, serve

OPENAI, CLAUDE = ("pydantic-ai-slim", "openai"), ("pydantic-ai-slim", "anthropic")


def model(run: Run) -> Any:
    """Return the model that reads the run's wire."""
    given: Any = {"api_key": KEY, "base_url": run.url, "max_retries": 0, "timeout": run.timeout}
    if run.wire == ANTHROPIC:
        from anthropic import AsyncAnthropic  # noqa: PLC0415 - each SDK may be missing
        from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415 - as above
        from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - as above

        return AnthropicModel("m", provider=AnthropicProvider(anthropic_client=AsyncAnthropic(**given)))
    from openai import AsyncOpenAI  # noqa: PLC0415 - as above
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel  # noqa: PLC0415 - as above
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415 - as above

    made = OpenAIResponsesModel if run.wire == RESPONSES else OpenAIChatModel
    return made("m", provider=OpenAIProvider(openai_client=AsyncOpenAI(**given)))


def served(run: Run, called: str, context: Any, /, **arguments: Any) -> str:
    """Serve as every tool: tell the call."""
    run.called(context.tool_call_id, called, arguments)
    return "served"


async def listen(_context: Any, events: Any) -> None:
    """Take the events, so that the model is asked for a stream."""
    async for _ in events:
        pass


async def ask(run: Run, **given: Any) -> None:
    """Let the agent answer the question; it is made with what else is given."""
    tools = [
        Tool.from_schema(functools.partial(served, run, name), name, "A tool.", schema, takes_ctx=True)
        for name, schema in ((tool["name"], tool["schema"]) for tool in run.tools)
    ]
    with capture_run_messages() as messages:
        try:
            await Agent(model(run), tools=tools, **given).run(
                QUESTION, event_stream_handler=listen if run.stream else None
            )
        finally:
            tell_refused(run, messages)


def tell_refused(run: Run, messages: list[Any]) -> None:
    """Tell the calls that the agent answered in the tool's place."""
    for part in (part for message in messages for part in message.parts):
        name = getattr(part, "tool_name", None)
        failed = part.part_kind == "tool-return" and part.outcome != "success"
        if name and (failed or part.part_kind == "retry-prompt"):
            run.refuse(part.tool_call_id, name, str(part.content))


def read(run: Run, **given: Any) -> None:
    """Ask once."""
    asyncio.run(ask(run, **given))


def clients() -> list[Client]:
    """Return the clients whose SDK is installed."""
    found = []
    if importlib.util.find_spec("openai"):
        found += [
            Client("pydantic-ai", wire, read, OPENAI, runs_tools=True, whole=True)
            for wire in (CHAT, RESPONSES)
        ]
    if importlib.util.find_spec("anthropic"):
        found.append(Client("pydantic-ai", ANTHROPIC, read, CLAUDE, runs_tools=True, whole=True))
    return found


if __name__ == "__main__":
    serve(*clients())
