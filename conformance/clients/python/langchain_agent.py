"""LangChain's agent, which runs the tools itself while it streams, over OpenAI's and Anthropic's chat models.

A message of a tool with the status `error`, and a call that is marked as invalid, count as refused.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool

from protocol import ANTHROPIC, CHAT, KEY, QUESTION, RESPONSES, Client, Run, serve


def model(run: Run) -> Any:
    """Return the chat model that reads the run's wire."""
    given: Any = {"base_url": run.url, "api_key": KEY, "max_retries": 0, "timeout": run.timeout}
    if run.wire == ANTHROPIC:
        from langchain_anthropic import ChatAnthropic  # noqa: PLC0415 - each package may be missing

        return ChatAnthropic(model="m", **given)
    from langchain_openai import ChatOpenAI  # noqa: PLC0415 - as above

    return ChatOpenAI(model="m", use_responses_api=run.wire == RESPONSES, **given)


def served(run: Run, name: str, schema: dict[str, Any]) -> StructuredTool:
    """Return a tool that tells its calls; LangChain tells a tool no id unless it asks for it."""

    def tell(**arguments: Any) -> str:
        run.called(None, name, arguments)
        return "served"

    return StructuredTool(name=name, description="A tool.", args_schema=schema, func=tell)


def read(run: Run, **given: Any) -> None:
    """Let the agent answer the question; it is made with what else is given."""
    tools = [served(run, tool["name"], tool["schema"]) for tool in run.tools]
    agent: Any = create_agent(model(run), tools, **given)
    asked = {"messages": [{"role": "user", "content": QUESTION}]}
    config = {"recursion_limit": 8}
    if not run.stream:
        tell_refused(run, agent.invoke(asked, config)["messages"])
        return
    messages: list[Any] = []
    try:
        for mode, state in agent.stream(asked, config, stream_mode=["messages", "values"]):
            messages = state["messages"] if mode == "values" else messages
    finally:
        tell_refused(run, messages)


def tell_refused(run: Run, messages: list[Any]) -> None:
    """Tell the calls that the agent did not run."""
    for message in messages:
        if isinstance(message, ToolMessage) and message.status == "error":
            run.refuse(message.tool_call_id, message.name, str(message.content))
        for call in message.invalid_tool_calls if isinstance(message, AIMessage) else ():
            run.refuse(call["id"], call["name"], call["error"] or "invalid_tool_call")


def clients() -> list[Client]:
    """Return the clients whose packages are installed."""
    found = []
    if importlib.util.find_spec("langchain_openai"):
        packages = ("langchain", "langchain-openai", "langchain-core", "langgraph", "openai")
        found += [
            Client("langchain-agent", wire, read, packages, runs_tools=True, whole=True)
            for wire in (CHAT, RESPONSES)
        ]
    if importlib.util.find_spec("langchain_anthropic"):
        packages = ("langchain", "langchain-anthropic", "langchain-core", "langgraph", "anthropic")
        found.append(Client("langchain-agent", ANTHROPIC, read, packages, runs_tools=True, whole=True))
    return found


if __name__ == "__main__":
    serve(*clients())
