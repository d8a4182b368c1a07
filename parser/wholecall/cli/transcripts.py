"""Transcripts in files: a JSON list of messages, a request body that holds one, or a session file line by line.

Theory of operation. What was not changed is written as it was read: a whole file, or the lines of a session
file whose messages are the same objects as before. Only changed messages are encoded again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from wholecall.errors import BadRecording

__all__ = ["Transcript", "read_transcript"]

_LISTS = ("messages", "input", "contents", "items")  # where request bodies keep their messages


class Transcript(msgspec.Struct, frozen=True):
    """The messages of a file.

    Attributes:
        messages: the messages, items or session entries, decoded.
        source: the bytes of the file.
        lines: for a session file the bytes of each message, line end included; None for one JSON value.
        body: the request body round the messages, None if there is only the list.
        key: where in the body the messages stand.
    """

    messages: list[Any]
    source: bytes
    lines: tuple[bytes, ...] | None = None
    body: Mapping[str, Any] | None = None
    key: str = ""

    def written(self, messages: Sequence[Any]) -> bytes:
        """Return the file with other messages in it; the file itself if they are the same list."""
        if messages is self.messages:
            return self.source
        if self.lines is not None:
            read = {id(message): line for message, line in zip(self.messages, self.lines, strict=True)}
            return b"".join(read.get(id(message)) or _encoded(message) + b"\n" for message in messages)
        value = messages if self.body is None else {**self.body, self.key: messages}
        is_indented = b"\n" in self.source.strip()
        return _encoded(value, indent=2 if is_indented else None) + b"\n"


def _encoded(value: Any, indent: int | None = None) -> bytes:
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=False, separators=separators, indent=indent, allow_nan=False)
    return text.encode("utf-8", "backslashreplace")  # half a surrogate pair as its escape


def _refuse(name: str) -> Any:
    raise ValueError(name)  # NaN and Infinity, which no provider takes


def _decode(text: bytes) -> Any:
    return json.loads(text, parse_constant=_refuse)


def read_transcript(path: str, source: bytes) -> Transcript:
    """Return the messages in the bytes of a file.

    Raises:
        BadRecording: the file holds no list of messages; the message says where it goes wrong.
    """
    try:
        value = _decode(source)
    except (ValueError, RecursionError):
        return _read_lines(path, source)
    if isinstance(value, dict):
        for key in _LISTS:
            if isinstance(value.get(key), list):
                return Transcript(_checked(path, value[key]), source, body=value, key=key)
        return _read_lines(path, source)  # a session of one line
    return Transcript(_checked(path, value), source)


def _read_lines(path: str, source: bytes) -> Transcript:
    lines = tuple(line for line in source.splitlines(keepends=True) if line.strip())
    messages = [_decode_line(path, number, line) for number, line in enumerate(lines, 1)]
    return Transcript(_checked(path, messages), source, lines)


def _decode_line(path: str, number: int, line: bytes) -> Any:
    with suppress(ValueError, RecursionError):
        return _decode(line)
    # Not inside of a handler: the decoder's error holds the line.
    raise BadRecording(f"{path}: line {number} is not JSON; a transcript is JSON or JSON lines")


def _checked(path: str, messages: Any) -> list[Any]:
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise BadRecording(f"{path}: it holds no list of messages, each an object")
    return messages
