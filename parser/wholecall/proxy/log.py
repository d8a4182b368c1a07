"""The access log: one line for each finished exchange, for people on a terminal, as JSON elsewhere.

Theory of operation. A line is made of an entry's numbers and words. Text that the client chose (the path, the model) is
written so that it stays within its line and its field: as a JSON string, without any character that a terminal would
obey. A thread writes, so that a full pipe blocks nothing else; when too many lines wait, the next lines are dropped and
counted.
"""

from __future__ import annotations

import string
from datetime import datetime, timezone
from threading import Lock
from typing import IO, Final, Optional
from urllib.parse import quote

import msgspec

from wholecall.discreet import to_line
from wholecall.proxy.background import Background
from wholecall.proxy.config import LogForm
from wholecall.proxy.entry import Entry, Lost
from wholecall.recordings.secrets import keyless_path

__all__ = ["Line", "Log", "form_on", "line_of", "plain_path", "to_text"]
_private = True


_MOST_JOBS: Final = 10_000
_MOST_BYTES: Final = 16 * 1024 * 1024


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
        "id": line.id,
    }
    told = "".join(f" {name}={value}" for name, value in more.items() if value)
    return (
        f"{line.ts} {line.method} {line.path} {line.status} {line.outcome or '-'} {line.upstream or '-'} "
        f"{line.dialect or '-'} {line.ms:.0f}ms{first}{told}"
    )


def form_on(stream: IO[str], form: LogForm) -> LogForm:
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
        self._form = form_on(stream, form)
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
