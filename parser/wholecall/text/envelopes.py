"""Read a JSON object as a call: its name, its id, and the place of its arguments.

Theory of operation. Envelopes differ in their keys, and some wrap the call in another object. Only the outermost
members are read, by the lexer of recovery, so that a lax object is understood as well as a strict one. The arguments
are not decoded here: their text goes to the verdict as the model wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from wholecall.calls.arguments.tokens import QUOTES, plain, scan
from wholecall.calls.arguments.tokens import members as count_members
from wholecall.types import DropReason

NAMES: Final = ("name", "tool_name", "function", "_name", "action", "tool", "recipient_name")
ARGUMENTS: Final = ("arguments", "parameters", "args", "action_input", "input", "tool_input", "params")
IDS: Final = ("id", "tool_call_id", "call_id")
WRAPPERS: Final = ("tool_call", "function_call", "function", "tool_calls")
_DEEPEST = 4  # envelopes in envelopes
_AS_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_AS_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Member(NamedTuple):
    """One member of an object: its key, and the text of its value."""

    key: str
    value: str


class Meant(NamedTuple):
    """The meaning of an object: a call, or the reason why it is not a call."""

    name: str | None = None
    arguments: str = "{}"
    id: str | None = None
    reason: DropReason | None = None
    detail: str = ""


def _text(raw: msgspec.Raw) -> str:
    return bytes(raw).decode()


def members(text: str) -> list[Member]:
    """Return the members of the object in `text`, as far as they can be distinguished."""
    try:
        known = {key: _text(value) for key, value in _AS_OBJECT(text).items()}
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _members_of_lax(text)
    if count_members(text) > len(known) + sum(map(count_members, known.values())):
        return _members_of_lax(text)  # a repeated member
    return [Member(key, value) for key, value in known.items()]


def _members_of_lax(text: str) -> list[Member]:
    """Return the members of an object that is not JSON, as far as they can be distinguished; "" for no value."""
    found: list[Member] = []
    depth, key, start, end = 0, None, -1, -1
    in_value = False
    for token in scan(text):
        kind = token.kind
        if kind in "}]" and depth:
            depth -= 1
        if depth == 0 and kind in "}]":
            break
        if depth == 1 and kind == ":" and not in_value:
            in_value = True
        elif depth == 1 and kind == ",":
            if key is not None:
                found.append(Member(key, text[start:end] if start >= 0 else ""))
            key, start, in_value = None, -1, False
        elif depth and in_value:
            start, end = token.start if start < 0 else start, token.end
        elif depth == 1 and kind in ("string", "word"):
            key = _text_of(text[token.start : token.end])
        if kind in "{[":
            depth += 1
    if key is not None:
        found.append(Member(key, text[start:end] if start >= 0 else ""))
    return found


def elements(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the elements of the list in `text`, which may be incomplete; the last may be cut."""
    try:
        values = list(map(_text, _AS_LIST(text)))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        yield from _elements_of_lax(text)
        return
    end = 1
    for value in values:
        start = text.index(value, end)  # only a comma and white space precede it
        end = start + len(value)
        yield start, end


def _elements_of_lax(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the elements of a list that is not JSON or not whole; the last may be cut."""
    depth, start, end = 0, -1, -1
    for token in scan(text):
        kind = token.kind
        if kind in "}]":
            depth -= 1
            if depth == 0:
                break
        is_next = depth == 1 and kind == "{" and start >= 0 and text[end - 1] == "}"  # the comma is missing
        if depth == 1 and (kind == "," or is_next):
            if start >= 0:
                yield start, end
            start = -1
        if depth and (depth > 1 or kind != ","):
            start, end = token.start if start < 0 else start, token.end
        if kind in "{[":
            depth += 1
    if start >= 0:
        yield start, end


def read_envelope(text: str, *, as_key: bool = False) -> Iterator[Meant]:
    """Yield the calls that an object means; one, unless it lists several."""
    if as_key:
        for member in members(text):
            yield Meant(member.key, member.value)
        return
    yield from _read(text, None, 0)


def _read(text: str, id: str | None, depth: int) -> Iterator[Meant]:
    known: dict[str, str] = {}
    for key, value in members(text):
        if known.setdefault(key, value) != value:
            yield Meant(_name_in(known), id=id, reason="duplicate_key", detail="a member is named twice")
            return
    id = next((found for key in IDS if (found := _string(known.get(key)))), id)
    name = _name_in(known)
    if name is not None and "" in known.values() and not any(key in known for key in ARGUMENTS):
        yield Meant(name, id=id, reason="invalid_json", detail="a member has no value")
        return
    if name is not None:
        arguments = next((known[key] for key in ARGUMENTS if key in known), "{}")
        yield Meant(name, arguments, id)
        return
    inner = next((known[key] for key in WRAPPERS if known.get(key, "")[:1] in ("{", "[")), None)
    if inner is None or depth == _DEEPEST:
        yield Meant(id=id, reason="nameless", detail="the object names no tool")
    elif inner[0] == "{":
        yield from _read(inner, id, depth + 1)
    else:
        for start, end in elements(inner):
            yield from _read(inner[start:end], id, depth + 1)


def _name_in(known: dict[str, str]) -> str | None:
    names = (_string(known.get(key)) for key in NAMES)
    return next((name for name in names if name is not None and name.strip()), None)


def _string(value: str | None) -> str | None:
    return plain(value) if value is not None and value[:1] in QUOTES and value[:1] else None


def _text_of(piece: str) -> str:
    return plain(piece) if piece[:1] in QUOTES else piece
