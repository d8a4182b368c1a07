"""Finds the form of a file by its first bytes.

Theory of operation. Like the framing of a stream, the form of a file is found from its beginning. More bytes may be
needed, but no more than necessary: a live stream on standard input must not wait. For nearly every file its first
member or line decides; a file of no known form is one raw stream. The suffix only breaks ties.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from wholecall.recordings.finding import COMPRESSED
from wholecall.recordings.own import is_header

__all__ = ["MAX_HEAD", "form_of"]

MAX_HEAD = 64 * 1024  # bytes of the beginning that may be requested
_BOM = b"\xef\xbb\xbf"

# A member: its name, and its value; of an object or array only the opening.
_MEMBER = re.compile(
    rb'\s*[{,]\s*"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*"|[{\[]|[^\s,{}\[\]"]+(?=[\s,}]))'
)
_BEFORE_INTERACTIONS = frozenset({b"version", b"provider", b"recorded_with"})
_RECORDS = frozenset({b'"request"', b'"response_chunk"', b'"response_meta"', b'"response"'})
_IDS = frozenset({b"id", b"request_id"})

_CASSETTE = re.compile(
    rb"(?:(?:#|---|%YAML|version:|recorded_with:)[^\n]*\n|\s*\n)*(?:http_)?interactions:(?:\s|$)"
)
_FLOWS = re.compile(
    rb"[1-9]\d{1,11}:\d{1,2}:[a-z_]+[;,]"
)  # a netstring of netstrings, the first a member's name
_STREAM_BEGINNINGS = (b"data:", b"event:", b"id:", b"retry:", b":", b"{", b"[")
_CASSETTES = (".yaml", ".yml")
_CASSETTE_NAMES = tuple(suffix + coding for suffix in _CASSETTES for coding in ("", *COMPRESSED))
_CASSETTE_BEGINNINGS = (
    b"#",
    b"---",
    b"%YAML",
    b"version:",
    b"recorded_with:",
    b"interactions:",
    b"http_interactions:",
)


def form_of(head: bytes, path: str, *, at_end: bool) -> str | None:
    """Return the form of a file from its first bytes, None while more bytes are needed.

    Args:
        head: its first bytes.
        path: its path.
        at_end: whether nothing follows the head, or no more of it will be read.
    """
    if _BOM.startswith(head) and not at_end:
        return None
    text = head.removeprefix(_BOM).lstrip()
    if is_header(text):
        return "wholecall"
    if _FLOWS.match(text):
        return "flows"
    is_object = text.startswith(b"{")
    form = _form_of_object(text) if is_object else _form_of_lines(text)
    if form == "raw" and path.lower().endswith(_CASSETTE_NAMES):  # `data:` begins a mapping too
        form = {True: "raw", False: "cassette", None: None}[_is_stream(text)]
    if form is None and not at_end:
        return None
    return form or _by_suffix(path, is_object=is_object)


def _form_of_object(text: bytes) -> str | None:
    """Read member by member until one decides."""
    position = 0
    seen: list[tuple[bytes, bytes]] = []
    while member := _MEMBER.match(text, position):
        position = member.end()
        seen.append((member[1], member[2]))
        form = _form_of_members(seen)
        if form is not None:
            return form
    return None


def _form_of_members(seen: list[tuple[bytes, bytes]]) -> str | None:
    name, value = seen[-1]
    if name == b"interactions" and value == b"[":
        return "interactions"
    if name in _BEFORE_INTERACTIONS and value[:1] not in b"[{":
        return None
    if name == b"log" and value == b"{":
        return "har"
    if len(seen) == 1:
        return None if name == b"type" and value in _RECORDS else "raw"
    is_record = seen[0][0] == b"type" and seen[0][1] in _RECORDS and name in _IDS
    return "llm-interceptor" if is_record else "raw"


def _form_of_lines(text: bytes) -> str | None:
    if _CASSETTE.match(text):
        return "cassette"
    line = text[: text.find(b"\n") + 1] or text
    is_open = any(line.startswith(one) or one.startswith(line) for one in _CASSETTE_BEGINNINGS)
    return None if is_open else "raw"


def _is_stream(text: bytes) -> bool | None:
    """Return whether a file begins as a stream does, None while more bytes are needed."""
    if text.startswith(_STREAM_BEGINNINGS):
        return True
    return None if any(one.startswith(text) for one in _STREAM_BEGINNINGS) else False


def _suffix(path: str) -> str:
    name = PurePath(path.lower())
    return PurePath(name.stem).suffix if name.suffix in COMPRESSED else name.suffix


def _by_suffix(path: str, *, is_object: bool) -> str:
    suffixes: dict[str, str] = {".har": "har"} if is_object else dict.fromkeys(_CASSETTES, "cassette")
    return suffixes.get(_suffix(path), "raw")
