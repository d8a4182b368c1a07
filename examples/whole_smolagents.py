"""An agent of smolagents whose model is told of a call that was cut.

OPENAI_API_KEY=… python examples/whole_smolagents.py "When is high water at Brest?"
"""

from __future__ import annotations

import sys

from smolagents import OpenAIModel, ToolCallingAgent, tool  # pyright: ignore[reportUnknownVariableType]

from wholecall.integrations.smolagents import WholeModel


def get_tide(port: str) -> str:
    """Return when the water is high at a port, in UTC.

    Args:
        port: the port.
    """
    return f"high water at {port}: 06:12"


def answer(question: str, model: str = "gpt-5") -> str:
    """Return the agent's answer."""
    whole = WholeModel(OpenAIModel(model))
    agent = ToolCallingAgent([tool(get_tide)], whole, stream_outputs=True, verbosity_level=0)
    return str(agent.run(question))  # pyright: ignore[reportUnknownMemberType]


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:])))
