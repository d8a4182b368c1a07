"""An agent on Responses, with openai's own SDK; broken calls are treated as in `openai_chat.py`.

OPENAI_API_KEY=… python examples/openai_responses.py "When is high water at Brest?"
"""

from __future__ import annotations

import sys

from openai import OpenAI
from openai.types.responses import ResponseInputParam

from harbour import TOOLS, run
from wholecall import wrap
from wholecall.history import Conversation

DEFINITIONS = TOOLS.definitions("responses")


def answer(client: OpenAI, items: ResponseInputParam, model: str = "gpt-5") -> str:
    """Return the model's answer once it needs no more tools; the turns on the way are appended to `items`."""
    conversation = Conversation.after(items, "responses")
    ask = client.responses.create
    while True:
        stream = wrap(ask(model=model, input=items, tools=DEFINITIONS, stream=True), tools=TOOLS)
        for event in stream:
            if event.type == "response.output_text.delta":
                print(event.delta, end="", flush=True)
        turn = stream.turn.raise_for_fault()
        items += conversation.add(turn, {call.id: run(call) for call in turn.calls})
        if not turn.continues:
            return turn.text


if __name__ == "__main__":
    answer(OpenAI(), [{"role": "user", "content": " ".join(sys.argv[1:])}])
