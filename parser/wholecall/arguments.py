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

Valid JSON never goes to rung 3, and no leaf is ever decoded again. How the call ended comes last and can only
make the verdict worse: a cut turn keeps complete, non-empty objects, with a flag.

No function here recurses. What does recurse (the decoders) sees a text only after its depth was counted;
with `Limits(max_depth=None)` the interpreter's own `RecursionError` is the limit.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Literal, cast

import msgspec

from wholecall.events import Edit
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.recovery import Fault, Recovered, peel, recover
from wholecall.tokens import QUOTES, exceeds, holds_number, members, nesting, plain, scan, split
from wholecall.vocabulary import DropReason, EditKind, Flag, Status

__all__ = ["Verdict", "parse_arguments"]

Ended = Literal["clean", "length", "open"]


class Verdict(msgspec.Struct, frozen=True):
    """What a text of arguments is worth.

    Attributes:
        status: `exact`, `normalised`, `recovered` or `empty`; `dropped` means: do not execute.
        arguments: the decoded object, None if dropped.
        edits: what was changed to read the text, offsets in characters of the raw text.
        flags: what was odd about it, sorted.
        reason: why it was dropped, else None.
        detail: a sentence for people; it never holds argument text.
    """

    status: Status | Literal["dropped"]
    arguments: dict[str, Any] | None = None
    edits: tuple[Edit, ...] = ()
    flags: tuple[Flag, ...] = ()
    reason: DropReason | None = None
    detail: str = ""

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


def parse_arguments(
    raw: str,
    *,
    ended: Ended = "clean",
    policy: Policy = Policy(),  # noqa: B008 (frozen)
    limits: Limits = Limits(),  # noqa: B008 (frozen)
) -> Verdict:
    """Judge one call's whole argument text; never raises, whatever the text holds.

    Args:
        raw: the argument text as it arrived.
        ended: how the call ended. `"clean"`: the provider ended it; `"length"`: the turn was cut for length
            or by a content filter; `"open"`: the stream ended without any terminal evidence.
        policy: which rungs count, and what a cut turn may still emit.
        limits: bounds in bytes, characters and levels; a breach drops the call.

    Returns:
        A verdict with `arguments` if the call may be executed, else with a `reason`.
    """
    try:
        verdict = _judge(raw, policy, limits)
    except RecursionError:
        verdict = _dropped("nesting_too_deep")
    if policy.json_safe_ints:
        _make_ints_safe(verdict.arguments)
    return verdict if ended == "clean" else _at_end(verdict, ended, policy)


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


# --- the ladder ----------------------------------------------------------------------------------------

_EMPTY = frozenset(["", "null", "None"])
_BLANK = frozenset[EditKind](["bom", "whitespace"])


def _judge(raw: str, policy: Policy, limits: Limits) -> Verdict:
    if exceeds(raw, limits.max_arguments_bytes):
        return _dropped("arguments_too_large")
    read = _strict(raw, policy, limits)
    if type(read.value) is dict:  # most calls, by far
        return Verdict("exact", read.value, (), read.flags)
    start, end, edits = peel(raw)
    core = raw[start:end]
    if core in _EMPTY and all(edit.kind in _BLANK for edit in edits):
        return Verdict("empty", {})
    if edits:
        read = _strict(core, policy, limits)
    if read.reason != "invalid_json":
        return _settle(read, start, edits, policy, limits)
    return _join(core, start, edits, policy, limits) or _recover(core, start, edits, policy, limits)


def _settle(read: _Read, start: int, edits: list[Edit], policy: Policy, limits: Limits) -> Verdict:
    """Judge what is strict JSON within its envelope; a string may hold an object, one level deep."""
    if read.reason is not None:
        return _dropped(read.reason)
    if type(read.value) is str:
        edits = [*edits, Edit("double_encoded", start)]
        read = _strict(read.value, policy, limits)
    if type(read.value) is dict:
        return _read_with("normalised", read, edits)
    return _dropped("not_an_object" if read.reason in _NO_OBJECT else cast("DropReason", read.reason))


def _join(core: str, start: int, edits: list[Edit], policy: Policy, limits: Limits) -> Verdict | None:
    """Judge several strict objects in a row: equal ones are one, and `{}` may stand before the real one."""
    spans = split(core, limits.max_edits)
    if len(spans) < 2:
        return None
    reads: list[_Read] = []
    for first, last in spans:
        read = _strict(core[first:last], policy, limits)
        if read.reason is not None:
            return None if read.reason == "invalid_json" else _dropped(read.reason)
        reads.append(read)
    chosen = next((at for at, read in enumerate(reads) if read.value), 0)
    if len({_canonical(read.value) for read in reads[chosen:]}) > 1:
        return _dropped("multiple_objects")
    edits += [Edit("placeholder", start + first) for first, _ in spans[:chosen]]
    edits += [Edit("duplicate_object", start + first) for first, _ in spans[chosen + 1 :]]
    return _read_with("normalised", reads[chosen], edits)


def _read_with(status: Status, read: _Read, edits: list[Edit]) -> Verdict:
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
    read = _strict(found.text, policy, limits)
    if read.reason is not None:
        return _dropped(read.reason)
    if not _faithful(found, core):
        return _dropped("ambiguous", "the recovered object holds what the text does not")
    shifted = [Edit(edit.kind, start + edit.offset) for edit in found.edits]
    return _read_with("recovered", read, edits + shifted)


# --- rung 1: strict ------------------------------------------------------------------------------------


class _Read(msgspec.Struct, frozen=True):
    """A strictly decoded value, or the reason why there is none; `invalid_json`: this is no strict JSON."""

    value: object = None
    flags: tuple[Flag, ...] = ()
    reason: DropReason | None = None


_NO_OBJECT = frozenset[DropReason | None]([None, "invalid_json"])
_NO_FLAGS: tuple[Flag, ...] = ()
_decode = msgspec.json.Decoder().decode
_INT_DIGITS = 4300  # what CPython and msgspec turn into an int


def _strict(text: str, policy: Policy, limits: Limits) -> _Read:
    """Read `text` as RFC 8259 within the limits: one decode, its blind spots checked beside it."""
    deep = limits.max_depth
    if deep is not None and text.count("{") + text.count("[") > deep and nesting(text).depth > deep:
        return _Read(reason="nesting_too_deep")
    try:
        value = _decode(text)
    except msgspec.ValidationError:  # well-formed so far, but a number that Python cannot hold
        return _Read(reason="number_too_long" if holds_number(text, _INT_DIGITS) else "number_out_of_range")
    except (msgspec.DecodeError, UnicodeEncodeError):
        reason, value = _decode_surrogates(text)
        if reason != "lone_surrogate" or policy.lone_surrogates == "drop":
            return _Read(reason=reason)
    longest = limits.max_number_chars
    if longest is not None and len(text) > longest and holds_number(text, longest):
        return _Read(reason="number_too_long")
    flags = _NO_FLAGS
    if type(value) is dict:
        if _repeats_key(text, value):
            if _differing_keys(text):
                return _Read(reason="duplicate_key")
            flags = ("duplicate_key",)
        if "\\u0000" in text and any("\0" in leaf for leaf in _leaves(value) if isinstance(leaf, str)):
            flags = (*flags, "nul_in_string")
    return _Read(value, flags)


_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def _decode_surrogates(text: str) -> tuple[DropReason, object]:
    """Decode what msgspec refuses for a lone surrogate; any other fault is `invalid_json`."""
    if not _HALF.search(text):
        return "invalid_json", None
    try:
        return "lone_surrogate", json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except OverflowError:
        return "number_out_of_range", None
    except ValueError:
        return "invalid_json", None


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):
        raise OverflowError
    return value


# --- rung 1: keys and leaves ---------------------------------------------------------------------------


def _repeats_key(text: str, value: dict[str, Any]) -> bool:
    """Whether valid JSON `text` has more members than its decoded `value` has keys; cheapest bound first."""
    keys = len(value) if text.count("{") == 1 else _count_keys(value)
    return text.count(":") > keys and members(text) > keys


def _count_keys(value: dict[str, Any]) -> int:
    keys = 0
    stack: list[Any] = [value]
    for item in stack:  # it grows on the way
        values = item
        if type(item) is dict:
            keys += len(item)
            values = item.values()
        stack += [inner for inner in values if type(inner) is dict or type(inner) is list]
    return keys


class _DifferingKeys(ValueError):
    """A key occurs twice with different values."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members and _canonical(members[key]) != _canonical(value):
            raise _DifferingKeys
        members[key] = value
    return members


def _differing_keys(text: str) -> bool:
    try:
        json.loads(text, object_pairs_hook=_unique)
    except _DifferingKeys:
        return True
    return False


def _canonical(value: object) -> str:
    """Return one spelling for equal JSON: order of members aside, but 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True)


def _leaves(value: object) -> Iterator[object]:
    """Yield keys and scalars in the order of the text; an object may be a dict or a tuple of its pairs."""
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if type(item) is dict or type(item) is tuple:
            for key, member in reversed(item.items() if type(item) is dict else item):
                stack += (member, key)
        elif type(item) is list:
            stack += reversed(item)
        else:
            yield item


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
    leaves = list(_leaves(objects))
    tokens = scan(source[: found.end], found.start)
    pieces = [source[token.start : token.end] for token in tokens if token.kind in ("string", "word")]
    return len(leaves) == len(pieces) and all(map(_reads, pieces, leaves))


def _reads(piece: str, leaf: object) -> bool:
    """Whether the token `piece` reads as `leaf`."""
    if piece[0] in QUOTES:
        return type(leaf) in (str, _Key) and plain(piece) == leaf
    if isinstance(leaf, (_Number, _Key)):
        return piece == leaf
    return piece in _WORDS and _WORDS[piece] is leaf
