"""Events as a list for people: a line for each event, with its texts below.

Theory of operation. An event becomes an item: a word, facts next to it, lines below it. The lines of a recording are
held until they are requested. Therefore a recording that turns out to be none, or one of many, leaves no trace. Text of
the wire is cut at the width, with its size; with `full` nothing is cut. A text of several lines has a margin.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import wholecall
from wholecall.cli.show import cells, counted, fitted, packed, printable, wrapped

MIN_WIDTH = 40

Texts = Iterator[str]
Item = tuple[str, Sequence[str], Texts]  # a word, the facts next to it, the lines below it

_COLUMN = 13  # where the facts begin, after the first word, and the texts below them
_NARROW, _NARROW_COLUMN = 60, 4  # with fewer columns the texts begin further left
_MAX_LINES = 12  # of arguments
_MAX_RAW_LINES = 6  # of a text that is not JSON, or may not be
_MAX_FAULTS = 3  # of one kind in one turn
_BOLD, _DIM, _RED, _GREEN, _YELLOW = 1, 2, 31, 32, 33
_COLOURS = {"dropped": _RED, "fault": _RED, "cancelled": _YELLOW, "end": _DIM}  # every other word is a call


class Listing:
    """Writes events as a list for people.

    Args:
        write: takes text of one or more lines.
        width: columns of a line, at least 40.
        colour: whether to use ANSI colours.
        only_calls: whether to leave out everything but the terminal events of calls.
        full: whether to show arguments and other texts whole, on lines as long as they are.
    """

    def __init__(
        self,
        write: Callable[[str], object],
        *,
        width: int = 100,
        colour: bool = False,
        only_calls: bool = False,
        full: bool = False,
    ) -> None:
        self._write = write
        self._width = max(width, MIN_WIDTH)
        self._margin = _COLUMN if self._width >= _NARROW else _NARROW_COLUMN
        self._texts = _Texts(self._width - self._margin, full=full)
        self._colour = colour
        self._only_calls = only_calls
        self._held: list[str] = []
        self._wrote = False
        self._path = ""
        self._titled = True
        self._origin = ""  # dialect and model
        self._n_chars: Counter[tuple[int, int, str]] = Counter()
        self._n_faults: Counter[str] = Counter()

    def begin(self, path: str) -> None:
        """Start the list of a recording; its title is made with the first visible line."""
        self._path = path
        self._titled = False
        self._origin = ""
        self._n_chars.clear()
        self._n_faults.clear()

    def add(self, event: wholecall.Event) -> None:
        """Make the lines of one event, if there are any."""
        if isinstance(event, wholecall.ArgumentsDelta):  # most events, by far; the call's item shows them
            return
        if isinstance(event, (wholecall.TextDelta, wholecall.ReasoningDelta)):
            kind = "text" if isinstance(event, wholecall.TextDelta) else "reasoning"
            self._n_chars[event.turn, event.choice, kind] += len(event.text)
        elif isinstance(event, wholecall.TurnStarted):
            self._origin = self._origin or "  ".join(filter(None, (event.dialect, event.model)))
        elif not self._only_calls or isinstance(event, wholecall.TERMINAL):
            self._item(event)

    def flush(self) -> None:
        """Write the lines that were made since the last time."""
        for text in self._held:
            self._write(text)
            self._wrote = True
        self._held.clear()

    def forget(self) -> None:
        """Drop the lines that were made since the last flush."""
        self._held.clear()

    def end(self, summary: Sequence[str]) -> None:
        """Write the held lines, and the last lines."""
        self.flush()
        self._write("\n" * self._wrote + "".join(f"{self._painted(line, _BOLD)}\n" for line in summary))

    def _item(self, event: wholecall.Event) -> None:
        item = self._described(event)
        if item is None:
            return
        if not self._titled:
            self._titled = True
            self._title()
        word, facts, texts = item
        room = self._width - _COLUMN
        heads = packed([fitted(fact, room) for fact in (*facts, _place(event)) if fact], room)
        first = self._painted(word, _COLOURS.get(word, _GREEN)) + " " * (_COLUMN - 2 - len(word))
        more = [" " * _COLUMN + head for head in heads[1:]]
        below = [" " * self._margin + text for text in texts]
        self._held.append("\n".join([f"  {first}{heads[0]}", *more, *below]) + "\n")

    def _title(self) -> None:
        """Make the title: the path whole, broken after slashes if necessary; the origin if there is room."""
        lines = _broken(printable(self._path), self._width)
        origin = self._origin or "unknown dialect"
        room = self._width - cells(lines[-1]) - 2
        bold = [self._painted(line, _BOLD) for line in lines]
        if cells(printable(origin)) <= room:
            bold[-1] += f"  {printable(origin)}"
        else:
            bold.append(f"  {fitted(origin, self._width - 2)}")
        gap = "\n" if self._wrote or self._held else ""
        self._held.append(gap + "\n".join(bold) + "\n")

    def _described(self, event: wholecall.Event) -> Item | None:
        """Return the item of an event, None for events that only lead up to another or repeat many."""
        texts = self._texts
        if isinstance(event, (wholecall.ToolCall, wholecall.ServerToolCall, wholecall.BuiltinToolCall)):
            return texts.called(event)
        if isinstance(event, wholecall.CustomToolCall):
            return "custom", (_name(event), event.id), texts.custom(event)
        if isinstance(event, wholecall.ToolCallDropped):
            facts = (event.name or "(no name)", event.id or "(no id)", event.reason)
            return "dropped", facts, texts.dropped(event)
        if isinstance(event, wholecall.StreamFault):
            self._n_faults[event.kind] += 1
            if self._n_faults[event.kind] > _MAX_FAULTS:
                return None
            return "fault", (event.kind, "fatal" if event.fatal else ""), texts.faulted(event)
        if isinstance(event, wholecall.ToolCallCancelled):
            return "cancelled", (event.id,), iter(())
        if isinstance(event, wholecall.TurnFinished):
            return "end", (event.reason, *self._said(event)), self._noted(event)
        return None

    def _said(self, event: wholecall.TurnFinished) -> Texts:
        if event.provider_reason and event.provider_reason != event.reason:
            yield f"(provider: {event.provider_reason})"
        for kind in ("text", "reasoning"):
            count = self._n_chars.pop((event.turn, event.choice, kind), 0)
            if count:
                yield f"{counted(count, 'character')} of {kind}"

    def _noted(self, event: wholecall.TurnFinished) -> Texts:
        yield from self._texts.notes("anomalies", event.anomalies)
        more = {kind: count - _MAX_FAULTS for kind, count in self._n_faults.items() if count > _MAX_FAULTS}
        yield from self._texts.notes("further faults", [f"{count:,} {kind}" for kind, count in more.items()])
        self._n_faults.clear()

    def _painted(self, text: str, colour: int) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._colour else text


def _broken(path: str, width: int) -> list[str]:
    """Return a path on the fewest possible lines, broken after slashes; a longer part has a longer line."""
    lines = [""]
    for part in re.findall(r"[^/]*/|[^/]+$", path):
        if lines[-1] and cells(lines[-1] + part) > width:
            lines.append("  ")
        lines[-1] += part
    return lines


def _place(event: wholecall.Event) -> str:
    parts = [f"turn {event.turn}"] if event.turn else []
    parts += [f"choice {event.choice}"] if event.choice else []
    return f"[{', '.join(parts)}]" if parts else ""


def _name(event: wholecall.ToolCall | wholecall.CustomToolCall) -> str:
    return event.name if event.namespace is None else f"{event.name} (namespace {event.namespace})"


class _Texts(NamedTuple):
    """Makes the lines below an event.

    Attributes:
        room: the columns of the lines.
        full: whether they are whole, however long.
    """

    room: int
    full: bool

    def called(
        self, event: wholecall.ToolCall | wholecall.ServerToolCall | wholecall.BuiltinToolCall
    ) -> Item:
        if isinstance(event, wholecall.ToolCall):
            return "call", (_name(event), event.id, event.status), self._arguments(event)
        if isinstance(event, wholecall.ServerToolCall):
            return "server", (event.name, event.id), self._arguments(event)
        return "builtin", (event.name, event.id), self._arguments(event)

    def custom(self, event: wholecall.CustomToolCall) -> Texts:
        yield from self._raw(event.input)
        yield from self.notes("flags", event.flags)

    def dropped(self, event: wholecall.ToolCallDropped) -> Texts:
        yield from self._prose(event.detail)
        yield from self.notes("facts", event.facts)
        yield from self._raw(event.raw_arguments)

    def faulted(self, event: wholecall.StreamFault) -> Texts:
        yield from self._prose(event.detail)
        yield from self._raw(event.raw)

    def notes(self, label: str, words: Sequence[str]) -> Texts:
        if words:
            yield from wrapped(f"{label}: {', '.join(words)}", self.room)

    def _arguments(
        self, event: wholecall.ToolCall | wholecall.ServerToolCall | wholecall.BuiltinToolCall
    ) -> Texts:
        lines = map(self._line, _pretty(event.arguments, self.room))
        if self.full:
            yield from lines
        else:
            first = list(islice(lines, _MAX_LINES + 1))
            yield from first if len(first) <= _MAX_LINES else first[: _MAX_LINES - 1]
            if len(first) > _MAX_LINES:
                yield f"... ({len(_json(event.arguments)):,} characters in all)"
        if isinstance(event, wholecall.ToolCall):
            yield from self.notes("edits", list(_edits(event)))
        yield from self.notes("flags", event.flags)

    def _raw(self, text: str) -> Texts:
        """Yield a text line by line, after a margin that distinguishes it from our own words."""
        if not text:
            return
        lines = text.split("\n") if self.full else text.split("\n", _MAX_RAW_LINES)
        for line in lines if self.full else lines[:_MAX_RAW_LINES]:
            yield self._line(f"| {line}")
        if len(lines) > _MAX_RAW_LINES and not self.full:
            yield f"... ({len(text):,} characters in all)"

    def _line(self, text: str) -> str:
        return printable(text) if self.full else fitted(text, self.room)

    def _prose(self, text: str) -> Texts:
        """Yield a sentence; a provider's sentence may be as long as a page."""
        lines = wrapped(text, self.room) if text else []
        yield from lines if self.full else lines[:_MAX_RAW_LINES]
        if len(lines) > _MAX_RAW_LINES and not self.full:
            yield f"... ({len(text):,} characters in all)"


def _edits(event: wholecall.ToolCall) -> Texts:
    first = {edit.kind: edit.offset for edit in reversed(event.edits)}
    for kind, count in Counter(edit.kind for edit in event.edits).items():
        yield f"{kind} at character {first[kind]:,}" + (f" and {count - 1:,} more" if count > 1 else "")


def _pretty(value: Any, room: int, name: str = "", comma: str = "") -> Texts:
    """Yield JSON on one line if there is room for it, else one member a line."""
    line = f"{name}{_json(value)}{comma}"
    if cells(line) <= room or not value or not isinstance(value, (dict, list)):
        yield line
        return
    named = isinstance(value, dict)
    members = [(f"{_json(key)}: ", value[key]) for key in value] if named else [("", one) for one in value]
    yield name + ("{" if named else "[")
    for n, (label, member) in enumerate(members, 1):
        for text in _pretty(member, room - 2, label, "," if n < len(members) else ""):
            yield f"  {text}"
    yield ("}" if named else "]") + comma


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
