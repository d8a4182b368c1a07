"""The lines on standard error: one for each finished exchange, and messages about the proxy and its libraries.

Theory of operation. Lines are for people on a terminal, and JSON elsewhere. The line of an exchange is made of its
entry's numbers and words. Text that the client chose (the path, the model) is written so that it stays within its line
and its field: as a JSON string, without any character that a terminal would obey. A thread writes, so that a full pipe
blocks nothing else; when too many lines wait, the next lines are dropped and counted.

Libraries log an exception that leaves an application with its traceback. The exception that ends an answer is not a
fault, and is dropped. Of any other exception the type and the place are kept: its message may quote a client's text.
"""

from __future__ import annotations

import logging
import socket
import string
import traceback
from collections.abc import Sequence
from datetime import datetime, timezone
from threading import Lock
from typing import IO, Final, Optional
from urllib.parse import quote

import msgspec

from wholecall.discreet import compact, to_line
from wholecall.proxy.background import Background
from wholecall.proxy.config import LogForm
from wholecall.proxy.entry import Entry, Lost
from wholecall.proxy.errors import CutOff
from wholecall.recordings.secrets import keyless_path

_private = True

_MOST_JOBS: Final = 10_000
_MOST_BYTES: Final = 16 * 1024 * 1024
_LIBRARIES: Final = ("uvicorn", "asyncio", "aiohttp", "websockets")
_NO_FAULT: Final = ("Unsupported upgrade request.", "No supported WebSocket library")


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One finished exchange, as the log and the admin listener show it.

    Attributes:
        ts: when the request arrived, in UTC.
        id: the id of the exchange; the client has it as `x-wholecall-id`.
        upstream: the name of the upstream, empty if none was chosen.
        method: the method of the request.
        path: the path of the request, without its query.
        status: the status that the client got, 0 if it got none.
        outcome: how it ended.
        error: the code of the error that the client got from us, None if it got none.
        dialect: the dialect of the answer, None if it is not known.
        model: the requested model, None if it was not read.
        ms_first: milliseconds to the first byte of the upstream's body, None if it was empty.
        ms: milliseconds to the end.
        bytes_in: size of the upstream's body.
        bytes_out: size of the answer's body.
        calls: calls that were whole.
        withheld: the first calls that were withheld, by name and reason.
        mended: whether anything was edited, omitted or added.
        held_ms: milliseconds in which data waited and nothing went out.
        pings: how many pings were sent.
        tokens_in: the provider's count, None if it stated none.
        tokens_out: the same.
        messages_in: the messages of the upstream's WebSocket, None if there was none.
        messages_out: the messages to the client, the same.
        messages_asked: the messages of the client, the same.
        close: the close code of the WebSocket, the same.
    """

    ts: str
    id: str
    upstream: str
    method: str
    path: str
    status: int
    outcome: Optional[str]
    error: Optional[str]
    dialect: Optional[str]
    model: Optional[str]
    ms_first: Optional[float]
    ms: float
    bytes_in: int
    bytes_out: int
    calls: int
    withheld: list[Lost]
    mended: bool
    held_ms: float
    pings: int
    tokens_in: Optional[int]
    tokens_out: Optional[int]
    messages_in: Optional[int] = None
    messages_out: Optional[int] = None
    messages_asked: Optional[int] = None
    close: Optional[int] = None

    def __repr__(self) -> str:
        return f"<Line {self.id} {self.outcome}>"


def line_of(entry: Entry) -> Line:
    """Return the log's line for an exchange."""
    return Line(
        ts=_moment(entry.started),
        id=_plain(entry.id),
        upstream=entry.upstream,
        method=_plain(entry.method),
        path=plain_path(entry.path),
        status=entry.status,
        outcome=entry.outcome,
        error=entry.error,
        dialect=entry.dialect,
        model=None if entry.model is None else keyless_path(_plain(entry.model)),
        ms_first=None if entry.seconds_first is None else _milliseconds(entry.seconds_first),
        ms=_milliseconds(entry.seconds),
        bytes_in=entry.bytes_in,
        bytes_out=entry.bytes_out,
        calls=entry.calls,
        withheld=list(entry.withheld),
        mended=entry.mended,
        held_ms=_milliseconds(entry.held_seconds),
        pings=entry.pings,
        tokens_in=entry.tokens_in,
        tokens_out=entry.tokens_out,
        messages_in=entry.messages_in,
        messages_out=entry.messages_out,
        messages_asked=entry.messages_asked,
        close=entry.close,
    )


def plain_path(path: str) -> str:
    """Return a path in ASCII without keys, white space and control characters: the latter are `%` and two digits."""
    return quote(keyless_path(path), safe=string.punctuation, errors="backslashreplace")


def to_text(line: Line) -> str:
    """Return a line for people: the fields that most exchanges have, then the additional ones."""
    first = "" if line.ms_first is None else f" first={line.ms_first:.0f}ms"
    withheld = [f"{lost.name or '-'}({lost.reason})" for lost in line.withheld]
    more = {
        "error": line.error,
        "model": line.model and line.model.replace(" ", "_"),
        "calls": line.calls,
        "withheld": ",".join(withheld),
        "held": f"{line.held_ms:.0f}ms" if line.held_ms else "",
        "pings": line.pings,
        "messages": line.messages_out,
        "close": line.close,
        "id": line.id,
    }
    told = "".join(f" {name}={value}" for name, value in more.items() if value)
    return (
        f"{line.ts} {line.method} {line.path} {line.status} {line.outcome or '-'} {line.upstream or '-'} "
        f"{line.dialect or '-'} {line.ms:.0f}ms{first}{told}"
    )


def _form_on(stream: IO[str], form: LogForm) -> LogForm:
    """Return the meaning of a form on a stream: `"auto"` is for people on a terminal, and JSON elsewhere."""
    if form != "auto":
        return form
    try:
        return "text" if stream.isatty() else "json"
    except ValueError:  # it was closed
        return "json"


class Log:
    """Writes lines to a stream.

    Args:
        stream: the destination; it stays open.
        form: JSON, for people, automatic by the stream, or not at all.
    """

    def __init__(self, stream: IO[str], form: LogForm) -> None:
        self._stream = stream
        self._form = _form_on(stream, form)
        self._background = Background("access log", most_jobs=_MOST_JOBS, most_bytes=_MOST_BYTES)
        self._lost = 0
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"<Log {self._form}>"

    @property
    def lost(self) -> int:
        """The number of dropped lines: they were not read in time, or the stream is gone."""
        return self._lost

    def write(self, line: Line) -> None:
        """Queue a line for writing, without waiting or raising."""
        if self._form == "off":
            return
        text = to_line(line).decode() if self._form == "json" else to_text(line)
        if not self._background.offer(lambda: self._write(text), len(text)):
            self._lose()

    def close(self, seconds: float | None = None) -> None:
        """Write the waiting lines.

        Args:
            seconds: how long that may take at most.
        """
        self._background.close(seconds)

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # its reader has gone, or it was closed
            self._lose()

    def _lose(self) -> None:
        with self._lock:
            self._lost += 1


def _moment(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, tz=timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)


def _plain(text: str) -> str:
    """Return text in which every character can be shown, and a terminal obeys none."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()


# Messages.


class Teller:
    """Writes messages about the proxy itself.

    Args:
        form: the form of the access log on the same stream.
        stream: the destination.
    """

    def __init__(self, form: LogForm, stream: IO[str]) -> None:
        self._form = _form_on(stream, form)
        self._stream = stream

    def say(self, event: str, detail: str) -> None:
        """Write a line.

        Args:
            event: the event, in a few words.
            detail: the details.
        """
        if self._form == "json":
            line = compact({"event": event, "detail": detail})
        else:
            line = f"wholecall: {event}: {detail}"
        self._stream.write(f"{line}\n")
        self._stream.flush()

    def listening(self, sockets: Sequence[socket.socket], *, is_tls: bool) -> None:
        """Report the addresses for clients."""
        for one in sockets:
            name = one.getsockname()
            if isinstance(name, tuple):
                host = f"[{name[0]}]" if ":" in name[0] else name[0]
                self.say("listening", f"{'https' if is_tls else 'http'}://{host}:{name[1]}")
            else:
                self.say("listening", f"unix:{name}")


class _Handler(logging.Handler):
    """Passes log records of libraries to a teller."""

    def __init__(self, teller: Teller) -> None:
        super().__init__(logging.WARNING)
        self._teller = teller

    def emit(self, record: logging.LogRecord) -> None:
        """Report the record, unless it is not a fault."""
        error = record.exc_info[1] if record.exc_info else None
        text = record.getMessage().strip()
        if isinstance(error, CutOff) or text.startswith(_NO_FAULT):
            return
        self._teller.say(record.name, text.partition("\n")[0] if error is None else _place(error))


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


def quieten(teller: Teller) -> None:
    """Restrict libraries to safe messages."""
    handler = _Handler(teller)
    for name in _LIBRARIES:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING)
