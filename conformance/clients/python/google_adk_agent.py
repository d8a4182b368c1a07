"""Google ADK's agent, which runs the tools itself while it streams.

A response of a tool that holds an error counts as refused.
"""

from __future__ import annotations

import asyncio
from typing import Any

from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models.google_llm import Gemini
from google.adk.runners import InMemoryRunner
from google.adk.tools import BaseTool
from google.genai import Client as Genai
from google.genai import types

from protocol import GEMINI, KEY, QUESTION, Client, Run, serve


class Served(BaseTool):
    """A tool with a schema that tells its calls."""

    def __init__(self, run: Run, name: str, schema: dict[str, Any]) -> None:
        super().__init__(name=name, description="A tool.")
        self._run, self._schema = run, schema

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description="A tool.", parameters_json_schema=self._schema
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        """Tell the call; an id that ADK made itself is none of the wire's."""
        id = tool_context.function_call_id
        self._run.called(None if id.startswith("adk-") else id, self.name, args)
        return "served"


async def ask(run: Run, **given: Any) -> None:
    """Let the agent answer the question; its runner is made with what else is given."""
    model = Gemini(model="m", client=Genai(api_key=KEY, http_options=types.HttpOptions(base_url=run.url)))
    tools: Any = [Served(run, tool["name"], tool["schema"]) for tool in run.tools]
    runner = InMemoryRunner(Agent(name="harbour", model=model, tools=tools), app_name="harbour", **given)
    session = await runner.session_service.create_session(app_name="harbour", user_id="u")
    mode = StreamingMode.SSE if run.stream else StreamingMode.NONE
    config = RunConfig(streaming_mode=mode, max_llm_calls=3)
    message = types.UserContent(QUESTION)
    async for event in runner.run_async(
        user_id="u", session_id=session.id, new_message=message, run_config=config
    ):
        for answer in event.get_function_responses():
            if "error" in (answer.response or ()):
                run.refuse(answer.id, answer.name, str(answer.response))
        if event.error_code:
            raise RuntimeError(f"{event.error_code}: {event.error_message}")


def read(run: Run, **given: Any) -> None:
    """Ask once."""
    asyncio.run(ask(run, **given))


if __name__ == "__main__":
    serve(Client("google-adk", GEMINI, read, ("google-adk", "google-genai"), runs_tools=True, whole=True))
