"""From argument text to a verdict, with a check against the tool if the tool is known.

Theory of operation. The text is read by the ladder of `wholecall.calls.arguments.ladder`, whatever the tool. A value that
could be read is then checked against the tool, which can only make the verdict worse; integers are made safe last. The
text of an answer is treated in the same way; a value that already fits is not changed.

A text that was cut has no verdict but a drop. Its visible part is a snapshot of another type (`partial_json`), so that
it cannot be mistaken for arguments.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast, overload

from msgspec.structs import replace

from wholecall.calls.arguments import strict, tokens
from wholecall.calls.arguments.ladder import Ending, read_answer, read_arguments
from wholecall.calls.arguments.partial_json import JsonScanner, PartialJson
from wholecall.calls.arguments.verdict import Edit, Verdict
from wholecall.calls.output.answers import Output, OutputDropped
from wholecall.calls.tools import answers, fit
from wholecall.calls.tools.misfit import Check, Misfit
from wholecall.calls.tools.tool import Tool, TypedForm
from wholecall.limits import Limits
from wholecall.policy import Policy

if TYPE_CHECKING:
    from wholecall.calls.arguments.verdict import ArgsT
    from wholecall.types import JsonState, OutputReason


@overload
def parse_arguments(
    raw: str, *, ended: Ending = ..., tool: None = None, policy: Policy = ..., limits: Limits = ...
) -> Verdict: ...
@overload
def parse_arguments(
    raw: str, *, ended: Ending = ..., tool: TypedForm[ArgsT], policy: Policy = ..., limits: Limits = ...
) -> Verdict[ArgsT]: ...
@overload
def parse_arguments(
    raw: str, *, ended: Ending = ..., tool: Any, policy: Policy = ..., limits: Limits = ...
) -> Verdict[Any]: ...
def parse_arguments(
    raw: str,
    *,
    ended: Ending = "clean",
    tool: Any = None,
    policy: Policy = Policy(),  # noqa: B008 (frozen)
    limits: Limits = Limits(),  # noqa: B008 (frozen)
) -> Verdict[Any]:
    """Judge one call's whole argument text; never raises, whatever the text holds.

    Args:
        raw: the argument text as it arrived.
        ended: how the call ended. `"clean"`: the provider ended it; `"length"`: the turn was cut for length or by a
            content filter; `"open"`: the stream ended without any terminal evidence.
        tool: the tool that the arguments have to fit: a `Tool` (made once, used often), or its description.
        policy: which rungs count, and which calls a cut turn may still emit.
        limits: bounds in bytes, characters and levels; a breach drops the call.

    Returns:
        A verdict with `arguments` if the call may be executed, else with a `reason`.

    Raises:
        TypeError, ValueError, ImportError: `tool` does not describe a tool; see `Tool`.
    """
    check = None
    if tool is not None:
        check = tool.check if isinstance(tool, Tool) else Tool(tool, "the tool").check
    return accept(read_arguments(raw, ended, policy, limits), raw, check, policy, limits)


def accept(verdict: Verdict, raw: str, check: Check | None, policy: Policy, limits: Limits) -> Verdict[Any]:
    """Return the final verdict on a text that was read, checked against its tool if that is known."""
    if check is not None and verdict.arguments is not None:
        verdict = fit.fit(verdict, raw, check, policy, limits)
    if policy.json_safe_ints:
        _make_ints_safe(verdict.arguments)
    return verdict


_CUT: dict[Ending, tuple[OutputReason, str]] = {
    "length": ("truncated", "the answer was cut"),
    "open": ("unterminated", "the stream ended without ending the answer"),
}


@overload
def parse_output(
    raw: str, output: TypedForm[ArgsT], *, ended: Ending = ..., policy: Policy = ..., limits: Limits = ...
) -> Output[ArgsT] | OutputDropped: ...
@overload
def parse_output(
    raw: str, output: Any, *, ended: Ending = ..., policy: Policy = ..., limits: Limits = ...
) -> Output[Any] | OutputDropped: ...
def parse_output(
    raw: str,
    output: Any,
    *,
    ended: Ending = "clean",
    policy: Policy = Policy(),  # noqa: B008 (frozen)
    limits: Limits = Limits(),  # noqa: B008 (frozen)
) -> Output[Any] | OutputDropped:
    """Judge the text of a whole answer; never raises, whatever the text holds.

    Args:
        raw: the text as it arrived.
        output: the type of the answer, as for `ToolCallParser`.
        ended: how the answer ended, as for `parse_arguments`; an answer that was cut is dropped, even if it is whole
            JSON.
        policy: which rungs count.
        limits: bounds in bytes, characters and levels; a breach drops the answer.

    Returns:
        The value, or why there is none.

    Raises:
        TypeError, ValueError, ImportError: `output` does not describe an answer.
    """
    check = answers.answer_check(output)
    if ended != "clean":
        return OutputDropped(0, 0, *_CUT[ended], raw)
    return accept_output(raw, check, policy, limits)


def accept_output(
    raw: str, check: Check | None, policy: Policy, limits: Limits, turn: int = 0, choice: int = 0
) -> Output[Any] | OutputDropped:
    """Return the event for a whole answer, checked against its type if it has one; `turn` and `choice` locate it."""
    if not raw.strip():
        return OutputDropped(turn, choice, "empty", "there is no text", raw)
    verdict = read_answer(raw, policy, limits)
    if check is not None and verdict.status != "dropped":
        verdict = fit.fit(_unwrapped(verdict, raw, check, policy, limits), raw, check, policy, limits)
    if verdict.status == "dropped":
        reason = cast("OutputReason", verdict.reason)
        return OutputDropped(turn, choice, reason, verdict.detail, raw)
    if policy.json_safe_ints:
        _make_ints_safe(verdict.arguments)
    made: Output[Any] = Output(
        turn, choice, verdict.arguments, raw, verdict.status, verdict.edits, verdict.flags
    )
    return made if check is None else replace(made, typed=verdict.value)


def _unwrapped(verdict: Verdict[Any], raw: str, check: Check, policy: Policy, limits: Limits) -> Verdict[Any]:
    """Return the verdict on the JSON inside a string, where a string does not fit: it was encoded twice."""
    text: Any = verdict.arguments
    if type(text) is not str or not isinstance(check(cast("Any", text)), Misfit):
        return verdict
    read = strict.read_strict(text, policy, limits, lists=True)
    if type(read.value) is not dict and type(read.value) is not list:
        return verdict
    edits = (*verdict.edits, Edit("double_encoded", raw.index('"')))
    return replace(
        verdict, status="normalised", arguments=cast("Any", read.value), edits=edits, flags=read.flags
    )


_SAFE = 2**53 - 1


def _make_ints_safe(value: object) -> None:
    """Replace, in place, the integers that JavaScript cannot represent by strings of their digits."""
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        members = item.items() if type(item) is dict else enumerate(item) if type(item) is list else ()
        for key, member in members:
            if type(member) is int and abs(member) > _SAFE:
                item[key] = str(member)
            elif type(member) is dict or type(member) is list:
                stack.append(member)


# --- texts that may be cut -----------------------------------------------------------------------------


def partial_json(text: str, *, limits: Limits = Limits()) -> PartialJson:  # noqa: B008 (frozen)
    """Read a JSON text that may have been cut: its value so far, and whether, where and why it is not whole.

    Nothing is repaired, closed or guessed; never raises, whatever the text holds. For text that still grows there is
    `PartialJsonParser`.

    Args:
        text: the whole text so far; a value of any type.
        limits: bounds in bytes, characters and levels; text beyond them is `invalid`.

    Returns:
        A snapshot: to show, never to execute. `parse_arguments` and `parse_output` decide whether it may be executed.
    """
    scanner = JsonScanner(limits)
    scanner.feed(text)
    scanner.end()
    return scanner.partial()


_KEPT = Policy(lone_surrogates="keep")  # half of a pair is JSON; only the verdict on a call drops it


def json_state(text: str, *, limits: Limits = Limits()) -> JsonState:  # noqa: B008 (frozen)
    """Return whether a text is one JSON value: `complete`, `incomplete` (more text can make it one) or `invalid`.

    It is the state of `partial_json(text)`, which also reports where and why, at the decoder's speed if the text is
    complete. A complete text does not mean that no more comes, nor that a call may be executed: the wire decides that.

    Args:
        text: the whole text so far; a value of any type.
        limits: bounds in bytes, characters and levels; text beyond them is `invalid`.
    """
    fits = limits.max_arguments_bytes is None or tokens.utf8_size(text) <= limits.max_arguments_bytes
    with suppress(RecursionError):  # of a decoder, for text without a bound on its depth
        if fits and strict.read_strict(text, _KEPT, limits, lists=True).reason is None:
            return "complete"
    return partial_json(text, limits=limits).state
