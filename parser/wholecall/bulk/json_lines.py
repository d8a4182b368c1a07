"""Tables of JSON lines: an object a line, with the body as a text, or a conversation.

Theory of operation. An uncompressed file is cut at line feeds, and its lines are counted while it is planned: rows are
called by their numbers, from 0, blank lines counted. Only the requested members of a line are decoded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timezone
from functools import partial
from typing import Any

import msgspec

from wholecall import BadRecording
from wholecall.bulk import plan
from wholecall.bulk.options import Columns
from wholecall.bulk.plan import Piece
from wholecall.bulk.storage import storage_of
from wholecall.bulk.table_rows import Found, Rows, Table
from wholecall.recordings.finding import COMPRESSED, Place
from wholecall.recordings.source import opened

__all__ = ["LINES"]
_private = True

_BLOCK = 1 << 20
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_DAMAGE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

# --- planning --------------------------------------------------------------------------------------------


def _cut(piece: Piece, _: Columns) -> Iterator[Piece]:
    if piece.path.lower().endswith(COMPRESSED):
        yield piece
        return
    start = row = 0
    try:
        for stop, n_rows in _ends(piece.path):
            yield msgspec.structs.replace(
                piece, weight=stop - start, start=start, stop=stop, row=row, n_rows=n_rows
            )
            start, row = stop, row + n_rows
    except OSError as error:
        yield msgspec.structs.replace(piece, trouble=error.strerror or type(error).__name__)


def _ends(path: str) -> Iterator[tuple[int, int]]:
    """Yield where the pieces of a file end, after line feeds, and how many lines each has."""
    position = start = n_lines = 0
    is_open = False
    with storage_of(path).open(path) as file:
        while block := file.read(_BLOCK):
            begun = 0
            while (end := block.find(b"\n", max(begun, start + plan.MOST_BYTES - position))) >= 0:
                yield position + end + 1, n_lines + block.count(b"\n", begun, end + 1)
                n_lines, begun = 0, end + 1
                start = position + begun
            n_lines += block.count(b"\n", begun)
            position += len(block)
            is_open = not block.endswith(b"\n")  # the last line has no end yet
        if position == 0 or position > start:
            yield position, n_lines + is_open


# --- reading ---------------------------------------------------------------------------------------------


def _rows(piece: Piece, columns: Columns, max_bytes: int | None) -> Rows:
    names = columns.named()
    try:
        for line in _lines(piece, max_bytes):
            yield _found(line, names) if line.strip() else None
    except (BadRecording, OSError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error).removeprefix(f"{piece.path}: ")
        yield said or type(error).__name__


def _lines(piece: Piece, max_bytes: int | None) -> Iterator[bytes]:
    if piece.start is None or piece.stop is None:
        opens = partial(storage_of(piece.path).open, piece.path)
        with opened(Place(piece.path, named=True, opens=opens, max_bytes=max_bytes)) as source:
            yield from source.lines()
        return
    with storage_of(piece.path).open(piece.path, piece.start) as file:
        left = piece.stop - piece.start
        while left > 0 and (line := file.readline()):
            left -= len(line)
            yield line


def _found(line: bytes, names: dict[str, str]) -> Found | str:
    members = _object(line)
    if members is None:
        return "the line cannot be read as a JSON object"
    found = {what: _READS[what](_member(members, name)) for what, name in names.items() if what in _READS}
    if "messages" in names:
        found["messages"] = _messages(_undecoded(members, names["messages"]))
    elif found["body"] is None and _member(members, names["body"]) is not None:
        found["trouble"] = "its body is no text"
    return found


def _object(data: Any) -> dict[str, Any] | None:
    """Return the members of an object, undecoded where possible; None if the line is not an object.

    Half surrogate pairs are refused by the first decoder, and read by the second.
    """
    if not isinstance(data, (bytes, msgspec.Raw)):
        return data if isinstance(data, dict) else None
    with suppress(*_DAMAGE):
        return _MEMBERS.decode(data)
    value = _lenient(bytes(data))
    return value if isinstance(value, dict) else None


def _lenient(data: bytes) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(data)
    return None


def _member(members: dict[str, Any], name: str) -> Any:
    """Return a member by its name, or by a path of names; None if it is missing."""
    return _value(_undecoded(members, name))


def _undecoded(members: dict[str, Any], name: str) -> Any:
    """Return a member as the decoder of the line left it."""
    if name in members:
        return members[name]
    first, _, rest = name.partition(".")
    below = _object(members[first]) if rest and first in members else None
    return None if below is None else _undecoded(below, rest)


def _value(value: Any) -> Any:
    """Return a value, which may have to be decoded first."""
    if not isinstance(value, msgspec.Raw):
        return value
    with suppress(*_DAMAGE):
        return msgspec.json.decode(value)
    return _lenient(bytes(value))


def _messages(value: Any) -> Any:
    """Return a conversation as the bytes of its JSON where possible: a text that is JSON, or a value."""
    data = bytes(value) if isinstance(value, msgspec.Raw) else b'"'
    if not data.startswith(b'"'):
        return None if data == b"null" else data
    text = _bytes(_value(value))
    return _value(value) if text is None else text


def _bytes(value: Any) -> bytes | None:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _id(value: Any) -> str | None:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def _moment(value: Any) -> datetime | None:
    """Return the time in a text (RFC 3339) or of seconds since 1970; a time without a zone is in UTC."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        found: datetime = msgspec.convert(value, datetime, strict=False)
    except msgspec.ValidationError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)


_READS: dict[str, Callable[[Any], Any]] = {
    "body": _bytes,
    "id": _id,
    "provider": _text,
    "model": _text,
    "dialect": _text,
    "recorded_at": _moment,
}
LINES = Table(_cut, _rows)
