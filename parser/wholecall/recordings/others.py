"""Files that people take for recordings: transcripts of conversations, and mitmproxy's flows.

Theory of operation. They are recognised by their beginning. Therefore they are named with advice, instead of being read
as a stream that no dialect knows. A file that a dialect knows is not one of them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from wholecall.history.shapes.atif import steps_of
from wholecall.history.shapes.table import RECORDS, SHAPES
from wholecall.recordings.model import Recording, broken
from wholecall.recordings.source import Source
from wholecall.stream.shells.detection import detect

OTHERS = ("transcript", "flows")  # the forms of files without responses
_LISTS = ("messages", "input", "contents")  # where requests keep their messages
_ASKING = ("user", "system", "developer", "tool", "toolResult")  # roles other than the model
_SEEN = 5  # examined lines of a session: the first lines may be about the session
_DECODER = json.JSONDecoder()
_TRAJECTORY = re.compile(rb'\s*\{[^{}\[\]]*"schema_version"\s*:\s*"ATIF-')
_REQUEST = re.compile(rb'\s*\{[^{}\[\]]*"(?:messages|input|contents)"\s*:\s*\[')


def read_transcript(source: Source, skipped: Counter[str]) -> Iterator[Recording]:
    """Yield a recording that names the kind of the file, if the caller named the file."""
    said = "it is a transcript (for transcripts there is `wholecall history check`)"
    return _named(source, skipped, "transcript", said)


def read_flows(source: Source, skipped: Counter[str]) -> Iterator[Recording]:
    """Yield a recording that names the kind of the file, if the caller named the file."""
    said = "it holds mitmproxy's flows, which have to be written as an HTTP archive: "
    said += f"`mitmdump -n -r {source.path} --set hardump={source.path}.har`"
    return _named(source, skipped, "flows", said)


def _named(source: Source, skipped: Counter[str], kind: str, said: str) -> Iterator[Recording]:
    if source.place.named:
        yield broken(source.path, said, form=kind)
    else:
        skipped[kind] += 1


def is_transcript(head: bytes) -> bool:
    """Return whether a file's head is of a transcript: a list of messages, a request with one, or a session.

    Args:
        head: its beginning, with its whole first line if that has at most some MiB.
    """
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    values = list(islice(_values(text), _SEEN))
    if not values:
        return _REQUEST.match(text) is not None or _TRAJECTORY.match(text) is not None
    if not _is_message(values[0]) and _dialect_of(values[0]):
        return False  # the user's messages come between an agent's events, too
    if any(value.get("role") in _ASKING or any(view.is_own(value) for view in RECORDS) for value in values):
        return True
    return any(map(_is_message, values)) and not any(_dialect_of(value) for value in values)


def _values(text: bytes) -> Iterator[dict[str, Any]]:
    """Yield the complete objects in the beginning of JSON lines, or of an array."""
    left = text.removeprefix(b"[").decode("utf-8", "replace")
    while left := left.lstrip(" \t\r\n,"):
        try:
            value, end = _DECODER.raw_decode(left)
        except (ValueError, RecursionError):  # cut, or not JSON
            return
        if isinstance(value, dict):
            yield value
        left = left[end:]


def _is_message(value: dict[str, Any]) -> bool:
    """Return whether an object is a message, an entry of a session, or a request."""
    if (
        isinstance(value.get("role"), str)
        or steps_of(value) is not None
        or any(isinstance(value.get(name), list) for name in _LISTS)
    ):
        return True
    return any(shape.is_own(value) for shape in SHAPES)


def _dialect_of(value: dict[str, Any]) -> str | None:
    return detect(json.dumps(value).encode())
