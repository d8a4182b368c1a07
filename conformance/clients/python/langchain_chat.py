"""LangChain's chat models: the calls of the chunks that are added up, as its guide to streaming does.

A call that LangChain marks as invalid (`invalid_tool_calls`) counts as refused: its agents run only the others.
"""

from __future__ import annotations

import functools
import importlib.util
import operator
from typing import Any

from protocol import ANTHROPIC, CHAT, KEY, QUESTION, RESPONSES, Client, Run, chat_tools, serve


def read(run: Run, model: Any) -> None:
    """Add up the chunks, and take the calls of the sum."""
    bound = model.bind_tools(chat_tools(run))
    whole: Any = (
        functools.reduce(operator.add, bound.stream(QUESTION)) if run.stream else bound.invoke(QUESTION)
    )
    run.text = str(whole.text)
    for call in whole.tool_calls:
        run.called(call["id"], call["name"], call["args"])
    for call in whole.invalid_tool_calls:
        run.refuse(call["id"], call["name"], call["error"] or "invalid_tool_call")


def openai(run: Run) -> None:
    """Read by `ChatOpenAI`."""
    from langchain_openai import ChatOpenAI  # noqa: PLC0415 - each package may be missing

    given: Any = {"base_url": run.url, "api_key": KEY, "max_retries": 0, "timeout": run.timeout}
    read(run, ChatOpenAI(model="m", use_responses_api=run.wire == RESPONSES, **given))


def anthropic(run: Run) -> None:
    """Read by `ChatAnthropic`."""
    from langchain_anthropic import ChatAnthropic  # noqa: PLC0415 - as above

    given: Any = {"base_url": run.url, "api_key": KEY, "max_retries": 0, "timeout": run.timeout}
    read(run, ChatAnthropic(model="m", **given))


def clients() -> list[Client]:
    """Return the clients whose packages are installed."""
    found = []
    if importlib.util.find_spec("langchain_openai"):
        packages = ("langchain-openai", "langchain-core", "openai")
        found += [
            Client("langchain-openai", wire, openai, packages, whole=True) for wire in (CHAT, RESPONSES)
        ]
    if importlib.util.find_spec("langchain_anthropic"):
        packages = ("langchain-anthropic", "langchain-core", "anthropic")
        found.append(Client("langchain-anthropic", ANTHROPIC, anthropic, packages, whole=True))
    return found


if __name__ == "__main__":
    serve(*clients())
