"""Argument text to a verdict: the only module that decodes what may be executed, and it does so once.

Theory of operation. `parse_arguments` climbs a ladder and stops at the first rung that holds:

1. *strict*: the text is RFC 8259 and an object: `exact`. This is the fast path, one decode by msgspec.
   What msgspec lets pass is checked beside it, each check behind a cheap guard: size, depth and long numbers
   before, duplicate keys and NUL after.
2. *normalise*: the text is strict JSON once its envelope is peeled off (BOM, white space, one code fence,
   trailing special tokens), or a string that holds an object, or one object that came twice or after `{}`.
3. *recover*: `wholecall.recovery` rewrites the text as strict JSON; the result takes rung 1 again, and each of
   its leaves must be a token of the input, in the same order.
4. Everything else is dropped with a reason.

Where the tool is known, what could be read is then held against it (`wholecall.tools`). Valid JSON never goes to rung 3, and no leaf is ever decoded again. How the call ended comes last and can only
make the verdict worse: a cut turn keeps complete, non-empty objects, with a flag.

No function here recurses. What does recurse (the decoders) sees a text only after its depth was counted;
with `Limits(max_depth=None)` the interpreter's own `RecursionError` is the limit.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Generic, Literal, cast, overload

import msgspec

from wholecall.events import ArgsT, Edit
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.recovery import Fault, Recovered, peel, recover
from wholecall.strict import Read, canonical, leaves, read_strict
from wholecall.tokens import QUOTES, exceeds, nesting, plain, scan, split
from wholecall.tools import Tool, fit
from wholecall.vocabulary import DropReason, EditKind, Flag, Status

if TYPE_CHECKING:
    from wholecall.tools import TypedForm
    from wholecall.tools.misfit import Check

__all__ = ["Verdict", "accept", "parse_arguments", "read_arguments"]

Ended = Literal["clean", "length", "open"]


class Verdict(msgspec.Struct, Generic[ArgsT], frozen=True):
    """What a text of arguments is worth.

    Attributes:
        status: `exact`, `normalised`, `recovered` or `empty`; `dropped` means: do not execute.
        arguments: the decoded object, None if dropped.
        edits: what was changed to read the text, offsets in characters of the raw text.
        flags: what was odd about it, sorted.
        reason: why it was dropped, else None.
        detail: a sentence for people; it never holds argument text.
        value: what the tool's type made of the arguments; None if dropped, or if no tool was given.
    """

    status: Status | Literal["dropped"]
    arguments: dict[str, Any] | None = None
    edits: tuple[Edit, ...] = ()
    flags: tuple[Flag, ...] = ()
    reason: DropReason | None = None
    detail: str = ""
    value: ArgsT | None = None

    def __repr__(self) -> str:
        size = None if self.arguments is None else f"<{len(self.arguments)}>"
        return (
            f"Verdict(status={self.status!r}, arguments={size}, edits={self.edits!r}, "
            f"flags={self.flags!r}, reason={self.reason!r}, detail={self.detail!r})"
        )


_DETAILS: dict[DropReason, str] = {
    "truncated": "the text ends before its object does",
    "unterminated": "the stream ended without saying that the call is over",
    "unparseable": "the text holds no JSON object",
    "invalid_json": "the text has a fault that leaves no single reading",
    "ambiguous": "the text has several readings",
    "multiple_objects": "the text holds several objects",
    "not_an_object": "the text is JSON but no object",
    "duplicate_key": "a key occurs twice with different values",
    "lone_surrogate": "a string holds half of a surrogate pair",
    "nesting_too_deep": "objects and arrays are nested deeper than Limits.max_depth",
    "number_too_long": "a number has more characters than Limits.max_number_chars",
    "number_out_of_range": "a number is too large for a float",
    "arguments_too_large": "the text has more bytes than Limits.max_arguments_bytes",
}
# Reasons that outrank how the call ended.
_LIMITS = frozenset[DropReason | None](
    ["nesting_too_deep", "number_too_long", "number_out_of_range", "arguments_too_large"]
)


@overload
def parse_arguments(
    raw: str, *, ended: Ended = ..., tool: None = None, policy: Policy = ..., limits: Limits = ...
) -> Verdict: ...
@overload
def parse_arguments(
    raw: str, *, ended: Ended = ..., tool: TypedForm[ArgsT], policy: Policy = ..., limits: Limits = ...
) -> Verdict[ArgsT]: ...
@overload
def parse_arguments(
    raw: str, *, ended: Ended = ..., tool: Any, policy: Policy = ..., limits: Limits = ...
) -> Verdict[Any]: ...
def parse_arguments(
    raw: str,
    *,
    ended: Ended = "clean",
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


def read_arguments(raw: str, ended: Ended, policy: Policy, limits: Limits) -> Verdict:
    """Return the verdict on the text alone, whatever the tool: it may still change."""
    try:
        verdict = _judge(raw, policy, limits)
    except RecursionError:
        verdict = _dropped("nesting_too_deep")
    return verdict if ended == "clean" else _at_end(verdict, ended, policy)


def accept(verdict: Verdict, raw: str, check: Check | None, policy: Policy, limits: Limits) -> Verdict[Any]:
    """Return the last word on a text that was read, held against its tool if that is known."""
    if check is not None and verdict.arguments is not None:
        verdict = fit(verdict, raw, check, policy, limits)
    if policy.json_safe_ints:
        _make_ints_safe(verdict.arguments)
    return verdict


def _dropped(reason: DropReason, detail: str = "") -> Verdict:
    return Verdict("dropped", reason=reason, detail=detail or _DETAILS[reason])


def _at_end(verdict: Verdict, ended: Ended, policy: Policy) -> Verdict:
    """Lower a verdict for a turn that was cut: only complete, non-empty objects can pass, flagged."""
    if verdict.reason in _LIMITS:
        return verdict
    cut = ended == "length"
    passes = policy.truncated_turn == "emit" if cut else not policy.require_terminal
    if not (passes and verdict.arguments):
        return _dropped("truncated" if cut else "unterminated")
    flag: Flag = "turn_truncated" if cut else "unterminated"
    flags: list[Flag] = sorted([*verdict.flags, flag])
    return Verdict(verdict.status, verdict.arguments, verdict.edits, tuple(flags))


_NO_OBJECT = frozenset[DropReason | None]([None, "invalid_json"])


# --- the ladder ----------------------------------------------------------------------------------------

_EMPTY = frozenset(["", "null", "None"])
_BLANK = frozenset[EditKind](["bom", "whitespace"])


def _judge(raw: str, policy: Policy, limits: Limits) -> Verdict:
    if exceeds(raw, limits.max_arguments_bytes):
        return _dropped("arguments_too_large")
    read = read_strict(raw, policy, limits)
    if type(read.value) is dict:  # most calls, by far
        return Verdict("exact", read.value, (), read.flags)
    start, end, edits = peel(raw)
    core = raw[start:end]
    if core in _EMPTY and all(edit.kind in _BLANK for edit in edits):
        return Verdict("empty", {})
    if edits:
        read = read_strict(core, policy, limits)
    if read.reason != "invalid_json":
        return _settle(read, start, edits, policy, limits)
    return _join(core, start, edits, policy, limits) or _recover(core, start, edits, policy, limits)


def _settle(read: Read, start: int, edits: list[Edit], policy: Policy, limits: Limits) -> Verdict:
    """Judge what is strict JSON within its envelope; a string may hold an object, one level deep."""
    if read.reason is not None:
        return _dropped(read.reason)
    if type(read.value) is str:
        edits = [*edits, Edit("double_encoded", start)]
        read = read_strict(read.value, policy, limits)
    if type(read.value) is dict:
        return _read_with("normalised", read, edits)
    return _dropped("not_an_object" if read.reason in _NO_OBJECT else cast("DropReason", read.reason))


def _join(core: str, start: int, edits: list[Edit], policy: Policy, limits: Limits) -> Verdict | None:
    """Judge several strict objects in a row: equal ones are one, and `{}` may stand before the real one."""
    spans = split(core, limits.max_edits)
    if len(spans) < 2:
        return None
    reads: list[Read] = []
    for first, last in spans:
        read = read_strict(core[first:last], policy, limits)
        if read.reason is not None:
            return None if read.reason == "invalid_json" else _dropped(read.reason)
        reads.append(read)
    chosen = next((at for at, read in enumerate(reads) if read.value), 0)
    if len({canonical(read.value) for read in reads[chosen:]}) > 1:
        return _dropped("multiple_objects")
    edits += [Edit("placeholder", start + first) for first, _ in spans[:chosen]]
    edits += [Edit("duplicate_object", start + first) for first, _ in spans[chosen + 1 :]]
    return _read_with("normalised", reads[chosen], edits)


def _read_with(status: Status, read: Read, edits: list[Edit]) -> Verdict:
    value = cast("dict[str, Any]", read.value)
    return Verdict(status, value, tuple(sorted(edits, key=lambda edit: edit.offset)), read.flags)


def _recover(core: str, start: int, edits: list[Edit], policy: Policy, limits: Limits) -> Verdict:
    """Judge a text with defects; the recovered text is decoded as strictly as any other, then compared."""
    if exceeds(core, limits.max_recovery_bytes):
        return _dropped("truncated" if nesting(core).open else "invalid_json")
    found = recover(core)
    if isinstance(found, Fault):
        return _dropped(found.reason, f"{_DETAILS[found.reason]}; see character {start + found.start}")
    if policy.recovery == "none":
        return _dropped("invalid_json", "the text needs recovery, which the policy rules out")
    if limits.max_edits is not None and len(found.edits) > limits.max_edits:
        return _dropped("invalid_json", "the text needs more edits than Limits.max_edits")
    read = read_strict(found.text, policy, limits)
    if read.reason is not None:
        return _dropped(read.reason)
    if not _faithful(found, core):
        return _dropped("ambiguous", "the recovered object holds what the text does not")
    shifted = [Edit(edit.kind, start + edit.offset) for edit in found.edits]
    return _read_with("recovered", read, edits + shifted)


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


# --- rung 3: the post-condition ------------------------------------------------------------------------


class _Number(str):
    """A number as its text."""

    __slots__ = ()


class _Key(str):
    """A key, which may stand without quotes in the source."""

    __slots__ = ()


_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}


def _pairs(pairs: list[tuple[str, Any]]) -> tuple[tuple[_Key, Any], ...]:
    return tuple((_Key(key), value) for key, value in pairs)


def _faithful(found: Recovered, source: str) -> bool:
    """Whether the leaves and keys of the recovered object are the tokens of its source, in their order."""
    objects = json.loads(found.text, object_pairs_hook=_pairs, parse_int=_Number, parse_float=_Number)
    members = list(leaves(objects))
    tokens = scan(source[: found.end], found.start)
    pieces = [source[token.start : token.end] for token in tokens if token.kind in ("string", "word")]
    return len(members) == len(pieces) and all(map(_reads, pieces, members))


def _reads(piece: str, leaf: object) -> bool:
    """Whether the token `piece` reads as `leaf`."""
    if piece[0] in QUOTES:
        return type(leaf) in (str, _Key) and plain(piece) == leaf
    if isinstance(leaf, (_Number, _Key)):
        return piece == leaf
    return piece in _WORDS and _WORDS[piece] is leaf
