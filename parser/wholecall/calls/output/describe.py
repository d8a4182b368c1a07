"""Descriptions of calls for a model: a sentence, and the tool result that carries it.

Theory of operation. A dropped call is answered with an error, or the next request is refused. The sentence names the
reason and the remedy; the argument text is quoted only on request: as it is where it is JSON, as in a call that does
not fit its tool, and otherwise wrapped as `{"INVALID_JSON": …}`, so that broken text cannot break the answer. The
wrapper is Anthropic's recommendation for arguments that are not JSON.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from wholecall.calls.arguments.strict import is_json
from wholecall.calls.output.results import Answer, tool_result

if TYPE_CHECKING:
    from wholecall.calls.arguments.verdict import Edit
    from wholecall.types import DropReason, Flag, Kind, Status


class _Dropped(Protocol):
    """The members of a dropped call that are needed here."""

    @property
    def id(self) -> str | None: ...
    @property
    def name(self) -> str | None: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def raw_arguments(self) -> str: ...
    @property
    def reason(self) -> DropReason: ...
    @property
    def detail(self) -> str: ...


_TRY_AGAIN = "call the tool again with complete arguments as one JSON object"
# The meaning of each reason for the model that made the call, and its options.
_ADVICE: dict[DropReason, tuple[str, str]] = {
    "nameless": ("it had no tool name", "name one of the available tools"),
    "truncated": ("its arguments were cut off", "call it again, with shorter arguments if they were long"),
    "unterminated": ("the stream ended inside of it", _TRY_AGAIN),
    "aborted": ("the turn was aborted", "call it again if it is still needed"),
    "incomplete_input": ("part of its arguments was lost on the way", _TRY_AGAIN),
    "unparseable": ("its arguments are not JSON", _TRY_AGAIN),
    "invalid_json": ("its arguments are not valid JSON", _TRY_AGAIN),
    "ambiguous": ("it can be read in more than one way", _TRY_AGAIN),
    "multiple_objects": ("its arguments hold several JSON objects", "make one call for each of them"),
    "not_an_object": ("its arguments are not a JSON object", _TRY_AGAIN),
    "empty_arguments": ("it has no arguments, but the tool requires some", _TRY_AGAIN),
    "duplicate_key": ("a key occurs twice with different values", "give every key once"),
    "lone_surrogate": ("a string holds half of a surrogate pair", "write the character whole"),
    "invalid_utf8": ("its arguments are not valid UTF-8", _TRY_AGAIN),
    "nesting_too_deep": ("its arguments are nested too deeply", "nest them less"),
    "number_too_long": ("a number is too long", "give it as a string, or rounded"),
    "number_out_of_range": ("a number is out of range", "give it as a string, or a smaller one"),
    "arguments_too_large": ("its arguments are too large", "split the work into smaller calls"),
    "too_many_calls": ("there were too many calls in one turn", "make fewer at once"),
    "id_too_long": ("its id is too long", "call it again"),
    "name_too_long": ("its tool name is too long", "name one of the available tools"),
    "unknown_tool": ("there is no such tool", "name one of the available tools"),
    "told_twice": ("the same call came twice, and the other one counts", "wait for the result of that one"),
    "schema": ("its arguments do not fit the tool", "correct them and call it again"),
}


def describe_dropped(dropped: _Dropped, include_raw: bool) -> str:
    """Return a message for the model about a call that was not executed."""
    wrong, advice = _ADVICE[dropped.reason]
    called = f"the call of {dropped.name!r}" if dropped.name else "the call"
    where = f" ({dropped.detail})" if dropped.reason in ("schema", "too_many_calls") else ""
    text = f"Error: {called} was not executed, because {wrong}{where}. Please {advice}."
    if not include_raw:
        return text
    raw = dropped.raw_arguments
    quoted = raw if is_json(raw) else json.dumps({"INVALID_JSON": raw}, ensure_ascii=False)
    return f"{text} What arrived: {quoted.encode('utf-8', 'backslashreplace').decode()}"


def describe_call(
    label: str, status: Status, edits: tuple[Edit, ...], flags: tuple[Flag, ...], raw: str, include_raw: bool
) -> str:
    """Return how a whole call was read, for a log or a model; `label` identifies the call."""
    changed = ", ".join(f"{edit.kind} at character {edit.offset}" for edit in edits)
    said = [f"{label}: {status}, {len(raw)} characters of arguments"]
    said += [f"changed: {changed}"] if edits else []
    said += [f"flags: {', '.join(flags)}"] if flags else []
    said += [f"as it arrived: {raw}"] if include_raw else []
    return "; ".join(said)


def as_tool_result(dropped: _Dropped, dialect: str, include_raw: bool) -> dict[str, Any]:
    """Return the message, item or part that answers a dropped call with an error."""
    text = describe_dropped(dropped, include_raw)
    return tool_result(dialect, Answer(dropped.id, dropped.name, text, dropped.kind, failed=True))
