"""The loops that people write for other APIs, each in the manner of its documentation."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from benchmarks.naive.splitting import Loads, Pending, gathered, lines, messages, payloads
from benchmarks.texts import Result


def gemini(reads: Iterable[bytes], loads: Loads) -> Result:
    """Read responses of Gemini: a part holds text, a whole call, or more of a string of the last call."""
    text: list[str] = []
    calls: list[tuple[str, str, Any]] = []
    for data in payloads(reads):
        for part in loads(data)["candidates"][0]["content"]["parts"]:
            if "text" in part:
                if not part.get("thought"):
                    text.append(part["text"])
            elif "functionCall" in part:
                call = part["functionCall"]
                if "name" in call:
                    calls.append((call["id"], call["name"], call.get("args", {})))
                for piece in call.get("partialArgs", ()):
                    arguments, key = calls[-1][2], piece["jsonPath"][2:]
                    arguments[key] = arguments.get(key, "") + piece["stringValue"]
    return Result("".join(text), calls)


def ollama(reads: Iterable[bytes], loads: Loads) -> Result:
    """Read lines of Ollama: a message holds text, or whole calls."""
    text: list[str] = []
    calls: list[tuple[str, str, Any]] = []
    for data in lines(reads):
        line = loads(data)
        message = line["message"]
        if message.get("content"):
            text.append(message["content"])
        for call in message.get("tool_calls") or ():
            function = call["function"]
            calls.append((call["id"], function["name"], function["arguments"]))
        if line["done"]:
            break
    return Result("".join(text), calls)


def converse(reads: Iterable[bytes], loads: Loads) -> Result:
    """Read messages of ConverseStream."""
    text: list[str] = []
    calls: Pending = {}
    for kind, data in messages(reads):
        event = loads(data)
        if kind == "contentBlockDelta":
            delta = event["delta"]
            if "toolUse" in delta:
                calls[event["contentBlockIndex"]]["arguments"].append(delta["toolUse"]["input"])
            elif "text" in delta:
                text.append(delta["text"])
        elif kind == "contentBlockStart":
            use = event["start"]["toolUse"]
            calls[event["contentBlockIndex"]] = {"id": use["toolUseId"], "name": use["name"], "arguments": []}
        elif kind == "messageStop":
            break
    return gathered(text, calls, loads)


def invoke_anthropic(reads: Iterable[bytes], loads: Loads) -> Result:
    """Read chunks of InvokeModelWithResponseStream, each an event of Anthropic in Base64."""
    text: list[str] = []
    calls: Pending = {}
    for kind, data in messages(reads):
        if kind != "chunk":
            continue
        event = loads(base64.b64decode(loads(data)["bytes"]))
        if event["type"] == "content_block_delta":
            delta = event["delta"]
            if delta["type"] == "input_json_delta":
                calls[event["index"]]["arguments"].append(delta["partial_json"])
            elif delta["type"] == "text_delta":
                text.append(delta["text"])
        elif event["type"] == "content_block_start":
            block = event["content_block"]
            if block["type"] == "tool_use":
                calls[event["index"]] = {"id": block["id"], "name": block["name"], "arguments": []}
        elif event["type"] == "message_stop":
            break
    return gathered(text, calls, loads)


def cohere(reads: Iterable[bytes], loads: Loads) -> Result:
    """Read events of Cohere's chat, version 2."""
    text: list[str] = []
    calls: Pending = {}
    for data in payloads(reads):
        event = loads(data)
        kind = event["type"]
        if kind == "tool-call-delta":
            function = event["delta"]["message"]["tool_calls"]["function"]
            calls[event["index"]]["arguments"].append(function["arguments"])
        elif kind == "content-delta":
            content = event["delta"]["message"]["content"]
            if "text" in content:
                text.append(content["text"])
        elif kind == "tool-call-start":
            call = event["delta"]["message"]["tool_calls"]
            calls[event["index"]] = {"id": call["id"], "name": call["function"]["name"], "arguments": []}
        elif kind == "message-end":
            break
    return gathered(text, calls, loads)


def vercel(reads: Iterable[bytes], loads: Loads) -> Result:
    """Read a UI message stream; the whole input takes the place of its pieces."""
    text: list[str] = []
    pieces: dict[str, list[str]] = {}
    calls: list[tuple[str, str, Any]] = []
    for data in payloads(reads):
        if data == "[DONE]":
            break
        event = loads(data)
        kind = event["type"]
        if kind == "tool-input-delta":
            pieces[event["toolCallId"]].append(event["inputTextDelta"])
        elif kind == "text-delta":
            text.append(event["delta"])
        elif kind == "tool-input-start":
            pieces[event["toolCallId"]] = []
        elif kind == "tool-input-available":
            calls.append((event["toolCallId"], event["toolName"], event["input"]))
    return Result("".join(text), calls)
