"""Ollama's SDK: the calls of each piece, as its example of streaming with tools takes them."""

from __future__ import annotations

from typing import Any

import ollama

from protocol import MESSAGES, Client, Run, chat_tools, serve


def loop(run: Run) -> None:
    """Take the calls of each piece; the SDK has no ids."""
    client = ollama.Client(host=run.url, timeout=run.timeout)
    given: Any = client.chat(model="m", messages=MESSAGES, tools=chat_tools(run), stream=run.stream)
    run.text = ""
    for piece in given if run.stream else [given]:
        run.text += piece.message.content or ""
        for call in piece.message.tool_calls or ():
            run.called(None, call.function.name, dict(call.function.arguments))


if __name__ == "__main__":
    serve(Client("ollama", "ollama", loop, ("ollama",), whole=True))
