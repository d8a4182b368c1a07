"""From argument text to a verdict: the only module that decodes arguments for execution, and it does so once.

Theory of operation. `read_arguments` climbs a ladder and stops at the first rung that holds:

1. *strict*: the text is RFC 8259 and an object: `exact`. This is the fast path, one decode by msgspec.
   Text that msgspec accepts wrongly is found by further checks, each after a cheap guard: size, depth and long numbers
   before, duplicate keys and NUL after.
2. *normalise*: the text is strict JSON once its envelope is peeled off (BOM, white space, one code fence,
   trailing special tokens), or a string that holds an object, or one object that is repeated or follows `{}`.
3. *recover*: `wholecall.calls.arguments.recovery` rewrites the text as strict JSON; the result takes rung 1 again, and each
   of its leaves must be a token of the input, in order.
4. Everything else is dropped with a reason.

Valid JSON never goes to rung 3, and no leaf is ever decoded again. Finally, the way in which the call ended can only
lower the verdict: of a cut turn, complete and non-empty objects are kept, with a flag.

No function here recurses. The decoders do, but receive a text only after its depth was counted; with
`Limits(max_depth=None)` the interpreter's own `RecursionError` is the limit.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, cast

from wholecall.calls.arguments.equal import spelled_alike
from wholecall.calls.arguments.recovery import Fault, Recovered, peel, recover
from wholecall.calls.arguments.strict import Read, is_beginning, leaves, read_strict
from wholecall.calls.arguments.tokens import QUOTES, nesting, plain, scan, split, utf8_size
from wholecall.calls.arguments.verdict import Edit, Verdict
from wholecall.types import DropReason, EditKind, Flag, Status

if TYPE_CHECKING:
    from wholecall.limits import Limits
    from wholecall.policy import Policy

Ending = Literal["clean", "length", "open"]
_CUT: dict[Ending, DropReason] = {"length": "truncated", "open": "unterminated"}

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
# Reasons that outrank the way in which the call ended.
_LIMITS = frozenset[DropReason | None](
    ["nesting_too_deep", "number_too_long", "number_out_of_range", "arguments_too_large"]
)


def read_arguments(raw: str, ended: Ending, policy: Policy, limits: Limits) -> Verdict:
    """Return the verdict on the text alone, independent of the tool: it may still change."""
    if ended != "clean" and _is_decided(raw, ended, policy, limits):
        return _dropped(_CUT[ended])
    try:
        verdict = _judge(raw, policy, limits)
    except RecursionError:
        verdict = _dropped("nesting_too_deep")
    return verdict if ended == "clean" else _at_end(verdict, ended)


def _dropped(reason: DropReason, detail: str = "") -> Verdict:
    return Verdict("dropped", reason=reason, detail=detail or _DETAILS[reason])


def _is_decided(raw: str, ended: Ending, policy: Policy, limits: Limits) -> bool:
    """Return whether the cut alone decides: no call of such a turn may be emitted, or its text only lacks an end."""
    if _exceeds(raw, limits.max_arguments_bytes):
        return False
    return not passes(ended, policy) or is_beginning(raw, limits)


def passes(ended: str, policy: Policy) -> bool:
    """Return whether a complete call of a turn cut for length, or by the end of the stream, may be emitted."""
    return policy.truncated_turn == "emit" if ended == "length" else not policy.require_terminal


def _at_end(verdict: Verdict, ended: Ending) -> Verdict:
    """Lower a verdict for a turn that was cut: only complete, non-empty objects can pass, flagged."""
    if verdict.reason in _LIMITS:
        return verdict
    if not verdict.arguments:
        return _dropped(_CUT[ended])
    flag: Flag = "turn_truncated" if ended == "length" else "unterminated"
    flags: list[Flag] = sorted([*verdict.flags, flag])
    return Verdict(verdict.status, verdict.arguments, verdict.edits, tuple(flags))


_NO_OBJECT = frozenset[DropReason | None]([None, "invalid_json"])


# --- the ladder ----------------------------------------------------------------------------------------

_EMPTY = frozenset(["", "null", "None"])
_BLANK = frozenset[EditKind](["bom", "whitespace"])


def _exceeds(text: str, limit: int | None) -> bool:
    """Return whether `text` has more than `limit` UTF-8 bytes; encoded only if its length leaves that open."""
    if limit is None or len(text) * 4 <= limit:
        return False
    return len(text) > limit or utf8_size(text) > limit


def _judge(raw: str, policy: Policy, limits: Limits) -> Verdict:
    if _exceeds(raw, limits.max_arguments_bytes):
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
    """Judge text that is strict JSON within its envelope; a string may contain an object, one level deep."""
    if read.reason is not None:
        return _dropped(read.reason)
    if type(read.value) is str:
        edits = [*edits, Edit("double_encoded", start)]
        read = read_strict(read.value, policy, limits)
    if type(read.value) is dict:
        return _read_with("normalised", read, edits)
    return _dropped("not_an_object" if read.reason in _NO_OBJECT else cast("DropReason", read.reason))


def _join(core: str, start: int, edits: list[Edit], policy: Policy, limits: Limits) -> Verdict | None:
    """Judge several consecutive strict objects: equal objects count as one, and `{}` may precede the real object."""
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
    if not all(spelled_alike(reads[chosen].value, read.value) for read in reads[chosen + 1 :]):
        return _dropped("multiple_objects")
    edits += [Edit("placeholder", start + first) for first, _ in spans[:chosen]]
    edits += [Edit("duplicate_object", start + first) for first, _ in spans[chosen + 1 :]]
    return _read_with("normalised", reads[chosen], edits)


def _read_with(status: Status, read: Read, edits: list[Edit]) -> Verdict:
    value = cast("dict[str, Any]", read.value)
    return Verdict(status, value, tuple(sorted(edits, key=lambda edit: edit.offset)), read.flags)


def _recover(core: str, start: int, edits: list[Edit], policy: Policy, limits: Limits) -> Verdict:
    """Judge a text with defects; the recovered text is decoded as strictly as any other, then compared."""
    if _exceeds(core, limits.max_recovery_bytes):
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


# --- answers -------------------------------------------------------------------------------------------

_BESIDE = frozenset[EditKind](["leading_text", "trailing_text"])


def read_answer(raw: str, policy: Policy, limits: Limits) -> Verdict[Any]:
    """Return the verdict on the text of an answer, whatever its type: `arguments` is any JSON value.

    The rungs are those of arguments, but stricter: text next to the value makes it invalid, of several values none is
    chosen, and a string stays a string.
    """
    try:
        return _judge_answer(raw, policy, limits)
    except RecursionError:
        return _dropped("nesting_too_deep")


def _judge_answer(raw: str, policy: Policy, limits: Limits) -> Verdict[Any]:
    if _exceeds(raw, limits.max_arguments_bytes):
        return _dropped("arguments_too_large")
    read = read_strict(raw, policy, limits, lists=True)
    if read.reason is None:
        return Verdict("exact", cast("Any", read.value), (), read.flags)
    start, end, edits = peel(raw)
    core = raw[start:end]
    if edits:
        read = read_strict(core, policy, limits, lists=True)
    if read.reason is None:
        return _read_with("normalised", read, edits)
    if read.reason != "invalid_json":
        return _dropped(read.reason)
    verdict = _recover(core, start, edits, policy, limits)
    if any(edit.kind in _BESIDE for edit in verdict.edits):
        return _dropped("invalid_json", "there is text beside the value")
    return _dropped("invalid_json") if verdict.reason == "not_an_object" else verdict


# --- rung 3: the post-condition ------------------------------------------------------------------------


class _Number(str):
    """A number as its text."""

    __slots__ = ()


class _Key(str):
    """A key, which may be unquoted in the source."""

    __slots__ = ()


_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}


def _pairs(pairs: list[tuple[str, Any]]) -> tuple[tuple[_Key, Any], ...]:
    return tuple((_Key(key), value) for key, value in pairs)


def _faithful(found: Recovered, source: str) -> bool:
    """Return whether the leaves and keys of the recovered object are the tokens of its source, in their order."""
    objects = json.loads(found.text, object_pairs_hook=_pairs, parse_int=_Number, parse_float=_Number)
    members = list(leaves(objects))
    tokens = scan(source[: found.end], found.start)
    pieces = [source[token.start : token.end] for token in tokens if token.kind in ("string", "word")]
    return len(members) == len(pieces) and all(map(_reads, pieces, members))


def _reads(piece: str, leaf: object) -> bool:
    """Return whether the token `piece` reads as `leaf`."""
    if piece[0] in QUOTES:
        return type(leaf) in (str, _Key) and plain(piece) == leaf
    if isinstance(leaf, (_Number, _Key)):
        return piece == leaf
    return piece in _WORDS and _WORDS[piece] is leaf
