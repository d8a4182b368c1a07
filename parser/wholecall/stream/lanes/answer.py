"""The part of an answer that a lane has read: its log, its speech, its calls and its end.

The log is kept for the machine, should the lane give up. Pieces of the current text enter it as one row when anything
else comes: `_goes_on` says which text the pieces that follow continue, and `_more` and `_act` how they are read.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import repeat
from operator import attrgetter
from typing import Any, ClassVar, Final, Union

import msgspec

from wholecall.calls.arguments import ladder, placeholders, strict
from wholecall.calls.output.call_events import ArgumentsDelta, ToolCall, ToolCallDropped, ToolCallStarted
from wholecall.calls.output.events import Event, ReasoningDelta, TextDelta, TurnFinished, TurnStarted
from wholecall.calls.output.turns import Reasoning, Turn
from wholecall.calls.tools.misfit import Coerced, Misfit
from wholecall.deltas import Delta, Piecewise, Run, UsageSeen
from wholecall.dialects import decode, reasons
from wholecall.framing.frame import Frame
from wholecall.machine.said import SaidText
from wholecall.stream.lanes import templates
from wholecall.stream.lanes.rows import (
    FIRST,
    Entry,
    LaneCall,
    Place,
    Row,
    Source,
    Thought,
    content_of,
    size_of,
    something,
)
from wholecall.stream.lanes.words import Asked, is_id, is_name

_PLAIN: Final = frozenset({"stop", "length", "tool_calls"})  # reasons without further meaning
_MOST_ARGUMENTS: Final = 65_536  # characters of all calls of a turn
_MOST_LOGGED: Final = 1_048_576  # characters of frames that are not pieces
_PLACE: Final = attrgetter("index")

# Functions of the class, so that no lane refers to itself. The first returns the piece in the text of a frame that
# continues the same text, perhaps an empty piece, and None for any other frame; its number counts the pieces before it
# that were not taken yet.
More = Callable[[Any, str, int], Union[str, None]]
# The second takes a piece, and returns whether it could.
Act = Callable[[Any, str, "list[Event[Any]]"], bool]


def no_more(_answer: Answer, _text: str, _n: int) -> None:
    """Read no frame as a continuation of the text."""


class Answer:
    """The answer of one turn, which has one choice.

    Attributes:
        dialect: its name.
        id, model: those of the answer.
        has_begun: the answer began.
        text: the text so far.
        thoughts: the blocks of reasoning.
        calls: in their order.
        reason, provider_reason: why it ended, None while that is not known.
        usage: the counts so far.
    """

    dialect: ClassVar[str]
    _may_be_empty: ClassVar[bool]  # whether a call that ended without arguments has none

    # Lanes have too many attributes for the compact form of objects with a dictionary.
    __slots__ = (
        *("_act", "_anomalies", "_events", "_ids", "_is_counted", "_label", "_limits", "_log", "_mark"),
        *("_more", "_n_arguments", "_n_forgotten", "_n_logged", "_number", "_of", "_places", "_policy"),
        *("_shows", "_start", "_template", "_templates", "_tools", "calls", "has_begun", "id", "model"),
        *("provider_reason", "reason", "text", "thoughts", "usage"),
    )

    def __init__(self, asked: Asked) -> None:
        self._policy, self._limits, self._tools, self._shows = asked
        self.id: str | None = None
        self.model: str | None = None
        self.has_begun = False
        self.reason: Any = None  # a reason in our terms
        self.provider_reason: str | None = None
        self.text = SaidText()
        self.thoughts: list[Thought] = []
        self.calls: list[LaneCall] = []
        self.usage: dict[str, Any] = {}
        self._anomalies: tuple[Any, ...] = ()
        self._ids: set[str] = set()
        self._events: list[Any] = []  # of calls that ended
        self._places: list[Place] = []  # where the parts of the answer began in the text
        self._n_arguments = self._n_logged = self._n_forgotten = 0
        self._log: list[Entry] = []
        self._of: Source = self.text  # the text of the current pieces, and the first of them not in the log
        self._label: Any = None
        self._start = self._number = 0
        self._more: More = no_more
        self._act: Act = Answer.say
        self._template: templates.Template | None = None  # of the frames that continue the text
        self._templates = templates.Templates()
        self._is_counted = False  # counts came with these pieces
        self._mark: tuple[int, list[Entry]] = (0, [])

    # The log.

    def _keep(self, frame: Frame) -> bool:
        """Put a frame that is not a piece into the log; return False if the log holds too much."""
        if self._more is not no_more:
            self._log += self._rows()
            self._more = no_more
            self._template = None
        self._log.append(frame)
        self._n_logged += len(frame.data)
        return self._n_logged <= _MOST_LOGGED

    def _goes_on(self, of: Source, label: Any, more: More, act: Act) -> None:
        """Let the pieces that follow continue a text, as `more` reads and `act` takes them."""
        self._more, self._of, self._label, self._act = more, of, label, act
        self._start, self._is_counted = size_of(of), False
        self._templates.begin()

    def _open_turn(self, id: str | None, model: str | None, events: list[Event[Any]]) -> None:
        self.id, self.model, self.has_begun = id, model, True
        events.append(TurnStarted(0, 0, self.dialect, id, model))

    def run(self, row: Row, translator: Any) -> list[Delta]:
        """Return the translator's deltas for a row of pieces, which follow the frames that it has translated."""
        counts: list[Delta] = [] if row.counts is None else [UsageSeen(row.counts)]
        runs = [
            Run(self._in_common(row._replace(label=label), translator), texts) for label, texts in row.runs
        ]
        return [*runs, *counts]

    @abstractmethod
    def _in_common(self, row: Row, translator: Any, /) -> Piecewise:
        """Return the common part of the pieces as a delta, as the translator makes it."""

    def kept(self) -> list[Entry]:
        """Return the log as it was before the current read, or at the last `mark`, in its order."""
        n, rows = self._mark
        return self._log[:n] + rows

    def mark(self) -> None:
        """Put all input so far into the log."""
        self._mark = len(self._log), [] if self._more is no_more else self._rows()

    def _rows(self) -> list[Entry]:
        """Return the pieces that are not in the log yet, as one row, or none."""
        end = size_of(self._of)
        counts = dict(self.usage) if self._is_counted else None
        row = Row(self._of, self._label, self._start, end, self._number, counts)
        return [row] if row.start < end else []

    def forget(self) -> None:
        """Forget the text so far: its rows only record that there was some."""
        if not self._log:
            return
        if self._more is not no_more:
            self._log += self._rows()
        log = self._log
        for place in range(self._n_forgotten, len(log)):
            entry = log[place]
            if isinstance(entry, Row) and isinstance(entry.of, SaidText):
                log[place] = entry._replace(of=something(), start=0, end=1)
        log.append(None)
        self._n_forgotten = len(log)
        self.text.clear()
        for thought in self.thoughts:
            thought.forget()
        told, waiting = ([one for one in self.thoughts if bool(one) is told] for told in (True, False))
        self.thoughts = told[-1:] + waiting[-1:]
        self._places = [(0, one) for one in waiting[-1:]]
        self._goes_on(self._of, self._label, self._more, self._act)

    def count(self, counts: dict[str, Any]) -> None:
        """Take counts of tokens that came with a piece."""
        self.usage.update(counts)
        self._is_counted = True

    # Speech.

    def say(self, text: str, events: list[Event[Any]]) -> bool:
        """Take a piece of text."""
        self.text.add(text)
        if self._shows:
            events.append(TextDelta(0, 0, text))
        return True

    def think(self, text: str, events: list[Event[Any]]) -> bool:
        """Take a piece of the latest block of reasoning."""
        self.thoughts[-1].add(text)
        if self._shows:
            events.append(ReasoningDelta(0, 0, text))
        return True

    def _says(self, text: str, events: list[Event[Any]], label: Any, more: More) -> None:
        """Take a piece of text in a frame that has further members, and let other pieces follow."""
        self.say(text, events)
        self._goes_on(self.text, label, more, Answer.say)

    def _thinks(self, text: str, events: list[Event[Any]], label: Any, more: More) -> None:
        """Take a piece of reasoning in such a frame, where all reasoning is one block."""
        if not self.thoughts:
            self._begin_thought()
        self.think(text, events)
        self._goes_on(self.thoughts[0], label, more, Answer.think)

    def say_all(self, pieces: list[str], events: list[Event[Any]]) -> bool:
        """Take pieces of text."""
        self.text.add("".join(pieces))
        if self._shows:
            events += map(partial(TextDelta, 0, 0), pieces)
        return True

    def think_all(self, pieces: list[str], events: list[Event[Any]]) -> bool:
        """Take pieces of the latest block of reasoning."""
        self.thoughts[-1].add("".join(pieces))
        if self._shows:
            events += map(partial(ReasoningDelta, 0, 0), pieces)
        return True

    def _begin_thought(self) -> Thought:
        thought = Thought()
        self._places.append((self.text.size, thought))
        self.thoughts.append(thought)
        return thought

    # Calls.

    def _begin(self, id: str | None, name: str, extra: dict[str, Any] | None = None) -> LaneCall | None:
        """Begin a call; return None if there are too many, if its labels are odd or taken, or if no tool has its name."""
        most, tools, calls = self._limits.max_calls, self._tools, self.calls
        n = len(calls)
        public = id or f"call_0_0_{n}"
        if public in self._ids or not is_name(name) or (id and not is_id(id)):
            return None
        if (most is not None and n >= most) or (tools is not None and name not in tools):
            return None
        if n:
            self._n_arguments += calls[-1].size
        call = LaneCall(n, id, name, extra)
        self._places.append((self.text.size, call))
        self._ids.add(public)
        calls.append(call)
        return call

    def _take_whole_call(
        self, id: str | None, name: str, extra: dict[str, Any] | None, text: str, events: list[Event[Any]]
    ) -> bool:
        """Take a call that comes in one frame, and emit it; return False if it is odd."""
        call = self._begin(id, name, extra)
        if call is None or len(text) + self._n_arguments > _MOST_ARGUMENTS:
            return False
        call.add(text)
        events.append(ToolCallStarted(0, 0, call.index, id, name, "function"))
        if self._shows:
            events.append(ArgumentsDelta(0, 0, call.index, text))
        self._more = no_more
        return self._emit(call, text, events)

    def argue(self, text: str, events: list[Event[Any]]) -> bool:
        """Take a piece of the latest call's text; return False if it could be more than a piece, or is too long."""
        call = self.calls[-1]
        size = call.size
        if not size:
            events.append(ToolCallStarted(0, 0, call.index, call.id, call.name, "function"))
        elif text[0] == "{" and (
            not placeholders.PLACEHOLDER_SIZE < size > len(text) or call.end == self._start
        ):
            return False
        if size + len(text) + self._n_arguments > _MOST_ARGUMENTS:
            return False
        if size < FIRST:  # as `add` does
            call.parts.append(text)
        else:
            (call.rest or call.later()).add(text)
        call.size = size + len(text)
        if self._shows:
            events.append(ArgumentsDelta(0, 0, call.index, text))
        return True

    def argue_all(self, pieces: list[str], events: list[Event[Any]]) -> bool:
        """Take pieces of the latest call's text; return False, and take none, if one could be more than a piece."""
        call, text = self.calls[-1], "".join(pieces)
        is_plain = call.size and ("{" not in text or "{" not in {piece[0] for piece in pieces})
        if not is_plain or call.size + len(text) + self._n_arguments > _MOST_ARGUMENTS:
            return False
        call.add_all(pieces, text)
        if self._shows:
            events += map(partial(ArgumentsDelta, 0, 0, call.index), pieces)
        return True

    def argue_in_turn(self, text: str, events: list[Event[Any]]) -> bool:
        """Take a piece of one of several open calls, to which their weave has turned; return False as above."""
        weave: Any = self._of
        texts, latest = weave.texts, self.calls[-1]
        _, call = weave.strands[len(texts)]
        size = call.size
        if not size:
            events.append(ToolCallStarted(0, 0, call.index, call.id, call.name, "function"))
        elif text[0] == "{" and not placeholders.PLACEHOLDER_SIZE < size > len(text):
            return False
        n = len(text)
        if latest.size + n + self._n_arguments > _MOST_ARGUMENTS:
            return False
        if call is not latest:
            self._n_arguments += n
        if size < FIRST:  # as `add` does
            call.parts.append(text)
        else:
            (call.rest or call.later()).add(text)
        call.size = size + n
        texts.append(text)
        if self._shows:
            events.append(ArgumentsDelta(0, 0, call.index, text))
        return True

    def argue_singly(self, _pieces: list[str], _events: list[Event[Any]]) -> bool:
        """Take no piece: those of several calls are taken one by one."""
        return False

    def _take_calls(
        self,
        wanted: Iterable[tuple[str, str, str]],
        events: list[Event[Any]],
        extras: Iterable[dict[str, Any] | None] = repeat(None),
    ) -> bool:
        """Take calls that a whole response lists, by their ids, names and texts: all begin, then each is emitted."""
        begun: list[tuple[LaneCall, str]] = []
        for (id, name, text), extra in zip(wanted, extras, strict=False):
            call = self._begin(id, name, extra)
            if call is None or decode.is_blank(text):
                return False
            begun.append((call, text))
            events.append(ToolCallStarted(0, 0, call.index, id, name, "function"))
        for call, text in begun:
            call.add(text)
            self._n_arguments += len(text)
            if self._shows:
                events.append(ArgumentsDelta(0, 0, call.index, text))
            if self._n_arguments > _MOST_ARGUMENTS or not self._finish([call], events):
                return False
        return True

    def _finish(self, calls: Sequence[LaneCall], events: list[Event[Any]]) -> bool:
        """Emit calls that ended; return False if one of them is not whole, or does not fit its tool."""
        for call in calls:
            if not call.size:
                events.append(ToolCallStarted(0, 0, call.index, call.id, call.name, "function"))
            if not self._emit(call, call.text, events):
                return False
        return True

    def _emit(self, call: LaneCall, raw: str, events: list[Event[Any]]) -> bool:
        """Emit a call that ended, of which this is the text; return False as above."""
        typed: Any = msgspec.UNSET
        read = strict.read_strict(raw or "{}", self._policy, self._limits)
        value, tools = read.value, self._tools
        if type(value) is not dict or read.flags or not (value or self._may_be_empty):
            return False
        check = None if tools is None else tools.check_of(call.name)
        if check is not None and isinstance(typed := check(value), (Misfit, Coerced)):
            return False
        id, index = call.id, call.index
        event: ToolCall[Any] = ToolCall(
            *(0, 0, index, id or f"call_0_0_{index}", call.name, value, raw),
            "exact" if raw else "empty",
            flags=() if id else ("id_generated",),
            extra=call.extra,
            typed=typed,
        )
        self._events.append(event)
        events.append(event)
        return True

    # The end.

    def _take_reason(self, raw: str, *, called: bool) -> bool:
        """Take the reason of the end; return False if it is not a plain reason, or is about calls that did not come."""
        known = reasons.turn_reason(raw)
        if known is None or known[0] not in _PLAIN or (known[0] == "tool_calls") != called:
            return False
        self.reason, self.provider_reason = known
        self._more = no_more
        self._template = None
        return True

    def _cut(self, call: LaneCall) -> Event[Any]:
        raw = call.text
        verdict = ladder.read_arguments(raw, "open", self._policy, self._limits)
        assert verdict.reason is not None
        return ToolCallDropped(
            0, 0, call.index, call.id, call.name, "function", raw, verdict.reason, verdict.detail
        )

    def _finished(self) -> TurnFinished:
        n, usage = len(self._events), dict(self.usage) or None
        if self.reason is not None:
            return TurnFinished(0, 0, self.reason, self.provider_reason, n, 0, usage, self._anomalies)
        n_dropped = sum(type(event) is ToolCallDropped for event in self._events)
        n -= n_dropped
        reason: Any = "tool_calls" if n else "malformed" if n_dropped else "unknown"
        return TurnFinished(0, 0, reason, None, n, n_dropped, usage, ("missing_finish",))

    @property
    def turn(self) -> Turn[Any]:
        """The finished turn."""
        finished = self._finished()
        ended = sorted(self._events, key=_PLACE)  # calls that are open side by side may end in any order
        return Turn(
            self.dialect,
            self.id,
            self.model,
            self.text.text,
            Reasoning(tuple(thought.seen() for thought in self.thoughts if thought)),
            tuple(event for event in ended if type(event) is ToolCall),
            dropped=tuple(event for event in ended if type(event) is ToolCallDropped),
            reason=finished.reason,
            provider_reason=finished.provider_reason,
            usage=finished.usage,
            anomalies=finished.anomalies,
            content=tuple(content_of(self._places, self.text.text)),
        )


# The functions that take several pieces or none, by the function that takes one.
AT_ONCE: Final[Mapping[Act, Callable[[Any, list[str], list[Any]], bool]]] = {
    Answer.say: Answer.say_all,
    Answer.think: Answer.think_all,
    Answer.argue: Answer.argue_all,
    Answer.argue_in_turn: Answer.argue_singly,
}
