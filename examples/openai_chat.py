"""An agent on Chat Completions, with openai's own SDK: stream, execute, answer, ask again.

    OPENAI_API_KEY=… python examples/openai_chat.py "When is high water at Brest?"

A call that was cut, doubled, or assembled from false labels is not executed; the model is told, and continues. If the
SDK raises, `messages` holds the messages before that turn, and `answer` can be called with them again.
"""

from __future__ import annotations

import sys

from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam

from harbour import TOOLS, run
from wholecall import wrap
from wholecall.history import Conversation

DEFINITIONS = TOOLS.definitions("openai")


def answer(client: OpenAI, messages: list[ChatCompletionMessageParam], model: str = "gpt-5") -> str:
    """Return the model's answer once it needs no more tools; the turns on the way are appended to `messages`."""
    conversation = Conversation.after(messages, "chat-completions")
    ask = client.chat.completions.create
    while True:
        stream = wrap(ask(model=model, messages=messages, tools=DEFINITIONS, stream=True), tools=TOOLS)
        for chunk in stream:
            for choice in chunk.choices:
                print(choice.delta.content or "", end="", flush=True)
        turn = stream.turn.raise_for_fault()
        messages += conversation.add(turn, {call.id: run(call) for call in turn.calls})
        if not turn.continues:
            return turn.text


if __name__ == "__main__":
    answer(OpenAI(), [{"role": "user", "content": " ".join(sys.argv[1:])}])
