"""Strict JSON: one decode of a text, with the checks that the decoder leaves out.

Theory of operation. msgspec decodes RFC 8259 as strictly as it should, except for a few cases. Each of these is
checked separately, after a cheap guard: depth and long numbers before, duplicate keys and NUL after.
Lone surrogates, which msgspec refuses, are read by the standard library if the policy wants them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from wholecall.calls.arguments import equal, tokens
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.types import DropReason, Flag


class Read(msgspec.Struct, frozen=True, gc=False):
    """A strictly decoded value, or the reason why there is none; `invalid_json`: this is not strict JSON."""

    value: object = None
    flags: tuple[Flag, ...] = ()
    reason: DropReason | None = None


_NO_FLAGS: tuple[Flag, ...] = ()
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_ENDS_EARLY = "Input data was truncated"  # msgspec's message for this fault only
_INT_DIGITS = 4300  # the digits that CPython and msgspec convert to an int


def is_json(text: str) -> bool:
    """Return whether a text is RFC 8259 within the default limits."""
    return read_strict(text, Policy(), Limits()).reason is None


def read_strict(text: str, policy: Policy, limits: Limits, *, lists: bool = False) -> Read:
    """Read `text` as RFC 8259 within the limits: one decode, and checks for its blind spots.

    The members of an object are checked; with `lists` also those of a list, which is not an argument object.
    """
    deep = limits.max_depth
    if deep is not None and len(text) > deep and _nests_deeper(text, deep):
        return Read(reason="nesting_too_deep")
    try:
        value = _decode(
            text if text.isascii() else text.encode()
        )  # else the text keeps a second copy of itself
    except msgspec.ValidationError:  # well-formed so far, but a number that Python cannot represent
        return Read(reason=fault_of_number(text))
    except (msgspec.DecodeError, UnicodeEncodeError):
        reason, value = _decode_surrogates(text)
        if reason != "lone_surrogate" or policy.lone_surrogates == "drop":
            return Read(reason=reason)
    longest = limits.max_number_chars
    if longest is not None and len(text) > longest and tokens.holds_number(text, longest):
        return Read(reason="number_too_long")
    flags = _NO_FLAGS
    if type(value) is dict or (lists and type(value) is list):
        if _repeats_key(text, value):
            if _differing_keys(text):
                return Read(reason="duplicate_key")
            flags = ("duplicate_key",)
        if "\\u0000" in text and any("\0" in leaf for leaf in leaves(value) if isinstance(leaf, str)):
            flags = (*flags, "nul_in_string")
    return Read(value, flags)


def is_beginning(text: str, limits: Limits) -> bool:
    """Return whether a text is the beginning of one JSON value, within the limits so far: only its end is missing."""
    deep = limits.max_depth
    if deep is not None and len(text) > deep and _nests_deeper(text, deep):
        return False
    try:
        _decode(text if text.isascii() else text.encode())
    except (UnicodeEncodeError, RecursionError):
        return False
    except msgspec.DecodeError as error:
        return str(error) == _ENDS_EARLY
    return False


def fault_of_number(text: str) -> DropReason:
    """Return why Python cannot represent a number of a well-formed text."""
    return "number_too_long" if tokens.holds_number(text, _INT_DIGITS) else "number_out_of_range"


def _nests_deeper(text: str, deep: int) -> bool:
    """Return whether the text has more levels than `deep`; it is scanned only if it has more brackets in all."""
    return text.count("{") + text.count("[") > deep and tokens.nesting(text).depth > deep


_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")


def _decode_surrogates(text: str) -> tuple[DropReason, object]:
    """Decode text that msgspec refuses for a lone surrogate; any other fault is `invalid_json`."""
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


def _repeats_key(text: str, value: dict[str, Any] | list[Any]) -> bool:
    """Return whether valid JSON `text` has more members than its decoded `value` has keys; cheapest bound first.

    Decoding loses the first of two members of one key, and with it a colon; the colons within strings reappear when the
    value is written again, unless one of them was an escape (or something cannot be written).
    """
    colons = text.count(":")
    if colons == (len(value) if type(value) is dict else 0):
        return False
    if "\\u003" in text or (written := _written(value)) is None:
        return tokens.members(text) > _count_keys(value)
    return colons > written.count(b":")


def _written(value: dict[str, Any] | list[Any]) -> bytes | None:
    try:
        return _encode(value)
    except UnicodeEncodeError:  # a lone surrogate, which the policy allows
        return None


def _count_keys(value: dict[str, Any] | list[Any]) -> int:
    keys = 0
    stack: list[Any] = [value]
    for item in stack:  # it grows during the loop
        values = item
        if type(item) is dict:
            keys += len(item)
            values = item.values()
        stack += [inner for inner in values if type(inner) is dict or type(inner) is list]
    return keys


class _DifferingKeys(ValueError):
    """A repeated key with different values."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members and not equal.spelled_alike(members[key], value):
            raise _DifferingKeys
        members[key] = value
    return members


def _differing_keys(text: str) -> bool:
    try:
        json.loads(text, object_pairs_hook=_unique)
    except _DifferingKeys:
        return True
    return False


def leaves(value: object) -> Iterator[object]:
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
