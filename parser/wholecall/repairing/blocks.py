r"""Cut the bytes of an event stream into blocks: one event each, with the blank line that ends it.

Line ends are LF, CRLF and CR, in any mixture (WHATWG HTML 9.2.5). A block whose last byte so far is a CR waits for the
next byte, which may be its LF, so that blocks do not depend on how the bytes were cut. Only blocks without content are
joined when several of a kind follow each other: comments and blank lines, which servers send while they wait, and
events without data. Nothing depends on their number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# A line end and another one; the CR of a CRLF is not a separate end.
_BLANK = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?=[^\n]))")
_ENDED = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)\Z")
_LONGEST = 4  # bytes of the longest match
# Whole blocks of comments and blank lines: any number of them matches.
_SILENT = re.compile(
    rb"(?:(?:E|E?(?::[^\r\n]*E)+)(?:\r\n|\n|\r(?=[^\n])))+".replace(b"E", rb"(?:\r\n|\n|\r(?!\n))")
)
# Whole blocks without data, or with `data: {}` alone: they are left out.
_EMPTY = re.compile(
    rb"(?:(?:(?!data)[^\r\n:{\[][^\r\n{\[]*E)+L|(?:data:? ?(?:\{\}|null)?E)L)+".replace(
        b"E", rb"(?:\r\n|\n|\r(?!\n))"
    ).replace(b"L", rb"(?:\r\n|\n|\r(?=[^\n]))")
)
_SHORT = 32  # bytes of a block that may be an empty one; hardly any other block is as short
_MOST_SILENT = 4096  # bytes of them that are joined
_SILENT_BEGINS = (b":", b"\n", b"\r")
_SAYS = re.compile(rb"(?:\A|[\r\n])[^:\r\n]")
_ID = re.compile(rb"(?:\A|[\r\n])id:")
_MARK = b"\xef\xbb\xbf"  # a byte order mark may begin a stream


class Blocks:
    """A cutter of streams into blocks; the output is the input, byte for byte."""

    def __init__(self) -> None:
        self._open = bytearray()
        self._searched = 0
        self._has_cr = False

    def __len__(self) -> int:
        """Return the number of bytes that wait for the end of their block."""
        return len(self._open)

    @property
    def is_open(self) -> bool:
        """Return whether bytes wait for the end of their block."""
        return bool(self._open)

    @property
    def waiting(self) -> bytearray:
        """The waiting bytes; not to be changed."""
        return self._open

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes and return the blocks that they complete."""
        if not self._open and data.find(b"\n\n") == len(data) - 2 >= 0 and b"\r" not in data:
            return [data]  # one event per read, as in most streams
        self._has_cr = self._has_cr or b"\r" in data
        self._open += data
        blocks: list[bytes] = []
        done = 0
        for end in self._ends():
            blocks.append(bytes(self._open[done:end]))
            done = end
        del self._open[:done]
        self._searched = max(0, len(self._open) - _LONGEST + 1)
        return blocks

    def _ends(self) -> Iterator[int]:
        """Yield the ends of blocks; consecutive blocks of comments and blank lines only are one."""
        at, begins = self._searched, not self._searched
        while end := (self._silent(at) if begins else 0) or self._end(at):
            if begins and end - at < _SHORT:
                empty = _EMPTY.match(self._open, at, at + _MOST_SILENT)
                end = empty.end() if empty else end
            yield end
            at, begins = end, True

    def _end(self, at: int) -> int:
        """Return the end of the next block, 0 if it is missing; most streams have no CR, and are searched faster."""
        if self._has_cr:
            blank = _BLANK.search(self._open, at)
            return blank.end() if blank else 0
        found = self._open.find(b"\n\n", at)
        return found + 2 if found >= 0 else 0

    def _silent(self, at: int) -> int:
        """Return the end of the blocks that begin here and hold only comments and blank lines, 0 if there are none."""
        if not self._open.startswith(_SILENT_BEGINS, at):
            return 0
        silent = _SILENT.match(self._open, at, at + _MOST_SILENT)
        return silent.end() if silent else 0

    def close(self) -> bytes:
        """Return the bytes without a blank line after them."""
        rest, self._open, self._searched = bytes(self._open), bytearray(), 0
        return rest


def ended(block: bytes) -> bytes:
    """Return the block with the blank line at its end, added if it is missing."""
    return block if _ENDED.search(block) else block.rstrip(b"\r\n") + b"\n\n"


def has_id(block: bytes) -> bool:
    """Return whether a block sets the id of events."""
    return b"id:" in block and _ID.search(block) is not None


def is_comment(block: bytes) -> bool:
    """Return whether a block holds comments and blank lines only."""
    return _SAYS.search(block.removeprefix(_MARK)) is None


def is_empty(block: bytes) -> bool:
    """Return whether a block is made of events without data only."""
    return _EMPTY.fullmatch(block) is not None


def silent(block: bytes, *, has_ids: bool) -> bytes:
    """Return the comments of a block without data, which may be sent.

    By WHATWG HTML 9.2.6 such a block is not an event. SDKs make an event of it, and fail to read its data, if it has
    any field, or if an earlier event had an id (`has_ids`).
    """
    if has_ids:
        return b""
    return block if is_comment(block) else _without_fields(block)


def _without_fields(block: bytes) -> bytes:
    """Return the comments of a block, with a blank line after them; nothing if it has none."""
    comments = b"".join(line for line in _lines(block) if line.startswith(b":"))
    return comments + b"\n" if comments else b""


def _lines(block: bytes) -> list[bytes]:
    return block.removeprefix(_MARK).splitlines(keepends=True)
