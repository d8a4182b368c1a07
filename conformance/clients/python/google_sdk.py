"""Google's SDK: the calls of each response, as its own chats take them; and LangChain's chat model over it."""

from __future__ import annotations

import functools
import importlib.util
import operator
from typing import Any

from google import genai

from protocol import GEMINI, KEY, QUESTION, Client, Run, chat_tools, serve


def loop(run: Run) -> None:
    """Take the calls of each response."""
    options: Any = {"base_url": run.url, "timeout": int(run.timeout * 1000), "retry_options": {"attempts": 1}}
    client = genai.Client(api_key=KEY, http_options=options)
    declared = [{"name": tool["name"], "parameters_json_schema": tool["schema"]} for tool in run.tools]
    ask: Any = {
        "model": "m",
        "contents": QUESTION,
        "config": {"tools": [{"function_declarations": declared}]} if declared else {},
    }
    ways = client.models
    for response in ways.generate_content_stream(**ask) if run.stream else [ways.generate_content(**ask)]:
        for call in response.function_calls or ():
            run.called(call.id, call.name, call.args)


def langchain(run: Run) -> None:
    """Add up the chunks, and take the calls of the sum."""
    from langchain_google_genai import ChatGoogleGenerativeAI  # noqa: PLC0415 - it may be missing

    given: Any = {"base_url": run.url, "api_key": KEY, "max_retries": 1, "timeout": run.timeout}
    model = ChatGoogleGenerativeAI(model="m", **given)
    bound = model.bind_tools(chat_tools(run))
    whole: Any = (
        functools.reduce(operator.add, bound.stream(QUESTION)) if run.stream else bound.invoke(QUESTION)
    )
    for call in whole.tool_calls:
        run.called(call["id"], call["name"], call["args"])
    for call in whole.invalid_tool_calls:
        run.refuse(call["id"], call["name"], call["error"] or "invalid_tool_call")


def clients() -> list[Client]:
    """Return the clients whose packages are installed."""
    found = [Client("google-genai", GEMINI, loop, ("google-genai",), whole=True)]
    if importlib.util.find_spec("langchain_google_genai"):
        packages = ("langchain-google-genai", "langchain-core", "google-genai")
        found.append(Client("langchain-google-genai", GEMINI, langchain, packages, whole=True))
    return found


if __name__ == "__main__":
    serve(*clients())
