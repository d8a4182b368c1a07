"""any-llm: the loops of OpenAI's guides over its chunks and events."""

from __future__ import annotations

import asyncio
from typing import Any

from any_llm import AnyLLM

from protocol import (
    ANTHROPIC,
    CHAT,
    GEMINI,
    KEY,
    MESSAGES,
    QUESTION,
    RESPONSES,
    Client,
    Run,
    chat_tools,
    responses_tools,
    serve,
)

PROVIDERS = {CHAT: "openai", ANTHROPIC: "anthropic", RESPONSES: "openai", GEMINI: "gemini"}
SDKS = {CHAT: "openai", ANTHROPIC: "anthropic", RESPONSES: "openai", GEMINI: "google-genai"}


def client(run: Run) -> Any:
    """Return any-llm's client of the wire's provider."""
    options: Any = {} if run.wire == GEMINI else {"max_retries": 0, "timeout": run.timeout}
    return AnyLLM.create(PROVIDERS[run.wire], api_key=KEY, api_base=run.url, **options)


async def ask_completion(run: Run) -> None:
    """Keep calls by their index and append to their arguments."""
    final: dict[Any, Any] = {}
    chunks: Any = await client(run).acompletion("m", MESSAGES, tools=chat_tools(run), stream=True)
    async for chunk in chunks:
        for call in (chunk.choices[0].delta.tool_calls or ()) if chunk.choices else ():
            if call.index not in final:
                final[call.index] = call
                call.function.arguments = call.function.arguments or ""
            else:
                final[call.index].function.arguments += call.function.arguments or ""
    for call in final.values():
        run.called(call.id, call.function.name, call.function.arguments)


async def ask_responses(run: Run) -> None:
    """Keep items by their position and append to their arguments."""
    final: dict[Any, Any] = {}
    events: Any = await client(run).aresponses("m", QUESTION, tools=responses_tools(run), stream=True)
    async for event in events:
        if event.type == "response.output_item.added" and event.item.type == "function_call":
            final[event.output_index] = event.item
        elif event.type == "response.function_call_arguments.delta":
            final[event.output_index].arguments += event.delta
    for item in final.values():
        run.called(item.call_id, item.name, item.arguments)


def read(run: Run) -> None:
    """Ask once."""
    asyncio.run(ask_responses(run) if run.wire == RESPONSES else ask_completion(run))


if __name__ == "__main__":
    serve(*(Client("any-llm", wire, read, ("any-llm-sdk", SDKS[wire])) for wire in PROVIDERS))
