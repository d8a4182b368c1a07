"""Server-sent events, strictly as the WHATWG standard defines them, and fast on typical streams of LLM servers.

Theory of operation
-------------------
Line terminators are changed to LF first (WHATWG HTML 9.2.5: CRLF, LF or CR), so nothing below sees a CR. A CR at
the end of a read counts as a terminator at once; an LF that begins the next read then belongs to it.

Two readers share the work:

* The *block reader* takes all whole events of a read at once, when all are of one form: `data: …` alone, or `event: …`
  and `data: …`, or with an id (`forms`). That is nearly all traffic of LLM servers. The text is decoded once. Where all
  events have one name, it is split at the prefix of their data; one look for other newlines proves that each
  event has the shape the split assumed.
* The *line reader* follows WHATWG HTML 9.2.6 line by line. It takes input that the block reader refuses, and an
  event that does not fit in few reads (`_HELD`): then its lines are kept, and only new bytes are searched.

The framing is *resting* when it is between two events. Only then may the block reader begin; the line
reader hands back to it after the blank line of the event. While resting, the beginning of an event that
looks ordinary is held unchanged (`_held`) and put before the next read.

Three departures from the standard can be switched on, because LLM servers depart from it, and bytes are damaged.
`dispatch_at_eof` returns the last event even if the blank line after it is missing. `raw_json` makes a frame of a bare
JSON object among the lines, which would be an unknown field: Gemini reports errors this way. It ends at the line
where its brackets balance, or before the next line that is a field; and at the first line end inside
a string, which no JSON text has. `misspelt` treats JSON in a field unknown to the standard as an event
damaged in transit: no server sends JSON in a field that no client reads.
"""

from __future__ import annotations

import re
from typing import ClassVar

from wholecall.deltas import WireFault
from wholecall.framing.base import CR, DEFAULT_LIMITS, BytesLike, LineFraming, decode
from wholecall.framing.forms import NO_PREFIX, Block, Form, form_of, id_of, named
from wholecall.framing.frame import Frame, Like, framed
from wholecall.framing.nesting import Nesting
from wholecall.limits import Limits

_HELD = 4096  # bytes of an event held for the block reader; small, because they are copied at each read
_ORDINARY = (b"data:", b"event:", b"id:")
_FIELDS = frozenset((b"data", b"event", b"id", b"retry"))
# JSON in a field unknown to the standard: its name was damaged in transit. And a possible beginning of one.
_MISSPELT = re.compile(rb"[^\0- \"<,:{}\[\]]{1,8}: ?[{\[]")
_SPELT = re.compile(rb"[^\0- \"<,:{}\[\]]{1,8}(: ?)?")
# Between events: the beginning of comments and blank lines, and the first line after them that is neither.
_SILENCE = re.compile(rb"\n\n[:\n]")
_SPEECH = re.compile(rb"\n[^:\n]")
# Comments between two events, each of them after a blank line.
_COMMENTS = re.compile(r"\n\n(?:(?::[^\n]*\n)+\n)+")
# Whole events without data: only their last id matters. Long lines are for the line reader, which counts.
_EMPTY = re.compile(rb"(?:(?:(?!data)[^\n\0:{\[][^\n\0{\[]{0,80}\n)+\n)+")
_LONG = 82  # bytes of the longest line in it, at most
_IDS = re.compile(rb"^id(?::.*)?$", re.MULTILINE)
_MAX_RETRY_DIGITS = 18
_COLON, _BRACE = b":{"
_SILENT = b":\n"
_USUAL = ("data: ", "message")  # the prefix of an event's data, and its name
_NOTHING: tuple[list[str], list[Frame]] = ([], [])  # is never changed


class SSEFraming(LineFraming):
    """Frames of an event stream.

    Args:
        limits: the bounds; a line beyond `max_line_bytes` is fatal, an event beyond `max_event_bytes` skipped.
        dispatch_at_eof: return at `close` an event whose blank line never came.
        raw_json: return bare JSON objects among the lines as frames with the event name `""`.
        misspelt: skip an event with JSON in a field of another name, and note the lost text.
    """

    DERIVED: ClassVar = frozenset(
        {
            "_dispatch_at_eof",
            "_raw_json",
            "_misspelt",
            "_unlimited",
            "_max_held",
            "_form",
            "_prefix",
            "_bare",
            "_like",
        }
    )

    _after_cr: bool
    _resting: bool
    _held: bytes
    _event: str
    _data: bytearray
    _id: str
    _retry: int | None
    _dropping: bool
    _raw: bytearray
    _nesting: Nesting

    __slots__ = tuple(DERIVED.union(__annotations__) - {"DERIVED"})  # attribute lookup is faster this way

    def __init__(
        self,
        limits: Limits = DEFAULT_LIMITS,
        *,
        dispatch_at_eof: bool = False,
        raw_json: bool = False,
        misspelt: bool = False,
    ) -> None:
        super().__init__(limits)
        self._dispatch_at_eof = dispatch_at_eof
        self._raw_json = raw_json
        self._misspelt = misspelt
        self._unlimited = min(self._max_line, self._max_event)  # no limit can be passed by fewer bytes
        self._max_held = min(_HELD, self._unlimited)
        self._after_cr = False
        self._resting = True
        self._held = b""
        self._event = ""
        self._data = bytearray()  # every value followed by LF, as in WHATWG HTML 9.2.6
        self._id = ""
        self._retry = None
        self._dropping = False  # this event grew too large
        self._raw = bytearray()  # the lines of a bare JSON object, each followed by LF
        self._nesting = Nesting()
        self._form: Form | None = None  # the form of the last events that did not all have one name
        self.remade()

    def remade(self) -> None:
        """Expect the most common form of servers, because snapshots hold no expectation."""
        self._expect(*_USUAL)

    def read(self, data: BytesLike) -> tuple[list[str], Like]:
        """Read the next bytes like `feed`; return the texts of the frames, and their other properties."""
        # Most reads come between two events and need no further look.
        if not self._resting or type(data) is not bytes:
            return super().read(data)
        if self._guarded:
            if self._dead or self._head is None or self._stream_room is not None:
                return super().read(data)
            data = self._strip_bom(self._head + data)  # the first read
        if self._after_cr or CR in data:
            data = self._end_lines_in_lf(data)
        if self._held:
            data = self._held + data
            self._held = b""
        block, blank, rest = data.rpartition(b"\n\n")
        found = self._events(block) if blank else _NOTHING
        if found is not None and (not rest or self._holds(rest)):
            return found
        frames: list[Frame] = []
        self._read_on(block, found, rest, frames)
        return [frame.data for frame in frames], frames

    def _read(self, data: bytes, frames: list[Frame]) -> None:
        if self._after_cr or CR in data:
            data = self._end_lines_in_lf(data)
        if not self._resting:
            data = self._finish_event(data, frames)
        if data:
            self._read_events(data, frames)

    def _end_lines_in_lf(self, data: bytes) -> bytes:
        if self._after_cr and data:  # an empty read does not show the byte after the CR
            data = data.removeprefix(b"\n")
            self._after_cr = False
        self._after_cr = self._after_cr or data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    # The block reader.

    def _read_events(self, data: bytes, frames: list[Frame]) -> None:
        """Read from an event's beginning: whole events, then the beginning of the next one."""
        if self._held:
            data = self._held + data
            self._held = b""
        block, blank, rest = data.rpartition(b"\n\n")
        self._read_on(block, self._events(block) if blank else _NOTHING, rest, frames)

    def _read_on(
        self, block: bytes, found: tuple[list[str], Like] | None, rest: bytes, frames: list[Frame]
    ) -> None:
        """Make frames of whole events, for which `_events` returned this; read the beginning of the next one."""
        if found is not None:
            frames += framed(*found)
        else:
            self._read_unusual(block + b"\n\n", frames)
        if rest and not self._holds(rest):
            self._read_unusual(rest, frames)

    def _read_unusual(self, data: bytes, frames: list[Frame]) -> None:
        """Read input that the block reader refuses; comments, blank lines and events without data are skipped at once.

        Idle servers send many of them: read by line, a megabyte of them would take as long as ten of text.
        """
        at = 0
        while at < len(data):
            if not self._resting:
                self._read_by_line(data[at:], frames)
                return
            if data[at] in _SILENT:
                speech = _SPEECH.search(data, at)
                end = speech.start() + 1 if speech else data.rfind(b"\n", at) + 1
                if not end:  # a comment that continues
                    self._read_by_line(data[at:], frames)
                    return
            elif self._max_line > _LONG and (empty := _EMPTY.match(data, at)):
                end = empty.end()
                for line in _IDS.findall(data, at, end)[-1:]:
                    self._read_line(line, frames)
            else:
                silence = _SILENCE.search(data, at)
                end = silence.start() + 2 if silence else len(data)
                self._read_by_line(data[at:end], frames)
            at = end

    def _holds(self, rest: bytes) -> bool:
        """Hold the beginning of an event that looks ordinary; return False if it does not, or is too long."""
        if self._resting and len(rest) <= self._max_held and rest.startswith(_ORDINARY):
            if rest.count(b"\n") > 1 and not all(map(_is_ordinary, rest.split(b"\n")[1:-1])):
                return False  # a whole line of another kind may be a frame, or a fault, right now
            self._held = rest
            return True
        return False

    def _events(self, block: bytes) -> tuple[list[str], Like] | None:
        """Return the data of whole events, the last without its blank line, and the frames; None if one is unusual."""
        if len(block) > self._unlimited:
            return None
        try:
            text = block.decode()
        except UnicodeDecodeError:
            return None
        # Nearly always all events of a read have the same name, or none, and so has the next read.
        first = text.removeprefix(self._prefix)
        if len(first) == len(text):
            return self._one_event(text)
        if "\n" not in first and not self._bare:
            return [first], self._like  # one event, as usual in live streams
        texts = first.split(f"\n\n{self._prefix}")
        # Joining is cheaper than counting newlines in the text.
        if "\n" in "".join(texts) or (self._bare and any(text[:1] == " " for text in texts)):
            return self._events_in_form(text)
        return texts, self._like

    def _one_event(self, text: str) -> tuple[list[str], Like] | None:
        """Return the result of `_events` where the first, usually only, event does not begin as expected."""
        found = named(text)
        if found is None:
            return self._events_in_form(text)
        name, data = found
        self._expect(text[: len(text) - len(data)], name)
        return [data], self._like

    def _expect(self, prefix: str, name: str, *, bare: bool = False) -> None:
        """Expect events of one name that have this text before their data; `bare`: without a space."""
        self._prefix, self._bare = prefix, bare
        self._like = Frame(name, "", self._id)

    def _events_in_form(self, text: str) -> tuple[list[str], Like] | None:
        """Return the result of `_events` for events of several names, or with ids, if all are of one form."""
        if "\n:" in text or text[:1] == ":":
            # Servers that think send a comment every few seconds, and an event next to it is as usual as any other.
            spoken = _COMMENTS.sub("\n\n", f"\n\n{text}\n\n")[2:-2]
            if len(spoken) < len(text):
                return self._events(spoken.encode()) if spoken else _NOTHING
        form = self._form
        texts = None if form is None else form.texts(text)
        if texts is None:
            form = self._form = form_of(text)
            texts = None if form is None else form.texts(text)
        if texts is None or form is None:
            return None
        block = Block(text, self._id)
        last = text.rpartition("\n\n")[2]
        prefix = form.prefix(last)
        if form.has_id:
            self._id, self._prefix = id_of(last), prefix
        elif prefix != self._prefix:
            [frame] = Block(prefix, self._id)
            self._expect(prefix, frame.event, bare=form.is_bare)
        return texts, (block if form.has_name or form.has_id else self._like)

    # The line reader.

    def _read_by_line(self, data: bytes, frames: list[Frame]) -> None:
        if not self._dead:
            self._read_lines(data, frames)
        self._resting = self._between_events()

    def _between_events(self) -> bool:
        within = self._within_line or self._data or self._event or self._raw
        return not (within or self._retry is not None or self._dropping or self._dead)

    def _finish_event(self, data: bytes, frames: list[Frame]) -> bytes:
        """Read the open event up to its blank line; return the rest, for the block reader."""
        if not self._within_line and data.startswith(b"\n"):
            end = 1
        else:
            end = data.find(b"\n\n") + 2
            if end < 2:
                end = len(data)
        self._read_by_line(data[:end], frames)
        if self._resting or end == len(data):
            return data[end:]
        self._read_by_line(data[end:], frames)
        return b""

    def _read_line(self, line: bytes, frames: list[Frame]) -> None:
        if not line:
            self._read_blank(frames)
            return
        colon = line.find(b":")
        name = line if colon < 0 else line[:colon]
        if name not in _FIELDS:
            self._read_other(line, frames)
            return
        self._end_raw(frames)
        start = len(name) + line.startswith(b":", len(name))
        start += line.startswith(b" ", start)
        if name == b"data":
            if not self._dropping and self._fits(line, start, self._data, frames):
                self._data += memoryview(line)[start:]  # it may be large
                self._data += b"\n"
        elif self._fits(line, len(line), bytearray(), frames):
            self._read_field(name, line[start:])

    def _read_other(self, line: bytes, frames: list[Frame]) -> None:
        """Read a line that is not a field: bare JSON, a comment, or a field that was damaged in transit."""
        if self._misspelt and _MISSPELT.match(line):
            self._end_raw(frames)
            if self._fits(line, 0, bytearray(), frames):
                detail, raw = "an event with JSON in an unknown field was skipped", self._raw_text(line)
                self._note(WireFault("undecodable_frame", detail, raw=raw, hole=True), frames)
                self._drop_event()
        elif self._is_raw(line) and self._fits(line, 0, self._raw, frames):
            self._read_raw(line, frames)

    def _read_field(self, name: bytes, value: bytes) -> None:
        if name == b"event":
            self._event = decode(value)[0]
        elif name == b"id":
            # WHATWG HTML 9.2.6: "If the field value does not contain U+0000 NULL".
            if b"\0" not in value:
                self._id = decode(value)[0]
                self._prefix = NO_PREFIX  # the known prefix of events holds their id
        elif value.isdigit() and len(value) <= _MAX_RETRY_DIGITS:
            # "If the field value consists of only ASCII digits": bytes.isdigit knows no others.
            self._retry = int(value)

    def _read_blank(self, frames: list[Frame]) -> None:
        if self._raw and self._fits(b"", 0, self._raw, frames):
            self._raw += b"\n"
        self._dispatch(frames)

    def _dispatch(self, frames: list[Frame]) -> None:
        """Do what WHATWG HTML 9.2.6 calls "dispatch the event": without data only the name is forgotten."""
        if self._data:
            self._data.pop()  # "If the data buffer's last character is U+000A LF, remove it"
            frames.append(self._frame(self._event or "message", self._data, self._id, self._retry))
            self._data = bytearray()
        self._event = ""
        self._retry = None
        self._dropping = False

    def _measure(self, line: bytearray, frames: list[Frame]) -> int | None:
        name, colon, value = bytes(line[:7]).partition(b":")  # the longest name, the colon and one more byte
        if name in _FIELDS and colon:
            self._end_raw(frames)
            if not value:
                return None  # a space that is not part of the value may follow
            if name != b"data":
                return self._max_line
            overhead = len(b"data:") + value.startswith(b" ")
            return -1 if self._dropping else min(self._max_line, self._event_room(overhead, self._data))
        if not colon and any(field.startswith(name) for field in _FIELDS):
            return None
        if self._misspelt and _SPELT.fullmatch(line):
            return None
        if self._misspelt and _MISSPELT.match(line):
            return min(self._max_line, self._event_room(0, bytearray()))
        return min(self._max_line, self._event_room(0, self._raw)) if self._is_raw(line) else -1

    def _drop_event(self) -> None:
        self._dropping = True
        self._data = bytearray()
        self._raw = bytearray()

    # Bare JSON among the lines.

    def _is_raw(self, line: bytes | bytearray) -> bool:
        if not self._raw_json or self._dropping:
            return False
        return line[0] == _BRACE or (bool(self._raw) and line[0] != _COLON)

    def _read_raw(self, line: bytes, frames: list[Frame]) -> None:
        if not self._raw:
            self._nesting = Nesting()
        self._raw += line
        self._raw += b"\n"
        if self._nesting.scan(line) >= 0 or self._nesting.in_string:
            self._end_raw(frames)

    def _end_raw(self, frames: list[Frame]) -> None:
        if self._raw:
            self._raw.pop()
            frames.append(self._frame("", self._raw, self._id))
            self._raw = bytearray()

    # The end.

    def _settle(self, frames: list[Frame]) -> None:
        if self._held:
            self._read_by_line(self._held, frames)
            self._held = b""

    def _end(self, frames: list[Frame]) -> None:
        self._settle(frames)
        if not self._dispatch_at_eof:
            return  # "If the file ends in the middle of an event, the incomplete event is not dispatched"
        if self._partial:
            self._read_line(self._take_partial(), frames)
        if not self._dead:
            self._end_raw(frames)
            self._dispatch(frames)


def _is_ordinary(line: bytes) -> bool:
    return line.startswith(_ORDINARY)
