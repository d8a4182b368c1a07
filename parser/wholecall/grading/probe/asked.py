"""The wishes of a request, in one vocabulary for all wires.

Theory of operation. The probe's own requests and those that users extend are read alike: whoever judges an answer, or
gives one for a test, has the request in the words of its wire and nothing else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wholecall.grading.probe.reading.model import member, objects, word

LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
_HISTORIES = ("messages", "input", "contents")
# The words of wires for a choice of tools, where they are not ours.
_CHOICES = {"any": "required", "tool": "named", "function": "named"}


class Choice(NamedTuple):
    """The choice of tools.

    Attributes:
        kind: `auto`, `none`, `required`, `named`, or another word of the request's.
        name: the tool's name where one is named.
    """

    kind: str
    name: str = ""


def history_in(request: dict[str, Any]) -> list[Any]:
    """Return the messages, items or contents of a request."""
    found: Any = next((request[name] for name in _HISTORIES if name in request), [])
    return found if isinstance(found, list) else []


def functions_in(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the described functions: objects with a `name`, and a schema under a name of the wire's."""
    found: list[dict[str, Any]] = []
    for tool in objects(request.get("tools")):
        listed = objects(tool.get("functionDeclarations"))
        found += listed or [member(tool, "function") or tool]
    return found


def schema_of(function: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a described function; an empty one where there is none."""
    for name in ("parameters", "input_schema", "parametersJsonSchema"):
        if isinstance(function.get(name), dict):
            return member(function, name)
    return {}


def limits_in(request: dict[str, Any]) -> list[int]:
    """Return the limits of tokens that a request states for the answer."""
    holders = (request, member(request, "generationConfig"))
    return [limit for holder in holders for name in LIMITS if isinstance(limit := holder.get(name), int)]


def limit_in(request: dict[str, Any]) -> int | None:
    """Return the most tokens that the answer may have, the least of several limits; None without one."""
    return min(limits_in(request), default=None)


def choice_in(request: dict[str, Any]) -> Choice:
    """Return the choice of tools."""
    config = member(member(request, "toolConfig"), "functionCallingConfig")
    if config:
        names = config.get("allowedFunctionNames")
        if isinstance(names, list) and names:
            return Choice("named", word(names[0]))
        mode = word(config.get("mode")).lower()
        return Choice(_CHOICES.get(mode, mode) or "auto")
    given = request.get("tool_choice", "auto")
    if not isinstance(given, dict):
        return Choice(given if isinstance(given, str) else "auto")
    kind = word(given.get("type")) or "auto"
    return Choice(_CHOICES.get(kind, kind), word(member(given, "function").get("name") or given.get("name")))


def is_serial(request: dict[str, Any]) -> bool:
    """Return whether parallel calls are switched off."""
    choice = member(request, "tool_choice")
    return request.get("parallel_tool_calls") is False or choice.get("disable_parallel_tool_use") is True
