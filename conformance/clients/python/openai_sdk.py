"""OpenAI's SDK: the loops of its guides to streaming, and its helpers, over Chat Completions and Responses."""

from __future__ import annotations

from typing import Any

import openai

from protocol import CHAT, KEY, MESSAGES, QUESTION, RESPONSES, Client, Run, chat_tools, responses_tools, serve

HTTP: dict[
    str, Any
] = {}  # further settings of the SDK's client; a program that imports this module may have some


def client(run: Run) -> openai.OpenAI:
    """Return the SDK's client for a run."""
    return openai.OpenAI(api_key=KEY, base_url=run.url, max_retries=0, timeout=run.timeout, **HTTP)


def chat_loop(run: Run) -> None:
    """Keep calls by their index and append to their arguments, as the guide does."""
    final: dict[Any, Any] = {}
    ask: Any = {"model": "m", "messages": MESSAGES, "tools": chat_tools(run)}
    with client(run) as made:
        if not run.stream:
            take_message(run, made.chat.completions.create(**ask).choices[0].message)
            return
        for chunk in made.chat.completions.create(**ask, stream=True):
            for call in (chunk.choices[0].delta.tool_calls or ()) if chunk.choices else ():
                if call.index not in final:
                    final[call.index] = call
                    call.function.arguments = call.function.arguments or ""
                else:
                    final[call.index].function.arguments += call.function.arguments or ""
    for call in final.values():
        run.called(call.id, call.function.name, call.function.arguments)


def take_message(run: Run, message: Any) -> None:
    """Take the calls of a message."""
    run.text = message.content or ""
    for call in message.tool_calls or ():
        run.called(call.id, call.function.name, call.function.arguments)


def chat_helper(run: Run) -> None:
    """Take the calls of the completion that `.stream()` made; it takes only strict tools."""
    ask: Any = {"model": "m", "messages": MESSAGES, "tools": chat_tools(run, strict=True)}
    with client(run) as made, made.chat.completions.stream(**ask) as stream:
        take_message(run, stream.get_final_completion().choices[0].message)


def responses_loop(run: Run) -> None:
    """Keep items by their position and append to their arguments, as the guide does."""
    final: dict[Any, Any] = {}
    ask: Any = {"model": "m", "input": QUESTION, "tools": responses_tools(run, strict=False)}
    with client(run) as made:
        if not run.stream:
            take_response(run, made.responses.create(**ask))
            return
        for event in made.responses.create(**ask, stream=True):
            if event.type == "response.output_item.added" and event.item.type == "function_call":
                final[event.output_index] = event.item
            elif event.type == "response.function_call_arguments.delta":
                final[event.output_index].arguments += event.delta
    for item in final.values():
        run.called(item.call_id, item.name, item.arguments)


def take_response(run: Run, response: Any) -> None:
    """Take the calls of a response; one that is not completed says so in its status."""
    run.text = response.output_text
    for item in response.output:
        if item.type == "function_call":
            run.called(item.call_id, item.name, item.arguments)
    if response.status in {"failed", "incomplete"}:
        raise RuntimeError(
            f"the response is {response.status}: {response.error or response.incomplete_details}"
        )


def responses_helper(run: Run) -> None:
    """Take the calls of the response that `.stream()` made."""
    ask: Any = {"model": "m", "input": QUESTION, "tools": responses_tools(run, strict=True)}
    with client(run) as made, made.responses.stream(**ask) as stream:
        take_response(run, stream.get_final_response())


CLIENTS = (
    Client("openai-loop", CHAT, chat_loop, ("openai",), whole=True),
    Client("openai-stream", CHAT, chat_helper, ("openai",)),
    Client("openai-loop", RESPONSES, responses_loop, ("openai",), whole=True),
    Client("openai-stream", RESPONSES, responses_helper, ("openai",)),
)

if __name__ == "__main__":
    serve(*CLIENTS)
