"""Groq's SDK over Chat Completions: the loop of the guides to streaming."""

from __future__ import annotations

from typing import Any

from groq import Groq

from protocol import CHAT, KEY, MESSAGES, Client, Run, chat_tools, serve


def loop(run: Run) -> None:
    """Keep calls by their index and append to their arguments."""
    final: dict[Any, Any] = {}
    ask: Any = {"model": "m", "messages": MESSAGES, "tools": chat_tools(run)}
    with Groq(api_key=KEY, base_url=run.url, max_retries=0, timeout=run.timeout) as client:
        if not run.stream:
            take(run, client.chat.completions.create(**ask).choices[0].message.tool_calls)
            return
        for chunk in client.chat.completions.create(**ask, stream=True):
            for call in (chunk.choices[0].delta.tool_calls or ()) if chunk.choices else ():
                if call.index not in final:
                    final[call.index] = call
                    call.function.arguments = call.function.arguments or ""
                else:
                    final[call.index].function.arguments += call.function.arguments or ""
    take(run, list(final.values()))


def take(run: Run, calls: Any) -> None:
    """Take calls."""
    for call in calls or ():
        run.called(call.id, call.function.name, call.function.arguments)


if __name__ == "__main__":
    serve(Client("groq", CHAT, loop, ("groq",), whole=True))
