"""A timeline for people, in two columns: the frames, each in a few words, and their effects.

Theory of operation. A step becomes lines of *spans*, each a text and a style. The writers (`Plain`, `Rich`) decide only
about colours, so that the text is the same everywhere. As in all lists of the program, no character of the wire that a
terminal would obey or hide gets through, and no line exceeds the width; widths are counted in cells, of which some
letters take two.

The summary of a frame lists the leaves of its JSON, each with its key, in order. It leaves out leaves without
information (null, empty, the first index) and the envelope that a provider repeats in each frame. A frame that is not
JSON is shown unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from textwrap import wrap
from typing import Any, Protocol

import wholecall
from wholecall.cli.show import cells, clipped, padded, printable
from wholecall.dialects.decode import plain
from wholecall.recordings.timeline.effects import CallChange
from wholecall.recordings.timeline.steps import Step

Span = tuple[str, str]  # text, and how it is styled: one of `_STYLES`
Line = list[Span]
MIN_WIDTH = 60
_OFFSET, _TIME = 9, 9  # columns of these numbers
_GAP = "  "
_STYLES = {
    "": "",
    "title": "bold",
    "dim": "dim",
    "good": "green",
    "bad": "bold red",
    "odd": "yellow",
    "phase": "cyan",
    "new": "bold",
}
# Members at the top that repeat from frame to frame, or that their call shows.
_ENVELOPE = frozenset(
    {
        *("id", "object", "created", "created_at", "createTime", "model", "modelVersion", "responseId"),
        *("system_fingerprint", "service_tier", "provider", "obfuscation", "sequence_number"),
        *("event_id", "item_id", "call_id", "response_id", "output_index", "content_index"),
    }
)
_UNNAMED = ("", "message")  # frame names without meaning
# Types that are evident from the neighbouring members.
_EVIDENT_TYPES = (
    "function",
    "text_delta",
    "thinking_delta",
    "signature_delta",
    "input_json_delta",
    "tool_use",
)
_NOTHING: tuple[Any, ...] = (None, "", {}, [])
_MAX_DEPTH = 40


class Page(Protocol):
    """The destination of lines."""

    def line(self, line: Line) -> None:
        """Write one line."""
        ...


class Plain:
    """Writes lines without colours.

    Args:
        write: takes text.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def line(self, line: Line) -> None:
        """Write one line."""
        self._write("".join(text for text, _ in line).rstrip() + "\n")


class Rich:
    """Writes lines in colours.

    Args:
        console: rich's `Console`.
    """

    def __init__(self, console: Any) -> None:
        from rich.text import Text  # noqa: PLC0415 - an extra

        self._console = console
        self._text = Text.assemble

    def line(self, line: Line) -> None:
        """Write one line."""
        text = self._text(*((text, _STYLES[style]) for text, style in line if text))
        text.rstrip()
        self._console.print(text, soft_wrap=True, highlight=False, markup=False, emoji=False)


class TimelineText:
    """Writes the steps of recordings.

    Args:
        page: the destination.
        width: cells of a line, at least 60.
        only_calls: whether to leave out steps that touch no call.
    """

    def __init__(self, page: Page, *, width: int = 100, only_calls: bool = False) -> None:
        self._page = page
        self._width = max(width, MIN_WIDTH)
        self._only_calls = only_calls
        self._is_first = True
        self._name = ""
        self._timed: bool | None = None  # whether the recording has times; None before its first step

    def begin(self, name: str) -> None:
        """Start another recording; its title is written with its first step."""
        self._name = name
        self._timed = None

    def step(self, step: Step) -> None:
        """Write the lines of one step."""
        if self._timed is None:
            self._timed = step.time is not None
            self._title()
        if self._only_calls and not touches_calls(step):
            return
        room = self._left_room()
        left: Line = [(f"{step.offset:>{_OFFSET},}{_GAP}", "dim")]
        if self._timed:
            time = "" if step.time is None else f"{step.time:.3f}"
            left.append((f"{time:>{_TIME}}{_GAP}", "dim"))
        left.append((padded(clipped(_frame(step, room), room), room), "dim" if step.event is None else ""))
        blank: Line = [(" " * sum(cells(text) for text, _ in left), "")]
        for right in list(self._effects(step)) or [[]]:
            self._page.line([*left, (_GAP, ""), *right])
            left = blank

    def end(self, text: str) -> None:
        """Write a last line below all others."""
        self._gap()
        self._page.line([(text, "title")])

    def _effects(self, step: Step) -> Iterator[Line]:
        """Yield the effects of a step: text of the wire is cut at the width, our own text is wrapped."""
        room = self._right_room()
        for line in effects(step):
            if len(line) == 1 and line[0][0].startswith(_GAP):
                text, style = line[0]
                for part in wrap(printable(text.strip()), room, initial_indent=_GAP, subsequent_indent=_GAP):
                    yield [(part, style)]
            else:
                yield fitted_line(line, room)

    def _title(self) -> None:
        self._gap()
        self._page.line([(clipped(self._name, self._width), "title")])
        times = f"{'seconds':>{_TIME}}{_GAP}" if self._timed else ""
        head = f"{'offset':>{_OFFSET}}{_GAP}{times}{padded('frame', self._left_room())}{_GAP}effect"
        self._page.line([(head, "dim")])

    def _gap(self) -> None:
        if not self._is_first:
            self._page.line([])
        self._is_first = False

    def _left_room(self) -> int:
        return (self._width - self._fixed()) * 5 // 12

    def _right_room(self) -> int:
        return self._width - self._fixed() - self._left_room()

    def _fixed(self) -> int:
        return _OFFSET + (_TIME + len(_GAP) if self._timed else 0) + 2 * len(_GAP)


def touches_calls(step: Step) -> bool:
    """Return whether a call changed with the step, or was taken back."""
    return bool(step.changes) or any(isinstance(event, wholecall.ToolCallCancelled) for event in step.events)


def _frame(step: Step, room: int) -> str:
    """Return a frame in a line; a long name keeps its end, which means more than its beginning."""
    name, text = summary(step, room)
    if len(name) > room // 2 and text:
        name = f"...{name[3 - room // 2 :]}"
    return " ".join(filter(None, (name, text)))


# The effects of a step.


def effects(step: Step) -> Iterator[Line]:
    """Yield a line for each effect of a step: news of turns and faults, calls, oddities, ends."""
    shown = _shown_by_spans(step)
    for event in step.events:
        if isinstance(event, _EARLY) and not (
            shown and isinstance(event, (wholecall.TextDelta, wholecall.ReasoningDelta))
        ):
            yield from _event_lines(event)
    for span in step.spans:
        if shown or span.kind not in _SHOWN:
            word, style = _SPANS[span.kind]
            yield [(f"{word}  ", style), (f"+{len(span.text):,}  ", "dim"), (span.text, "")]
    for change in step.changes:
        yield from _changed(change, _drop(step.events, change))
    for anomaly in step.anomalies:
        yield [("odd  ", "odd"), (anomaly, "")]
    for event in step.events:
        if isinstance(event, (wholecall.ToolCallCancelled, wholecall.TurnFinished)):
            yield from _event_lines(event)


_SHOWN: dict[str, type[wholecall.TextDelta | wholecall.ReasoningDelta]] = {
    "text": wholecall.TextDelta,
    "reasoning": wholecall.ReasoningDelta,
}
_SPANS = {
    "text": ("text", "dim"),
    "reasoning": ("reasoning", "dim"),
    "markup": ("markup", "phase"),
    "call": ("written call", "good"),
    "drop": ("written call", "bad"),
}


def _shown_by_spans(step: Step) -> bool:
    """Return whether the spans of a step hold all texts of its events; then they also give the order."""
    return bool(step.spans) and all(
        "".join(span.text for span in step.spans if span.kind == kind)
        == "".join(event.text for event in step.events if isinstance(event, event_type))
        for kind, event_type in _SHOWN.items()
    )


_EARLY = (wholecall.TurnStarted, wholecall.TextDelta, wholecall.ReasoningDelta, wholecall.StreamFault)


def _event_lines(event: wholecall.Event[Any]) -> Iterator[Line]:
    where = (f"turn {event.turn}" if event.turn else "") + (f" choice {event.choice}" if event.choice else "")
    place = f"  [{where.strip()}]" if where else ""
    if isinstance(event, wholecall.TurnStarted):
        yield [("turn  ", "dim"), (_joined(event.dialect, event.model, event.id) + place, "")]
    elif isinstance(event, (wholecall.TextDelta, wholecall.ReasoningDelta)):
        word = "text" if isinstance(event, wholecall.TextDelta) else "reasoning"
        yield [(f"{word}  ", "dim"), (f"+{len(event.text):,}  ", "dim"), (event.text, "")]
    elif isinstance(event, wholecall.StreamFault):
        yield [("fault  ", "bad"), (_joined(event.kind, "fatal" if event.fatal else "") + place, "bad")]
        yield [(f"{_GAP}{event.detail}", "")]
    elif isinstance(event, wholecall.ToolCallCancelled):
        yield [("taken back  ", "odd"), (event.id + place, "")]
    elif isinstance(event, wholecall.TurnFinished):
        provider = (
            "" if event.provider_reason in (None, event.reason) else f"(provider: {event.provider_reason})"
        )
        yield [("end  ", "dim"), (_joined(event.reason, provider) + place, "")]


def _joined(*facts: str | None) -> str:
    return _GAP.join(fact for fact in facts if fact)


def _drop(events: Iterable[wholecall.Event[Any]], change: CallChange) -> wholecall.ToolCallDropped | None:
    """Return the drop that belongs to the change, None if there is none."""
    key = change.turn, change.choice, change.index
    drops = (event for event in events if isinstance(event, wholecall.ToolCallDropped))
    return next((drop for drop in drops if (drop.turn, drop.choice, drop.index) == key), None)


def _changed(change: CallChange, drop: wholecall.ToolCallDropped | None) -> Iterator[Line]:
    yield list(_call_spans(change))
    if drop is not None and drop.detail:
        yield [(f"{_GAP}{drop.detail}", "bad")]
    for fact in () if drop is None else drop.facts:
        yield [(f"{_GAP}fact: {fact}", "odd")]
    if change.hole:
        yield [(f"{_GAP}text that may be this call's was lost", "odd")]
    if change.flags:
        yield [(f"{_GAP}flags: {', '.join(_flag_words(change))}", "odd")]
    if change.edits:
        kinds = ", ".join(f"{edit.kind} at character {edit.offset:,}" for edit in change.edits)
        yield [(f"{_GAP}edits: {kinds}", "odd")]


def _flag_words(change: CallChange) -> Iterator[str]:
    """Yield the flags, with the format of calls that arrived as text."""
    for flag in change.flags:
        yield flag if flag != "from_text" or change.text_format is None else f"{flag} ({change.text_format})"


def _call_spans(change: CallChange) -> Iterator[Span]:
    yield _call_label(change), "new"
    if change.before != change.after:
        yield _GAP + " -> ".join(filter(None, (change.before, change.after))), "phase"
    if change.outcome == "dropped":
        yield f"{_GAP}dropped: {change.reason}", "bad"
    elif change.outcome is not None:
        yield f"{_GAP}{change.outcome}", "good"
    for fact in (change.name, change.id):
        if fact is not None:
            yield f"{_GAP}{fact}", ""
    if change.replaced:
        yield f"{_GAP}replaced by {len(change.added):,}{_GAP}", "odd"
    elif change.added:
        size = "" if change.size == len(change.added) else f" = {change.size:,}"
        yield f"{_GAP}+{len(change.added):,}{size}{_GAP}", "dim"
    yield change.added, "new"


def _call_label(change: CallChange) -> str:
    turn = f"{change.turn}." if change.turn or change.choice else ""
    choice = f"{change.choice}." if change.turn or change.choice else ""
    return f"call {turn}{choice}{change.index}"


def fitted_line(line: Line, width: int) -> Line:
    """Return the line with its spans cut if it is too wide."""
    fitted: Line = []
    for text, style in line:
        shown = clipped(text, width)
        width -= cells(shown)
        fitted.append((shown, style))
        if shown.endswith("...") and shown != text:
            break
    return fitted


# A frame in a few words: its contents without those that every frame of its stream has.


def summary(step: Step, room: int) -> tuple[str, str]:
    """Return the name of the step's frame (its event, or its type) and its contents.

    Args:
        step: a step of a timeline.
        room: the number of characters that matter; the result may be longer.
    """
    if step.event is None:
        return (
            "",
            "(end of the stream)" if step.end and not step.data else f"(no frame) {step.data[: room + 1]}",
        )
    value = plain(step.data)
    name = _name(step.event, value)
    parts: list[str] = []
    size = 0
    for part in _leaves(value, name):
        parts.append(part)
        size += len(part) + 1
        if size > room:
            break
    is_json = isinstance(value, (dict, list))
    return name, " ".join(parts) if is_json else step.data[: room + 1]


def _name(event: str, value: Any) -> str:
    if event not in _UNNAMED:
        return event
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def _leaves(top: Any, name: str) -> Iterator[str]:
    members = top.items() if isinstance(top, dict) else [("", top)]
    for key, value in members:
        is_evident = key in _ENVELOPE or (key == "type" and value == name)
        if isinstance(value, (dict, list)) or not is_evident:
            yield from _named(key, value, _MAX_DEPTH)


def _named(key: str, value: Any, depth: int) -> Iterator[str]:
    if value in _NOTHING or (key == "index" and value == 0) or (key == "type" and value in _EVIDENT_TYPES):
        return
    if isinstance(value, (dict, list)) and depth:
        members = value.items() if isinstance(value, dict) else [(key, one) for one in value]
        for name, member in members:
            yield from _named(name, member, depth - 1)
        return
    text = json.dumps(value, ensure_ascii=False)
    yield f"{key}={text}" if key else text
