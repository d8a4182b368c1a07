"""Output for people: events as a list of plain lines, and a count of them.

Theory of operation. Everything that came over the wire passes through `printable`: no control character, no
invisible one and no lone surrogate reaches a terminal, so a stream cannot overwrite the list. Each
text of the wire stays on its own line and inside the width; texts of several lines have a margin.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from wholecall.output.events import (
    TERMINAL,
    BuiltinToolCall,
    CustomToolCall,
    Event,
    ReasoningDelta,
    ServerToolCall,
    StreamFault,
    TextDelta,
    ToolCall,
    ToolCallCancelled,
    ToolCallDropped,
    TurnFinished,
    TurnStarted,
)

__all__ = ["Listing", "Tally", "escaped_json", "printable", "printable_json"]

Texts = Iterator[str]
Item = tuple[str, tuple[str, ...], Texts]  # a word, the facts beside it, the lines below it

# The terminal events of calls.

_COLUMN = 13  # where the texts begin, after the first word
_MAX_LINES = 12  # of arguments
_MAX_RAW_LINES = 6  # of a text that is not JSON, or may be none
_MAX_FAULTS = 3  # of one kind in one turn
_BOLD, _DIM, _RED, _GREEN, _YELLOW = 1, 2, 31, 32, 33
_COLOURS = {"dropped": _RED, "fault": _RED, "cancelled": _YELLOW, "end": _DIM}  # all else is a call

# Control characters, format characters (they reorder or hide text), surrogates, line separators.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"  # letters and emoji need them


def printable(text: str) -> str:
    r"""Return the text with everything that a terminal would obey or hide as an escape like `\x1b`."""
    if text.isprintable():
        return text
    return "".join(char.encode("unicode_escape").decode() if _is_unseen(char) else char for char in text)


def printable_json(text: str) -> str:
    """Return JSON text of the same value without any character that a terminal would obey or hide."""
    if text.isprintable():
        return text
    return "".join(escaped_json(char) if _is_unseen(char) else char for char in text)


def escaped_json(char: str) -> str:
    r"""Return a character as JSON's `\uXXXX`, twice beyond the basic plane."""
    units = char.encode("utf-16-be", "surrogatepass").hex(" ", 2).split()
    return "".join(f"\\u{unit}" for unit in units)


def _is_unseen(char: str) -> bool:
    return unicodedata.category(char) in _UNSEEN and char not in _JOINERS


class Tally:
    """Counts what the events of all recordings say."""

    def __init__(self) -> None:
        self.recordings = 0
        self.unreadable = 0
        self.skipped = 0  # responses that are not recordings
        self.calls = 0
        self.dropped: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()

    def add(self, event: Event) -> None:
        """Count one event."""
        if isinstance(event, ToolCallDropped):
            self.dropped[event.reason] += 1
        elif isinstance(event, StreamFault):
            self.faults[event.kind] += 1
        elif isinstance(event, TERMINAL):
            self.calls += 1

    @property
    def clean(self) -> bool:
        """Whether nothing was dropped and nothing faulted."""
        return not self.dropped and not self.faults

    def summary(self) -> str:
        """Return one line for people."""
        parts = [
            _counted(self.calls, "call"),
            f"{self.dropped.total():,} dropped{_by_kind(self.dropped)}",
            _counted(self.faults.total(), "fault") + _by_kind(self.faults),
        ]
        unreadable = f"; {self.unreadable:,} could not be read" if self.unreadable else ""
        skipped = f"; {self.skipped:,} other responses skipped" if self.skipped else ""
        return f"{_counted(self.recordings, 'recording')}: {', '.join(parts)}{unreadable}{skipped}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _by_kind(counts: Counter[str]) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.most_common())
    return f" ({kinds})" if kinds else ""


class Listing:
    """Writes events as a list for people.

    Args:
        write: takes text of one or more lines.
        width: columns of a line.
        colour: whether to use ANSI colours.
        only_calls: whether to leave out everything but the terminal events of calls.
    """

    def __init__(
        self,
        write: Callable[[str], object],
        *,
        width: int = 100,
        colour: bool = False,
        only_calls: bool = False,
    ) -> None:
        self._write = write
        self._width = max(width, 40)
        self._colour = colour
        self._only_calls = only_calls
        self._gap = ""  # before the next heading
        self._path = ""
        self._titled = True
        self._origin = ""  # dialect and model
        self._n_chars: Counter[tuple[int, int, str]] = Counter()
        self._n_faults: Counter[str] = Counter()

    def begin(self, path: str) -> None:
        """Start the list of a recording; its title is written with the first line that there is to show."""
        self._path = path
        self._titled = False
        self._origin = ""
        self._n_chars.clear()
        self._n_faults.clear()

    def add(self, event: Event) -> None:
        """Write the lines of one event, if there are any."""
        if isinstance(event, (TextDelta, ReasoningDelta)):
            kind = "text" if isinstance(event, TextDelta) else "reasoning"
            self._n_chars[event.turn, event.choice, kind] += len(event.text)
        elif isinstance(event, TurnStarted):
            self._origin = self._origin or "  ".join(filter(None, (event.dialect, event.model)))
        elif not self._only_calls or isinstance(event, TERMINAL):
            self._item(event)

    def end(self, summary: str) -> None:
        """Write the last line."""
        self._heading(self._painted(summary, _BOLD))

    def _heading(self, line: str) -> None:
        self._write(f"{self._gap}{line}\n")
        self._gap = "\n"

    def _item(self, event: Event) -> None:
        item = self._described(event)
        if item is None:
            return
        if not self._titled:
            self._titled = True
            origin = fitted(self._origin or "unknown dialect", self._width)
            self._heading(f"{self._painted(printable(self._path), _BOLD)}  {origin}")
        word, facts, texts = item
        head = "  ".join(filter(None, (*facts, _place(event))))
        first = self._painted(word, _COLOURS.get(word, _GREEN)) + " " * (_COLUMN - 2 - len(word))
        room = self._width - _COLUMN
        lines = [f"  {first}{fitted(head, room)}", *(" " * _COLUMN + fitted(text, room) for text in texts)]
        self._write("\n".join(lines) + "\n")

    def _described(self, event: Event) -> Item | None:
        """Return what to show of an event, None for those that only lead up to another or repeat many."""
        if isinstance(event, (ToolCall, ServerToolCall, BuiltinToolCall)):
            return _called(event, self._width - _COLUMN)
        if isinstance(event, CustomToolCall):
            return "custom", (_name(event), event.id), _custom(event)
        if isinstance(event, ToolCallDropped):
            return (
                "dropped",
                (event.name or "(no name)", event.id or "(no id)", event.reason),
                _dropped(event),
            )
        if isinstance(event, StreamFault):
            self._n_faults[event.kind] += 1
            if self._n_faults[event.kind] > _MAX_FAULTS:
                return None
            return "fault", (event.kind, "fatal" if event.fatal else ""), _faulted(event)
        if isinstance(event, ToolCallCancelled):
            return "cancelled", (event.id,), iter(())
        if isinstance(event, TurnFinished):
            return "end", (event.reason, *self._said(event)), self._noted(event)
        return None

    def _said(self, event: TurnFinished) -> Texts:
        if event.provider_reason and event.provider_reason != event.reason:
            yield f"(provider: {event.provider_reason})"
        for kind in ("text", "reasoning"):
            count = self._n_chars.pop((event.turn, event.choice, kind), 0)
            if count:
                yield f"{count:,} characters of {kind}"

    def _noted(self, event: TurnFinished) -> Texts:
        yield from _notes("anomalies", event.anomalies)
        more = {kind: count - _MAX_FAULTS for kind, count in self._n_faults.items() if count > _MAX_FAULTS}
        yield from _notes("further faults", [f"{count:,} {kind}" for kind, count in more.items()])
        self._n_faults.clear()

    def _painted(self, text: str, colour: int) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._colour else text


def fitted(text: str, width: int) -> str:
    """Return text of the wire as one printable line, shortened with its size if it is too long."""
    shown = printable(text[: width + 1])
    if len(text) <= width and len(shown) <= width:
        return shown
    size = f"... ({len(text):,} characters)"
    return shown[: width - len(size)] + size


def _place(event: Event) -> str:
    parts = [f"turn {event.turn}"] if event.turn else []
    parts += [f"choice {event.choice}"] if event.choice else []
    return f"[{', '.join(parts)}]" if parts else ""


def _called(event: ToolCall | ServerToolCall | BuiltinToolCall, room: int) -> Item:
    if isinstance(event, ToolCall):
        return "call", (_name(event), event.id, event.status), _arguments(event, room)
    if isinstance(event, ServerToolCall):
        return "server", (event.name, event.id), _arguments(event, room)
    return "builtin", (event.kind, event.id), _arguments(event, room)


def _name(event: ToolCall | CustomToolCall) -> str:
    return event.name if event.namespace is None else f"{event.name} (namespace {event.namespace})"


def _arguments(event: ToolCall | ServerToolCall | BuiltinToolCall, room: int) -> Texts:
    lines = list(islice(_pretty(event.arguments, room), _MAX_LINES + 1))
    yield from lines if len(lines) <= _MAX_LINES else lines[: _MAX_LINES - 1]
    if len(lines) > _MAX_LINES:
        yield f"... ({len(_json(event.arguments)):,} characters in all)"
    if isinstance(event, ToolCall):
        yield from _notes("edits", list(_edits(event)))
    yield from _notes("flags", event.flags)


def _edits(event: ToolCall) -> Texts:
    first = {edit.kind: edit.offset for edit in reversed(event.edits)}
    for kind, count in Counter(edit.kind for edit in event.edits).items():
        yield f"{kind} at {first[kind]:,}" + (f" and {count - 1:,} more" if count > 1 else "")


def _custom(event: CustomToolCall) -> Texts:
    yield from _raw(event.input)
    yield from _notes("flags", event.flags)


def _notes(label: str, words: Sequence[str]) -> Texts:
    if words:
        yield f"{label}: {', '.join(words)}"


def _dropped(event: ToolCallDropped) -> Texts:
    if event.detail:
        yield event.detail
    yield from _raw(event.raw_arguments)


def _faulted(event: StreamFault) -> Texts:
    yield event.detail
    yield from _raw(event.raw)


def _pretty(value: Any, room: int, name: str = "", comma: str = "") -> Texts:
    """Yield JSON on one line if there is room for it, else its members one below the other."""
    line = f"{name}{_json(value)}{comma}"
    if len(line) <= room or not value or not isinstance(value, (dict, list)):
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


def _raw(text: str) -> Texts:
    """Yield the beginning of a text line by line, after a margin that distinguishes it from our own words."""
    if not text:
        return
    lines = text.split("\n", _MAX_RAW_LINES)
    for line in lines[:_MAX_RAW_LINES]:
        yield f"| {line}"
    if len(lines) > _MAX_RAW_LINES:
        yield f"... ({len(text):,} characters in all)"
