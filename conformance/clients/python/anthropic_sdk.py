"""Anthropic's SDK: a loop that joins the pieces of each block, and its helper."""

from __future__ import annotations

from typing import Any

import anthropic

from protocol import ANTHROPIC, KEY, MESSAGES, Client, Run, anthropic_tools, serve

HTTP: dict[
    str, Any
] = {}  # further settings of the SDK's client; a program that imports this module may have some


def client(run: Run) -> anthropic.Anthropic:
    """Return the SDK's client for a run."""
    return anthropic.Anthropic(api_key=KEY, base_url=run.url, max_retries=0, timeout=run.timeout, **HTTP)


def loop(run: Run) -> None:
    """Join the pieces of each block; without pieces, what its start holds is the input."""
    blocks: dict[int, Any] = {}
    texts: dict[int, str] = {}
    ask: Any = {"model": "m", "max_tokens": 64, "messages": MESSAGES, "tools": anthropic_tools(run)}
    with client(run) as made:
        if not run.stream:
            take_message(run, made.messages.create(**ask))
            return
        for event in made.messages.create(**ask, stream=True):
            if event.type == "content_block_start" and event.content_block.type == "tool_use":
                blocks[event.index], texts[event.index] = event.content_block, ""
            elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                texts[event.index] = texts.get(event.index, "") + event.delta.partial_json
    for index, block in blocks.items():
        run.called(block.id, block.name, texts[index] or block.input)


def take_message(run: Run, message: Any) -> None:
    """Take the blocks of a message."""
    run.text = "".join(block.text for block in message.content if block.type == "text")
    for block in message.content:
        if block.type == "tool_use":
            run.called(block.id, block.name, block.input)


def helper(run: Run) -> None:
    """Take the blocks of the message that `.stream()` made."""
    ask: Any = {"model": "m", "max_tokens": 64, "messages": MESSAGES, "tools": anthropic_tools(run)}
    with client(run) as made, made.messages.stream(**ask) as stream:
        take_message(run, stream.get_final_message())


CLIENTS = (
    Client("anthropic-loop", ANTHROPIC, loop, ("anthropic",), whole=True),
    Client("anthropic-stream", ANTHROPIC, helper, ("anthropic",)),
)

if __name__ == "__main__":
    serve(*CLIENTS)
