"""From argument text to a verdict, with a check against the tool where that is known.

Theory of operation. The text is read by the ladder of `wholecall.arguments.ladder`, whatever the tool. What could be
read is then checked against the tool, which can only make the verdict worse; integers are made safe last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from wholecall.arguments.ladder import read_arguments
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.tools import Tool
from wholecall.tools.fit import fit

if TYPE_CHECKING:
    from wholecall.arguments.ladder import Ending
    from wholecall.arguments.verdict import ArgsT, Verdict
    from wholecall.tools import TypedForm
    from wholecall.tools.misfit import Check

__all__ = ["accept", "parse_arguments"]


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
        ended: how the call ended. `"clean"`: the provider ended it; `"length"`: the turn was cut for length
            or by a content filter; `"open"`: the stream ended without any terminal evidence.
        tool: what the arguments have to fit: a `Tool` (made once, used often), or what describes one.
        policy: which rungs count, and what a cut turn may still emit.
        limits: bounds in bytes, characters and levels; a breach drops the call.

    Returns:
        A verdict with `arguments` if the call may be executed, else with a `reason`.

    Raises:
        TypeError, ValueError, ImportError: `tool` describes no tool; see `Tool`.
    """
    check = None
    if tool is not None:
        check = tool.check if isinstance(tool, Tool) else Tool(tool, "the tool").check
    return accept(read_arguments(raw, ended, policy, limits), raw, check, policy, limits)


def accept(verdict: Verdict, raw: str, check: Check | None, policy: Policy, limits: Limits) -> Verdict[Any]:
    """Return the last word on a text that was read, held against its tool if that is known."""
    if check is not None and verdict.arguments is not None:
        verdict = fit(verdict, raw, check, policy, limits)
    if policy.json_safe_ints:
        _make_ints_safe(verdict.arguments)
    return verdict


_SAFE = 2**53 - 1


def _make_ints_safe(value: object) -> None:
    """Replace, in place, the integers that JavaScript cannot hold by their digits as strings."""
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        members = item.items() if type(item) is dict else enumerate(item) if type(item) is list else ()
        for key, member in members:
            if type(member) is int and abs(member) > _SAFE:
                item[key] = str(member)
            elif type(member) is dict or type(member) is list:
                stack.append(member)
