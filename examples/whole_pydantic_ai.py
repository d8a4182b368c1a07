"""An agent of pydantic-ai whose model is asked again for a call that was cut.

OPENAI_API_KEY=… python examples/whole_pydantic_ai.py "When is high water at Brest?"
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterable

from pydantic_ai import Agent, AgentStreamEvent, FunctionToolResultEvent, RunContext
from pydantic_ai.models.openai import OpenAIChatModel

from harbour import book_berth, get_tide
from wholecall.integrations.pydantic_ai import WholeCalls


async def show(_context: RunContext[object], events: AsyncIterable[AgentStreamEvent]) -> None:
    """Say on standard error what the model is told of its calls."""
    async for event in events:
        if isinstance(event, FunctionToolResultEvent):
            print(event.part.content, file=sys.stderr)


def answer(question: str, model: str = "gpt-5") -> str:
    """Return the agent's answer."""
    agent = Agent(OpenAIChatModel(model), tools=[get_tide, book_berth], capabilities=[WholeCalls()])
    return agent.run_sync(question, event_stream_handler=show).output


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:])))
