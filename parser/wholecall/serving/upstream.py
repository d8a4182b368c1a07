"""Live answers of the provider, passed on piece by piece and kept as recordings.

Theory of operation. A request is forwarded with its headers, except those of the connection and the compression. Each
piece of the answer is kept with its time when it is passed on. An answer that a client abandons is read to its end
before it is saved, so that a recording is a whole answer; interrupted and unsuccessful answers are not saved. Of the
request, method, URL without user and query, and a hash of the body are kept: no header, no key, no prompt.
"""

from __future__ import annotations

import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, overload
from urllib.parse import urlsplit

from wholecall.recordings import Chunk, Recorder
from wholecall.recordings.finding import StrPath
from wholecall.recordings.secrets import without_keys
from wholecall.serving.answers import Answer, IncomingRequest

__all__ = ["DIGEST", "Take", "Takes"]

DIGEST = "request_digest"  # the key of `IncomingRequest.digest` in a recording
_TROUBLE = (OSError, http.client.HTTPException)
_NOT_SENT_ON = frozenset({"accept-encoding", "connection", "content-length", "host", "transfer-encoding"})
_PATIENCE = 300.0  # seconds that a provider may be silent
_PIECE = 65_536  # most bytes that are read at a time
_FIRST_ERROR = 300  # a redirection is not a wanted answer, and its target must not get the key
_BAD_GATEWAY = 502


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
                "meta": {DIGEST: request.digest},
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
