"""Reports where a frame seems to hold a call that its translator did not take: an almost-dialect, or a newer one.

    {"choices":[{"delta":{"type":"tool_use","name":"get_tide","input":"{}"}}]}     read as chat: no call comes of it

Theory of operation. A frame that led to any delta of a call, or only a piece of text, is not looked at; nearly all are
such frames. A delta that says nothing of its call, neither a label nor a text, does not count. Other frames are
searched for a word for a call, as the name of a member, as a `type` or as the name of the event: first in the text of
the frame, where a quoted word is one of the frame itself, because quotes are escaped inside of strings; then, where
there is one, in the decoded text. The name of a call's id (`tool_use_id`) is such a word if a name and at most
arguments stand beside it, because other objects are about a call. An object that holds no text, as the counts in
`usage` or a head whose text is still to come, is not a call. The machine decides by its ids whether a call came
already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Final, NamedTuple

from wholecall import deltas
from wholecall.dialects.decode import is_blank, payloads, plain
from wholecall.dialects.hidden_text import (
    ARGUMENTS,
    LABEL,
    Pieces,
    has_bare,
    holds_further,
    is_empty,
    lost_piece,
    with_doubts,
)
from wholecall.framing.frame import Frame

_private = True

_WORDS: Final = tuple(rf"{what}[_-]?(?:[cC]all|[uU]se)s?" for what in ("tool", "function"))
_WORD: Final = re.compile(rf"(?:[\w.-]*[_.-])?(?:{'|'.join(_WORDS)})")
_QUOTED: Final = tuple(
    re.compile(f'{word}"') for word in _WORDS
)  # each begins as one word does, and is found fast
_HOLDS: Final = re.compile(r'\s*:\s*(?:\{\s*"|\[\s*[{\["]|"[{\[])')  # an object, a list, or their text
_ID: Final = re.compile(r'(?:tool|function)[_-]?(?:[cC]all|[uU]se)[_-]?[iI][dD]"\s*:\s*"')
_HEAD: Final = re.compile(r"(?:\w*_)?id|\w*Id|name|type|status|index|args|arguments|input")
_TYPE: Final = re.compile(r'"type"\s*:\s*"[\w.-]*$')
_REASON: Final = 'eason":"tool'  # that is about calls, in the last frames of most turns
_BEFORE: Final = 60  # characters, in which it is searched
_MOST: Final = 32  # ids and names that are kept of a possible call
_LONGEST: Final = 256  # characters of one label
_ENDS: Final[frozenset[type]] = frozenset({deltas.CallClosed, deltas.Finish, deltas.TurnEnded})
_NO_PIECES: Final[Pieces] = {}
_LABELS: Final = frozenset(
    {"type", "status", "object", "role", "index"}
)  # their values are not text of a call
_ERRORS: Final = frozenset({"error", "last_error"})
# Members that repeat a request or earlier turns.
_ECHOES: Final = _ERRORS | {
    "input",
    "tools",
    "tool_choice",
    "request",
    "history",
    "chat_history",
    "chatHistory",
}
_CALLS: Final[frozenset[type]] = frozenset(
    {
        *(
            deltas.CallSeen,
            deltas.CallWhole,
            deltas.CallClosed,
            deltas.CallRefused,
            deltas.CallWritten,
            deltas.CallCancelled,
        ),
        *(deltas.Fragment, deltas.Labelled, deltas.Slot, deltas.Run, deltas.Restated, deltas.Reread),
    }
)
# Pieces of text: a frame that leads to one has no room for a call.
_PIECES: Final[frozenset[type]] = frozenset(
    {deltas.TextFragment, deltas.ReasoningFragment, deltas.Fragment, deltas.Slot, deltas.Run}
)


def with_unread(
    told: list[deltas.Delta],
    frame: Frame,
    takes_silently: Callable[[Frame], bool] | None = None,
    pieces: Pieces = _NO_PIECES,
) -> list[deltas.Delta]:
    """Return the deltas of a frame, and a delta for each possible call, or text of one, of which nothing was reported.

    `takes_silently` returns whether the dialect reports nothing of such a frame deliberately; `pieces` are the events
    that are pieces of a call's text.
    """
    text = frame.data
    if len(told) == 1 and type(told[0]) in _PIECES:
        return told
    if "\n" in text and len(payloads(text)) > 1:
        return told  # its lines were searched one by one
    is_head = has_bare(told)
    lost = lost_piece(told, text, pieces, is_head=is_head) if pieces else []
    if lost:
        end = next((n for n, delta in enumerate(told) if type(delta) in _ENDS), len(told))
        return [*told[:end], *lost, *told[end:]]
    if is_head:
        return with_doubts(told, text)
    if not ("tool" in text or "unction" in text or "tool" in frame.event) or _says_call(told):
        return told
    named = _WORD.fullmatch(frame.event) is not None
    if not (named or _is_likely(text)) or (takes_silently is not None and takes_silently(frame)):
        return told
    return told + _calls_of(text, named=named)


def is_read(told: list[deltas.Delta], text: str) -> bool:
    """Return whether a frame with any name needs no search: its calls were read, or it has no word for a call.

    Its dialect has no pieces in such a frame.
    """
    if has_bare(told):
        return not holds_further(text)
    return not ("tool" in text or "unction" in text) or _says_call(told)


def _says_call(told: list[deltas.Delta]) -> bool:
    """Return whether a frame led to any delta of a call that says something, or only a piece of text."""
    if (len(told) == 1 or (told and type(told[0]) is deltas.TextBegan)) and type(told[-1]) in _PIECES:
        return True
    return any(type(delta) in _CALLS and not _is_blank(delta) for delta in told)


def _is_blank(delta: deltas.Delta) -> bool:
    """Return whether a fragment says nothing: `{"tool_calls":[{"payload":{…}}]}`, whose members are none of chat's."""
    return type(delta) is deltas.Labelled and not (delta.id or delta.name or delta.text)


def _is_likely(text: str) -> bool:
    """Return whether the text of a frame may hold a call.

    A member of such a name holds something, an object is of such a type, or a name comes with the id of a call.
    """
    if "unction" not in text and text.count("tool") == text.count(_REASON):
        return False
    for found in chain.from_iterable(word.finditer(text) for word in _QUOTED):
        start, end = found.span()
        if _HOLDS.match(text, end) or _is_type(text, start):
            return True
    return 'name"' in text and _ID.search(text) is not None


def _is_type(text: str, start: int) -> bool:
    before = text[max(start - _BEFORE, 0) : start]
    return '"type"' in before and _TYPE.search(before) is not None


class _Place(NamedTuple):
    """A value of a frame, the ids of the objects around it, and whether a word for a call names it."""

    value: Any
    ids: frozenset[str]
    named: bool


def _calls_of(text: str, *, named: bool) -> list[deltas.Delta]:
    """Return the possible calls in the text of a frame; `named` is whether the event is named so."""
    return [call for line in payloads(text) for call in _calls_in(plain(line), named=named)]


def _calls_in(value: Any, *, named: bool) -> Iterator[deltas.CallUnread]:
    """Yield the possible calls in a value."""
    places = [_Place(value, frozenset(), named)]
    while places:
        value, ids, named = places.pop()
        if isinstance(value, list):
            places += (_Place(each, ids, named) for each in value)
        elif isinstance(value, str) and named and value.lstrip().startswith(("{", "[")):
            places.append(_Place(plain(value) or {"text": value}, ids, named))
        elif isinstance(value, dict):
            named = named or _is_word(value.get("type")) or _is_head(value)
            call = _call(value, ids) if named else None
            if call is not None:
                yield call
                continue
            if len(ids) < _MOST:
                ids |= frozenset(each for key, each in value.items() if _is_id(key) and _is_label(each))
            places += (_Place(each, ids, _is_word(key)) for key, each in value.items() if key not in _ECHOES)
            places += (_Place(each, ids, True) for each in _with_ids(value.get("tools")))


def _is_word(value: object) -> bool:
    return isinstance(value, str) and _WORD.fullmatch(value) is not None


def _is_head(value: dict[str, Any]) -> bool:
    """Return whether an object consists of the id of a call, a name, and perhaps arguments."""
    return _has_id(value) and "name" in value and all(map(_HEAD.fullmatch, value))


def _with_ids(tools: object) -> Iterator[dict[str, Any]]:
    """Yield the calls of a list of tools, as Agno has them: a request's tools have no ids of calls."""
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and _has_id(tool):
            yield tool


def _has_id(value: dict[str, Any]) -> bool:
    """Return whether an object has the id of a call, by the name of that member."""
    return any(_is_id(key) and _is_word(key[:-2].rstrip("_-")) for key in value)


def _is_label(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST


def _is_id(key: str) -> bool:
    return key[-2:].lower() == "id"


def _call(value: Any, around: frozenset[str]) -> deltas.CallUnread | None:
    """Return the call that an object holds, None if there is no text in it but labels and ids."""
    ids, names, n_texts, n_contents, whole = set[str](), set[str](), 0, 0, True
    values: list[tuple[str, Any]] = [("", value)]
    while values:
        key, value = values.pop()
        if isinstance(value, list):
            values += ((key, each) for each in value)
        elif isinstance(value, dict):
            values += ((key, each) for key, each in value.items() if key not in _ERRORS)
        elif isinstance(value, str) and value and key not in _LABELS:
            if _is_id(key):
                ids |= {value} if _is_label(value) and len(ids) < _MOST else set()
                continue
            n_texts += not is_blank(value)
            if key[-4:].lower() != "name":
                n_contents += LABEL.fullmatch(key) is None and not is_empty(value)
                whole = whole and not (key in ARGUMENTS and type(plain(value)) is not dict)
            elif _is_label(value) and len(names) < _MOST:
                names.add(value)
    if not n_texts:
        return None
    return deltas.CallUnread(
        around | ids, frozenset(names), bool(ids), holds_text=n_contents > 0, whole=whole and n_contents > 0
    )
