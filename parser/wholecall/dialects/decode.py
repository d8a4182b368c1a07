"""From the text of a frame to a view of it: typed and fast, then tolerant, then a fault.

A *view* is a flat msgspec Struct that holds only the fields its dialect needs, all optional. The typed
decoder reads nearly every frame. It refuses a whole frame for one oddity: a lone surrogate that was split
over two deltas (quirk 35), a raw control character, NaN, a byte order mark, a member of a wrong type. Such
frames are walked member by member with the standard library's scanner, which takes all of these, and the
view is built field by field. Fields typed `Raw` keep the wire's own text in both ways, so duplicate keys and number
spellings survive.

One rule decides how a member of a wrong type is read, for all dialects and all members:

* A label (`"index": "0"`), or anything without content where a container is due, counts as absent.
* One object where a list of objects is due is a list of one, and a list of one where an object is due is that object
  (quirk 39): `"tool_calls": {"function": …}`, `"delta": [{"tool_calls": …}]`.
* Any other container that holds something, and text that begins as one, makes the frame unreadable: the content of
  `"delta": ["…", {…}]` or `"function": "{…}"` may be arguments, and a call must not run without them.

A frame that neither way can read is a `WireFault` with a hole: it may have carried argument text. Words without a
single bracket, quote or backslash carried none: no frame of any dialect is written without (quirk 123).
"""

from __future__ import annotations

import base64
import functools
import json
import re
import types
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeVar, Union, get_args, get_origin

import msgspec

from wholecall.deltas import Delta, WireFault
from wholecall.discreet import compact
from wholecall.framing.frame import Frame, Like
from wholecall.limits import Limits

T = TypeVar("T", bound=msgspec.Struct)

# The errors that a typed decoder raises for text that it refuses (ValidationError is a DecodeError).
UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, UnicodeEncodeError, RecursionError)
NO_TEXT: Final = msgspec.Raw(b"")  # the default of a `Raw` field; an optional `Raw` would refuse strings

_WORDS = re.compile(r'[^{}\[\]"\\]*[A-Za-z][^{}\[\]"\\]*')
_NOISE = frozenset({"", "{}", "[]", '""', "null", "ping"})
LONGEST_NOISE: Final = max(map(len, _NOISE))
_LIMITS = Limits()


def integer(digits: str) -> int | float:
    """Return the value of the digits of a whole number."""
    return int(digits) if len(digits) < 20 else float(digits)  # int() refuses very long ones


_SCANNER = json.JSONDecoder(parse_int=integer, strict=False)
_STRING = msgspec.json.Decoder(str)


def decode(decoder: msgspec.json.Decoder[T], text: str) -> T | None:
    """Return the view of one payload, None where its text is not a JSON object."""
    try:
        return decoder.decode(text)
    except UNREADABLE:
        view: Any = decoder.type
        found: T | None = _tolerant(text, view)
        return found


def payloads(text: str) -> list[str]:
    """Split the joined data lines of one event that hold one JSON value each, `[DONE]` or a comment (quirk 55)."""
    if "\n" not in text:
        return [text]
    lines = [line for line in text.split("\n") if line and not line.isspace()]
    return lines if len(lines) > 1 and all(map(_is_whole, lines)) else [text]


def plain(text: str) -> Any:
    """Return the builtins for a text, None where it is not JSON; as tolerant as the views are."""
    try:
        return msgspec.json.decode(text)
    except UNREADABLE:
        try:
            return _SCANNER.decode(text.lstrip("\ufeff"))
        except (ValueError, RecursionError):
            return None


class Reading(NamedTuple):
    """The content of a frame that the typed decoder refused: views and their texts, or else the deltas to report."""

    views: list[Any]
    texts: list[str]
    deltas: list[Delta]


def read(decoder: msgspec.json.Decoder[T], frame: Frame) -> Reading:
    """Read a frame that the typed decoder refused: the slow way, after the fast one."""
    texts = payloads(frame.data)
    views = [decode(decoder, text) for text in texts]
    if None not in views:
        return Reading(views, texts, [])
    read = [(view, text) for view, text in zip(views, texts, strict=True) if view is not None]
    if not read and frame.event == "error":
        return Reading([], [], [provider_error(frame.data)])
    unread = [text for view, text in zip(views, texts, strict=True) if view is None]
    faults: list[Delta] = [undecodable(text) for text in unread if not _is_empty(frame.event, text)]
    return Reading([view for view, _ in read], [text for _, text in read], faults)


def _is_empty(event: str, text: str) -> bool:
    return is_done(text) or is_noise(Frame(event, text))


def undecodable(text: str, limits: Limits = _LIMITS) -> WireFault:
    """Return the fault for an unreadable frame; argument text may be lost with it, unless it holds only words."""
    raw = text[: limits.max_raw_bytes]
    try:
        _SCANNER.decode(text)
    except RecursionError:
        return WireFault("nesting_too_deep", "a frame is nested too deeply to be read", raw=raw, hole=True)
    except ValueError:
        pass
    hole = _WORDS.fullmatch(text) is None
    return WireFault("undecodable_frame", "a frame holds no JSON object", raw=raw, hole=hole)


def provider_error(error: Any) -> WireFault:
    """Return the fatal fault for an error that the provider reports in the stream (quirk 52)."""
    fields: dict[str, Any] = error if isinstance(error, dict) else {"message": error}
    named = [fields.get("code") or fields.get("type"), fields.get("message")]
    detail = ": ".join(str(part) for part in named if part)
    return WireFault("provider_error", detail or "the provider reports an error", error=error, fatal=True)


def is_noise(frame: Frame) -> bool:
    """Return whether a frame is only noise: pings, keep-alives, blank data, comments as data (quirks 53, 123)."""
    data = frame.data.strip()
    comment = data.startswith(":") and _WORDS.fullmatch(data) is not None
    return comment or frame.event == "ping" or data in _NOISE


def spoken(texts: list[str], like: Like) -> list[str]:
    """Return the texts of frames in a row without mere noise, which servers and attackers send in masses."""
    if not isinstance(like, Frame) or like.event != "message":
        return texts
    return [text for text in texts if len(text) > LONGEST_NOISE or text not in _NOISE]


def is_done(text: str) -> bool:
    """Return whether the data is the `[DONE]` that OpenAI and many proxies put at the end of any stream."""
    return text.lstrip().startswith("[DONE]")


def wire_text(raw: msgspec.Raw) -> str:
    """Return the text of a value that may be a string or any other JSON value; `""` for null and absent.

    A string gives its content, anything else the wire's own text.
    """
    data = bytes(raw)
    if not data.startswith(b'"'):
        return "" if data == b"null" else data.decode("utf-8", "surrogatepass")
    try:
        return _STRING.decode(data)
    except UNREADABLE:
        return str(_SCANNER.decode(data.decode("utf-8", "surrogatepass")))


def value_text(raw: msgspec.Raw) -> tuple[str, bool]:
    """Return `wire_text`, and whether the wire has a whole JSON value there, not a string or nothing."""
    text = wire_text(raw)
    return text, bool(text) and not bytes(raw).startswith(b'"')


def string_text(raw: msgspec.Raw) -> str:
    """Return `wire_text` of a value that is nearly always a string, perhaps a large one, without copying it."""
    try:
        return _STRING.decode(raw)
    except UNREADABLE:
        return wire_text(raw)


def raw_members(raw: msgspec.Raw) -> dict[str, msgspec.Raw]:
    """Return the members of an object with the wire's own text of each, none where the value is no object."""
    text = bytes(raw).decode("utf-8", "surrogatepass")
    if not text.startswith("{"):
        return {}
    try:
        found = [*_members(text, 0)]
    except (ValueError, RecursionError):  # nested too deeply
        return {}
    return {key: msgspec.Raw(text[start:end].encode("utf-8", "surrogatepass")) for key, start, end in found}


def member(value: Any, *path: str | int) -> Any:
    """Return the value at the path of keys and positions, None where something is missing."""
    for key in path:
        if isinstance(value, dict) and isinstance(key, str):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        elif not (isinstance(value, dict) and key == 0):  # one object instead of a list (quirk 39)
            return None
    return value


def opened_chunk(coded: str) -> str | bytes | None:
    """Return the text of an event in base64, its bytes where they are not text, None where they cannot be had."""
    if coded.startswith("{"):  # no letter of base64
        return coded
    try:
        data = base64.b64decode(coded, validate=True)
    except ValueError:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def listed(value: Any) -> list[Any]:
    """Return a list of the wire, an empty one where there is none; views type it `Any`, for it holds no views."""
    return value if type(value) is list else []


def dumped(value: Any) -> str:
    """Return JSON text for a decoded value in the place of a string; a string stays as it is."""
    if type(value) is str:
        return value
    return compact(value, allow_nan=True)


def is_blank(text: str) -> bool:
    """Return whether text is only an empty value: a placeholder for arguments that are still to come (quirk 25)."""
    return not text.strip("{}[] \t\r\n")


def _tolerant(text: str, view: type[T]) -> T | None:
    text = text.lstrip("\ufeff")
    try:
        value, end = _SCANNER.raw_decode(text, _skip(text, 0))
        if type(value) is not dict or text[end:].strip(" \t\r\n\0"):
            return None
        return _struct(text, _skip(text, 0), view)
    except (ValueError, RecursionError):
        return None


def _is_whole(text: str) -> bool:
    """Return whether a line can be an event's whole data."""
    if is_done(text) or _WORDS.fullmatch(text) is not None:
        return True
    try:
        _SCANNER.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t", "\r", "\n"):
        at += 1
    return at


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Yield key, start and end of each member of the valid object that begins at `at`."""
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _SCANNER.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        end = _SCANNER.raw_decode(text, start)[1]
        yield key, start, end
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at


def _elements(text: str, at: int) -> Iterator[int]:
    """Yield the start of each element of the valid array that begins at `at`."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        yield at
        at = _skip(text, _SCANNER.raw_decode(text, at)[1])
        at = _skip(text, at + 1) if text[at] == "," else at


def _struct(text: str, at: int, view: type[T]) -> T:
    """Build a view; a value without content gives a view with all fields absent, so that positions stay.

    Raises:
        ValueError: it is of another shape, and not empty.
    """
    values: dict[str, Any] = {}
    if text[at] == "{":
        fields = _fields(view)
        for key, start, end in _members(text, at):
            if key in fields:
                name, wanted = fields[key]
                values[name] = _value(text, start, end, wanted)
    elif _holds_something(text, at):
        raise ValueError("no object")
    return view(**{name: value for name, value in values.items() if value is not msgspec.UNSET})


@functools.cache
def _fields(view: type[msgspec.Struct]) -> dict[str, tuple[str, Any]]:
    return {field.encode_name: (field.name, field.type) for field in msgspec.structs.fields(view)}


def _value(text: str, start: int, end: int, wanted: Any) -> Any:
    """Build one field from its text; UNSET where a label is of a wrong type.

    Raises:
        ValueError: a container is of another shape, and not empty.
    """
    if wanted is msgspec.Raw:
        return msgspec.Raw(text[start:end].encode("utf-8", "surrogatepass"))
    one, many, texts = _shapes(wanted)
    if (one or many) and text[start] in "{[":
        return _container(text, start, one, many, texts=texts)
    try:
        return msgspec.convert(_SCANNER.raw_decode(text, start)[0], wanted)
    except msgspec.ValidationError:
        if (one or many) and _holds_something(text, start):
            raise ValueError("text for a container") from None
        return msgspec.UNSET


def _container(text: str, start: int, one: Any, many: Any, *, texts: bool) -> Any:
    """Build an object or a list of objects; either may replace the other (quirk 39)."""
    if many is not None:
        return _list(text, start, many, texts=texts)
    if text[start] == "{":
        return _object(text, start, one)
    places = list(_elements(text, start))
    if len(places) > 1:
        raise ValueError("several objects for one")
    holds = bool(places) and _holds_something(text, places[0])
    return _object(text, places[0], one) if holds else msgspec.UNSET


def _list(text: str, start: int, view: type[msgspec.Struct], *, texts: bool) -> Any:
    if text[start] == "[":
        return [_element(text, at, view, texts=texts) for at in _elements(text, start)]
    names = [key for key, _, _ in _members(text, start)]
    if names and _fields(view).keys().isdisjoint(names):
        raise ValueError("an object of another kind for a list")  # such as {"0": …}
    return [_struct(text, start, view)] if names else msgspec.UNSET


def _element(text: str, at: int, view: type[msgspec.Struct], *, texts: bool) -> Any:
    """Build an object of a list, some of which hold texts as well."""
    return _SCANNER.raw_decode(text, at)[0] if texts and text[at] == '"' else _struct(text, at, view)


def _object(text: str, at: int, kind: Any) -> Any:
    """Build an object: a view, or a dict where the dialect reads few of many members."""
    if kind is not dict:
        return _struct(text, at, kind)
    value = _SCANNER.raw_decode(text, at)[0]
    if type(value) is not dict:
        raise ValueError("no object")
    return value


class _Shapes(NamedTuple):
    """The types that a field takes: the view of an object, or `dict`, and the view of a list's objects.

    Attributes:
        texts: the list may hold texts as well.
    """

    one: Any
    many: Any
    texts: bool


@functools.cache
def _shapes(wanted: Any) -> _Shapes:
    """Return the types that a field takes."""
    options = _options(wanted)
    listed = [
        item for option in options if get_origin(option) is list for item in _options(get_args(option)[0])
    ]
    objects = (
        origin for option in options if (origin := get_origin(option) or option) is dict or _is_view(origin)
    )
    return _Shapes(next(objects, None), next(filter(_is_view, listed), None), str in listed)


def _options(kind: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the type alone."""
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _is_view(option: Any) -> bool:
    return isinstance(option, type) and issubclass(option, msgspec.Struct)


def _holds_something(text: str, at: int) -> bool:
    """Return whether a value is a container that is not empty, or text that begins as one."""
    value = _SCANNER.raw_decode(text, at)[0]
    if isinstance(value, str):
        value = value.strip()
        return value.startswith(("{", "[")) and not is_blank(value)
    return isinstance(value, (dict, list)) and bool(value)
