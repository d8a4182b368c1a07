"""Small requests for the self-test of the judge, and their exchanges with a good or faulty server.

Theory of operation. The command has its own scenarios, with prompts that a model understands. These here are the
same kinds without prompts, so that the judge can be tested alone, without a network and without a model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

from wholecall.grading.probe.exchange import Asked, AskedCall, Exchange, Wire
from wholecall.grading.probe.selftest.server import respond

_TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
}
_NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
_NAMES = ("echo", "say_back", "repeat-text", "tide_echo")
_TEXTS = (
    "caf\u00e9 \u6f6e\u4f4d \U0001f30a",
    'quotes " and \\ and \n and \t and \u00df',
    "\u2028 between \u00fc",
    "na\u00efve \u2014 yes",
)


class Scene(NamedTuple):
    """One request.

    Attributes:
        id: the scenario.
        asked: what it asks for.
        more: members of the request in addition to the usual ones.
        variant: which of the scenario's requests it is.
    """

    id: str
    asked: Asked
    more: Mapping[str, Any] = MappingProxyType({})
    variant: str = ""


def _tools(wire: Wire, echo: str) -> list[dict[str, Any]]:
    schemas = {echo: _TEXT, "add": _NUMBERS, "noargs": _NOTHING}
    if wire == "chat-completions":
        return [{"type": "function", "function": {"name": n, "parameters": s}} for n, s in schemas.items()]
    if wire == "responses":
        return [{"type": "function", "name": name, "parameters": schema} for name, schema in schemas.items()]
    if wire == "gemini":
        return [{"functionDeclarations": [{"name": n, "parameters": s} for n, s in schemas.items()]}]
    return [{"name": name, "input_schema": schema} for name, schema in schemas.items()]


def _choice(wire: Wire, word: str, name: str = "") -> Any:
    if wire == "anthropic":
        words = {
            "required": {"type": "any"},
            "none": {"type": "none"},
            "named": {"type": "tool", "name": name},
        }
        return words[word]
    if word != "named":
        return word
    named = {"type": "function", "name": name}
    return named if wire == "responses" else {"type": "function", "function": {"name": name}}


def _chosen(wire: Wire, word: str, name: str = "") -> dict[str, Any]:
    """Return the member of a request that chooses tools."""
    if wire != "gemini":
        return {"tool_choice": _choice(wire, word, name)}
    config: dict[str, Any] = {"mode": "NONE" if word == "none" else "ANY"}
    return {
        "toolConfig": {"functionCallingConfig": config | ({"allowedFunctionNames": [name]} if name else {})}
    }


def _limit(wire: Wire, tokens: int) -> dict[str, Any]:
    if wire == "gemini":
        return {"generationConfig": {"maxOutputTokens": tokens}}
    return {"max_output_tokens" if wire == "responses" else "max_tokens": tokens}


def _serial(wire: Wire) -> dict[str, Any]:
    if wire == "gemini":
        return {}
    if wire == "anthropic":
        return {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}
    return {"parallel_tool_calls": False}


def scenes(wire: Wire, random: Random) -> list[Scene]:
    """Return the requests of a wire; names and texts vary."""
    echo, text = random.choice(_NAMES), random.choice(_TEXTS)
    one = Asked(outcome="calls", calls=(AskedCall(echo, {"text": text}),))
    two = Asked(
        outcome="calls", calls=(AskedCall(echo, {"text": "first"}), AskedCall(echo, {"text": "second"}))
    )
    large = {"a": 9007199254740993 + 2 * random.randrange(100), "b": 0.1}
    long = "".join(f"line {number} {text} " for number in range(40))
    limit = _limit(wire, random.randrange(9, 60))
    past = "contents" if wire == "gemini" else "messages"
    found = [
        Scene("one", one),
        Scene("two", two),
        Scene("none", Asked(outcome="text")),
        Scene("noargs", Asked(outcome="calls", calls=(AskedCall("noargs", {}),))),
        Scene("numbers", Asked(outcome="calls", calls=(AskedCall("add", large),))),
        Scene("cut", Asked(outcome="cut", calls=(AskedCall(echo, {"text": long}),)), limit, "1"),
        Scene("cut", Asked(outcome="cut", calls=(AskedCall(echo, {"text": "a b"}),)), limit, "last"),
        Scene("choice", one, _chosen(wire, "required"), "required"),
        Scene("choice", one, _chosen(wire, "named", echo), "named"),
        Scene("choice", Asked(outcome="text"), _chosen(wire, "none"), "none"),
        Scene("choice", one, _serial(wire), "serial"),
        Scene("turn", Asked(outcome="text"), {past: _history(wire)} if wire != "responses" else {}),
        Scene("bad", Asked(outcome="refusal"), {past: _history(wire)}),
    ]
    return [scene._replace(more={"tools": _tools(wire, echo), **scene.more}) for scene in found]


def _history(wire: Wire) -> list[dict[str, Any]]:
    if wire == "gemini":
        part = {"functionCall": {"name": "noargs", "args": {}}}
        response = {"functionResponse": {"name": "noargs", "response": {"output": "3"}}}
        return [{"role": "model", "parts": [part]}, {"role": "user", "parts": [response]}]
    if wire == "anthropic":
        used = {"type": "tool_use", "id": "toolu_1", "name": "noargs", "input": {}}
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "3"}
        return [{"role": "assistant", "content": [used]}, {"role": "user", "content": [result]}]
    call = {"id": "call_1", "type": "function", "function": {"name": "noargs", "arguments": "{}"}}
    answered = {"role": "tool", "tool_call_id": "call_1", "content": "3"}
    return [{"role": "assistant", "content": None, "tool_calls": [call]}, answered]


def _request(wire: Wire, scene: Scene, *, is_streamed: bool) -> dict[str, Any]:
    said = [{"role": "user", "content": f"Scenario {scene.id} {scene.variant}"}]
    if wire == "gemini":
        contents = [{"role": "user", "parts": [{"text": f"Scenario {scene.id} {scene.variant}"}]}]
        return {"contents": contents, **scene.more}
    request: dict[str, Any] = {"model": "good-model", ("input" if wire == "responses" else "messages"): said}
    if wire == "anthropic":
        request["max_tokens"] = 4096
    request.update(scene.more)
    if is_streamed:
        request["stream"] = True
    if is_streamed and wire == "chat-completions":
        request["stream_options"] = {"include_usage": True}
    return request


def exchanges(
    wire: Wire, *, fault: str | None = None, seed: int = 0, tries: int = 1, only: Collection[str] = ()
) -> Iterator[Exchange]:
    """Yield the exchanges of all scenes with a good server, or one with a fault, plain and streamed.

    Args:
        wire: the wire format.
        fault: the name of a fault of the wire; None for a good server.
        seed: decides names, texts, ids and cuts.
        tries: how often each request is made.
        only: the scenarios to take; none for all.
    """
    found = [each for each in scenes(wire, Random(f"{seed} {wire}")) if not only or each.id in only]  # noqa: S311 - a repeatable one
    for attempt in range(1, tries + 1):
        for scene in found:
            for is_streamed in (False, True):
                request = _request(wire, scene, is_streamed=is_streamed)
                seeded = seed * 1000 + attempt
                reply = respond(request, scene.asked, wire, fault=fault, seed=seeded, is_streamed=is_streamed)
                yield Exchange(
                    scenario=scene.id,
                    variant=scene.variant,
                    attempt=attempt,
                    wire=wire,
                    is_streamed=is_streamed,
                    request=request,
                    status=reply.status,
                    headers=reply.headers,
                    chunks=tuple((None, chunk) for chunk in reply.chunks),
                    asked=scene.asked,
                )
