"""An agent of openai-agents whose model is asked again for a call that was cut.

OPENAI_API_KEY=… python examples/whole_openai_agents.py "When is high water at Brest?"
"""

from __future__ import annotations

import asyncio
import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
from openai import AsyncOpenAI

from harbour import book_berth, get_tide
from wholecall.integrations.openai_agents import WholeModel


async def run(question: str, model: str) -> str:
    """Return the agent's answer, from a stream."""
    async with AsyncOpenAI() as client:
        whole = WholeModel(OpenAIChatCompletionsModel(model, client))
        agent = Agent(name="harbour", model=whole, tools=[function_tool(get_tide), function_tool(book_berth)])
        running = Runner.run_streamed(agent, question)
        async for _event in running.stream_events():
            pass
        return str(running.final_output)


def answer(question: str, model: str = "gpt-5") -> str:
    """Return the agent's answer."""
    return asyncio.run(run(question, model))


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:])))
