"""Recordings as answers of a server, and live answers of the provider that become recordings.

Theory of operation. A recording that contains the times of its chunks is sent in these chunks. The chunk boundaries of
any other are unknown (a file is read in blocks, a cassette holds bodies); each event of its framing is sent separately,
as most servers do. Status and content type are those of the recording, or else fit its bytes. A cut is a place in these
chunks, and thereby in the bytes; only the part before it is cut into other chunks.

Requests without a prepared answer can be sent to the provider, and its answers kept as recordings. Such a request is
forwarded with its headers, except those of the connection and the compression. Each piece of the answer is kept with
its time when it is passed on. An answer that a client abandons is read to its end before it is saved, so that a
recording is a whole answer; interrupted and unsuccessful answers are not saved. Of the request, method, URL without
user and query, and a hash of the body are kept: no header, no key, no prompt.
"""

from __future__ import annotations

import glob
import http.client
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, Union, overload
from urllib.parse import urlsplit

import msgspec

from wholecall import BadRecording
from wholecall.framing.opening import sniff
from wholecall.recordings import Recorder, Recording, read
from wholecall.recordings.finding import StrPath, find
from wholecall.recordings.model import Chunk
from wholecall.recordings.replay import Chunking
from wholecall.recordings.secrets import without_keys
from wholecall.recordings.serving.answers import Answer, Answers, IncomingRequest, Match

Served = Union[StrPath, Recording, Answer, bytes]  # everything that can be served

_JSON = "application/json"
_CONTENT_TYPES = {
    "sse": "text/event-stream",
    "jsonl": "application/x-ndjson",
    "jsonarray": _JSON,
    "eventstream": "application/vnd.amazon.eventstream",
    "vercel": "text/plain; charset=utf-8",
}
_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")
_LINE_END = re.compile(rb"\n")
_LENGTH_BYTES = 4  # at the beginning of a message of an event stream
_DIGEST = "request_digest"  # the key of `IncomingRequest.digest` in a recording
_TROUBLE = (OSError, http.client.HTTPException)
_NOT_SENT_ON = frozenset({"accept-encoding", "connection", "content-length", "host", "transfer-encoding"})
_PATIENCE = 300.0  # seconds that a provider may be silent
_PIECE = 65_536  # most bytes that are read at a time
_FIRST_ERROR = 300  # a redirection is not a wanted answer, and its target must not get the key
_BAD_GATEWAY = 502


class RecordedAnswers(Answers):
    """Answers made of recordings.

    Args:
        folder: the folder that relative paths start from; None is the working directory.
        seed: draws other chunk boundaries for each recording, equal ones for equal seeds; None keeps the recorded ones.

    Attributes:
        recordings: the served recordings, in order, once each; the chunks of each can be taken (once).
        files: the paths of those that were read from files.
    """

    def __init__(self, folder: StrPath | None = None, seed: str | None = None) -> None:
        super().__init__()
        self.recordings: list[Recording] = []
        self.files: list[Path] = []
        self._folder = folder
        self._seed = seed
        self._takes: Takes | None = None

    def serve(
        self,
        *recordings: Served,
        timing: bool = False,
        repeat: int | bool = 1,
        cut: int | None = None,
        match: Match | None = None,
    ) -> None:
        """Answer requests with recordings, one per request.

        Args:
            recordings: paths, folders or globs of files in any form that `wholecall.recordings` reads (a file
                may hold several), recordings, the bytes of one, or answers as they are.
            timing: wait between the chunks as long as the provider did, where the recording has times.
            repeat: how many times they are served, one time after the other; True never ends.
            cut: close the connection after this many chunks instead of ending the body; the same bytes are sent for
                every `seed`.
            match: None answers in order, regardless of the request; `"path"` answers a request with a recording of that
                method and path (without the query), `"body"` also requires an equal body.

        Raises:
            BadRecording: a recording cannot be read, or there is none; the message names the file.
            ValueError: `repeat` or `cut` is too small, the recordings served so far never end, or a recording lacks the
                data to match it by: cassettes and HAR files hold paths, files that `record` wrote hold both.
        """
        if cut is not None and cut < 0:
            raise ValueError(f"cut is a number from 0: {cut!r}")
        self.prepare(
            [answer for one in recordings for answer in self._answers(one, timing, cut)],
            repeat=repeat,
            match=match,
        )

    def record(self, path: StrPath, upstream: str | None = None) -> None:
        """Send requests without a remaining answer to the provider, and keep its answers until `save` writes them.

        Unsuccessful answers (status from 300 on) are passed on and not kept. No header and no query is kept.

        Args:
            path: the file that `save` writes, in the format of `recordings.Recorder`.
            upstream: the server that requests go to, `"https://api.example"`, with their own path. None takes the URL
                of the request, which only a transport knows.

        Raises:
            ValueError: `upstream` is not a scheme, http or https, and a host.
        """
        self._takes = Takes(_below(self._folder, os.fspath(path)), upstream)
        self.files.append(self._takes.path)

    @property
    def takes(self) -> Takes | None:
        """The requests to the provider; None without recording."""
        return self._takes

    def save(self) -> int:
        """Write the recorded answers, again if more came; return their number. Without any, no file is written.

        Raises:
            OSError: the file cannot be written.
        """
        return self._takes.save() if self._takes is not None else 0

    def answer_unprepared(self, request: IncomingRequest) -> Answer:
        """Return the answer to a request that no prepared answer fits: the provider's answer, or an error."""
        if self._takes is None:
            return super().answer_unprepared(request)
        return self._takes.ask(request)

    def _answers(self, served: Served, timing: bool, cut: int | None) -> Iterator[Answer]:
        if isinstance(served, Answer):
            yield served
            return
        for recording in self._read(served):
            yield answer_of(recording, timing=timing, cut=cut, seed=self._seed)
            self.recordings.append(recording)

    def _read(self, served: StrPath | Recording | bytes) -> Iterator[Recording]:
        if isinstance(served, Recording):
            yield served
        elif isinstance(served, bytes):
            yield Recording(name="bytes", chunks=iter([(None, served)]))
        else:
            path = _below(self._folder, os.fspath(served))
            self.files += [Path(place.path) for place in find([path])]
            yield from _all(path)


def answer_of(
    recording: Recording, *, timing: bool = False, cut: int | None = None, seed: str | None = None
) -> Answer:
    """Return the answer that was recorded.

    Args:
        recording: its chunks are taken, and can be taken once more.
        timing: keep the times of the chunks.
        cut: close the connection after this many chunks, counted as sent without a seed.
        seed: draws other chunk boundaries for the same bytes; times are lost.

    Raises:
        BadRecording: the recording cannot be read.
    """
    chunks = [(at, data) for at, data in recording.chunks if data]
    recording.chunks = iter(chunks)
    body = b"".join(data for _, data in chunks)
    framing = sniff(body) or "sse"
    if all(at is None for at, _ in chunks):
        chunks = [(None, data) for data in _events(body, framing)]
    sent = chunks[:cut]
    if seed is not None:
        sent = [(None, data) for data in Chunking(seed=seed).cut(data for _, data in sent)]
    return Answer(
        [data for _, data in sent],
        recording.content_type or _content_type(body, framing),
        status=recording.status or 200,
        ending="clean" if cut is None else "cut",
        times=_times(sent) if timing else None,
        name=recording.name,
        endpoint=_endpoint(recording),
        digest=recording.meta.get(_DIGEST),
    )


def _endpoint(recording: Recording) -> str | None:
    """Return the request of a recording, like `IncomingRequest.endpoint`; None if the recording does not state it."""
    asked = recording.request
    if asked is None or asked.method is None or asked.url is None:
        return None
    try:
        return f"{asked.method.upper()} {urlsplit(asked.url).path or '/'}"
    except ValueError:
        return None


def _times(chunks: Sequence[Chunk]) -> list[float | None] | None:
    times = [at for at, _ in chunks]
    return times if any(at is not None for at in times) else None


def _content_type(body: bytes, framing: str) -> str:
    """Return the content type of a body; lines that together form one JSON value count as that value."""
    if framing == "jsonl" and _is_one_value(body):
        return _JSON
    return _CONTENT_TYPES[framing]


def _is_one_value(body: bytes) -> bool:
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _events(body: bytes, framing: str) -> Iterator[bytes]:
    """Cut a body after each of its events; a remainder without an event end is one piece."""
    start = 0
    for end in _ENDS[framing](body):
        yield body[start:end]
        start = end
    if start < len(body):
        yield body[start:]


def _ends_after(pattern: re.Pattern[bytes]) -> Callable[[bytes], Iterator[int]]:
    return lambda body: (match.end() for match in pattern.finditer(body))


def _ends_of_messages(body: bytes) -> Iterator[int]:
    """Yield the ends of the messages of an event stream, as far as their lengths are plausible."""
    end = 0
    while True:
        length = int.from_bytes(body[end : end + _LENGTH_BYTES], "big")
        end += length
        if length < _LENGTH_BYTES or end > len(body):
            return
        yield end


_ENDS: dict[str, Callable[[bytes], Iterator[int]]] = {
    "sse": _ends_after(_BLANK_LINE),
    "jsonl": _ends_after(_LINE_END),
    "jsonarray": _ends_after(_LINE_END),
    "eventstream": _ends_of_messages,
    "vercel": _ends_after(_LINE_END),
}


def _below(folder: StrPath | None, path: str) -> str:
    """Return a path below a folder, whose own name is not taken for a glob."""
    if folder is None:
        return path
    plain = os.path.join(folder, path)  # noqa: PTH118 - Path would lose what ends in a slash
    is_glob = glob.has_magic(path) and not Path(plain).exists()
    return os.path.join(glob.escape(os.fspath(folder)), path) if is_glob else plain  # noqa: PTH118


def _all(path: str) -> Iterator[Recording]:
    found = read(path)
    empty = True
    for recording in found:
        empty = False
        yield recording
    if empty:
        skipped = ", ".join(f"{count} {reason}" for reason, count in found.skipped.items())
        raise BadRecording(f"{path}: no recording in it" + (f" (skipped: {skipped})" if skipped else ""))


# Live answers of the provider.


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any, **_named: Any) -> None:
        """Follow no redirection."""


class Take(Sequence[bytes]):
    """The pieces of one answer of the provider, in the order of their arrival; to be iterated once.

    Args:
        response: a response of `urllib`.
        clock: returns seconds.

    Attributes:
        chunks: the chunks so far.
        is_whole: whether the answer came to its end.
        trouble: the cause of an early end; empty without one.
    """

    def __init__(self, response: Any, clock: Callable[[], float] = time.monotonic) -> None:
        self.chunks: list[Chunk] = []
        self.is_whole = False
        self.trouble = ""
        self._response = response
        self._clock = clock
        self._began = clock()
        self._lock = Lock()

    def __iter__(self) -> Iterator[bytes]:
        while piece := self._next():
            yield piece

    def __len__(self) -> int:
        return len(self.chunks)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | Sequence[bytes]:
        return [data for _, data in self.chunks][index]

    def finish(self) -> None:
        """Read the part that the client left unread, as far as it arrives."""
        with suppress(ConnectionError):
            while not self.trouble and self._next():
                continue

    def _next(self) -> bytes:
        """Return the next piece, empty at the end.

        Raises:
            ConnectionError: the answer was interrupted.
        """
        with self._lock:
            if self.is_whole:
                return b""
            try:
                piece: bytes = self._response.read1(_PIECE)
            except _TROUBLE as error:
                self.trouble = f"the provider's answer broke off: {type(error).__name__}"
                raise ConnectionError(self.trouble) from None
            if piece:
                self.chunks.append((self._clock() - self._began, piece))
            else:
                self.is_whole = True
                self._response.close()
            return piece


class Takes:
    """Requests to the provider, in order, with their answers.

    Args:
        path: the file that `save` writes.
        upstream: as for `RecordedAnswers.record`.

    Attributes:
        path: the file.
        trouble: sentences about answers that could not be recorded.
    """

    def __init__(self, path: StrPath, upstream: str | None) -> None:
        if upstream is not None and not _is_origin(upstream):
            raise ValueError("upstream is like 'https://api.example', without a path: that is the request's")
        self.path = Path(path)
        self.trouble: list[str] = []
        self._upstream = upstream
        self._takes: list[tuple[str, dict[str, Any], Take]] = []  # the endpoint, the known fields, the answer
        self._lock = Lock()

    def ask(self, request: IncomingRequest) -> Answer:
        """Return the provider's answer; its pieces are read when they are taken."""
        url = request.url if self._upstream is None else self._upstream + request.path
        if url is None:
            return self._refused(request, "nobody said where requests go: upstream='https://...'")
        headers = {name: text for name, text in request.headers.items() if name not in _NOT_SENT_ON}
        asked = urllib.request.Request(url, request.body or None, headers, method=request.method)  # noqa: S310 - http(s)
        try:
            response: Any = urllib.request.build_opener(_NoRedirect).open(asked, timeout=_PATIENCE)
        except urllib.error.HTTPError as error:
            response = error
        except _TROUBLE as error:
            reason = getattr(error, "reason", None) or type(error).__name__
            return self._refused(request, f"the provider cannot be reached: {reason}")
        return self._taken(request, without_keys(url), response)

    def _taken(self, request: IncomingRequest, url: str, response: Any) -> Answer:
        take = Take(response)
        content_type = response.headers.get("content-type") or "application/octet-stream"
        status: int = response.status
        if status < _FIRST_ERROR:
            known = {
                "method": request.method,
                "url": url,
                "status": status,
                "content_type": content_type,
                "meta": {_DIGEST: request.digest},
            }
            with self._lock:
                self._takes.append((request.endpoint, known, take))
        else:
            self._note(f"{request.endpoint} was answered with status {status}, which is not kept")
        return Answer(take, content_type, status)

    def _refused(self, request: IncomingRequest, why: str) -> Answer:
        self._note(f"{request.endpoint}: {why}")
        return Answer([f"wholecall: {why}".encode()], "text/plain", _BAD_GATEWAY)

    def _note(self, trouble: str) -> None:
        with self._lock:
            if trouble not in self.trouble:  # `save` may be called again
                self.trouble.append(trouble)

    def save(self) -> int:
        """Write the whole answers, in the order of their requests; return their number.

        Raises:
            OSError: the file cannot be written.
        """
        with self._lock:
            takes = list(self._takes)
        whole: list[tuple[dict[str, Any], list[Chunk]]] = []
        for endpoint, known, take in takes:
            take.finish()
            if take.is_whole:
                whole.append((known, take.chunks))
            else:
                self._note(f"{endpoint}: {take.trouble}")
        if whole:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
            with part.open("wb") as file:
                for known, chunks in whole:
                    _write(file, known, chunks)
            part.replace(self.path)
        return len(whole)


def _write(file: Any, known: dict[str, Any], chunks: Sequence[Chunk]) -> None:
    with Recorder(file, **known) as recorder:
        for at, data in chunks:
            recorder.write(data, at)


def _is_origin(url: str) -> bool:
    """Return whether a URL consists only of a scheme, http or https, and a host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and url == f"{parts.scheme}://{parts.netloc}"
