"""A loop over `litellm` in which a call that was cut is asked for again before the loop sees it.

OPENAI_API_KEY=… python examples/whole_litellm.py "When is high water at Brest?"
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import litellm

from harbour import TOOLS, book_berth, get_tide
from wholecall.integrations.litellm import completion


def answer(question: str, model: str = "openai/gpt-5") -> str:
    """Return the model's answer once it needs no more tools."""
    functions: dict[str, Callable[..., object]] = {"get_tide": get_tide, "book_berth": book_berth}
    messages: list[Any] = [{"role": "user", "content": question}]
    while True:
        chunks = completion(model=model, messages=messages, tools=TOOLS.definitions("openai"), stream=True)
        whole: Any = litellm.stream_chunk_builder(list(chunks))  # pyright: ignore[reportUnknownMemberType]
        message = whole.choices[0].message
        if not message.tool_calls:
            return str(message.content)
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            result = functions[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:])))
