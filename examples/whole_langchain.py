"""An agent of LangChain that tells its model of a call that was cut, and shows calls while they arrive.

OPENAI_API_KEY=… python examples/whole_langchain.py "When is high water at Brest?"
"""

from __future__ import annotations

import sys
from typing import Any

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.messages import AIMessageChunk
from langchain_openai import ChatOpenAI

from harbour import book_berth, get_tide
from wholecall.integrations.langchain import WholeCalls


def answer(question: str, model: str = "gpt-5") -> str:
    """Return the agent's answer; its text and the arguments of its calls are printed as they come."""
    middleware = [WholeCalls(live_arguments=True)]
    agent: Any = create_agent(ChatOpenAI(model=model), [get_tide, book_berth], middleware=middleware)
    said = ""
    for message, _ in agent.stream({"messages": [("user", question)]}, stream_mode="messages"):
        if isinstance(message, AIMessageChunk):
            arguments = "".join(chunk["args"] or "" for chunk in message.tool_call_chunks)
            print(arguments or message.text, end="", flush=True)
            said += message.text
    return said


if __name__ == "__main__":
    answer(" ".join(sys.argv[1:]))
