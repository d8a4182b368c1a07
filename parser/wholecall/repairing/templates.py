r"""Frame templates: findings about a frame, reused for the next ones, which differ only in a piece of text.

Theory of operation. Servers write thousands of frames in one form. A *template* is made of a frame that was examined
closely: all its bytes except the piece of text and the other parts that dialects let vary: the padding against
eavesdroppers, and the number of the event. A frame that fits has the same bytes all around, and therefore the same
members in the same places. Its text must be JSON as every reader takes it: escapes in order, no half of a character,
UTF-8, and none of the characters that some readers take for line ends. Its number must be the next one. If anything
else differs, the frame does not fit, and is examined as closely as the first one.

A template holds for the very next frame only, and for each further frame while all before it fitted: nothing may come
between them. It is made only of a frame whose text has one unmistakable place: a single member of a known name, and no
escape outside of it, which could hide another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, Optional

import msgspec

from wholecall.calls.output.call_events import ArgumentsDelta
from wholecall.calls.output.events import Event, ReasoningDelta, TextDelta

_STRING: Final = (
    rb'[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u(?:(?![dD][89a-fA-F])[0-9a-fA-F]{4}'
    rb'|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))[^"\\\x00-\x1f]*)*'
)
_TEXTS: Final = rb"content|reasoning_content|reasoning|text|thinking|delta|arguments|input|partial_json"
_HOLES: Final = re.compile(
    rb'"(?:(?:' + _TEXTS + rb')"\s*:\s*"(?P<text>' + _STRING + rb')"'
    rb'|obfuscation"\s*:\s*"(?P<padding>' + _STRING + rb')"'
    rb'|sequence_number"\s*:\s*(?P<number>\d{1,18})(?!\d))'
)
_BLANK: Final = re.compile(rb"(?<=\}) *(?=\}\s*\Z)")  # Anthropic's padding
_Read = Callable[[bytes, int], re.Match[bytes]]
# These match everywhere: a string may be empty, and so may the blanks.
_STRING_END: Final[Any] = re.compile(_STRING).match
_SPACES_END: Final[Any] = re.compile(rb" *").match
_READ: Final[dict[str, Callable[[bytes, int], re.Match[bytes]]]] = {
    "text": _STRING_END,
    "padding": _STRING_END,
    "blank": _SPACES_END,
}
_LINE_ENDS: Final = ("\x85", "\u2028", "\u2029")
_Hole = tuple[bytes, int, str, Optional[_Read]]  # the bytes before it, their length, its kind and its reader
_LIKELY: Final = 40  # bytes in which frames from other templates often differ
_CALL: Final = frozenset({ArgumentsDelta})
_SHOWN: Final = frozenset({ReasoningDelta, TextDelta})
_decoded = msgspec.json.Decoder(str).decode


def shows_text(events: Sequence[Event[Any]]) -> bool:
    """Return whether the parser has found text or reasoning in frames, and nothing else."""
    return bool(events) and _SHOWN.issuperset(map(type, events))


class FrameTemplate:
    """The bytes of a frame around its text; they are searched for in the next frame.

    Args:
        block: the frame.
        text: its text.
        is_call: whether that is a piece of a call; else it is shown.
        number: that of the frame; for a shown text, None finds it.
        doubts: pattern that the text of a frame must not contain.

    Attributes:
        is_call: as above.
        number: that of the last frame that fitted, None where frames have none.
    """

    __slots__ = ("_block", "_doubts", "_end", "_first", "_holes", "_text", "is_call", "number")

    def __init__(
        self,
        block: bytes,
        text: object,
        *,
        is_call: bool,
        number: int | None = None,
        doubts: re.Pattern[bytes] | None = None,
    ) -> None:
        self.is_call = is_call
        self.number = number
        self._block = block
        self._first = text
        self._text = b""  # of the last frame that fitted, as it is written
        self._doubts = doubts
        self._holes: list[_Hole] | None = None
        self._end = b""

    @property
    def text(self) -> str:
        """The text of the last frame that fitted."""
        return _decoded(b'"%b"' % self._text)

    def agrees(self, events: Sequence[Event[Any]]) -> bool:
        """Return whether the parser has found only text of the expected kind in frames."""
        if self.is_call:
            return _CALL.issuperset(map(type, events))
        return shows_text(events)

    def fits(self, block: bytes) -> bool:
        """Return whether a frame is the next one from this template."""
        holes = self._holes
        if holes is None:
            if not block.startswith(self._block[:_LIKELY]):
                return False
            holes = self._holes = self._made()
        at, start, end = 0, 0, 0
        for before, length, kind, read in holes:
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
        if not holes or block[at:] != self._end or not (block.isascii() or _is_plain(block)):
            return False
        text = block[start:end]
        if not self.is_call and (not text or (b'"' in text and self._is_doubtful(block, start, end))):
            return False
        self._text = text
        if self.number is not None:
            self.number += 1
        return True

    def _is_doubtful(self, block: bytes, start: int, end: int) -> bool:
        """Return whether something in the text, or at its end, may have another meaning."""
        return self._doubts is not None and self._doubts.search(block, start, end + 1) is not None

    def _made(self) -> list[_Hole]:
        """Return the holes of the frame, and the bytes before each; none if the place of its text is unclear."""
        block, found = self._block, list(_HOLES.finditer(self._block))
        holes = {hole.lastgroup or "": hole for hole in found}
        if "text" not in holes or len(found) > len(holes) or not (block.endswith(b"\n") and _is_plain(block)):
            return []
        number = int(holes["number"]["number"]) if "number" in holes else None
        if self.is_call and number != self.number:
            return []
        if _decoded(b'"%b"' % holes["text"]["text"]) != self._first:
            return []
        self.number = number
        spans = [(kind, *hole.span(kind)) for kind, hole in holes.items()]
        if (blank := _BLANK.search(block, spans[-1][2])) is not None:
            spans.append(("blank", *blank.span()))
        starts = [0, *(end for _, _, end in spans)]
        self._end = block[starts[-1] :]
        between = [block[at:start] for at, (_, start, _) in zip(starts, spans, strict=False)]
        if any(b"\\" in part for part in (*between, self._end)):
            return []
        return [
            (part, len(part), kind, _READ.get(kind)) for part, (kind, *_) in zip(between, spans, strict=True)
        ]


def _is_plain(block: bytes) -> bool:
    """Return whether all readers take the same text from these bytes."""
    try:
        text = block.decode()
    except UnicodeDecodeError:
        return False
    return text.isascii() or not any(end in text for end in _LINE_ENDS)
