"""An agent of Google's ADK whose model is told of a call that was cut.

GOOGLE_API_KEY=… python examples/whole_google_adk.py "When is high water at Brest?"
"""

from __future__ import annotations

import asyncio
import sys

from google.adk.agents import Agent, RunConfig
from google.adk.agents.run_config import StreamingMode  # type: ignore[attr-defined]  # pyright: ignore[reportPrivateImportUsage]
from google.adk.runners import InMemoryRunner
from google.genai.types import UserContent

from harbour import book_berth, get_tide
from wholecall.integrations.google_adk import WholeCalls


async def run(question: str, model: str) -> str:
    """Return the agent's answer, from a stream."""
    agent = Agent(name="harbour", model=model, tools=[get_tide, book_berth])
    runner = InMemoryRunner(agent, app_name="harbour", plugins=[WholeCalls()])
    session = await runner.session_service.create_session(app_name="harbour", user_id="u")
    said, streams = "", RunConfig(streaming_mode=StreamingMode.SSE)
    asked = UserContent(question)
    async for event in runner.run_async(
        user_id="u", session_id=session.id, new_message=asked, run_config=streams
    ):
        if event.is_final_response() and event.content:
            said = "".join(part.text or "" for part in event.content.parts or ())
    return said


def answer(question: str, model: str = "gemini-2.5-pro") -> str:
    """Return the agent's answer."""
    return asyncio.run(run(question, model))


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:])))
