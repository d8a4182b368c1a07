"""Find the framing of a stream by its first bytes."""

from __future__ import annotations

from wholecall.framing import base, eventstream, vercel

_LONGEST_HEAD = 4096  # bytes of white space, after which the framing is no longer looked for
_CODE = b"0:"
_CODED_VALUES = (b'"', b"{", b"[")
_BINARY = (b"\0", b"\1")  # a message has less than 32 MiB


def framing_of(head: bytes) -> str | None:
    """Return the name of the framing of a stream with this beginning, None while more bytes may decide."""
    name = sniff(head[:_LONGEST_HEAD])
    return "sse" if name is None and len(head) >= _LONGEST_HEAD else name


def sniff(first_bytes: bytes) -> str | None:
    """Return the name of the framing of a stream with this beginning, or None while it is undecided.

    One byte decides, the first that belongs neither to a byte order mark nor to white space. Everything that is not
    JSON is SSE, even input that is not a stream at all: that framing finds no frame in it. Three kinds of first byte
    need more input. A byte with which a binary event stream can begin needs the rest of its first head, whose checksum
    decides. A possible code of a line of Vercel's needs the colon and the beginning of a value. A bracket needs the
    text after it: lines of LangGraph's are arrays that begin with a word or with an array (quirk 122).
    """
    if first_bytes.startswith(_BINARY):
        if len(first_bytes) < eventstream.PRELUDE_BYTES:
            return None
        return "eventstream" if eventstream.is_prelude(first_bytes) else "sse"
    if len(first_bytes) < len(base.BOM) and base.BOM.startswith(first_bytes):
        return None
    text = first_bytes.removeprefix(base.BOM).lstrip(b" \t\r\n")
    if not text:
        return None
    if b":".startswith(text[1:2]) and vercel.is_coded(text[:1] + b":"):
        if len(text) <= len(_CODE):
            return None
        return "vercel" if text[len(_CODE) :].startswith(_CODED_VALUES) else "sse"
    if text[:1] == b"[":
        return _array(text[1:].lstrip(b" \t\r\n")[:1])
    return "jsonl" if text[:1] == b"{" else "sse"


def _array(first: bytes) -> str | None:
    """Distinguish lines that are arrays from one array by its first element."""
    return {b"": None, b'"': "jsonl", b"[": "jsonl"}.get(first, "jsonarray")
