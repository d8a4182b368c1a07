"""litellm: the chunks of `completion` put together by its `stream_chunk_builder`, and the events of `responses`."""

from __future__ import annotations

import os
from typing import Any

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

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no request at import

import litellm

PROVIDERS = {CHAT: "openai", ANTHROPIC: "anthropic", GEMINI: "gemini"}


def asked(run: Run, model: str) -> dict[str, Any]:
    """Return the settings of a request."""
    return {
        "model": model,
        "api_base": run.url,
        "api_key": KEY,
        "max_retries": 0,
        "timeout": run.timeout,
        "stream": run.stream,
    }


def completion(run: Run, complete: Any = litellm.completion) -> None:
    """Take the calls of the message that `stream_chunk_builder` makes."""
    ask = asked(run, f"{PROVIDERS[run.wire]}/m")
    given: Any = complete(**ask, messages=MESSAGES, tools=chat_tools(run))
    whole: Any = litellm.stream_chunk_builder(list(given), messages=MESSAGES) if run.stream else given
    if whole is None:
        return
    message = whole.choices[0].message
    run.text = message.content or ""
    for call in message.tool_calls or ():
        run.called(call.id, call.function.name, call.function.arguments)


def responses(run: Run) -> None:
    """Keep items by their position and append to their arguments, as OpenAI's guide does."""
    final: dict[Any, Any] = {}
    # It requests no events of a model that it does not know.
    ask = asked(run, "openai/gpt-4o")
    for event in litellm.responses(**ask, input=QUESTION, tools=responses_tools(run)):
        if event.type == "response.output_item.added" and event.item.type == "function_call":
            final[event.output_index] = event.item
        elif event.type == "response.function_call_arguments.delta":
            final[event.output_index].arguments += event.delta
    for item in final.values():
        run.called(item.call_id, item.name, item.arguments)


if __name__ == "__main__":
    litellm.suppress_debug_info = True
    packages = ("litellm", "openai")
    serve(
        *(Client("litellm", wire, completion, packages, whole=True) for wire in PROVIDERS),
        Client("litellm", RESPONSES, responses, packages),
    )
