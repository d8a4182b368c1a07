"""An agent of pydantic-ai whose SDK reads a repaired stream: only the transport is ours.

    OPENAI_API_KEY=… python examples/pydantic_ai_agent.py "When is high water at Brest?"

pydantic-ai reads the stream itself. It gets whole calls with whole names and stable ids, or none: `withheld` is called
for each call that was not forwarded, and a turn without any whole call is an exception.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterable

from openai import AsyncOpenAI
from pydantic_ai import (
    Agent,
    AgentStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    RunContext,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

import wholecall.transport
from harbour import book_berth, get_tide
from wholecall import ToolCallDropped
from wholecall.transport import Exchange


def withheld(call: ToolCallDropped, _exchange: Exchange) -> None:
    """Say on standard error which call was not handed on, and why."""
    print(f"{call.name}: {call.reason}", file=sys.stderr)


async def show(_context: RunContext[object], events: AsyncIterable[AgentStreamEvent]) -> None:
    """Print text as it comes."""
    async for event in events:
        if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
            print(event.part.content, end="", flush=True)
        elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
            print(event.delta.content_delta, end="", flush=True)


async def answer(client: AsyncOpenAI, question: str, model: str = "gpt-5") -> str:
    """Return the agent's answer; `client` is openai's, made with the transport."""
    provider = OpenAIProvider(openai_client=client)
    agent = Agent(OpenAIChatModel(model, provider=provider), tools=[get_tide, book_berth])
    return (await agent.run(question, event_stream_handler=show)).output


async def main(question: str) -> None:
    """Answer a question."""
    http = wholecall.transport.async_client(on_dropped=withheld)
    async with AsyncOpenAI(http_client=http) as client:
        await answer(client, question)


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:])))
