"""An agent of Strands whose model is told of a call that was cut.

OPENAI_API_KEY=… python examples/whole_strands.py "When is high water at Brest?"
"""

from __future__ import annotations

import sys

from strands import Agent, tool  # pyright: ignore[reportUnknownVariableType]
from strands.models.openai import OpenAIModel

from harbour import book_berth, get_tide
from wholecall.integrations.strands import WholeCalls


def answer(question: str, model: str = "gpt-5") -> str:
    """Return the agent's answer."""
    tools = [tool(get_tide), tool(book_berth)]
    agent = Agent(OpenAIModel(model_id=model), tools=tools, hooks=[WholeCalls()], callback_handler=None)
    return str(agent(question)).strip()


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:])))
