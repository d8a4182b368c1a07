"""Reports text of calls in members that their dialect does not read, so that no call runs without it.

    {"functionCall":{"name":"get_tide","foo":{"port":"Delfzijl"}}}    no arguments, but content in another member
    {"type":"input_json_delta","foo":"Delfzijl"}                      a piece without the member for its text

Theory of operation. Most calls that come without text are heads, and their text follows; others have no arguments. If
the object of such a call holds content in another member, the call is *in doubt*: it is not emitted unless text comes.
Content is an object, a list, or text that begins as one. Labels are no content, nor are the members that servers add
about a call, such as metadata, signatures and results. The object of a call has the call's name, and its id in it or
around it: without the id, the tool of that name in an echoed request would be taken for the call.

A *piece* is an event whose dialect names the member of its text (`Translator.PIECES`). If an event leads to no text,
and lacks that member, any other text in it is lost, as in a frame that cannot be read; so is the name of a call, whose
text would be taken for another's. Of several pieces in a list each is looked at. An event of an unknown kind with that member is a piece of the calls that it names:

    {"type":"foo","toolCallId":"call_1","delta":"Delfzijl"}
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain, repeat
from typing import Any, Final, NamedTuple, Union

from msgspec.structs import replace

from wholecall import deltas
from wholecall.dialects.decode import is_blank, payloads, plain, undecodable

_private = True

# The paths of the text in a piece, separated by `|`, by words that frames of such events contain. An event that lacks
# what comes before a colon is not a piece; the last member may have several names: `choices.delta:arguments,args`.
Pieces = Mapping[str, str]

_HEADS: Final[frozenset[type]] = frozenset(
    {deltas.CallSeen, deltas.CallWhole, deltas.Labelled, deltas.Restated}
)
_PIECES: Final = (deltas.Slot, deltas.Fragment, deltas.CallRefused)
_OF_TEXT: Final[frozenset[type]] = frozenset({deltas.Slot, deltas.Fragment, deltas.Labelled})
_EXECUTED: Final = frozenset({"function", "custom"})  # kinds of calls that the client executes
ARGUMENTS: Final = frozenset({"arguments", "args", "input", "parameters"})
LABEL: Final = re.compile(
    r"(?:\w*_)?(?:id|name|index|reason|status|type|state)|\w*(?:Id|ID|Name|Index|Status|Type|State)|kind|object|role|event|model|obfuscation|p"
)
_NAME: Final = re.compile(r"(?:\w*_)?name|\w*Name|tool|function")
_IN_PARTS: Final = frozenset({"partialArgs", "partial_args"})  # Gemini's arguments in parts, which may wait
# Words of members that servers add about a call.
_BESIDE: Final = re.compile(
    "annotations|cache|caller|description|error|event|extra|meta|metadata|outputs?|provider|response|results?|schema"
    "|signature|timestamp|timing|title|trace|usage",
    re.IGNORECASE,
)
# Members with content, or with text that is the beginning of JSON; and those that are around the heads of most calls.
_CONTENT: Final = re.compile(r'"([^"\\]*)"\s*:\s*(?:\{(?!\s*\})|\[(?!\s*\])|"\s*(?:\\"|[{\[]))')
_COUNTS: Final = frozenset({"usage", "prompt_tokens_details", "completion_tokens_details"})
_AROUND: Final = frozenset({
    *("choices", "delta", "tool_calls", "function", "content_block", "item", "candidates", "parts", "functionCall"),
    *("toolUse", "contentBlockStart", "tool_call_chunks", "toolCall", "tool_call"),
    *_COUNTS,
})  # fmt: skip
_Label = tuple[str, Union[str, None]]  # the name of a call, and its id or another label
_DEPTH: Final = 3  # objects around that of a call, as in goose's `{"id","toolCall":{"value":{"name"}}}`
_MOST_LABELS: Final = 64  # members of an object that may hold labels of the calls in it
_MOST_VALUES: Final = 256  # that are compared with the labels of a call
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+")
_KINDS: Final = ("type", "event", "event_type")  # members that have the kind of an event


def has_bare(told: list[deltas.Delta]) -> bool:
    """Return whether a frame led to a call that the client executes, and perhaps to no text for it."""
    return any(type(delta) in _HEADS and any(map(_is_bare, _calls(delta))) for delta in told)


def _bare_calls(told: list[deltas.Delta]) -> list[tuple[int, Any]]:
    """Return the calls for which a frame led to no text, with the positions of their first deltas."""
    calls = [(n, call) for n, delta in enumerate(told) if type(delta) in _HEADS for call in _calls(delta)]
    texts = [*(call for _, call in calls if not _is_bare(call)), *(d for d in told if isinstance(d, _PIECES))]
    known = {(each.choice, each.index) for each in texts if each.index is not None}
    bare: list[tuple[int, Any]] = []
    for n, call in calls:
        if _is_bare(call) and (call.choice, call.index) not in known:
            known |= {(call.choice, call.index)} if call.index is not None else set()
            bare.append((n, call))
    return bare


def is_empty(text: str) -> bool:
    """Return whether text is an empty object or list, whole: a brace alone may be a piece."""
    return is_blank(text) and text.rstrip().endswith(("}", "]"))


def _calls(delta: Any) -> tuple[Any, ...]:
    return delta.calls if type(delta) is deltas.Restated else (delta,)


def _is_bare(call: Any) -> bool:
    blank = type(call) is deltas.CallSeen or not call.text or (call.rank > 0 and is_empty(call.text))
    return blank and bool(call.name) and call.kind in _EXECUTED


def with_doubts(told: list[deltas.Delta], text: str) -> list[deltas.Delta]:
    """Return the deltas of a frame; before each call without text whose object holds content, that it is in doubt.

    Of calls with the same labels, as many are without doubt as there are objects with these labels and without content.
    """
    if not holds_further(text):
        return told
    bare = _bare_calls(told)
    doubted, free = _objects_of(text, {call.name for _, call in bare})
    found, n_told = list[deltas.Delta](), 0
    for position, call in bare if doubted else ():
        label = call.name, call.id
        free[label] -= 1
        if label in doubted and free[label] < 0:
            found += told[n_told:position]
            found.append(deltas.TextUnread(call.choice, call.id, call.name))
            n_told = position
    return found + told[n_told:]


def _objects_of(text: str, names: set[str]) -> tuple[set[_Label], Counter[_Label]]:
    """Return the names and labels of objects with content, and how many objects without content have each."""
    doubted, free = set[_Label](), Counter[_Label]()
    for of in (each for line in payloads(text) for each in _objects(plain(line), names)):
        labels = {(of.name, label) for label in (*of.labels(), None)}
        if of.holds_content():
            doubted |= labels
        else:
            free.update(labels)
    return doubted, free


def holds_further(text: str) -> bool:
    """Return whether a frame has content in a member that is not around the heads of calls: few frames have.

    A member around a call begins before its name; behind that it is content: `{"name":"f","item":{"port":"Delfzijl"}}`.
    """
    if not _AROUND.issuperset(_CONTENT.findall(text)):
        return True
    name = text.rfind('ame"')
    return text.find("{", name) >= 0 and not _COUNTS.issuperset(_CONTENT.findall(text, name))


class _Object(NamedTuple):
    """An object of a frame that has the name of a call, and the objects that it is in, the innermost first."""

    name: str
    members: dict[str, Any]
    outer: tuple[dict[str, Any], ...]

    def labels(self) -> Iterator[str]:
        """Yield the labels in it and beside it."""
        for members in (self.members, *self.outer):
            yield from (str(value) for value in members.values() if type(value) in (str, int))

    def holds_content(self) -> bool:
        """Return whether it holds content, or there are arguments beside it."""
        outer = self.outer[0] if self.outer else {}
        beside = ((key, outer[key]) for key in ARGUMENTS & outer.keys())
        own = {value for value in self.members.values() if type(value) is str}
        return any(_is_content(key, value, own) for key, value in (*self.members.items(), *beside))


def _objects(value: Any, names: set[Any]) -> Iterator[_Object]:
    """Yield the objects in a value that have one of some names."""
    places: list[tuple[Any, tuple[dict[str, Any], ...]]] = [(value, ())]
    while places:
        value, outer = places.pop()
        if isinstance(value, list):
            places += ((each, ({}, *outer[: _DEPTH - 1])) for each in value)
        elif isinstance(value, dict):
            found = (
                each
                for key, each in value.items()
                if type(each) is str and each in names and _NAME.fullmatch(key)
            )
            yield from (_Object(name, value, outer) for name in found)
            around = (value if len(value) <= _MOST_LABELS else {}, *outer[: _DEPTH - 1])
            places += ((each, around) for each in value.values() if isinstance(each, (dict, list)))


def _is_content(key: str, value: Any, labels: set[str]) -> bool:
    """Return whether a member holds more than the labels of its call."""
    if key in _IN_PARTS or is_beside(key):
        return False
    if isinstance(value, str):
        return value.lstrip(' \n"').startswith(("{", "[")) and not is_empty(value)
    return isinstance(value, (dict, list)) and _says_more(value, labels)


def _says_more(value: Any, labels: set[str]) -> bool:
    """Return whether a value holds a value that is none of some labels; of a large one it is assumed."""
    values, n_seen = [value], 0
    while values and n_seen < _MOST_VALUES:
        value = values.pop()
        n_seen += 1
        if isinstance(value, (dict, list)):
            values += value.values() if isinstance(value, dict) else value
        elif value not in (None, "") and value not in labels:
            return True
    return bool(values)


def lost_piece(
    told: list[deltas.Delta], text: str, pieces: Pieces, *, is_head: bool = False
) -> list[deltas.Delta]:
    """Return the fault of a piece that led to no text: it holds text, but not in the member for it.

    The head of a call usually has that member, empty, at its place. An event of an unknown kind may be a piece as well.
    """
    if any(type(delta) is deltas.Noted and delta.anomaly == "unknown_events" for delta in told):
        unknown = [fault for line in payloads(text) for fault in _unknown_piece(line, pieces)]
        if unknown:
            return unknown
    for word in pieces:
        if word in text:
            break
    else:
        return []
    ways = _ways(pieces[word])
    if not any(map(_is_silent, told)):
        if is_head and any(way.place and any(member in text for member in way.members) for way in ways):
            return []
        if any(getattr(delta, "text", "") for delta in told):
            return []
    lacking = [(line, _lacking(plain(line), ways)) for line in payloads(text)]
    lost: list[deltas.Delta] = [_unread(line) for line, held in lacking if any(map(holds_text, held))]
    if lost or any(call.name for delta in told if type(delta) in _HEADS for call in _calls(delta)):
        return lost
    names = frozenset(name for _, held in lacking for one in held for name in _names_in(one))
    return [deltas.CallUnread(names=names, holds_text=True)] if names else []


def _unread(line: str) -> deltas.WireFault:
    """Return the fault of an event with text that is not read, which may be a call's."""
    return replace(undecodable(line), detail="an event has text in a member that is not read")


def _is_silent(delta: Any) -> bool:
    """Return whether a piece has neither text nor name; another one in its frame may have both."""
    return type(delta) in _OF_TEXT and not (delta.text or getattr(delta, "name", None))


def _unknown_piece(line: str, pieces: Pieces) -> list[deltas.Delta]:
    """Return the fault of an event of an unknown kind with a text where pieces have theirs.

    It is that of the calls that it names, or without an id of every open call. A piece of a known kind that the dialect
    does not take is of a part or a block that is no call.
    """
    event = plain(line)
    if not isinstance(event, dict) or any(f'"{event.get(member)}"' in pieces for member in _KINDS):
        return []
    ways = (way for paths in pieces.values() for way in _ways(paths))
    if not any(map(_holds_piece, repeat(event), ways)):
        return []
    ids = frozenset(
        value for key, value in _members(event) if key[-2:].lower() == "id" and type(value) is str
    )
    return [deltas.CallUnread(ids, has_id=True, is_piece=True)] if ids else [_unread(line)]


def _holds_piece(event: dict[str, Any], way: _Way) -> bool:
    """Return whether an event has a text at a path, or an object that is arguments."""
    n_left, found = _followed([event], [*way.place, *way.steps])
    kinds = (str, dict, list) if ARGUMENTS.issuperset(way.steps[-1]) else str
    return n_left == 0 and any(each and isinstance(each, kinds) for each in found)


class _Way(NamedTuple):
    """A path of the text in a piece: the place of pieces, the steps from there, and the last ones as members."""

    place: list[list[str]]
    steps: list[list[str]]
    members: list[str]


@cache
def _ways(paths: str) -> list[_Way]:
    return [_way(*path.rpartition(":")[::2]) for path in paths.split("|")]


def _way(place: str, steps: str) -> _Way:
    split = _steps(steps)
    return _Way(_steps(place) if place else [], split, [f'"{name}":' for name in split[-1]])


def _lacking(event: Any, ways: list[_Way]) -> list[dict[str, Any]]:
    """Return the objects in an event that lack the members at some paths; of pieces in a list, each that has none."""
    found: dict[int, list[tuple[int, list[Any]]]] = {}
    for way in ways:
        n_left, objects = _followed([event], way.place)
        for piece in [] if n_left else _each(objects):
            found.setdefault(id(piece), []).append(_followed([piece], way.steps))
    lacking = chain.from_iterable(
        _furthest(of, n_most=1 if key == id(event) else None) for key, of in found.items()
    )
    return [one for one in lacking if isinstance(one, dict)]


def _furthest(followed: list[tuple[int, list[Any]]], *, n_most: int | None) -> list[Any]:
    """Return the last objects of the ways that lead furthest, if none of them leads to its end."""
    least = min(n_left for n_left, _ in followed)
    furthest = [objects for n_left, objects in followed if n_left == least][:n_most]
    return [one for objects in furthest for one in objects] if least else []


def _names_in(value: dict[str, Any]) -> list[str]:
    """Return the names in the objects inside of another one: without them, later pieces would be another call's."""
    inner = (member for each in value.values() for member in _members(each))
    return [each for key, each in inner if type(each) is str and each and _NAME.fullmatch(key)]


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield all members in a value."""
    values = [value]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            yield from value.items()
            values += value.values()
        elif isinstance(value, list):
            values += value


def reached(value: Any, path: str) -> list[dict[str, Any]]:
    """Return the objects at a path, and in the lists that it leads through: `candidates.content.parts`."""
    n_left, objects = _followed([value], _steps(path))
    return [] if n_left else [one for one in _each(objects) if isinstance(one, dict)]


def _each(values: list[Any]) -> list[Any]:
    """Return values, and in place of lists what is in them."""
    while any(isinstance(each, list) for each in values):
        values = [one for each in values for one in (each if isinstance(each, list) else (each,))]
    return values


@cache
def _steps(path: str) -> list[list[str]]:
    return [step.split(",") for step in path.split(".")]


def _followed(objects: list[Any], way: list[list[str]]) -> tuple[int, list[Any]]:
    """Follow a way through objects, and through lists: return the steps that are left, and the last objects."""
    for n, names in enumerate(way):
        objects = _each(objects)
        further = [one[name] for one in objects if isinstance(one, dict) for name in names if name in one]
        if not further:
            return len(way) - n, objects
        objects = further
    return 0, objects


def holds_text(value: Any) -> bool:
    """Return whether an event holds a text that is no label, or any value in a further object."""
    values: list[tuple[Any, int]] = [(value, 0)]
    while values:
        value, depth = values.pop()
        if isinstance(value, dict):
            values += ((each, depth + 1) for key, each in value.items() if not _says_nothing(key, each))
        elif isinstance(value, list):
            values += ((each, depth) for each in value)
        elif value not in (None, "") and (isinstance(value, str) or depth > 1):
            return True
    return False


def _says_nothing(key: str, value: Any) -> bool:
    """Return whether a member is a label, or about a call."""
    is_label = LABEL.fullmatch(key) is not None or _NAME.fullmatch(key) is not None
    return is_beside(key) or (is_label and not isinstance(value, (dict, list)))


def is_beside(key: str) -> bool:
    """Return whether a member is one that servers add about a call."""
    return any(map(_BESIDE.fullmatch, _WORDS.findall(key)))
