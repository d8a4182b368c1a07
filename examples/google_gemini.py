"""An agent on Gemini, or on Vertex AI, with google's own SDK; broken calls are treated as in `openai_chat.py`.

GEMINI_API_KEY=… python examples/google_gemini.py "When is high water at Brest?"
"""

from __future__ import annotations

import sys

from google.genai import Client
from google.genai.types import ContentDict, GenerateContentConfigDict

from harbour import TOOLS, run
from wholecall import wrap
from wholecall.history import Conversation

CONFIG = GenerateContentConfigDict(tools=TOOLS.definitions("gemini"))


def answer(client: Client, contents: list[ContentDict], model: str = "gemini-3-pro") -> str:
    """Return the model's answer once it needs no more tools; the turns on the way are appended to `contents`."""
    conversation = Conversation.after(contents, "gemini")
    # The SDK's own type names one of Pillow, which need not be installed.
    ask = client.models.generate_content_stream  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    while True:
        stream = wrap(ask(model=model, contents=contents, config=CONFIG), tools=TOOLS)
        for chunk in stream:
            print(chunk.text or "", end="", flush=True)
        turn = stream.turn.raise_for_fault()
        contents += conversation.add(turn, {call.id: run(call) for call in turn.calls})
        if not turn.continues:
            return turn.text


if __name__ == "__main__":
    answer(Client(), [{"role": "user", "parts": [{"text": " ".join(sys.argv[1:])}]}])
