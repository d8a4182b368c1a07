"""An agent of LlamaIndex whose model is told of a call that was cut.

OPENAI_API_KEY=… python examples/whole_llama_index.py "When is high water at Brest?"
"""

from __future__ import annotations

import asyncio
import sys

from llama_index.llms.openai import OpenAI

from harbour import book_berth, get_tide
from wholecall.integrations.llama_index import WholeFunctionAgent


async def run(question: str, model: str) -> str:
    """Return the agent's answer."""
    agent = WholeFunctionAgent(llm=OpenAI(model=model), tools=[get_tide, book_berth])
    return str(await agent.run(user_msg=question))  # pyright: ignore[reportDeprecated, reportUnknownArgumentType]


def answer(question: str, model: str = "gpt-5") -> str:
    """Return the agent's answer."""
    return asyncio.run(run(question, model))


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:])))
