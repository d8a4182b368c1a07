"""Requests of the scenarios in the wires: Chat Completions, Responses, Anthropic Messages, Gemini.

Theory of operation. A body is made of a variant, the endpoint's model and the endpoint's habits: parameters that it
refused by name are left out or spelled the other way. Members that the user adds (`--extra`) take the place of ours,
but for the limit of a scenario that is about limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from wholecall.grading.probe.asked import LIMITS, limits_in
from wholecall.grading.probe.exchange import Wire
from wholecall.grading.probe.offered import OfferedTool
from wholecall.grading.probe.scenarios import PastCall, PastResult, Variant

_BYTES_PER_TOKEN = 2  # at least, in text of any script, so that an estimate is no promise that is broken


class Habits(msgspec.Struct, frozen=True):
    """The deviations of an endpoint from the usual parameters, learned from its refusals.

    Attributes:
        temperature: whether a temperature is sent.
        long_limit: whether Chat Completions gets its limit as `max_completion_tokens`.
        extra: members that the user adds to each request.
    """

    temperature: bool = True
    long_limit: bool = False
    extra: dict[str, Any] = {}

    def after_refusal(self, said: bytes) -> Habits | None:
        """Return the habits with which a refused request may be asked again; None if the refusal names none."""
        if self.temperature and b"temperature" in said:
            return msgspec.structs.replace(self, temperature=False)
        if not self.long_limit and b"max_completion_tokens" in said:
            return msgspec.structs.replace(self, long_limit=True)
        return None

    @property
    def notes(self) -> list[str]:
        """What was left out or spelled the other way, for the report."""
        told = {
            "temperature was refused, and left out": not self.temperature,
            "max_tokens was refused, and sent as max_completion_tokens": self.long_limit,
        }
        return [note for note, is_so in told.items() if is_so]


def body_of(
    variant: Variant, wire: Wire, model: str, *, is_streamed: bool, habits: Habits | None = None
) -> dict[str, Any]:
    """Return the request's JSON object.

    Args:
        variant: the request apart from any wire; its history is whole.
        wire: the wire.
        model: the model's name.
        is_streamed: whether a stream is asked for.
        habits: the endpoint's habits; None for the usual ones.
    """
    habits = habits or Habits()
    if wire == "gemini":
        return _configured(_gemini(variant), habits, keeps_limit=variant.asked.outcome == "cut")
    body: dict[str, Any] = {"model": model} | _BODIES[wire](variant)
    if habits.temperature:
        body["temperature"] = 0
    if is_streamed:
        body["stream"] = True
        if variant.usage and wire == "chat-completions":
            body["stream_options"] = {"include_usage": True}
    limit = body.pop(LIMIT_OF[wire])
    name = "max_completion_tokens" if habits.long_limit and wire == "chat-completions" else LIMIT_OF[wire]
    body[name] = limit
    return _extended(body, habits.extra, keeps_limit=variant.asked.outcome == "cut")


def _extended(body: dict[str, Any], extra: dict[str, Any], *, keeps_limit: bool) -> dict[str, Any]:
    if keeps_limit:
        extra = _unlimited(extra)
    elif any(name in extra for name in LIMITS):
        body = _unlimited(body)
    return body | extra


def _unlimited(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in LIMITS}


def tokens_at_most(body: dict[str, Any]) -> int:
    """Return an upper bound of the tokens that a request costs: those of its bytes, and those it allows."""
    return len(msgspec.json.encode(body)) // _BYTES_PER_TOKEN + max(limits_in(body), default=0)


# Chat Completions.


def _chat(variant: Variant) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": variant.prompt}]
    if variant.calls:
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in variant.calls
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
    messages += [
        {"role": "tool", "tool_call_id": result.id, "content": result.text} for result in variant.results
    ]
    tools = [
        {"type": "function", "function": _described(tool, "parameters", strict=variant.strict)}
        for tool in variant.tools
    ]
    body: dict[str, Any] = {"messages": messages, "tools": tools, "max_tokens": variant.limit}
    if variant.choice is not None:
        named = {"type": "function", "function": {"name": variant.choice}}
        body["tool_choice"] = _choice(variant.choice, named)
    return body | _parallel(variant)


def _described(tool: OfferedTool, schema: str, *, strict: bool) -> dict[str, Any]:
    described: dict[str, Any] = {"name": tool.name, "description": tool.about, schema: tool.schema}
    return described | {"strict": True} if strict else described


def _choice(choice: str, named: dict[str, Any]) -> str | dict[str, Any]:
    return choice if choice in {"auto", "none", "required"} else named


def _parallel(variant: Variant) -> dict[str, Any]:
    return {} if variant.parallel is None else {"parallel_tool_calls": variant.parallel}


# Responses.


def _responses(variant: Variant) -> dict[str, Any]:
    items: list[dict[str, Any]] = [{"role": "user", "content": variant.prompt}]
    items += [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in variant.calls
    ]
    items += [
        {"type": "function_call_output", "call_id": result.id, "output": result.text}
        for result in variant.results
    ]
    tools = [
        {"type": "function", "strict": False} | _described(tool, "parameters", strict=variant.strict)
        for tool in variant.tools
    ]
    body: dict[str, Any] = {
        "input": items,
        "tools": tools,
        "max_output_tokens": variant.limit,
        "store": False,
    }
    if variant.choice is not None:
        body["tool_choice"] = _choice(variant.choice, {"type": "function", "name": variant.choice})
    return body | _parallel(variant)


# Anthropic Messages.


def _anthropic(variant: Variant) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": variant.prompt}]
    if variant.calls:
        calls = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": _decoded(call.arguments)}
            for call in variant.calls
        ]
        messages.append({"role": "assistant", "content": calls})
    if variant.results:
        messages.append({"role": "user", "content": [_result(result) for result in variant.results]})
    tools = [_described(tool, "input_schema", strict=variant.strict) for tool in variant.tools]
    body: dict[str, Any] = {"messages": messages, "tools": tools, "max_tokens": variant.limit}
    if variant.choice is not None:
        kinds = {"auto": "auto", "none": "none", "required": "any"}
        kind = kinds.get(variant.choice)
        choice: dict[str, Any] = {"type": kind} if kind else {"type": "tool", "name": variant.choice}
        if variant.parallel is not None:
            choice["disable_parallel_tool_use"] = not variant.parallel
        body["tool_choice"] = choice
    return body


def _result(result: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": result.id, "content": result.text}
    return block | {"is_error": True} if result.is_error else block


# Gemini, which has the model and the way, plain or streamed, in the address.

# What the documentation sends for a call that another model made; servers that sign nothing pass it over.
_UNSIGNED = "skip_thought_signature_validator"


def _gemini(variant: Variant) -> dict[str, Any]:
    contents = [{"role": "user", "parts": [{"text": variant.prompt}]}]
    if variant.calls:
        contents.append({"role": "model", "parts": [_called(call) for call in variant.calls]})
    if variant.results:
        names = {call.id: call.name for call in variant.calls}
        parts = [_responded(result, names) for result in variant.results]
        contents.append({"role": "user", "parts": parts})
    tools = [_described(tool, "parametersJsonSchema", strict=False) for tool in variant.tools]
    body: dict[str, Any] = {"contents": contents, "tools": [{"functionDeclarations": tools}]}
    if variant.choice is not None:
        body["toolConfig"] = {"functionCallingConfig": _mode(variant.choice)}
    return body | {"generationConfig": {"maxOutputTokens": variant.limit}}


def _mode(choice: str) -> dict[str, Any]:
    modes = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
    return {"mode": modes[choice]} if choice in modes else {"mode": "ANY", "allowedFunctionNames": [choice]}


def _called(call: PastCall) -> dict[str, Any]:
    called = {"id": call.id} if call.id else {}
    arguments = _decoded(call.arguments)
    return {
        "functionCall": called | {"name": call.name, "args": arguments},
        "thoughtSignature": call.signature or _UNSIGNED,
    }


def _responded(result: PastResult, names: dict[str, str]) -> dict[str, Any]:
    label = {"id": result.id} if result.id else {}
    response = {"error" if result.is_error else "output": result.text}
    name = result.name or names.get(result.id, "echo")
    return {"functionResponse": label | {"name": name, "response": response}}


def _configured(body: dict[str, Any], habits: Habits, *, keeps_limit: bool) -> dict[str, Any]:
    """Return a request of Gemini with the endpoint's habits, which are members of its configuration."""
    config = dict(body["generationConfig"]) | ({"temperature": 0} if habits.temperature else {})
    added = habits.extra.get("generationConfig")
    if isinstance(added, dict):
        limit = {"maxOutputTokens": config["maxOutputTokens"]} if keeps_limit else {}
        config |= added | limit
    return body | habits.extra | {"generationConfig": config}


def can_ask(variant: Variant, wire: Wire) -> bool:
    """Return whether a wire has words for all that a request asks: Gemini has none for serial calls and strict tools.

    It joins results to calls by their order where they have no ids, so that they are not sent in another one.
    """
    if wire != "gemini":
        return True
    answered = [result.id for result in variant.results if result.id]
    called = [call.id for call in variant.calls if call.id]
    is_ordered = variant.asked.outcome == "refusal" or answered == called
    return variant.parallel is None and not variant.strict and is_ordered


def _decoded(arguments: str) -> Any:
    """Return the value of an arguments text, the text itself where it is no JSON."""
    try:
        return msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return arguments


LIMIT_OF: Mapping[Wire, str] = {
    "chat-completions": "max_tokens",
    "responses": "max_output_tokens",
    "anthropic": "max_tokens",
}
_BODIES = {"chat-completions": _chat, "responses": _responses, "anthropic": _anthropic}
