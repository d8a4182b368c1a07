"""Find the strings of a recorded stream, text or binary: the place of each in the bytes, and its key.

Theory of operation
-------------------
Nothing is decoded as a whole: a tolerant scan cuts the bytes into JSON tokens. Strings are found even where the JSON is
damaged or cut, and replacing a string leaves every other byte in its place. In lines of server-sent events the field
before the value is skipped. The scan restarts at a new event, and at a line that begins an object or array; damage ends
there. Base64 that holds JSON is a region inside another region.

The messages of a binary event stream are found by their lengths; a payload is a separate region, and so is the message
of an error in the headers; parts of another stream are one region. After the payloads were changed, the checksum of each message is recomputed, but only where
it was right before. After a wrong length no message can be found: the rest must not be published.

A value is `deep` inside an object that holds arguments, because the keys there are the model's own.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from zlib import crc32

from wholecall.framing.eventstream import PART, PRELUDE_BYTES, is_prelude
from wholecall.framing.opening import sniff
from wholecall.recordings.redacting.letters import Units, units
from wholecall.recordings.redacting.rules import ARGUMENTS, BASE64, DESCRIBED, is_count, is_long_number

_TOKEN = re.compile(rb'"((?:[^"\\\r\n]|\\[^\r\n])*)("?)(\s*:)?|[{}\[\],]|[^\s"{}\[\],:]+')
_LINE = re.compile(rb"([^\r\n]*)(\r\n|\r|\n|\Z)")
_FIELD = re.compile(rb"(?:\xef\xbb\xbf)?(data|event|id|retry|)(: ?)")
_CODE = re.compile(rb"[0-9a-k]:(?=[\[{\"0-9tfn])")
_DELAY = re.compile(r"\s*[0-9]{1,9}\s*")
_LISTED = "parameters"  # an object of arguments, or a list that gives each by its name
_OPENERS = (bytearray(b"{"), bytearray(b"["))
_BARE = re.compile(rb"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?|true|false|null|None|NaN|-?Infinity|DONE|undefined")
_EVENT, _MESSAGE = b":event-type", b":error-message"
_EVENT_END = re.compile(rb"\n\r?\n|\r\r")
_STRING = 7  # the type of text values in headers


@dataclass(eq=False)
class Region:
    """Bytes that contain strings.

    Attributes:
        data: the bytes; changed in place, never in size.
        offset: where the region begins in the stream; for the content of base64, where the base64 begins.
        around: the region whose base64 holds these bytes, and where in it, or None.
    """

    data: bytearray
    offset: int = 0
    around: tuple[Region, int, int] | None = None

    def place_of(self, start: int) -> int:
        """Return the position in the stream of a string that begins here."""
        return self.offset + (0 if self.around else start)

    def close(self) -> None:
        """Write the content of base64 back into it."""
        if self.around is not None:
            region, start, end = self.around
            region.data[start:end] = base64.b64encode(self.data)


@dataclass(eq=False)
class Joined(Region):
    """The stream whose bytes the messages of another stream carry (quirk 142).

    Attributes:
        ends: where the part of each message ends in these bytes.
        starts: where each of the messages begins in the stream.
    """

    ends: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def place_of(self, start: int) -> int:
        """Return where the message begins that ends the event of a string: there the event is read."""
        end = _EVENT_END.search(self.data, start)
        last = end.end() - 1 if end is not None else len(self.data) - 1
        return self.starts[bisect_right(self.ends, last)]


@dataclass(eq=False)
class Frame:
    """The shared data of one frame's strings: the name of its event, from the wire or its `type`."""

    event: str = ""


@dataclass(eq=False)
class Leaf:
    """One string, or bare words where JSON has none.

    Attributes:
        region, start, end: the place of the text between the quotes.
        raw: these bytes as text; bytes that are not UTF-8 as surrogates.
        key: the name of the member whose value it is, "" without one.
        frame: its frame.
        is_key: whether it is the name of a member.
        deep: whether it is part of an argument object.
        counts: whether it is part of an object with usage counts.
        around: the name of the member whose value is the object around the string.
        bare: whether it has no quotes; `key` is then the field of a line, if it is in one.
    """

    region: Region
    start: int
    end: int
    key: str
    frame: Frame
    is_key: bool = False
    deep: bool = False
    bare: bool = False
    counts: bool = False
    around: str = ""
    raw: str = field(init=False)
    text: str = field(init=False)
    spelled: Units | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.raw = self.text = self.region.data[self.start : self.end].decode("utf-8", "surrogateescape")
        if ("\\" in self.raw and not self.bare) or not self.raw.isascii():
            self.spelled = [(c, c) for c in self.raw] if self.bare else units(self.raw)
            self.text = "".join(char for char, _ in self.spelled)

    @property
    def place(self) -> int:
        """The string's position in the stream."""
        return self.region.place_of(self.start)


@dataclass
class _Open:
    """An object or array that is not closed."""

    key: str
    deep: bool
    counts: bool


class Scan:
    """The scan of the values in one frame."""

    def __init__(self, region: Region, frame: Frame) -> None:
        self.region = region
        self.frame = frame
        self._stack: list[_Open] = []
        self._key = ""

    def feed(self, start: int, end: int) -> Iterator[Leaf]:
        """Yield the strings between two positions."""
        for match in _TOKEN.finditer(self.region.data, start, end):
            char = match.group()[:1]
            if char == b'"':
                yield from self._string(match)
            elif char in b"{[":
                if char == b"[" and self._key == _LISTED:
                    self._key = ""  # its elements belong to the protocol: a name, a type, a value
                deep = self._deep or (self._key in ARGUMENTS and self._around not in DESCRIBED)
                counts = self._counts or is_count(self._key)
                self._stack.append(_Open(self._key, deep, counts and not deep))
            elif char in b"}]":
                self._key = self._stack.pop().key if self._stack else ""
            elif char != b"," and self._is_said(match.group()):
                yield Leaf(self.region, *match.span(), self._key, self.frame, deep=self._deep, bare=True)
            elif char == b"," and self._stack:
                self._key = self._stack[-1].key

    def _is_said(self, word: bytes) -> bool:
        """Return whether a bare word is more than a JSON literal or count."""
        is_plain = _BARE.fullmatch(word) is not None
        return not is_plain or (not self._counts and is_long_number(word.decode("ascii")))

    @property
    def _around(self) -> str:
        return self._stack[-1].key if self._stack else ""

    @property
    def _deep(self) -> bool:
        return bool(self._stack) and self._stack[-1].deep

    @property
    def _counts(self) -> bool:
        return bool(self._stack) and self._stack[-1].counts

    def _string(self, match: re.Match[bytes]) -> Iterator[Leaf]:
        is_key = match[3] is not None
        leaf = Leaf(self.region, *match.span(1), self._key, self.frame, is_key=is_key, deep=self._deep)
        leaf.counts = self._counts
        leaf.around = self._around
        if is_key:
            self._key = leaf.text
        elif leaf.key in BASE64 and not leaf.deep and (inner := _held(leaf)):
            if inner.data.startswith(b"{"):
                yield from scan_value(inner, self.frame)
                return
            if "chunk" in (leaf.around, self.frame.event):  # of an agent's answer
                yield Leaf(inner, 0, len(inner.data), "text", self.frame, bare=True)
                return
        elif leaf.key == "type" and len(self._stack) == 1:
            self.frame.event = leaf.text
        yield leaf


def _held(leaf: Leaf) -> Region | None:
    """Return the content of base64 if it is text, JSON or not, and encodes back to the same base64."""
    coded = bytes(leaf.region.data[leaf.start : leaf.end])
    try:
        data = base64.b64decode(coded, validate=True)
        data.decode()
    except (binascii.Error, ValueError):
        return None
    if not data or base64.b64encode(data) != coded:
        return None
    return Region(bytearray(data), leaf.place, (leaf.region, leaf.start, leaf.end))


def scan_value(region: Region, frame: Frame) -> Iterator[Leaf]:
    """Yield the strings of a region that is one JSON text."""
    yield from Scan(region, frame).feed(0, len(region.data))


def scan_lines(region: Region, framing: str) -> Iterator[Leaf]:
    """Yield the strings of text: of server-sent events, of JSON, of coded lines."""
    scan = Scan(region, Frame())
    for line in _LINE.finditer(region.data):
        start, end = line.span(1)
        if framing == "sse":
            named = _FIELD.match(region.data, start, end)
            if named and named[1] != b"data":
                yield from _field(scan, named, end)
                continue
            start = named.end() if named else start
            fresh = start == end
        else:
            coded = _CODE.match(region.data, start, end) if framing == "vercel" else None
            start = coded.end() if coded else start
            fresh = coded is not None or region.data[start : start + 1] in _OPENERS
        if fresh:
            scan = Scan(region, Frame())
        yield from scan.feed(start, end)


def _field(scan: Scan, named: re.Match[bytes], end: int) -> Iterator[Leaf]:
    name = named[1].decode() or "comment"
    leaf = Leaf(scan.region, named.end(), end, name, scan.frame, bare=True)
    if name == "event":
        scan.frame.event = leaf.text
    if name != "retry" or not _DELAY.fullmatch(leaf.text):  # a number is a delay, anything else may be a key
        yield leaf


class Messages:
    """The messages of a stream.

    Args:
        data: the stream; changed in place by `close`.

    Raises:
        ValueError: no messages can be found after some position.
    """

    def __init__(self, data: bytearray) -> None:
        self._data = data
        self._sound: list[tuple[int, int]] = []
        self._regions: list[tuple[int, int, Region]] = []
        self._parts: list[
            tuple[int, int, int]
        ] = []  # of another stream: a message, and where its payload lies
        self._joined = Joined(bytearray())

    def leaves(self) -> Iterator[Leaf]:
        """Yield the strings of all messages.

        Raises:
            ValueError: the lengths of a message are wrong.
        """
        start, data = 0, self._data
        while start < len(data):
            head = bytes(data[start : start + PRELUDE_BYTES])
            if len(head) < PRELUDE_BYTES:
                return
            if not is_prelude(head):
                raise ValueError(f"the lengths of the message at byte {start:,} are damaged")
            end, body = start + int.from_bytes(head[:4], "big"), start + PRELUDE_BYTES
            body += int.from_bytes(head[4:8], "big")
            if body > end - 4:
                raise ValueError(f"the lengths of the message at byte {start:,} are impossible")
            if end <= len(data) and crc32(data[start : end - 4]) == int.from_bytes(
                data[end - 4 : end], "big"
            ):
                self._sound.append((start, end))
            yield from self._message(start, body, min(end, len(data) + 4) - 4)
            start = end
        yield from self._in_parts()

    def _in_parts(self) -> Iterator[Leaf]:
        """Yield the strings of the stream that comes in parts."""
        joined = self._joined
        for start, body, end in self._parts:
            joined.data += self._data[body:end]
            joined.ends.append(len(joined.data))
            joined.starts.append(start)
        if joined.data:
            yield from scan_lines(joined, sniff(bytes(joined.data)) or "sse")

    def _message(self, start: int, body: int, end: int) -> Iterator[Leaf]:
        frame = Frame()
        places: list[tuple[int, int]] = []
        for name, first, last in self._headers(start + PRELUDE_BYTES, min(body, len(self._data))):
            if name == _EVENT:
                frame.event = self._data[first:last].decode("utf-8", "replace")
                if frame.event == PART:
                    self._parts.append((start, body, max(end, body)))
                    return
            elif name == _MESSAGE:
                places.append((first, last))
        for first, last in places:
            region = self._region(first, last)
            yield Leaf(region, 0, last - first, "", frame, bare=True)
        yield from scan_value(self._region(body, end), frame)

    def _headers(self, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
        """Yield the names of headers and the positions of their values, as long as those are text."""
        data = self._data
        while at < end:
            name = bytes(data[at + 1 : at + 1 + data[at]])
            at += 1 + len(name)
            if at >= end or data[at] != _STRING:
                return
            size = int.from_bytes(data[at + 1 : at + 3], "big")
            yield name, at + 3, at + 3 + size
            at += 3 + size

    def _region(self, start: int, end: int) -> Region:
        region = Region(self._data[start : max(end, start)], start)
        self._regions.append((start, end, region))
        return region

    def close(self) -> None:
        """Write the regions back, and new checksums where the old ones were right."""
        for start, end, region in self._regions:
            self._data[start : max(end, start)] = region.data
        for (_, body, end), stop in zip(self._parts, self._joined.ends, strict=True):
            self._data[body:end] = self._joined.data[stop - (end - body) : stop]
        for start, end in self._sound:
            self._data[end - 4 : end] = crc32(self._data[start : end - 4]).to_bytes(4, "big")
