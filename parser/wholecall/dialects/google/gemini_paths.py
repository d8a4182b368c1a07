"""The argument object of a call that Gemini streams as values at paths (quirk 67).

    {"jsonPath": "$.legs[0].port", "stringValue": "Bre", "willContinue": true}
    {"jsonPath": "$.legs[0].port", "stringValue": "st"}
    {"jsonPath": "$.legs[0].km", "numberValue": 12}

Each piece sets one leaf; strings are appended to while their leaf is open. The wire has no text of the arguments, and
the built value is a whole object at any time: its text never shows that something is missing. Therefore the builder
remembers the fault (`reason`), and its text leaves out the last brace until it is asked for the whole. A piece that has
no single place (a path that cannot be read, a gap in an array, a container where a value was due) makes the call
`incomplete_input`.

All work is linear in the pieces. The object is bounded by its characters and nodes, paths by their steps; nothing
recurses. Numbers keep the wire's own text.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any, Final, Union

import msgspec

from wholecall.dialects.google.gemini_views import Piece, either
from wholecall.dialects.remembered import keep_piece
from wholecall.limits import Limits
from wholecall.types import DropReason

__all__ = ["ArgumentsBuilder", "steps"]

Step = Union[str, int]

_MAX_STEPS: Final = 512  # far deeper than arguments may nest; the verdict applies the real limit
_MAX_WEIGHT: Final = Limits().max_arguments_bytes or 0
_NODE_WEIGHT: Final = 64  # of a member or an element, so that many tiny ones count their real cost
_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]]+)|\[(?P<index>\d{1,9})\]"""
    r"""|\['(?P<single>(?:[^'\\]|\\['"\\])*)'\]|\["(?P<double>(?:[^"\\]|\\['"\\])*)"\]"""
)
_ESCAPED = re.compile(r"\\(.)")
_NUMBER = frozenset("-0123456789")
_BOOLS = {True: "true", False: "false"}
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Leaf(msgspec.Struct):
    """A value, as JSON text or as the parts of a string; `open` means that more of it is announced."""

    parts: list[str]
    is_string: bool
    open: bool = False

    def text(self) -> str:
        text = "".join(self.parts)
        return _quoted(text) if self.is_string else text


Node = Union[dict[str, Any], list[Any], int]  # a leaf is its number


class ArgumentsBuilder:
    """Builds the object of one call from its pieces.

    Attributes:
        reason: why the call cannot be whole, None while it can.
        detail: the same, for people.
    """

    reason: DropReason | None
    detail: str
    _root: dict[str, Any]
    _leaves: list[_Leaf]
    _weight: int
    _n_open: int

    def __init__(self) -> None:
        self.reason = None
        self.detail = ""
        self._root = {}
        self._leaves = []
        self._weight = 0
        self._n_open = 0

    def remade(self) -> None:
        """Check that each leaf exists, as the snapshot may come from anyone.

        Raises:
            ValueError: a leaf does not exist.
        """
        nodes: list[Any] = [self._root]
        for node in nodes:  # they grow on the way
            if isinstance(node, (dict, list)):
                nodes += node.values() if isinstance(node, dict) else node
            elif type(node) is not int or not 0 <= node < len(self._leaves):
                raise ValueError("a value of the arguments is not there")

    @property
    def open(self) -> bool:
        """Return whether a value is announced to continue."""
        return self._n_open > 0

    @property
    def empty(self) -> bool:
        """Return whether no piece came."""
        return not self._root

    def refuse(self, reason: DropReason, detail: str) -> None:
        """Keep the first reason why the call cannot be whole; after it nothing is built."""
        if self.reason is None:
            self.reason, self.detail = reason, detail

    def take(self, piece: Piece, *, replaced: bool = False) -> None:
        """Put one piece in its place; `replaced` says that its frame held bytes that are not UTF-8."""
        if self.reason is not None:
            return
        where = either(piece.path, piece.snake_path)
        path = steps(where)
        if replaced and "\ufffd" in f"{where}{either(piece.string, piece.snake_string)}":
            self.refuse("invalid_utf8", "the argument text held bytes that are not UTF-8")
        elif path is None:
            self.refuse("incomplete_input", "a piece of the arguments has a path that cannot be followed")
        elif len(path) > _MAX_STEPS:
            self.refuse("nesting_too_deep", f"a path of more than {_MAX_STEPS} steps")
        elif not self._set(path, piece):
            self.refuse("incomplete_input", "a piece of the arguments has no place or no value")

    def text(self, *, whole: bool) -> str:
        """Return the object's text, compact; unless it is `whole` its last brace is missing."""
        if not self._root:
            return ""  # no argument was sent, and no object either
        out = ["{"]
        stack: list[tuple[str, Iterator[tuple[str | None, Node]]]] = [("}", iter(self._root.items()))]
        while stack:
            closer, members = stack[-1]
            key, node = next(members, (None, None))
            if node is None:
                out.append(closer)
                stack.pop()
                continue
            if out[-1] not in ("{", "["):
                out.append(",")
            if key is not None:
                out.append(f"{_quoted(key)}:")
            if isinstance(node, int):
                out.append(self._leaves[node].text())
            elif isinstance(node, dict):
                out.append("{")
                stack.append(("}", iter(node.items())))
            else:
                out.append("[")
                stack.append(("]", ((None, element) for element in node)))
        return "".join(out if whole else out[:-1])

    def _set(self, path: list[Step], piece: Piece) -> bool:
        """Set or append to the leaf at the path; False if the piece has no place or no value."""
        here: Node = self._root
        for step, following in itertools.pairwise(path):
            inner: Node = {} if type(following) is str else []
            found = self._child(here, step, inner)
            if found is None:
                return False
            here = found
        number = _get(here, path[-1])
        if isinstance(number, (dict, list)):
            return False
        old = None if number is None else self._leaves[number]
        leaf = _leaf(piece, old)
        if leaf is None or (number is None and not self._put(here, path[-1], len(self._leaves))):
            return False
        if number is None:
            self._leaves.append(leaf)
        else:
            self._leaves[number] = leaf
        self._mark(old, leaf, either(piece.more, piece.snake_more) is True)
        string = either(piece.string, piece.snake_string)
        self._weigh(len(string if type(string) is str else leaf.parts[-1]))
        return True

    def _child(self, here: Node, step: Step, inner: Node) -> Node | None:
        found = _get(here, step)
        if found is not None:
            return found
        return inner if self._put(here, step, inner) else None

    def _put(self, here: Node, step: Step, node: Node) -> bool:
        """Put a node at a step; in an array only over an element or right after the last one."""
        if isinstance(here, dict) and type(step) is str:
            if step not in here:
                self._weigh(_NODE_WEIGHT + len(step))
            here[step] = node
        elif isinstance(here, list) and type(step) is int and step <= len(here):
            if step == len(here):
                self._weigh(_NODE_WEIGHT)
                here.append(node)
            here[step] = node
        else:
            return False
        return True

    def _mark(self, old: _Leaf | None, leaf: _Leaf, more: bool) -> None:
        self._n_open += more - (old is not None and old.open)
        leaf.open = more

    def _weigh(self, weight: int) -> None:
        self._weight += weight
        if self._weight > _MAX_WEIGHT:
            self.refuse("arguments_too_large", f"pieces of arguments that weigh more than {_MAX_WEIGHT}")


def steps(path: object) -> list[Step] | None:
    """Return the steps of a path: keys and indices after `$`; None if it cannot be followed."""
    if type(path) is not str or not path.startswith("$"):
        return None
    found: list[Step] = []
    at = 1
    while at < len(path) and len(found) <= _MAX_STEPS:
        match = _STEP.match(path, at)
        if match is None:
            return None
        at = match.end()
        text = match[match.lastgroup or 0]
        if match.lastgroup == "index":
            found.append(int(text))
        else:
            found.append(text if match.lastgroup == "name" else _ESCAPED.sub(r"\1", text))
    return found or None


def _get(here: Node, step: Step) -> Node | None:
    found: Node | None = None
    if isinstance(here, dict) and type(step) is str:
        found = here.get(step)
    elif isinstance(here, list) and type(step) is int and step < len(here):
        found = here[step]
    return found


def _leaf(piece: Piece, old: _Leaf | None) -> _Leaf | None:
    """Return the leaf with the piece's value: the old leaf if that is a string that continues."""
    goes_on = old if old is not None and old.open and old.is_string else None
    string = either(piece.string, piece.snake_string)
    if type(string) is str:
        if goes_on is None:
            return _Leaf([string], is_string=True)
        keep_piece(goes_on.parts, string)
        return goes_on
    text = _scalar(piece) if string is None else ""
    if goes_on is not None and (text is None or (text == "null" and not _nulls(piece))):
        goes_on.parts.append("")  # the value is unknown, which an SDK writes as nulls
        return goes_on
    return _Leaf([text], is_string=False) if text else None


def _scalar(piece: Piece) -> str | None:
    """Return the text of a number, a bool or a null; empty if it is of a wrong type, None if there is no value."""
    for raw in (piece.number, piece.snake_number):
        text = bytes(raw).decode("utf-8", "surrogatepass")
        if text not in ("", "null"):
            return text if text[0] in _NUMBER else ""
    flag = either(piece.bool, piece.snake_bool)
    if flag is not None:
        return _BOOLS[flag] if type(flag) is bool else ""
    return "null" if _nulls(piece) is not None else None


def _nulls(piece: Piece) -> bool | None:
    """Return whether the enum's only word is there (True), a bare null (False), or no such field at all."""
    there = [value for value in (piece.null, piece.snake_null) if value is not msgspec.UNSET]
    return any(value is not None for value in there) if there else None


def _quoted(text: str) -> str:
    if _SURROGATE.search(text):  # halves of a pair that came in two pieces (quirk 35)
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return json.dumps(text, ensure_ascii=False)
