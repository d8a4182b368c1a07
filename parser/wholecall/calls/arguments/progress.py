"""Live arguments: the argument text of one call, reported member by member while it streams.

Theory of operation. There are two readers over one grammar (`wholecall.calls.arguments.grammar`). Both are linear in the
text, however it is split: no text is read twice. `ProgressScanner` builds the whole value and reports everything;
`StringWatcher` reports one string, and builds and keeps nothing.

Most pieces of a long argument lie inside an open string and need no decoding. For those, `feed` makes three
searches in C and appends; everything else goes through the grammar.

Reports stay true whatever follows: the text of an open string only grows, a closed member never changes, and a number
is reported when the character after it has arrived. Where the text stops being strict JSON the readers stop, and their
reports remain valid. Of two members with one key the first is kept; a second member with another value stops the
scanner, as it would drop the call. Half of a surrogate pair whose other half never arrives is reported alone, as JSON's
grammar allows it, although such a call is dropped unless the policy keeps it.

A path is a tuple; each report costs its depth, which `max_depth` bounds. Of the limits only those on depth and on
numbers apply here: the size of a call's text is bounded where it is collected.

None of this is a verdict. Only `ToolCall` decides whether a call is complete, and which arguments it has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wholecall.calls.arguments import equal, partial
from wholecall.calls.arguments.grammar import Grammar
from wholecall.limits import Limits


class _Level:
    """An open object or list: its members so far, its place, and the key or index of its next member."""

    __slots__ = ("key", "path", "repeats", "shown", "value")

    def __init__(self, value: dict[str, Any] | list[Any], path: partial.Path, *, shown: bool) -> None:
        self.value = value
        self.path = path
        self.shown = shown  # False inside a member with a repeated key
        self.key: Any = 0  # of the next member: a str, or an index
        self.repeats = False  # whether that key is repeated


class ProgressScanner(Grammar):
    """A reader of one call's argument text as it arrives, which returns new pieces and snapshots.

    Attributes:
        complete: whether the text is one complete object. Only the wire can show that the call has ended.
        stopped: whether reading stopped: the text is not strict JSON, exceeds `max_depth` or `max_number_chars`, has
            content after its object, is not an object, or gives one key two values.
        resets: the number of restarts, each of which discards everything before it.
    """

    __slots__ = ("_append", "_levels", "_marks", "_out", "_path", "_shown", "_text", "resets")

    def __init__(self, *, limits: Limits = Limits()) -> None:  # noqa: B008 (frozen)
        self.resets = 0
        super().__init__(limits)

    def _begin(self) -> None:
        super()._begin()
        self._out: list[partial.Piece] = []
        self._levels: list[_Level] = []  # from the arguments down; the arguments stay when they are closed
        self._marks: tuple[partial.Mark, ...] | None = ()  # None: made on request
        self._path: partial.Path = ()  # of the innermost open value that is reported
        self._shown = False  # whether the value that began last is reported
        self._text: partial.OpenText | None = None  # of the open string
        self._append: Callable[[str], None] | None = None  # takes a piece of plain text

    def feed(self, delta: str) -> list[partial.Piece]:
        """Read more argument text, split anywhere; return the new pieces, in the order of the text.

        Never raises, whatever the text contains. Returns nothing after the scanner has stopped.
        """
        append = self._append
        if append is not None and delta.isprintable() and "\\" not in delta and '"' not in delta and delta:
            append(delta)
            return [partial.StringDelta(self._path, delta)]
        return self._read(delta)

    def reset(self, text: str = "") -> list[partial.Piece]:
        """Start again with `text`, which replaces all reports so far. The next snapshot counts one more reset."""
        self.resets += 1
        self._begin()
        return self.feed(text)

    def snapshot(self) -> partial.PartialArguments:
        """Return a snapshot; costs one step per open object or list, however large they are."""
        return partial.PartialArguments(*self._facts())

    def _facts(self) -> partial.Facts:
        text = self._text if self._shown else None
        return self._open_marks(), self.open_path, text, self.complete, self.stopped, self.resets

    def _open_marks(self) -> tuple[partial.Mark, ...]:
        """Return the open objects and lists, each with its number of members."""
        if self._marks is None:
            self._marks = tuple((level.value, len(level.value)) for level in self._levels if level.shown)
        return self._marks

    @property
    def open_path(self) -> partial.Path | None:
        """The path at which text continues, as `PartialArguments.open_path`."""
        return self._path if self._stack else None

    def _read(self, delta: str) -> list[partial.Piece]:
        out: list[partial.Piece] = []
        self._out = out
        self._append = None
        self._scan(delta)
        text = self._text
        if text is not None and self._reads:
            self._text = text = text.compacted()
            if self._shown and not self._held:
                self._append = text.pieces.append
        return out

    # Callbacks of the grammar.

    def _on_key(self, key: str) -> None:
        top = self._levels[-1]
        top.key = key
        top.repeats = key in top.value

    def _on_string(self) -> bool:
        self._text = partial.OpenText()
        self._begin_value()
        return True

    def _on_text(self, text: str) -> None:
        assert self._text is not None
        self._text.pieces.append(text)
        if self._shown:
            self._out.append(partial.StringDelta(self._path, text))

    def _on_string_end(self) -> None:
        assert self._text is not None
        pieces, self._text = self._text.pieces, None
        self._end_value("".join(pieces))

    def _on_scalar(self) -> None:
        self._begin_value()

    def _on_scalar_end(self, value: object) -> None:
        self._end_value(value)

    def _on_open(self, container: dict[str, Any] | list[Any]) -> None:
        if self._levels:
            self._begin_value()
        else:
            self._shown = True
        self._levels.append(_Level(container, self._path, shown=self._shown))
        self._marks = None

    def _on_close(self) -> None:
        if not self.complete:
            self._end_value(self._levels.pop().value)

    def _begin_value(self) -> None:
        top = self._levels[-1]
        self._shown = top.shown and not top.repeats
        if self._shown:
            self._path = (*top.path, top.key)

    def _end_value(self, value: object) -> None:
        top = self._levels[-1]
        members = top.value
        if top.repeats:
            if not equal.spelled_alike(members[top.key], value):
                self._stop("duplicate_key")
            return
        if isinstance(members, list):
            members.append(value)
            top.key += 1
        else:
            members[top.key] = value
        if top.shown:
            self._out.append(partial.Closed(self._path, value))
            self._path = top.path
            self._marks = None


class StringWatcher(Grammar):
    """A reader of one call's argument text as it arrives, which returns only the text of one string in it.

    This is the cheapest way to show a file while it is written. Other text is only checked for syntax. If the value at
    the path is not a string, no text is returned.

    Attributes:
        path: the keys and indices down to the string.
        open: whether the string has begun and not ended.
        closed: whether the string has ended.
        complete: as `ProgressScanner.complete`.
        stopped: as `ProgressScanner.stopped`, but repeated keys are noticed only on the path to the string, and stop
            the watcher whatever their values.
        resets: the number of restarts, each of which discards everything before it.
    """

    __slots__ = ("_at", "_level", "_met", "_out", "_passes", "_plain", "closed", "open", "path", "resets")

    def __init__(self, path: str | partial.Path, *, limits: Limits = Limits()) -> None:  # noqa: B008 (frozen)
        """Watch the string at `path`: a top-level key, or keys and indices from the top.

        Raises:
            ValueError: the path is empty.
        """
        self.path: partial.Path = (path,) if isinstance(path, str) else tuple(path)
        if not self.path:
            raise ValueError(
                "the path is empty: name a top-level key, or the keys and indices down to a string"
            )
        self.resets = 0
        super().__init__(limits)

    def _begin(self) -> None:
        super()._begin()
        self._out: list[str] = []
        self._level = 0  # number of open objects and lists on the path to the string
        self._at: str | int = 0  # the key or index in the innermost one
        self._met = 0  # the level up to which the path's keys were seen
        self._plain = False  # whether the watched string is open and the next piece begins a character
        self._passes = False  # the same for any other string
        self.open = False
        self.closed = False

    def feed(self, delta: str) -> str:
        """Read more argument text, cut anywhere; return the string's new text, decoded, often empty.

        Never raises, whatever the text contains.
        """
        if delta.isprintable() and "\\" not in delta and '"' not in delta:
            if self._plain:
                return delta
            if self._passes:
                return ""
        return self._read(delta)

    def reset(self, text: str = "") -> str:
        """Start again with `text`, which replaces all text returned so far."""
        self.resets += 1
        self._begin()
        return self.feed(text)

    def _read(self, delta: str) -> str:
        self._out = []
        self._scan(delta)
        self._plain = self._reads and not self._held
        self._passes = self._skips and not self._held
        return "".join(self._out)

    # Callbacks of the grammar.

    @property
    def _on_way(self) -> bool:
        """Return whether the innermost open object or list is on the path to the string."""
        return self._level == len(self._stack)

    def _wants_key(self) -> bool:
        return self._on_way

    def _on_key(self, key: str) -> None:
        self._at = key
        if key == self.path[self._level - 1]:
            if self._met >= self._level:
                self._stop("duplicate_key")
            self._met = self._level

    def _on_string(self) -> bool:
        self.open = self._on_way and self._level == len(self.path) and self._at == self.path[-1]
        return self.open

    def _on_text(self, text: str) -> None:
        self._out.append(text)

    def _on_string_end(self) -> None:
        if self.open:
            self.open, self.closed = False, True
        self._after_member()

    def _on_scalar_end(self, value: object) -> None:  # noqa: ARG002
        self._after_member()

    def _on_open(self, container: dict[str, Any] | list[Any]) -> None:  # noqa: ARG002
        level = self._level
        on_way = level == 0 or self._at == self.path[level - 1]  # never true inside a container off the path
        if on_way and level < len(self.path):
            self._level += 1
            self._at = 0  # or a key, as soon as one is read

    def _on_close(self) -> None:
        if self._level > len(self._stack):
            self._level -= 1
            self._at = self.path[self._level - 1]
        self._after_member()

    def _after_member(self) -> None:
        if self._on_way and isinstance(self._at, int):
            self._at += 1
