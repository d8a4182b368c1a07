"""From JSON text with defects to strict JSON text, if there is exactly one reading.

Theory of operation
-------------------
One pass over the tokens of the text (see `wholecall.calls.arguments.tokens`) with one small table of states: which kind of
token may come next, and how it is handled. The writer copies tokens into strict, compact JSON and records every
deviation as an edit. It never closes a bracket or a string, never invents a comma, a colon, a key or a value, and never
looks back: the first token that is not in the table is a fault, and ends the attempt.

The object may have text around it: before it words and brace groups that are not objects (``use {x}:``),
but no ``"`` and no ``[``; after it, closing brackets only, or words without quotes and brackets. Anything
else might be a second document, or the object might be a member of one that lost its beginning (words
before and closing brackets after), and recovery never chooses.

Deliberately not handled: missing commas, colons, quotes and brackets, ellipses, unquoted values, string
concatenation, numbers in other notations. Nothing is decoded here; `wholecall.calls.arguments.ladder` decodes the
result and checks that each of its leaves is a token of the input, in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import takewhile
from typing import NamedTuple

from wholecall.calls.arguments.tokens import SPACES, Token, scan, spell
from wholecall.calls.arguments.verdict import Edit
from wholecall.types import DropReason, EditKind


class Recovered(NamedTuple):
    """Strict JSON text of one object.

    Attributes:
        text: the object, strict and compact.
        edits: the changes, each at its offset in the source.
        start: the first character of the object in the source.
        end: the character after the object in the source.
    """

    text: str
    edits: list[Edit]
    start: int
    end: int


class Fault(NamedTuple):
    """The reason why there is no single reading.

    Attributes:
        reason: the reason to drop the call with.
        start: the first character of the invalid token.
        end: the character after that token.
    """

    reason: DropReason
    start: int
    end: int


def recover(text: str) -> Recovered | Fault:
    """Rewrite `text`, which is not strict JSON, as one strict JSON object, or return the fault.

    Args:
        text: argument text without surrounding white space.
    """
    if text[:1] in _NOT_OBJECTS or "{" not in text:
        return _refuse(text)
    done = 0
    for _ in range(_MAX_GROUPS):
        start = text.find("{", done)
        if start < 0:
            break
        if _NOT_BEFORE.search(text, done, start):
            return Fault("ambiguous", done, start)
        read = _read(text, start)
        if isinstance(read, Recovered):
            return _with_surroundings(text, read)
        done = _end_of_group(text, start)
        if start == 0 or read.end > done:
            return read
    return Fault("unparseable", 0, len(text))


# --- the envelope --------------------------------------------------------------------------------------

# Remains that servers leave when they split a model's output into calls.
SPECIAL_TOKENS = (
    *("<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "</s>"),  # ChatML, GPT, Llama, Mistral
    *("<|call|>", "<|end|>", "<|return|>"),  # Harmony
    *("<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|python_end|>"),  # Llama 3 and 4
    *("<|tool_call_end|>", "<|tool_calls_section_end|>"),  # Kimi
    *("<\uff5ctool\u2581call\u2581end\uff5c>", "<\uff5ctool\u2581calls\u2581end\uff5c>"),  # DeepSeek
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
    *("<end_of_turn>", "<|END_ACTION|>", "<|tool_call|>", "<|/tool_call|>"),  # Gemma, Cohere, Granite, Phi
    *("</tool_call>", "</tool_calls>", "</function>", "</function_call>", "</arguments>"),  # Hermes, Qwen
)
_FENCE = re.compile(r"```[\w.+-]*")
_MAX_SPECIAL_TOKENS = 8


def peel(raw: str) -> tuple[int, int, list[Edit]]:
    """Return where the text within its envelope starts and ends, and the edits that removed it."""
    start, end = _trim(raw, 0, len(raw))
    edits = _blanks(raw, 0, start) + _blanks(raw, end, len(raw))
    fenced = False
    while len(edits) <= _MAX_SPECIAL_TOKENS:
        first, last = start, end
        fence = None if fenced else _FENCE.match(raw, start, end)
        token = next((token for token in SPECIAL_TOKENS if raw.endswith(token, start, end)), None)
        if token is not None:
            last = end - len(token)
            edits.append(Edit("special_token", last))
        elif fence is not None and raw.endswith("```", fence.end(), end):
            fenced = True
            first, last = fence.end(), end - 3
            edits.append(Edit("code_fence", start))
        else:
            break
        start, end = _trim(raw, first, last)
        edits += _blanks(raw, first, start) + _blanks(raw, end, last)
    return start, end, edits


def _trim(raw: str, start: int, end: int) -> tuple[int, int]:
    """Return the range without white space of any kind at its ends."""
    text = raw[start:end]
    left = len(text) - len(text.lstrip(SPACES))
    return start + left, max(start + left, start + len(text.rstrip(SPACES)))


_ODD_SPACES: dict[EditKind, re.Pattern[str]] = {
    "bom": re.compile("\ufeff"),
    "whitespace": re.compile(r"[^ \t\r\n\ufeff]"),
}


def _blanks(raw: str, start: int, end: int) -> list[Edit]:
    """Return the edits for peeled white space: one for BOMs, one for other white space that JSON lacks."""
    edits: list[Edit] = []
    for kind, pattern in _ODD_SPACES.items():
        match = pattern.search(raw, start, end)
        if match:
            edits.append(Edit(kind, match.start()))
    return edits


# --- one value -----------------------------------------------------------------------------------------

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_PYTHON = {"True": "true", "False": "false", "None": "null"}
_LITERALS = {"true": "true", "false": "false", "null": "null", **_PYTHON}
# Names that other languages read as values: as keys they have two readings.
_NO_KEYS = frozenset([*_LITERALS, "NaN", "Infinity", "undefined"])


class _Writer:
    """Writes strict JSON from the tokens of one value, as long as each has a place in `_TABLE`."""

    __slots__ = ("comma", "edits", "pieces", "stack", "state", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces: list[str] = []
        self.edits: list[Edit] = []
        self.stack: list[str] = []
        self.state = "value"
        self.comma: int | None = None  # the offset of a comma that was read but not yet written

    def take(self, token: Token) -> DropReason | None:
        """Take one token, or return the reason why it is invalid here."""
        action = _TABLE[self.state].get(token.kind)
        return "invalid_json" if action is None else action(self, token)

    def note(self, kind: EditKind, offset: int) -> None:
        self.edits.append(Edit(kind, offset))

    def write(self, piece: str) -> None:
        if self.comma is not None:
            self.pieces.append(",")
            self.comma = None
        self.pieces.append(piece)

    def string(self, token: Token) -> bool:
        """Write a string token; return whether it has one reading."""
        spelled = spell(self.text[token.start : token.end])
        if spelled is None:
            return False
        self.write(spelled[0])
        for kind, offset in spelled[1]:
            self.note(kind, token.start + offset)
        return True

    def key(self, token: Token) -> DropReason | None:
        self.state = "colon"
        if token.kind == "string":
            return None if self.string(token) else "ambiguous"
        name = self.text[token.start : token.end]
        if name in _NO_KEYS:
            return "ambiguous"
        if not name.replace("$", "_").isidentifier():
            return "invalid_json"
        self.note("unquoted_key", token.start)
        self.write(f'"{name}"')
        return None

    def colon(self, _: Token) -> None:
        self.pieces.append(":")
        self.state = "value"

    def scalar(self, token: Token) -> DropReason | None:
        self.state = "after " + self.stack[-1]
        if token.kind == "string":
            return None if self.string(token) else "ambiguous"
        word = self.text[token.start : token.end]
        if word in _LITERALS:
            if word in _PYTHON:
                self.note("python_literal", token.start)
            self.write(_LITERALS[word])
            return None
        if not _NUMBER.fullmatch(word):
            return "invalid_json"
        self.write(word)
        return None

    def open(self, token: Token) -> None:
        self.write(token.kind)
        self.stack.append(token.kind)
        self.state = "first " + token.kind

    def close(self, token: Token) -> None:
        if self.comma is not None:
            self.note("trailing_comma", self.comma)
            self.comma = None
        self.pieces.append(token.kind)
        self.stack.pop()
        self.state = "after " + self.stack[-1] if self.stack else "done"

    def separate(self, token: Token) -> None:
        self.comma = token.start
        self.state = "next " + self.stack[-1]

    def skip_comma(self, token: Token) -> None:
        self.note("trailing_comma", token.start)


_Row = dict[str, Callable[[_Writer, Token], "DropReason | None"]]
_KEY: _Row = {"string": _Writer.key, "word": _Writer.key}
_VALUE: _Row = {"string": _Writer.scalar, "word": _Writer.scalar, "{": _Writer.open, "[": _Writer.open}
# state -> token that may come next -> its handler. A closing bracket is only in the rows of its own kind.
_TABLE: dict[str, _Row] = {
    "first {": {**_KEY, "}": _Writer.close},
    "next {": {**_KEY, "}": _Writer.close, ",": _Writer.skip_comma},
    "colon": {":": _Writer.colon},
    "value": _VALUE,
    "first [": {**_VALUE, "]": _Writer.close},
    "next [": {**_VALUE, "]": _Writer.close, ",": _Writer.skip_comma},
    "after {": {",": _Writer.separate, "}": _Writer.close},
    "after [": {",": _Writer.separate, "]": _Writer.close},
}
_BESIDE: dict[str, EditKind] = {"comment": "comment", "space": "whitespace"}
_CLOSERS = frozenset("]}")


def _read(text: str, start: int) -> Recovered | Fault:
    """Read one object or array that begins at `start`."""
    writer = _Writer(text)
    for token in scan(text, start):
        if token.kind in _BESIDE:
            writer.note(_BESIDE[token.kind], token.start)
            continue
        reason = writer.take(token)
        if reason is not None:
            cut = token.end == len(text) and token.kind not in _CLOSERS and reason != "ambiguous"
            return Fault("truncated" if cut else reason, token.start, token.end)
        if not writer.stack:
            return Recovered("".join(writer.pieces), writer.edits, start, token.end)
    return Fault("truncated", len(text), len(text))


# --- the text around it --------------------------------------------------------------------------------

_MAX_GROUPS = 64  # brace groups among the words before the object
_NOT_BEFORE = re.compile(r'["\[\]}]')
_GROUP_STOPS = re.compile(r"[{}:\[\"'\u2018\u201c]")
_STRUCTURE = re.compile(r'["{}\[\]]')
_CLOSER = re.compile(r"[\]}]")
_ONLY_CLOSERS = re.compile(r"[\]}\s]*")


def _end_of_group(text: str, start: int) -> int:
    """Return the end of the brace group if it is not an object (no quotes, colons, brackets in it), or -1."""
    depth = 0
    for match in _GROUP_STOPS.finditer(text, start):
        stop = match.group()
        if stop not in "{}":
            return -1
        depth += 1 if stop == "{" else -1
        if depth == 0:
            return match.end()
    return -1


def _with_surroundings(text: str, read: Recovered) -> Recovered | Fault:
    """Add the edits for the text around the object, or return why it may be more than decoration."""
    lead = text[: read.start].rstrip()
    if lead.endswith(("'", "`")) and not lead.endswith("```") and "\\" in text[read.start : read.end]:
        return Fault("ambiguous", read.start, read.end)  # quoted text: its escapes may count twice
    before, after = _before(text, read.start), _after(text, read.end)
    if isinstance(before, Fault):
        return before
    if isinstance(after, Fault):
        return after
    words_before = any(edit.kind == "leading_text" for edit in before)
    if words_before and _CLOSER.search(text, read.end):
        return Fault("ambiguous", read.end, len(text))  # an outer object may have lost its beginning
    return read._replace(edits=[*before, *read.edits, *after])


def _before(text: str, start: int) -> list[Edit] | Fault:
    """Return the edits that leave out the text before the object: comments, or any words."""
    edits: list[Edit] = []
    for token in takewhile(lambda token: token.start < start, scan(text)):
        if token.kind not in _BESIDE:
            return [*edits, Edit("leading_text", token.start)]
        if token.end > start:  # the object is inside a comment
            return Fault("ambiguous", token.start, token.end)
        edits.append(Edit(_BESIDE[token.kind], token.start))
    return edits


def _after(text: str, end: int) -> list[Edit] | Fault:
    """Return the edits that leave out the text after the object: comments, closing brackets, words."""
    edits: list[Edit] = []
    for token in scan(text, end):
        if token.kind not in _BESIDE or _STRUCTURE.search(text, token.start, token.end):
            return _tail(text, token.start, edits)
        edits.append(Edit(_BESIDE[token.kind], token.start))
    return edits


def _tail(text: str, start: int, edits: list[Edit]) -> list[Edit] | Fault:
    """Return the edits with one for closing brackets or words, or a fault if it might be a document."""
    structure = _STRUCTURE.search(text, start)
    if structure is None or _ONLY_CLOSERS.fullmatch(text, start):
        return [*edits, Edit("trailing_text", start)]
    if structure.group() != "{":
        return Fault("ambiguous", start, len(text))
    second = _read(text, structure.start())
    cut = isinstance(second, Fault) and second.reason == "truncated"
    return Fault("truncated" if cut else "multiple_objects", start, len(text))


# --- texts without an object ---------------------------------------------------------------------------

_NOT_OBJECTS = frozenset('["')
_CUT_SCALAR = re.compile(r"t|tr|tru|f|fa|fal|fals|n|nu|nul|-|-?[0-9]+(?:\.|(?:\.[0-9]+)?[eE][+-]?)")
_LIKE_SCALAR = re.compile(r"[-+]?\.?[0-9]|[-+]?(?:NaN|Infinity)\b|(?:True|False)\Z")


def _refuse(text: str) -> Fault:
    """Return the fault of a text that does not begin with an object, or contains none."""
    if text[:1] == "[":
        read = _read(text, 0)
        return read if isinstance(read, Fault) else Fault("not_an_object", 0, read.end)
    if text[:1] == '"':
        string = next(scan(text))
        return Fault("truncated" if string.kind == "open" else "invalid_json", 0, string.end)
    if _CUT_SCALAR.fullmatch(text):
        return Fault("truncated", 0, len(text))
    return Fault("invalid_json" if _LIKE_SCALAR.match(text) else "unparseable", 0, len(text))
