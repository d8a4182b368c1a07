"""The format's own markup in a raw value: is it text in the value, or the badly continued end of the value?

Theory of operation. A raw value has no escaping, so `ls</parameter>⏎<parameter nme="cwd">/tmp` can be read in two ways:
as one value, and as a value with its closer, after which the model slipped. One rule decides when the value's end is
known. Own markup is text if it is *in a line*, with other text after it (`it ends with </parameter> here`), or if it
belongs to an element that *the value itself* opened (`<parameter>1</parameter>`). It is in doubt if it is placed as the
format places it: a closer at the end of a line or of the value, or before another tag; a parameter's head that may
begin the next parameter; anything like a marker in a value without its own closer. Single tokens of the model's
vocabulary (`<|close|>`) are never text.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from wholecall.text.heads import key_in
from wholecall.text.markers import Matcher, matcher
from wholecall.text.rules import Rules

if TYPE_CHECKING:
    from wholecall.text.records import Params

_WORD: Final = re.compile(r"\w+")
_SHORTEST: Final = 4  # letters of a word that may be misspelt
_TAG: Final = re.compile(r"<[^<>\r\n]{0,80}")
_UNOPENED: Final = re.compile(r"([\w|\uff5c:/.\-]{1,80})>")  # `/parameter>`
_BARE: Final = re.compile(r"[/|\uff5c]?([\w:]+)(?:[>=]|\s+\w+\s*=)")  # `parameter name=`
_STOPS: Final = frozenset(
    "\"'`)]}.,;:!?*|\\\u2019\u201d"
)  # characters right after a marker that a text names
_TOKEN: Final = re.compile(r"</?\w*[|\uff5c\u2016]")
_LONE_BRACKET: Final = re.compile(r"(?:\A|>)[^<>]*>\s*\Z")
_LAST_TAG: Final = re.compile(r"<(/?)([^<>]*)(?<!/)>\s*\Z")
_WRONG_CLOSER: Final = "</content>"
# `name="cwd">`, `=cwd>`, `"cwd">`
_REST_OF_HEAD: Final = re.compile(r"""(?:(?:\w+\s*)?=\s*["']?[\w.\-]+["']?|["'][\w.\-]+["'])\s*/?>""")
_SELF_CLOSED: Final = re.compile(r"[^<>]*/>")
_HEAD_OF_CALL: Final = re.compile(r"[^<>]*(?:>\s*)?")
_BLANK: Final = re.compile(r"\s*\Z")
_LINE_START: Final = re.compile(r"(?:\A|[\r\n])[ \t]*\Z")


class Taken(NamedTuple):
    """The known keys of a call: that of the value, those of the values before it, and those that its tool declares."""

    key: str
    given: Collection[str]
    declared: frozenset[str]

    def leaves(self, key: str) -> bool:
        """Return whether the next parameter can have this key."""
        return key != self.key and key not in self.given and (not self.declared or key in self.declared)


class Own:
    """A format's own markup in the values of its calls; made once for each record.

    Attributes:
        params: the parameters that the values belong to.
        closers: the closers of a value.
        marks: finds all markers that may end a value, or be in doubt.
        inner: finds markers that only occur within a call.
        tokens: finds a closer of a value (`close`), of a call (`end`), the opener of a parameter (`open`), an element
            of the closer's name (`element`) and the opener of a call (`again`).
        special: finds markers that are single tokens of the model's vocabulary.
        words: the words of all markers.
    """

    def __init__(
        self, params: Params, closes: tuple[str, ...], again: tuple[str, ...], wrapped: tuple[str, ...]
    ) -> None:
        self.params: Final = params
        self.closers: Final = frozenset((*params.closes, _WRONG_CLOSER)) - frozenset(closes)
        heads = (params.key_closes, params.value_opens, params.type_opens, params.type_closes, params.gt)
        literals = {*params.opens, *params.closes, *closes, *again, *wrapped, *heads} - {""}
        special = [literal for literal in literals if Rules.has_bar(literal)]
        self.marks: Final = matcher(
            [*self.closers, *closes, *params.opens, *special, *filter(None, [params.value_opens])]
        )
        self.inner: Final = matcher([*params.opens, *params.closes])
        self.tokens: Final = _tokens(params, closes, again)
        self.special: Final = re.compile(Matcher(special).pattern)
        self._is_special = any(map(Rules.has_bar, params.closes))
        self.words: Final = frozenset(
            word
            for literal in literals
            for word in _WORD.findall(literal)
            if word not in (params.key_attr, "name")
        )

    def is_in_doubt(self, value: str, taken: Taken, *, closed: bool) -> bool:
        """Return whether a value that holds markers, or lacks its closer, can be read in another way."""
        if is_json(value):
            return False
        if self.special.search(value) or self._begins_in_head(value):
            return True
        return _Walk(self, value, taken).finds_doubt() if closed else self._holds_like(value)

    def _begins_in_head(self, value: str) -> bool:
        """Return whether a value begins with the rest of its head (`<parameter=a>>⏎`), or is a broken section."""
        if self.params.trim != "none" and value.startswith((">\n", ">\r")):
            return True
        return self.params.cdata and ("CDATA[" in value[:16] or value.rstrip().endswith("]]>"))

    def _holds_like(self, text: str) -> bool:
        """Return whether a text holds anything like a marker, or a tag at its end belongs to nothing in it."""
        if self._is_special and _TOKEN.search(text):
            return True
        tags = [*_TAG.findall(text), *_UNOPENED.findall(text)]
        if any(self.is_like(word) for tag in tags for word in _WORD.findall(tag)):
            return True
        if _LONE_BRACKET.search(text):
            return True
        last = _LAST_TAG.search(text)
        return last is not None and (not last.group(1) or f"<{last.group(2).strip()}" not in text)

    def is_like(self, word: str) -> bool:
        """Return whether a word is a marker's word, but for one letter, or contains one."""
        return any(own in word or _is_near(word, own) for own in self.words if len(own) >= _SHORTEST)

    def goes_on_in_line(self, rest: str) -> bool:
        """Return whether the text after a closer is the text of a line: no end, no tag, and nothing like a marker."""
        text = rest.lstrip()
        gap = rest[: len(rest) - len(text)]
        if not text or text[0] == "<" or "\n" in gap or "\r" in gap or (not gap and text[0] not in _STOPS):
            return False
        bare = _BARE.match(text)
        return _REST_OF_HEAD.match(text) is None and (bare is None or not self.is_like(bare.group(1)))


class _Walk:
    """Goes over the markers in one value, and keeps the elements that the value opened."""

    __slots__ = ("any_opened", "at_lines", "opened", "own", "taken", "value")

    def __init__(self, own: Own, value: str, taken: Taken) -> None:
        self.own = own
        self.value = value
        self.taken = taken
        self.opened: list[bool] = []  # for each open element: whether it may be the next parameter
        self.any_opened = False
        self.at_lines = own.params.trim != "none" and value[:1] in "\r\n"

    def finds_doubt(self) -> bool:
        """Return whether a marker is where it may not belong to the value."""
        value, tokens = self.value, self.own.tokens
        before, behind, at = "", 0, 0  # the marker before, and its end
        while (token := tokens.search(value, at)) is not None:
            kind, start, at = token.lastgroup or "", token.start(), token.end()
            if kind == "close":
                if not self._is_closed_by(start, at):
                    return True
            elif kind == "end":
                if _BLANK.match(value, at):
                    return True
            elif kind != "again":
                gap = value[behind:start]
                follows = not gap.strip() if before == "close" else False
                quoted = before == "again" and _HEAD_OF_CALL.fullmatch(gap) is not None
                at = self._open(token, is_structure=follows or quoted)
            before, behind = kind, at
        return any(self.opened)

    def _is_closed_by(self, start: int, end: int) -> bool:
        """Take a closer; return False if it may be the value's own closer."""
        if self.opened:
            self.opened.pop()
            return True
        if self.any_opened:  # `<parameter>⏎<b></parameter>⏎</parameter>`: the value is about such elements
            return True
        if self.at_lines and _LINE_START.search(self.value, max(start - 80, 0), start):
            return False
        return self.own.goes_on_in_line(self.value[end : end + 256])

    def _open(self, token: re.Match[str], *, is_structure: bool) -> int:
        """Take the opener of an element; return the end of its head."""
        params, end = self.own.params, token.end()
        if _SELF_CLOSED.match(self.value, end):
            return end
        if token.lastgroup == "open":
            key, behind = key_in(self.value, end, params, token.group())
            if key is not None:
                repeats = key == self.taken.key and not self.value[: min(token.start(), 256)].strip()
                self._push(is_structure=is_structure or repeats or self.taken.leaves(key))
                return behind
            if params.key == "pair":  # a key alone opens no value
                return end
        self._push(is_structure=is_structure or self._repeats_opener(token))
        return end

    def _repeats_opener(self, token: re.Match[str]) -> bool:
        """Return whether the value begins with an opener of values: `<arg_value><arg_value>`."""
        params, before = self.own.params, self.value[: min(token.start(), 256)]
        is_opener = token.group() == params.value_opens.removesuffix(">")
        return is_opener and not before.replace(params.key_closes, "").strip()

    def _push(self, *, is_structure: bool) -> None:
        self.opened.append(is_structure)
        self.any_opened = True


def _tokens(params: Params, closes: tuple[str, ...], again: tuple[str, ...]) -> re.Pattern[str]:
    """Return the expression of markers by their kind."""
    kinds = {"close": params.closes, "end": closes, "open": params.opens, "again": again}
    ways = [f"(?P<{kind}>{Matcher(literals).pattern})" for kind, literals in kinds.items() if literals]
    elements = Matcher(map(_element, params.closes)).pattern
    return re.compile("|".join([*ways, rf"(?P<element>(?:{elements})(?=[\s=/>]))"]))


def _element(closer: str) -> str:
    """Return the beginning of the element that a closer ends: `<parameter` for `</parameter>`."""
    return closer.replace("/", "", 1).replace("close", "open", 1).removesuffix(">")


def is_json(text: str) -> bool:
    """Return whether a text is JSON that quotes its content."""
    text = text.strip()
    if text[:1] not in ("{", "[", '"'):
        return False
    try:
        msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return False
    return True


@lru_cache(maxsize=4096)
def _is_near(word: str, own: str) -> bool:
    """Return whether one letter is missing, doubled, wrong, or swapped with its neighbour."""
    if min(len(word), len(own)) < _SHORTEST or abs(len(word) - len(own)) > 1:
        return False
    same = next((at for at, (one, other) in enumerate(zip(word, own, strict=False)) if one != other), None)
    if same is None:
        return True
    here, there = word[same:], own[same:]
    swapped = here[:2] == there[1::-1] and here[2:] == there[2:]
    return swapped or here[1:] == there[1:] or here[1:] == there or here == there[1:]


@lru_cache(maxsize=256)
def own_markup(
    params: Params, closes: tuple[str, ...], again: tuple[str, ...], wrapped: tuple[str, ...]
) -> Own:
    """Return the own markup of a record, made once."""
    return Own(params, closes, again, wrapped)
