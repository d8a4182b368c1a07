r"""A frame that differs from the one before it in a piece of text alone: what was found out about that holds for it.

Theory of operation. Servers write thousands of frames in one form. A *mould* is made of a frame that was looked at
closely: all its bytes but the piece of text, and but what dialects let vary besides: the padding against
eavesdroppers, and the number of the event. A frame that fits has the same bytes all around, so the same members in
the same places. Its text must be JSON as every reader takes it: escapes in order, no half of a character, UTF-8, and
none of the characters that some readers take for line ends. Its number must be the next one. Where anything else
differs, the frame does not fit, and is looked at as closely as the first one.

A mould holds for the very next frame only, and for the one after that if that one fitted: nothing may come between
them. It is made only of a frame whose text has one place that cannot be mistaken: a single member of a known name,
and no escape outside of it, which could hide another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec

from wholecall.output.events import ArgumentsDelta, Event, ReasoningDelta, TextDelta

__all__ = ["Mould"]

_STRING: Final = (
    rb'[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u(?:(?![dD][89a-fA-F])[0-9a-fA-F]{4}'
    rb'|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))[^"\\\x00-\x1f]*)*'
)
_TEXTS: Final = rb"content|reasoning_content|reasoning|text|thinking|delta|arguments|input|partial_json"
_HOLES: Final = re.compile(
    rb'"(?:(?:' + _TEXTS + rb')"\s*:\s*"(?P<text>' + _STRING + rb')"'
    rb'|obfuscation"\s*:\s*"(?P<padding>' + _STRING + rb')"'
    rb'|sequence_number"\s*:\s*(?P<number>\d+))'
)
_BLANK: Final = re.compile(rb"(?<=\}) *(?=\}\s*\Z)")  # Anthropic pads so
_Read = Callable[[bytes, int], re.Match[bytes]]
_STRING_END: Final[Any] = re.compile(_STRING).match  # it matches everywhere: nothing is a string, too
_READ: Final[dict[str, _Read]] = {
    "text": _STRING_END,
    "padding": _STRING_END,
    "blank": re.compile(rb" *").match,
}
_LINE_ENDS: Final = ("\x85", "\u2028", "\u2029")
_CALL: Final = frozenset({ArgumentsDelta})
_SHOWN: Final = frozenset({ReasoningDelta, TextDelta})
_decoded = msgspec.json.Decoder(str).decode


class Mould:
    """The bytes of a frame around its text.

    Attributes:
        is_call: whether the text is a piece of a call's; else it is shown.
        number: that of the last frame that fitted, None where frames have none.
    """

    __slots__ = ("_doubts", "_end", "_holes", "_text", "is_call", "number")

    def __init__(self, block: bytes, holes: Sequence[tuple[str, int, int]]) -> None:
        starts = [0, *(end for _, _, end in holes)]
        self.is_call = False
        self.number: int | None = None
        self._holes: list[tuple[bytes, int, str, _Read | None]] = [
            (block[at:start], start - at, kind, _READ.get(kind))
            for at, (kind, start, _) in zip(starts, holes, strict=False)
        ]
        self._end = block[starts[-1] :]
        self._text = b""
        self._doubts: re.Pattern[bytes] | None = None

    @classmethod
    def of_call(cls, block: bytes, text: object) -> Mould | None:
        """Return the mould of a frame with a piece of a call's text; None if it is unclear where this stands."""
        mould = cls._of(block, text)
        if mould is not None:
            mould.is_call = True
        return mould

    @classmethod
    def of_shown(cls, block: bytes, text: object, doubts: re.Pattern[bytes] | None) -> Mould | None:
        """Return the mould of a frame with text that is shown, and in which nothing was found that raises doubts."""
        mould = cls._of(block, text)
        if mould is not None:
            mould._doubts = doubts
        return mould

    @classmethod
    def _of(cls, block: bytes, text: object) -> Mould | None:
        found = list(_HOLES.finditer(block))
        holes = {hole.lastgroup or "": hole for hole in found}
        if "text" not in holes or len(found) > len(holes) or not (block.endswith(b"\n") and _is_plain(block)):
            return None
        if _decoded(b'"%b"' % holes["text"]["text"]) != text:
            return None
        spans = [(kind, *hole.span(kind)) for kind, hole in holes.items()]
        if (blank := _BLANK.search(block, spans[-1][2])) is not None:
            spans.append(("blank", *blank.span()))
        mould = cls(block, spans)
        if any(b"\\" in before for before, *_ in mould._holes) or b"\\" in mould._end:
            return None
        mould.number = int(holes["number"]["number"]) if "number" in holes else None
        return mould

    @property
    def text(self) -> str:
        """The text of the last frame that fitted."""
        return _decoded(b'"%b"' % self._text)

    def agrees(self, events: Iterable[Event[Any]]) -> bool:
        """Whether the parser has found nothing in frames but text of the kind that was expected."""
        return (_CALL if self.is_call else _SHOWN).issuperset(map(type, events))

    def fits(self, block: bytes) -> bool:
        """Whether a frame is the next one from this mould."""
        at, start, end = 0, 0, 0
        for before, length, kind, read in self._holes:
            if not block.startswith(before, at):
                return False
            at += length
            if read is None:
                number = b"%d" % ((self.number or 0) + 1)
                if not block.startswith(number, at):
                    return False
                at += len(number)
            elif kind == "text":
                start = at
                at = end = read(block, at).end()
            else:
                at = read(block, at).end()
        if block[at:] != self._end or not (block.isascii() or _is_plain(block)):
            return False
        text = block[start:end]
        if not self.is_call and (not text or (b'"' in text and self._is_doubtful(block, start, end))):
            return False
        self._text = text
        if self.number is not None:
            self.number += 1
        return True

    def _is_doubtful(self, block: bytes, start: int, end: int) -> bool:
        """Whether something in the text, or where it ends, looks as if it meant something."""
        return self._doubts is not None and self._doubts.search(block, start, end + 1) is not None


def _is_plain(block: bytes) -> bool:
    """Whether all readers take the same text from these bytes."""
    try:
        text = block.decode()
    except UnicodeDecodeError:
        return False
    return text.isascii() or not any(end in text for end in _LINE_ENDS)
