"""A pasted agent: the loop that people write round a chat completion, without any library. It is no part of wholecall.

It keeps tool calls by their index, runs the tools when the answer ends in `tool_calls`, sends the results back, and goes
on until an answer has no calls.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

MAX_TURNS = 5


class Agent:
    """An agent.

    Args:
        base_url: the base URL of the API.
        tools: the tools, as the API declares them.
        functions: the function of each tool by its name, which takes the call's id and its arguments.
        timeout: seconds for each answer.
    """

    def __init__(
        self,
        base_url: str,
        tools: list[dict[str, Any]],
        functions: dict[str, Callable[..., str]],
        timeout: float,
    ) -> None:
        self.base_url = base_url
        self.tools = tools
        self.functions = functions
        self.timeout = timeout
        self.failed: list[tuple[str | None, str | None, str]] = []

    def ask(self, question: str) -> str:
        """Return the answer to a question."""
        messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
        for _ in range(MAX_TURNS):
            text, calls, reason = self.read(messages)
            if reason != "tool_calls" or not calls:
                return text
            messages.append({"role": "assistant", "content": text, "tool_calls": calls})
            messages += [self.result(call) for call in calls]
        return ""

    def result(self, call: dict[str, Any]) -> dict[str, Any]:
        """Return the message with a call's result; an unknown tool and arguments that are no JSON go back to the model."""
        made = call["function"]
        try:
            content = self.functions[made["name"]](call["id"], json.loads(made["arguments"] or "{}"))
        except (KeyError, json.JSONDecodeError) as error:
            content = f"The call is wrong: {type(error).__name__}: {error}"
            self.failed.append((call["id"], made["name"], content))
        return {"role": "tool", "tool_call_id": call["id"], "content": content}

    def read(self, messages: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]], str | None]:
        """Ask once; return the text, the calls, and why the answer ended."""
        text, calls, reason = "", dict[int, dict[str, Any]](), None
        for chunk in self.chunks(messages):
            if "error" in chunk:
                raise RuntimeError(chunk["error"].get("message", "error"))
            if not chunk["choices"]:
                continue
            choice = chunk["choices"][0]
            text += choice["delta"].get("content") or ""
            for piece in choice["delta"].get("tool_calls") or []:
                call = calls.setdefault(
                    piece["index"], {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
                )
                if piece.get("id"):
                    call["id"] = piece["id"]
                made = piece.get("function") or {}
                call["function"]["name"] += made.get("name") or ""
                call["function"]["arguments"] += made.get("arguments") or ""
            reason = choice.get("finish_reason") or reason
        return text, list(calls.values()), reason

    def chunks(self, messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the chunks of a streamed answer."""
        body = {"model": "m", "messages": messages, "tools": self.tools, "stream": True}
        request = urllib.request.Request(  # noqa: S310 - the user's own server
            f"{self.base_url}/chat/completions",
            data=json.dumps(body).encode(),
            headers={"content-type": "application/json", "authorization": "Bearer unused"},
        )
        with urllib.request.urlopen(request, timeout=self.timeout) as response:  # noqa: S310 - as above
            for line in response:
                data = line.decode().strip()
                if data.startswith("data: ") and data != "data: [DONE]":
                    yield json.loads(data[6:])
