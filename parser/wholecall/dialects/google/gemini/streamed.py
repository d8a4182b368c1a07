"""The calls of a Gemini stream whose arguments come as values at paths, in pieces (quirk 67).

    {"jsonPath": "$.legs[0].port", "stringValue": "Bre", "willContinue": true}
    {"jsonPath": "$.legs[0].port", "stringValue": "st"}
    {"jsonPath": "$.legs[0].km", "numberValue": 12}

Each piece sets one leaf of a call's argument object; strings are appended to while their leaf is open. The wire has no
text of the arguments, and the built value is a whole object at any time: its text never shows that something is
missing. Therefore the builder remembers the fault (`reason`), and its text leaves out the last brace until it is asked
for the whole. A piece that has no single place (a path that cannot be read, a gap in an array, a container where a
value was due) makes the call `incomplete_input`. All work is linear in the pieces. The object is bounded by its
characters and nodes, paths by their steps; nothing recurses. Numbers keep the wire's own text.

A piece without a name continues the call of the last piece, a piece with an id and a name is that call's. A call built
of pieces looks whole at any time, so only the wire can end a call: a piece that will not continue, or the reason STOP
if nothing of the call follows. Another call only displaces it. A piece that only ends does not name the call that it
ends: where several are open, all are ended once each had its end; and where some call was ended so, STOP ends no other.
Some servers write STOP into every chunk, where it ends nothing. Therefore a STOP that comes with the first part of a
call does not end a call without pieces, unless another chunk came without a reason. At any other end the call is
reported as refused, with the object built so far.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any, Final, Literal, Union

import msgspec

from wholecall.deltas import CallClosed, CallRefused, CallSeen, Delta, Slot
from wholecall.dialects import decode, labels, remembered
from wholecall.dialects.google.gemini.views import Call, Piece, either
from wholecall.limits import Limits
from wholecall.types import DropReason

# The object of one call.

_Step = Union[str, int]
_MAX_STEPS: Final = 512  # far deeper than arguments may nest; the verdict applies the real limit
_MAX_WEIGHT: Final = Limits().max_arguments_bytes or 0
_NODE_WEIGHT: Final = 64  # of a member or an element, so that many tiny ones count their real cost
_STEP_TEXT = re.compile(
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


_Node = Union[dict[str, Any], list[Any], int]  # a leaf is its number


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
        stack: list[tuple[str, Iterator[tuple[str | None, _Node]]]] = [("}", iter(self._root.items()))]
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

    def _set(self, path: list[_Step], piece: Piece) -> bool:
        """Set or append to the leaf at the path; False if the piece has no place or no value."""
        here: _Node = self._root
        for step, following in pairwise(path):
            inner: _Node = {} if type(following) is str else []
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

    def _child(self, here: _Node, step: _Step, inner: _Node) -> _Node | None:
        found = _get(here, step)
        if found is not None:
            return found
        return inner if self._put(here, step, inner) else None

    def _put(self, here: _Node, step: _Step, node: _Node) -> bool:
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


def steps(path: object) -> list[_Step] | None:
    """Return the steps of a path: keys and indices after `$`; None if it cannot be followed."""
    if type(path) is not str or not path.startswith("$"):
        return None
    found: list[_Step] = []
    at = 1
    while at < len(path) and len(found) <= _MAX_STEPS:
        match = _STEP_TEXT.match(path, at)
        if match is None:
            return None
        at = match.end()
        text = match[match.lastgroup or 0]
        if match.lastgroup == "index":
            found.append(int(text))
        else:
            found.append(text if match.lastgroup == "name" else _ESCAPED.sub(r"\1", text))
    return found or None


def _get(here: _Node, step: _Step) -> _Node | None:
    found: _Node | None = None
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
        remembered.keep_piece(goes_on.parts, string)
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


# Calls.

_MAX_OPEN: Final = 128  # each call is bounded, so their number is, too
# The state of the reason STOP: it did not come, it came with the call's first part or later, more of the call followed.
_Stop = Literal["none", "first", "later", "refuted"]


_HIDDEN: Final[tuple[DropReason, str]] = "incomplete_input", "a frame that may hold a piece could not be read"


class _Streamed(msgspec.Struct):
    slot: int
    id: str | None
    name: str | None
    builder: ArgumentsBuilder
    stop: _Stop = "none"
    fresh: bool = True  # it began in the current frame

    @property
    def is_stopped(self) -> bool:
        """Return whether the reason STOP ended the call."""
        return self.stop == "later" or (self.stop == "first" and not self.builder.empty)

    def take(self, call: Call, *, replaced: bool) -> None:
        """Build the arguments in a part."""
        builder = self.builder
        if not decode.is_blank(decode.wire_text(call.args)):
            builder.refuse("incomplete_input", "an object came beside the pieces of the arguments")
        pieces = call.pieces()
        if pieces is None:
            builder.refuse("incomplete_input", "pieces of the arguments could not be read")
        for piece in pieces or ():
            builder.take(piece, replaced=replaced)


class StreamedCalls:
    """The open calls of each candidate; the call of the last piece comes last."""

    _open: dict[int, list[_Streamed]]
    _n_ends: dict[int, int]
    _telling: set[int]
    _without: set[int]

    def __init__(self) -> None:
        self._open = {}
        self._n_ends = {}  # of candidates, in which several calls were open
        self._telling = set()  # candidates of which a piece ended a call
        self._without = set()  # candidates of which a chunk came without a reason

    @property
    def are_open(self) -> bool:
        """Return whether a call is open."""
        return any(self._open.values())

    def goes_on(self, number: int, call: Call) -> bool:
        """Return whether the part is a piece of an open call: it has no name, or the same one and values."""
        streamed, name = self._open.get(number), labels.name_label(call.name)
        if not streamed or name is None:
            return bool(streamed)
        return call.in_pieces and name == self._of(number, labels.id_label(call.id)).name

    def begin(
        self,
        number: int,
        slot: int,
        call: Call,
        extra: dict[str, Any],
        *,
        replaced: bool,
        hides: bool = False,
    ) -> list[Delta]:
        """Open a call with its first part; `hides` means that a part of it may not be read."""
        id_, name = labels.id_label(call.id), labels.name_label(call.name)
        builder = ArgumentsBuilder()
        if sum(map(len, self._open.values())) >= _MAX_OPEN:
            builder.refuse("too_many_calls", f"more than {_MAX_OPEN} calls are streamed at once")
        if hides:
            builder.refuse(*_HIDDEN)
        streamed = _Streamed(slot, id_, name, builder)
        self._open.setdefault(number, []).append(streamed)
        seen = CallSeen(number, slot, None, id_, name, extra=extra or None)
        return [seen, *self._add(number, streamed, call, {}, replaced=replaced)]

    def go_on(self, number: int, call: Call, extra: dict[str, Any], *, replaced: bool) -> list[Delta]:
        """Add a part to an open call; `replaced` says that its frame held bytes that are not UTF-8."""
        return self._add(number, self._of(number, labels.id_label(call.id)), call, extra, replaced=replaced)

    def _of(self, number: int, id: str | None) -> _Streamed:
        """Return the open call of an id, else the call of the last piece."""
        calls = self._open[number]
        return next((call for call in calls if id is not None and call.id == id), calls[-1])

    def _add(
        self, number: int, streamed: _Streamed, call: Call, extra: dict[str, Any], *, replaced: bool
    ) -> list[Delta]:
        id_ = labels.id_label(call.id)
        self._open[number].remove(streamed)
        self._open[number].append(streamed)
        streamed.stop = "none" if streamed.stop == "none" else "refuted"
        news = streamed.id is None and id_ is not None
        if news:
            streamed.id = id_
        elif id_ not in (None, streamed.id):
            streamed.builder.refuse("incomplete_input", "a piece of the arguments names another call")
        streamed.take(call, replaced=replaced)
        deltas: list[Delta] = []
        if news or extra:
            deltas.append(CallSeen(number, streamed.slot, None, streamed.id, None, extra=extra or None))
        return deltas if call.more else deltas + self._end(number, streamed, is_named=id_ is not None)

    def _end(self, number: int, streamed: _Streamed, *, is_named: bool) -> list[Delta]:
        """Note that a piece ends a call: the one that it names, or the only one; else it is unknown which."""
        if len(self._telling) < _MAX_OPEN:
            self._telling.add(number)
        calls = self._open[number]
        if is_named or len(calls) == 1:
            calls.remove(streamed)
            return _ended(number, streamed)
        self._n_ends[number] = self._n_ends.get(number, 0) + 1
        return self.close(number) if self._n_ends[number] == len(calls) else []

    def next_frame(self) -> None:
        """Note that another frame begins."""
        for streamed in self._all() if self._open else ():
            streamed.fresh = False

    def no_stop(self, number: int) -> None:
        """Note that a chunk of the candidate has no reason."""
        if len(self._without) < _MAX_OPEN:
            self._without.add(number)

    def stop(self, number: int) -> None:
        """Note that STOP came: the candidate's open calls are whole, unless more of them follows."""
        for streamed in self._open.get(number, ()):
            if streamed.stop in ("none", "first"):
                every = streamed.fresh and number not in self._without
                streamed.stop = "first" if every else "later"

    def close(self, number: int, cut: DropReason | None = None) -> list[Delta]:
        """End the candidate's open calls; `cut` is the reason why they are not whole, None if the wire ended them."""
        self._n_ends.pop(number, None)
        calls = sorted(self._open.pop(number, ()), key=lambda call: call.slot)
        return [delta for call in calls for delta in _ended(number, call, cut)]

    def lose(self) -> None:
        """Note that a frame's content is unknown: it may have been a piece of any open call."""
        for streamed in self._all():
            streamed.builder.refuse(*_HIDDEN)

    def give_up(self) -> list[Delta]:
        """End every open call with the stream; only the reason STOP can have ended them on the wire."""
        left, self._open = self._open, {}
        ended = [
            _ended(number, call, None if number not in self._telling and call.is_stopped else "unterminated")
            for number, calls in sorted(left.items())
            for call in sorted(calls, key=lambda call: call.slot)
        ]
        self._n_ends.clear()
        self._telling.clear()
        return [delta for deltas in ended for delta in deltas]

    def show(self) -> list[Delta]:
        """Show the objects built for the open calls, before an error drops them."""
        built = [
            (number, call.slot, call.builder.text(whole=False))
            for number, calls in self._open.items()
            for call in calls
        ]
        return [Slot(number, slot, None, text) for number, slot, text in built if text]

    def _all(self) -> Iterator[_Streamed]:
        return chain.from_iterable(self._open.values())


def _ended(number: int, streamed: _Streamed, cut: DropReason | None = None) -> list[Delta]:
    """Report that a call ended.

    The text is sent as a fragment, because a whole text would heal the hole that a lost frame left.
    """
    builder, slot = streamed.builder, streamed.slot
    if cut is not None:
        builder.refuse(cut, "the answer ended before this call did")
    elif builder.open:
        builder.refuse("truncated", "the call ended inside a value that was to go on")
    text = builder.text(whole=builder.reason is None)
    if builder.reason is not None:
        return [CallRefused(number, slot, None, builder.reason, builder.detail, text)]
    said: list[Delta] = [Slot(number, slot, None, text)] if text else []
    return [*said, CallClosed(number, slot, None)]
