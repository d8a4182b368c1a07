"""Cohere's SDK over the second version of its API: the loop of its guide to streaming with tools."""

from __future__ import annotations

from typing import Any

import cohere

from protocol import KEY, MESSAGES, Client, Run, chat_tools, serve


def loop(run: Run) -> None:
    """Keep calls by their index and append to their arguments."""
    client = cohere.ClientV2(api_key=KEY, base_url=run.url, timeout=run.timeout)
    ask: Any = {"model": "m", "messages": MESSAGES, "tools": chat_tools(run)}
    options: Any = {"max_retries": 0}
    found: dict[Any, Any] = {}
    if not run.stream:
        for call in client.chat(**ask, request_options=options).message.tool_calls or ():
            run.called(call.id, call.function.name, call.function.arguments)
        return
    for event in client.chat_stream(**ask, request_options=options):
        if event.type == "tool-call-start":
            call = event.delta.message.tool_calls
            found[event.index] = [call.id, call.function.name, call.function.arguments or ""]
        elif event.type == "tool-call-delta":
            found[event.index][2] += event.delta.message.tool_calls.function.arguments or ""
    for id, name, arguments in found.values():
        run.called(id, name, arguments)


if __name__ == "__main__":
    serve(Client("cohere", "cohere-v2", loop, ("cohere",), whole=True))
