"""The items of a list inside a JSON file that may be far larger than memory, one at a time.

Theory of operation. ijson emits events; only those inside the list are built into values, and only one item is held at
a time. It needs the following to be safe here:

- pieces that grow while no event comes, because its C backend reads a long string again with each piece;
- a bound on nesting;
- no half surrogate pairs: the C backend turns them into question marks, which changes the text. They are replaced
  before it sees them, and `torn` is set where replacement characters may stand for bytes that were not text;
- translation of its exceptions, `SystemError` and `UnicodeDecodeError` among them. Its messages quote the text, so ours
  say only where it went wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import ijson
from ijson.common import ObjectBuilder
from ijson.utils import sendable_list

from wholecall.errors import BadRecording
from wholecall.recordings.source import Source

_FIRST_PIECE = 1024 * 1024
_LARGEST_PIECE = 64 * 1024 * 1024
_MAX_DEPTH = 200
_TROUBLE = (ijson.JSONError, SystemError, UnicodeDecodeError, RecursionError, ValueError)
_OPENING = frozenset({"start_map", "start_array"})
_CLOSING = frozenset({"end_map", "end_array"})

# An escape of half a pair, with the other half if that follows; an even number of backslashes before it.
_HALF = re.compile(
    rb"(?<!\\)((?:\\\\)*)\\u[dD](?:[89aAbB][0-9a-fA-F]{2}(\\u[dD][c-fC-F][0-9a-fA-F]{2})?|[c-fC-F][0-9a-fA-F]{2})"
)
# The part that the end of a piece may have cut: an escape, or half a pair with or without the beginning of another
# escape.
_CUT = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3}|u[dD][89aAbB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?)?\Z")
_LONGEST_CUT = 11
_MAX_HELD = 64 * 1024


class LargeJSON:
    """A JSON file.

    Args:
        source: its bytes.
        path: the members' names on the way to the list.
        wanted: members outside the path that `found` keeps, if they are scalars and come before the list.

    Attributes:
        found: the values of wanted members.
        torn: whether half surrogate pairs were replaced so far.
    """

    def __init__(self, source: Source, path: Sequence[str], wanted: Sequence[str] = ()) -> None:
        self.found: dict[str, Any] = {}
        self.torn = False
        self._source = source
        self._path = list(path)
        self._wanted = frozenset(wanted)
        self._keys: list[str | None] = []  # one for each open object or array; None for arrays
        self._builder: Any = None
        self._is_there = False
        self._held = b""

    def items(self) -> Iterator[Any]:
        """Yield the items of the list.

        Raises:
            BadRecording: the file is not JSON from the place that the message names, or holds no such list.
        """
        events = sendable_list()
        parser = ijson.basic_parse_coro(events, use_float=False)
        self._source.skip_mark()
        size = _FIRST_PIECE
        piece = b"-"
        while piece:
            began = self._source.position
            piece = self._source.take_at_least(size)
            trouble = self._parsed(parser, self._whole_pairs(piece), at_end=not piece)
            for event, value in events:
                yield from self._item(event, value)
            if trouble:
                raise BadRecording(self._message(trouble, began))
            size = max(size // 2, _FIRST_PIECE) if events else min(2 * size, _LARGEST_PIECE)
            events.clear()
        if not self._is_there:
            raise BadRecording(f"{self._source.path}: it holds no list {'.'.join(self._path)}")

    def _parsed(self, parser: Any, piece: bytes, *, at_end: bool) -> str:
        """Run the parser; return its error, if any."""
        try:
            if piece:
                parser.send(piece)
            if at_end:
                parser.close()
        except ijson.IncompleteJSONError:
            return "the JSON is cut" if at_end else "it is not JSON"
        except ArithmeticError:  # numbers are read as decimals
            return "a number is too large"
        except _TROUBLE:
            return "it is not JSON"
        return ""

    def _message(self, trouble: str, began: int) -> str:
        return f"{self._source.path}: {trouble} (between byte {began} and {self._source.position})"

    def _item(self, event: str, value: Any) -> Iterator[Any]:
        """Take one event and yield the item that it ends, if it does."""
        keys = self._keys
        inside = len(keys) > len(self._path)
        if event in _CLOSING:
            keys.pop()
            inside = len(keys) > len(self._path)
        if self._builder is not None or (inside and self._is_in_list()):
            self._builder = self._builder or ObjectBuilder()
            self._builder.event(event, _plain(value))
            yield from self._ended(event)
        elif event == "map_key":
            keys[-1] = value
        elif keys and keys[-1] in self._wanted and event not in _OPENING | _CLOSING:
            self.found[str(keys[-1])] = _plain(value)
        if event in _OPENING:
            if len(keys) >= _MAX_DEPTH:
                raise BadRecording(f"{self._source.path}: it nests deeper than {_MAX_DEPTH}")
            keys.append(None if event == "start_array" else "")
            if event == "start_array" and keys[:-1] == self._path:
                self._is_there = True

    def _ended(self, event: str) -> Iterator[Any]:
        """Yield the item if this event was its last one."""
        if event not in _OPENING and event != "map_key" and len(self._keys) == len(self._path) + 1:
            builder, self._builder = self._builder, None
            yield builder.value

    def _is_in_list(self) -> bool:
        return self._keys[: len(self._path)] == self._path and self._keys[len(self._path)] is None

    def _whole_pairs(self, piece: bytes) -> bytes:
        """Return the next bytes without half surrogate pairs; an escape at the end waits for its rest."""
        data, self._held = self._held + piece, b""
        if piece and (cut := _open_escape(data)) < len(data):
            data, self._held = data[:cut], data[cut:]
        if b"\\ud" not in data and b"\\uD" not in data:
            return data
        return _HALF.sub(self._mended, data)

    def _mended(self, escape: re.Match[bytes]) -> bytes:
        if escape[2]:
            return escape[0]
        self.torn = True
        return escape[1] + b"\\ufffd"


def _open_escape(data: bytes) -> int:
    """Return where an escape begins that the end may have cut, the end if there is none."""
    cut = _CUT.search(data, max(0, len(data) - _LONGEST_CUT))
    if cut is None:
        return len(data)
    backslash = cut.start()
    while backslash > 0 and data[backslash - 1] == ord("\\"):
        backslash -= 1
    return len(data) if len(data) - backslash > _MAX_HELD else backslash


def _plain(value: Any) -> Any:
    """Return a number as a Python number."""
    return float(value) if isinstance(value, Decimal) else value
