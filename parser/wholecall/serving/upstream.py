"""Answers that the provider gives now, passed on piece by piece and kept as recordings.

Theory of operation. A request goes on with its headers, but for those of the connection and the compression. Each piece
of the answer is kept with its time when it is passed on. What a client leaves is read to its end before it is
saved, so that a recording is a whole answer; an answer that broke off, and one that is no success, is none. What
was asked is kept as method, URL without user and query, and a hash of the body: no header, no key, no prompt.
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
from wholecall.recordings.model import without_keys
from wholecall.serving.answers import Answer, IncomingRequest

__all__ = ["DIGEST", "Take", "Takes"]

DIGEST = "request_digest"  # where a recording holds `IncomingRequest.digest`
_TROUBLE = (OSError, http.client.HTTPException)
_NOT_SENT_ON = frozenset({"accept-encoding", "connection", "content-length", "host", "transfer-encoding"})
_PATIENCE = 300.0  # seconds that a provider may say nothing
_PIECE = 65_536  # bytes that are taken at a time, at most
_FIRST_ERROR = (
    300  # a redirection is none of the answers that are looked for, and the key is not for where it leads
)
_BAD_GATEWAY = 502


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any, **_named: Any) -> None:
        """Follow no redirection."""


class Take(Sequence[bytes]):
    """The pieces of one answer of the provider, in the order in which they come; to be iterated once.

    Args:
        response: of `urllib`.
        clock: returns seconds.

    Attributes:
        chunks: what came so far.
        is_whole: whether the answer came to its end.
        trouble: what ended it before; empty if nothing did.
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
        """Read what the client left, as far as it comes."""
        with suppress(ConnectionError):
            while not self.trouble and self._next():
                continue

    def _next(self) -> bytes:
        """Return the next piece, nothing at the end.

        Raises:
            ConnectionError: the answer broke off.
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
    """What was asked of the provider, in order.

    Args:
        path: the file that `save` writes.
        upstream: as for `RecordedAnswers.record`.

    Attributes:
        path: the file.
        trouble: sentences about what could not be recorded.
    """

    def __init__(self, path: StrPath, upstream: str | None) -> None:
        if upstream is not None and not _is_origin(upstream):
            raise ValueError("upstream is like 'https://api.example', without a path: that is the request's")
        self.path = Path(path)
        self.trouble: list[str] = []
        self._upstream = upstream
        self._takes: list[tuple[str, dict[str, Any], Take]] = []  # the endpoint, what is known, what comes
        self._lock = Lock()

    def ask(self, request: IncomingRequest) -> Answer:
        """Return what the provider answers; its pieces come when they are taken."""
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
        """Write the whole answers, in the order in which they were asked for; return how many there are.

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
    """Return whether a URL is nothing but a scheme, http or https, and a host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and url == f"{parts.scheme}://{parts.netloc}"
