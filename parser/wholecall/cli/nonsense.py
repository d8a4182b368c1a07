"""Files without an answer of a model, and a sentence that describes their content.

Theory of operation. If no turn began and no provider reported an error, there is no answer. Faults would be confusing:
they are meant for callers that feed a parser. The first bytes show the real kind of the file.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from wholecall.cli.tally import Tally
from wholecall.recordings import Chunk, Recording
from wholecall.recordings.others import OTHERS

__all__ = ["Beginning", "Nonsense"]

_ENOUGH = 512  # enough bytes to identify a file
_STREAM = (b"data:", b"event:", b"id:", b"retry:", b":")  # how lines of server-sent events begin
_JSON = re.compile(rb'\{\s*(?:["}]|$)|\[\s*(?:[\[\]{"\d-]|$)')  # how an object or an array begins
_BOM = codecs.BOM_UTF8


class Nonsense(Exception):
    """A recording holds no answer of a model; the message names it, and describes its content."""


class Beginning:
    """Keeps the first bytes of a recording, whose chunks pass through.

    Args:
        recording: its chunks are taken; none may have been taken before.

    Raises:
        Nonsense: its form is not that of an answer.
    """

    def __init__(self, recording: Recording) -> None:
        if recording.form in OTHERS:
            raise Nonsense(f"{recording.name}: no answer of a model: {recording.trouble}")
        self._name = recording.name
        self._head = bytearray()
        recording.chunks = self._through(recording.chunks)

    def _through(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            if len(self._head) < _ENOUGH:
                self._head += chunk[1][:_ENOUGH]
            yield chunk

    def refuse_nonsense(self, tally: Tally) -> None:
        """Check from the counts of a recording that it is an answer.

        Raises:
            Nonsense: it is not an answer of a model.
        """
        if not tally.is_answer:
            raise Nonsense(f"{self._name}: no answer of a model: {_what_it_is(bytes(self._head))}")


def _what_it_is(head: bytes) -> str:
    text = head.removeprefix(_BOM).lstrip()
    if not head:
        return "it is empty"
    if not text:
        return "it begins with nothing but blanks"
    if _is_binary(head):
        return "it is binary data of an unknown kind"
    if text.startswith(b"<"):
        return "it is a page of HTML or XML, as a proxy or a login sends it"
    if _JSON.match(text):
        return "it is JSON of another kind (for transcripts there is `wholecall history check`)"
    if text.startswith(_STREAM):
        return "it is a stream of events, but of no known dialect (--dialect names one)"
    return "it is text; expected are server-sent events, JSON lines or a JSON body"


def _is_binary(head: bytes) -> bool:
    """Return whether bytes are not text; the last character may be cut."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return True
    return "\0" in text
