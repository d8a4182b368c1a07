"""The command `wholecall record`: save a stream with its chunks and times while it passes through.

Theory of operation. The stream is written first and then passed on, chunk by chunk, as the transport delivers it: into
a recording of our own format, or as bare bytes into a case of a folder of recordings. Parts of a request that may hold
a key are not kept: query, user and headers.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Union
from urllib.parse import urlsplit

from wholecall.cli.cases import NewCase
from wholecall.cli.new_recording import NewRecording
from wholecall.cli.options import add_command_parser, add_import
from wholecall.cli.out import FOUND, OK, UNREADABLE, complain, json_writer
from wholecall.cli.redirects import opener
from wholecall.cli.target import STDIO, is_same
from wholecall.recordings.secrets import without_keys

__all__ = ["add_command"]

_PIECE = 64 * 1024
_FIRST_ERROR = 400
_TROUBLE = (OSError, http.client.HTTPException)
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
    if options.output is not None and any(is_same(path, options.output) for path in _inputs(options)):
        options.refuse(f"{options.output} is read, too; write to another file")
    if options.url is None:
        stdin: Any = sys.stdin.buffer  # it has `read1`, whatever its type says
        return _save(options, stdin.read1, {})
    try:
        response = _asked(options)
    except _TROUBLE as error:
        complain(f"cannot reach the server: {getattr(error, 'reason', None) or type(error).__name__}")
        return UNREADABLE
    with response:
        known = {
            "method": response.method_sent,
            "url": without_keys(options.url),
            "status": response.status,
            "content_type": response.headers.get("content-type"),
        }
        code = _save(options, response.read1, known)
    return code or (FOUND if response.status >= _FIRST_ERROR else OK)


def _inputs(options: argparse.Namespace) -> list[str]:
    """Return the files that are read."""
    data = options.data or ""
    from_stdin = options.url is None or data == "@-"
    return [STDIO] if from_stdin else [data[1:]] if data.startswith("@") else []


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
        complain(f"{error.filename or options.output}: {error.strerror}")
        return UNREADABLE
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
        json_writer(place)(json.dumps(saved).encode())
    if trouble:
        complain(f"the stream broke off: {type(trouble[0]).__name__}; what came is in {place}")
    return OK if settled else UNREADABLE


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
