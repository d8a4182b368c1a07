"""The command `wholecall record`: save a stream with its chunks and times while it passes through.

Theory of operation. The stream is written first and then passed on, chunk by chunk, as the transport delivers it: into
a recording of our own format (`NewRecording`), or as bare bytes into a case of a folder of recordings (`NewCase`).
Parts of a request that may hold a key are not kept: query, user and headers.

- **Redirects.** A key is for one server. A redirect to the same origin (scheme, host, port) is followed as usual.
  Another origin is refused unless `--follow` was given. Then it gets none of the given headers, except those about the
  form of the body or of the answer. Only http and https are used, whatever a server says.
- **A recording.** If there is no file, the recording is written as the stream arrives, and can be read meanwhile. An
  existing file stays until the stream has ended: the new file is written next to it, with `.part` in its name, and
  stays there if the stream breaks off.
- **A case.** Bytes are written as they arrive, to a file in that folder named `<case>.part`. When the stream is over,
  however it ended, that file becomes `<dialect>/<case>.<suffix>`: only then are both known. A sidecar next to it is for
  people to fill in. No existing file is ever written to; if the final name is taken, the bytes stay where they are.
"""

from __future__ import annotations

import argparse
import errno
import http.client
import json
import os
import re
import shutil
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Union
from urllib.parse import SplitResult, urlsplit

import msgspec

from wholecall import ToolCallParser
from wholecall.cli import output
from wholecall.cli.options import add_command_parser, add_import
from wholecall.framing.opening import framing_of
from wholecall.recordings import Recorder
from wholecall.recordings.secrets import without_keys

if TYPE_CHECKING:
    from typing_extensions import Self

_PIECE = 64 * 1024
_FIRST_ERROR = 400
_TROUBLE = (OSError, http.client.HTTPException)
_SCHEMES: Final = {"http": 80, "https": 443}
_HARMLESS: Final = frozenset({"accept", "content-type", "user-agent"})
_SIDECAR = ".case.json"
_EMPTY: dict[str, Any] = {"about": "", "origin": "recorded", "quirks": [], "expect": None}
_UNKNOWN = "unknown"  # the folder of streams that no dialect knows
_SUFFIXES = {
    "sse": ".sse",
    "jsonl": ".ndjson",
    "jsonarray": ".json",
    "eventstream": ".bin",
    "vercel": ".ndjson",
}
_RAW = ".bin"  # of bytes of no known framing
_HEAD = 4096  # bytes; the first ones identify the framing
_ABOUT = """\
Save a stream with the boundaries and times of its chunks, and pass it on to standard output: of a URL, or of
standard input. The file is wholecall's own format, JSON lines (docs/recordings.md); what is in it when the stream
breaks off, or the program is stopped, can be read.

A file that is there is replaced when the stream has come to its end, not before: until then, and if it breaks off,
what came is in a file with .part in its name (answer.part.jsonl), and the old one is as it was.

With --into the bytes are saved as they came, as a case of a folder of recordings: DIR/<dialect>/NAME.sse (.ndjson,
.json, .bin: as they are framed), or below DIR/recordings where there is such a folder. Beside them NAME.case.json
waits for what they show and what must come out. No file is overwritten.

Request headers, and the query of the URL, are sent and not saved: they hold keys. A redirect to another server is
refused; with --follow it is followed, without any header that may hold one.
"""
_EXAMPLES = """\
examples:
  curl -sN ... | wholecall record -o answer.jsonl | less      between two programs
  wholecall record -q -o answer.jsonl https://api.example/v1/messages \\
      -H "x-api-key: $KEY" -H 'content-type: application/json' -d @request.json
  wholecall record -q --append -o all.jsonl ...               several in one file
  wholecall replay answer.jsonl                               and look at it
  curl -sN ... | wholecall record -q --into corpora --case parallel-calls

exit status:
  0  the stream was saved to its end
  1  the server answered with an error (saved too)
  2  the command line was wrong
  3  the stream broke off (what came is saved), the URL could not be reached, or the file not be written
"""


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(
        commands, "record", "save a stream while it passes through", _ABOUT, _EXAMPLES
    )
    command.set_defaults(run=_record, refuse=command.error)
    add = command.add_argument
    add("url", nargs="?", metavar="URL", type=_url, help="what to ask for; standard input by default")
    where = command.add_mutually_exclusive_group(required=True)
    where.add_argument("-o", "--output", metavar="OUT", help="the recording; compressed if it ends in .gz")
    where.add_argument("--into", metavar="DIR", type=Path, help="the folder of recordings to add a case to")
    add("--case", metavar="NAME", type=_case_name, help="with --into: what the case is called")
    add("--append", action="store_true", help="keep what the file holds, and add a recording")
    add("-q", "--quiet", action="store_true", help="pass nothing on to standard output")
    add(
        "--json",
        action="store_true",
        help="as --quiet, and report at the end what was saved, as a JSON object",
    )
    add(
        "--follow",
        action="store_true",
        help="follow redirects to other servers, which get none of your headers;\notherwise only those on the same one",
    )
    add("-X", "--method", metavar="M", help="the HTTP method; GET, or POST with -d")
    add(
        "-H",
        "--header",
        action="append",
        default=[],
        type=_header,
        metavar="H",
        help="a header, 'name: value'",
    )
    add_import(command)
    add("-d", "--data", metavar="BODY", help="the body of the request; @FILE reads a file, @- standard input")


def _url(text: str) -> str:
    if urlsplit(text).scheme not in {"http", "https"}:
        raise argparse.ArgumentTypeError("it is not an http or https URL")
    return text


def _case_name(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", text):
        raise argparse.ArgumentTypeError(
            "a case is called by lower-case words and numbers, with hyphens between"
        )
    return text


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise argparse.ArgumentTypeError("a header is 'name: value'")
    return name.strip(), value.strip()


def _record(options: argparse.Namespace) -> int:
    if (options.into is None) != (options.case is None):
        options.refuse("--into DIR and --case NAME go together")
    if options.into is not None and options.append:
        options.refuse("--append adds to a recording, and needs -o OUT")
    if options.output is not None and any(output.is_same(path, options.output) for path in _inputs(options)):
        options.refuse(f"{options.output} is read, too; write to another file")
    if options.url is None:
        stdin: Any = sys.stdin.buffer  # it has `read1`, whatever its type says
        return _save(options, stdin.read1, {})
    try:
        response = _asked(options)
    except _TROUBLE as error:
        output.complain(f"cannot reach the server: {getattr(error, 'reason', None) or type(error).__name__}")
        return output.UNREADABLE
    with response:
        known = {
            "method": response.method_sent,
            "url": without_keys(options.url),
            "status": response.status,
            "content_type": response.headers.get("content-type"),
        }
        code = _save(options, response.read1, known)
    return code or (output.FOUND if response.status >= _FIRST_ERROR else output.OK)


def _inputs(options: argparse.Namespace) -> list[str]:
    """Return the files that are read."""
    data = options.data or ""
    from_stdin = options.url is None or data == "@-"
    return [output.STDIO] if from_stdin else [data[1:]] if data.startswith("@") else []


def _asked(options: argparse.Namespace) -> Any:
    """Send the request and return the response, whatever its status.

    Raises:
        OSError: the server cannot be reached, or a file of data cannot be read.
        http.client.HTTPException: the server's answer is not HTTP.
    """
    data = None if options.data is None else _data(options.data)
    request = urllib.request.Request(options.url, data, dict(options.header), method=options.method)  # noqa: S310 - http(s) only
    try:
        response: Any = opener(follows=options.follow).open(request)
    except urllib.error.HTTPError as error:
        response = error  # the body of an error is a recording like any other
    response.method_sent = request.get_method()
    return response


def _data(text: str) -> bytes:
    if text == "@-":
        return sys.stdin.buffer.read()
    if text.startswith("@"):
        with open(text[1:], "rb") as file:  # noqa: PTH123 - as it was typed
            return file.read()
    return text.encode()


def _save(options: argparse.Namespace, take: Callable[[int], bytes], known: dict[str, Any]) -> int:
    """Save a stream, pass it on, and return the exit code."""
    trouble: list[Exception] = []
    try:
        target = _target(options, known)
    except OSError as error:
        output.complain(f"{error.filename or options.output}: {error.strerror}")
        return output.UNREADABLE
    n_chunks = size = 0
    with target:
        for chunk in target.through(_chunks(take, trouble)):
            n_chunks += 1
            size += len(chunk)
            if not (options.quiet or options.json):
                sys.stdout.buffer.write(chunk)
                sys.stdout.buffer.flush()
    settled = not trouble and target.settle(holds_something=size > 0)
    place = str(target.path)
    if options.json:
        saved = {"status": known.get("status"), "chunks": n_chunks, "bytes": size, "complete": not trouble}
        output.json_writer(place)(json.dumps(saved).encode())
    if trouble:
        output.complain(f"the stream broke off: {type(trouble[0]).__name__}; what came is in {place}")
    return output.OK if settled else output.UNREADABLE


def _target(options: argparse.Namespace, known: dict[str, Any]) -> Union[NewRecording, NewCase]:
    """Return the writer of the stream.

    Raises:
        OSError: it cannot be written there.
    """
    if options.into is not None:
        return NewCase(options.into, options.case)
    return NewRecording(Path(options.output), append=options.append, **known)


def _chunks(take: Callable[[int], bytes], trouble: list[Exception]) -> Iterator[bytes]:
    """Yield the transport's chunks; note the error that ends them early."""
    while True:
        try:
            chunk = take(_PIECE)
        except _TROUBLE as error:
            trouble.append(error)
            return
        if not chunk:
            return
        yield chunk


# Redirects.


def opener(*, follows: bool) -> urllib.request.OpenerDirector:
    """Return an opener that uses http and https only.

    Args:
        follows: whether redirects to other origins are followed, without the headers that may hold keys.
    """
    director = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        _Redirects(follows=follows),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        director.add_handler(handler)
    return director


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, and carries no key to another server."""

    def __init__(self, *, follows: bool) -> None:
        self._follows = follows

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """Return the next request.

        Raises:
            urllib.error.URLError: the redirect is not allowed.
        """
        there = urlsplit(newurl)
        if there.scheme not in _SCHEMES:
            raise urllib.error.URLError("it redirects to what is neither http nor https")
        is_same = _origin(urlsplit(req.full_url)) == _origin(there)
        if not (is_same or self._follows):
            raise urllib.error.URLError(
                f"it redirects to another server, {there.hostname}; --follow asks that one, without your headers"
            )
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        if following is not None and not is_same:
            kept = {name: value for name, value in following.headers.items() if name.lower() in _HARMLESS}
            following.headers = kept
        return following


def _origin(url: SplitResult) -> tuple[str, str | None, int | None]:
    return url.scheme, url.hostname, url.port or _SCHEMES[url.scheme]


# A recording of our own format, possibly replacing an existing one.


class NewRecording:
    """Writes one recording.

    Args:
        output: its final path; compressed if that ends in `.gz`.
        append: whether an existing file is kept, and added to.
        known: known facts about the response, as for `Recorder`.

    Raises:
        OSError: it cannot be written there, or the part of a broken stream is still next to it.
    """

    def __init__(self, target: Path, *, append: bool, **known: Any) -> None:
        self.path = self._output = target
        self._place: Path | None = None  # of the file to be replaced
        if not append and target.is_file() and target.stat().st_size:
            self._place = Path(os.path.realpath(target))
            self.path = _part(self._place)
        self._recorder = Recorder(self.path, append=append, **known)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._recorder.close()
        if error is not None and self._place is not None:
            output.complain(f"{self._output} is as it was; what came is in {self.path}")

    def through(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Write each chunk and pass it on."""
        return self._recorder.through(chunks)

    def settle(self, *, holds_something: bool) -> bool:
        """Move the whole and closed recording to its place; return whether it is there.

        An empty recording does not replace a file.

        Raises:
            OSError: it cannot be moved; it stays next to its place.
        """
        if self._place is None:
            return True
        if holds_something:
            shutil.copymode(self._place, self.path)
            self.path.replace(self._place)
        else:
            self.path.unlink()
            output.complain(f"nothing came, and {self._output} is as it was")
        self.path = self._output
        return holds_something


def _part(place: Path) -> Path:
    """Return the path of the bytes until they are whole; the meaningful suffixes stay.

    Raises:
        OSError: the place must not be written, or there is a part already.
    """
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))
    stem, dot, suffixes = place.name.partition(".")
    part = place.with_name(f"{stem}.part{dot}{suffixes}")
    if part.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(part))
    return part


# A case of a folder of recordings: its bytes, and a sidecar for people to fill in.


class NewCase:
    """Writes the bytes of one stream, and moves them to the case's place when the block is left.

    Args:
        folder: a folder of recordings by dialect, or one that has such a folder, `recordings`.
        name: the name of the case.

    Raises:
        OSError: there is no such folder, or the case is being recorded already.
    """

    def __init__(self, folder: Path, name: str) -> None:
        os.scandir(folder).close()
        inner = folder / "recordings"
        self._folder = inner if inner.is_dir() else folder
        self._name = name
        self.path = self._folder / f"{name}.part"
        self.dialect: str | None = None
        self.trouble: str | None = None
        self._file = self.path.open("xb")
        self._parser = ToolCallParser()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._parser.close()
        self.dialect = self._parser.dialect
        self._place()

    def through(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Write each chunk and pass it on."""
        for chunk in chunks:
            self._file.write(chunk)
            self._file.flush()
            if self._parser.dialect is None:
                self._parser.feed(chunk)
            yield chunk

    def settle(self, *, holds_something: bool) -> bool:  # noqa: ARG002 - a case may be a stream of nothing
        """Return whether the finished case is at its place."""
        return self.trouble is None

    def _place(self) -> None:
        """Move the bytes to their place, write the sidecar, and print the next step."""
        folder = self._folder / (self.dialect or _UNKNOWN)
        target = folder / f"{self._name}{_suffix(self.path)}"
        try:
            folder.mkdir(exist_ok=True)
            _claim(folder, self._name, target)
            self.path.replace(target)
        except OSError as error:
            why = f"{error.filename or target}: {error.strerror}"
            self.trouble = f"{why}; nothing there was changed, and what came is in {self.path}"
            output.complain(self.trouble)
            return
        self.path = target
        if self.dialect is None:
            output.complain("no dialect knows the stream")
        output.complain(
            f"wrote {target} and {self._name}{_SIDECAR}: say there what it shows and what must come out"
        )
        output.complain(
            f"it holds what was said; to replace that: wholecall redact {target} --to raw -o OTHER"
        )


def _claim(folder: Path, name: str, target: Path) -> None:
    """Create the files of a case, the sidecar with its members.

    Raises:
        OSError: they cannot be created, or a file of such a case exists.
    """
    taken = [path for path in sorted(folder.iterdir()) if path.name.startswith(f"{name}.")]
    if taken:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(taken[0]))
    with (folder / f"{name}{_SIDECAR}").open("x", encoding="utf-8", newline="\n") as sidecar:
        sidecar.write(json.dumps(_EMPTY, indent=2) + "\n")
    target.open("xb").close()


def _suffix(path: Path) -> str:
    """Return the suffix that goes with the framing of a file."""
    with path.open("rb") as file:
        framing = framing_of(file.read(_HEAD))
    if framing == "jsonl" and _is_document(path):
        return ".json"
    return _RAW if framing is None else _SUFFIXES[framing]


def _is_document(path: Path) -> bool:
    """Return whether a file is one JSON document, like a response that is not streamed."""
    try:
        msgspec.json.decode(path.read_bytes(), type=msgspec.Raw)
    except (msgspec.DecodeError, ValueError, RecursionError):  # the first is not a ValueError everywhere
        return False
    return True
