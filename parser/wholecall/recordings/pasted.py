r"""A stream as people paste it: lines with prefixes, Markdown, rows that hold chunks, Python's reprs.

Theory of operation. A bug report or a log shows the lines of a stream with something before or around them:

    2026-11-29T10:00:00.123Z INFO data: {"id":"c1",…}      api-1  | data: {"id":"c1",…}      > data: {"id":"c1",…}
    {"raw_chunk": "data: {…}\n\n"}      {"response_body": {…}}
    b'data: {…}\n\n'      {'id': 'c1', 'choices': […]}      ChatCompletionChunk(id='c1', choices=[…])
    {"log":"data: {…}\n","stream":"stdout","time":"…"}      "message": "data: {…}",      \x1b[2mdata: {…}\x1b[0m

A line counts by its end: `data:` or `event:` with what follows, a JSON object, or a repr of Python; all before it is
left out, and so are colours of terminals, and lines without any such end. A list of rows, as the command of a log
service prints it, counts by its rows, also over several lines. Events are written anew as server-sent events, because
blank lines get lost in logs. Each row of a whole response is a recording; everything else is one.

A file is pasted only if it is no stream as it is, and one of its first lines has such an end. Fields of server-sent
events that are indented are no stream.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import msgspec

from wholecall.recordings.bodies import Response, recording_of
from wholecall.recordings.model import Recording
from wholecall.recordings.source import Source

_FORM = "pasted"
_BEGINS = re.compile(rb'(?:data|event|id|retry):|:|\s*(?:\{\s*(?:"|$)|\[\s*(?:[{\["]|$))')
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
_BEFORE = rb"""(?:[^{}"'()]{0,256}?[\s|>\]:])??"""  # a time, a level, a name, the mark of a quote
_FIELD = re.compile(_BEFORE + rb"""((?:data:\s?["\[{0-9]|event:\s?[\w.-]+\s*$).*)""", re.DOTALL)
_VALUE = re.compile(_BEFORE + rb"""(\{.*\}|[A-Za-z_][\w.]*\(.*\)|[bB]?'.*'|[bB]?".*")[\s,;]*$""", re.DOTALL)
# An object, a text or a repr that cannot be read.
_CUT = re.compile(
    _BEFORE + rb"""(\{\s*["'].*|[bB]?["']\s*(?:data:|event:|\{).*|[A-Z]\w*\(\w+=.*)""", re.DOTALL
)
_LONGEST_REPR = 64 * 1024  # bytes of a line that Python's parser reads
_DAMAGE = (ValueError, SyntaxError, RecursionError, MemoryError)
# Members of rows: a chunk, or a whole response, as an object or as text; and those that may hold lines of a stream.
_CHUNK, _BODY = "raw_chunk", "response_body"
_LINES = ("chunk", "raw", "line", "log", "data", "message", "msg", "MESSAGE")
_MEMBER = re.compile(
    _BEFORE + rb"""\s*"(?:%s)":\s*("(?:data: ?\{|event: ).*?),?\s*$""" % "|".join(_LINES).encode()
)

Event = tuple[str, str]  # the name and the data


def is_pasted(head: bytes) -> bool:
    """Return whether a file with this beginning holds a stream as people paste it."""
    lines = [line for line in head.split(b"\n") if line.strip()]
    if not lines:
        return False
    first = _loaded(lines[0])
    if isinstance(first, dict):
        return any(_rows(first))
    if lines[0].strip() in (b"{", b"["):
        return any(map(_MEMBER.match, lines))
    return not _BEGINS.match(lines[0]) and any(_is_one(_COLOUR.sub(b"", line)) for line in lines)


def read_pasted(source: Source, skipped: Counter[str]) -> Iterator[Recording]:
    """Yield the recordings of a file; with several, `#n` counts them."""
    source.skip_mark()
    bodies: list[bytes] = []
    text = b"".join(_written(_events(source.lines(), bodies)))
    found = [Response(body=text, content_type="text/event-stream")] if text else []
    found += [Response(body=body, content_type="application/json", is_answer=True) for body in bodies]
    for number, response in enumerate(found, 1):
        name = source.path if len(found) == 1 else f"{source.path}#{number}"
        recording = recording_of(name, _FORM, response)
        if isinstance(recording, str):
            skipped[recording] += 1
        else:
            yield recording


def _events(lines: Iterable[bytes], bodies: list[bytes]) -> Iterator[Event]:
    """Yield the events in lines; whole responses are added to the bodies."""
    name = ""
    for line in lines:
        for field, text in _fields(_COLOUR.sub(b"", line), bodies):
            if field == "event":
                name = text
            else:
                yield name, text
                name = ""


def _fields(line: bytes, bodies: list[bytes]) -> Iterator[tuple[str, str]]:
    """Yield the fields of events that a line shows."""
    if found := _FIELD.match(line):
        field, _, text = found[1].decode("utf-8", "replace").partition(":")
        yield field, text.strip()
        return
    if found := _MEMBER.match(line):
        line = found[1]
    value = _value(line)
    if isinstance(value, (bytes, str)):
        yield from _fields_in(value, bodies)
    elif isinstance(value, dict):
        for name, held in list(_rows(value)) or [("", value)]:
            yield from _fields_of(name, held, bodies)
    elif found := _CUT.match(line):  # its text is lost, and no call may come out without it
        yield "data", "{" + found[1].decode("utf-8", "replace").strip().removeprefix("{")


def _fields_of(name: str, held: Any, bodies: list[bytes]) -> Iterator[tuple[str, str]]:
    """Yield the fields of events in the member of a row, or in an event that is no row."""
    text = _text_of(held)
    if name == _BODY:
        bodies.append(text.encode("utf-8", "replace"))
    elif name:
        yield from _fields_in(text, bodies)
    else:
        yield "data", text


def _fields_in(text: bytes | str, bodies: list[bytes]) -> Iterator[tuple[str, str]]:
    """Yield the fields of events in a text of several lines."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    for line in data.splitlines():
        if line.startswith((b"data:", b"event:", b"{")):
            yield from _fields(line, bodies)


def _is_one(line: bytes) -> bool:
    if _FIELD.match(line) or _MEMBER.match(line):
        return True
    value = _value(line)
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return isinstance(value, dict) or _is_lines(text)


def _rows(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the members of rows that hold a chunk or a response: of the value, or of those in its lists."""
    if row := _row(value):
        yield row
        return
    lists = (each for each in value.values() if isinstance(each, list))
    found = (_row(each) for listed in lists for each in listed if isinstance(each, dict))
    yield from (row for row in found if row)


def _row(value: dict[str, Any]) -> tuple[str, Any] | None:
    """Return the member of a row that holds a chunk or a response, None if the value is no such row."""
    whole = ((name, value[name]) for name in (_CHUNK, _BODY) if isinstance(value.get(name), (dict, str)))
    lines = ((name, value[name]) for name in _LINES if _is_lines(value.get(name)))
    return next(whole, None) or next(lines, None)


def _is_lines(value: Any) -> bool:
    return isinstance(value, str) and value.lstrip().startswith(("data: {", "data:{", "event: "))


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _value(line: bytes) -> Any:
    """Return the value at the end of a line, None if there is none."""
    found = _VALUE.match(line)
    if found is None:
        return None
    value = _loaded(found[1])
    return value if value is not None or len(found[1]) > _LONGEST_REPR else _python(found[1])


def _loaded(data: bytes) -> Any:
    """Return a JSON value, None if it is none."""
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(data)
    return None


def _python(data: bytes) -> Any:
    """Return the value of a repr: literals, and objects as their members; None if it is none."""
    with suppress(*_DAMAGE):
        return _plain(ast.parse(data.decode().strip(), mode="eval").body)
    return None


def _plain(node: ast.AST) -> Any:
    """Return the value of an expression; nothing is evaluated.

    Raises:
        ValueError: it is no repr.
    """
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_plain(one) for one in node.elts]
    if isinstance(node, ast.Dict):
        return {_plain(key or node): _plain(one) for key, one in zip(node.keys, node.values, strict=True)}
    if isinstance(node, ast.Call) and not node.args:
        return {one.arg or "": _plain(one.value) for one in node.keywords}
    if isinstance(node, ast.Attribute):  # a member of an enumeration
        return node.attr
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_plain(node.operand)
    raise ValueError("no repr")


def _written(events: Iterable[Event]) -> Iterator[bytes]:
    """Write events as server-sent events."""
    for name, text in events:
        named = f"event: {name}\n" if name else ""
        yield f"{named}data: {text}\n\n".encode("utf-8", "replace")
