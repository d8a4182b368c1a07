"""An agent on Messages, with anthropic's own SDK; broken calls are treated as in `openai_chat.py`.

ANTHROPIC_API_KEY=… python examples/anthropic_messages.py "When is high water at Brest?"
"""

from __future__ import annotations

import sys

from anthropic import Anthropic, Stream
from anthropic.types import MessageParam, RawMessageStreamEvent

from harbour import TOOLS, run
from wholecall import wrap
from wholecall.history import Conversation

DEFINITIONS = TOOLS.definitions("anthropic")


def answer(client: Anthropic, messages: list[MessageParam], model: str = "claude-opus-4-5") -> str:
    """Return the model's answer once it needs no more tools; the turns on the way are appended to `messages`."""
    conversation = Conversation.after(messages, "anthropic")
    while True:
        asked = _ask(client, messages, model, conversation.carries_on.get("container"))
        stream = wrap(asked, tools=TOOLS)
        for event in stream:
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                print(event.delta.text, end="", flush=True)
        turn = stream.turn.raise_for_fault()
        messages += conversation.add(turn, {call.id: run(call) for call in turn.calls})
        if not turn.continues:
            return turn.text


def _ask(
    client: Anthropic, messages: list[MessageParam], model: str, container: str | None
) -> Stream[RawMessageStreamEvent]:
    """Return the answer to a request; code that waits for results runs in the container of the turn before."""
    return client.messages.create(
        model=model,
        max_tokens=4096,
        messages=messages,
        tools=DEFINITIONS,
        container=container,
        stream=True,
    )


if __name__ == "__main__":
    answer(Anthropic(), [{"role": "user", "content": " ".join(sys.argv[1:])}])
