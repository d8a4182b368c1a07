"""The fast lane: one turn that is as its dialect documents it, from bytes to events in one pass.

Theory of operation. Most streams have nothing odd in them: one turn, dense indices, fresh ids, a name in the head of each
call, pieces for the latest call, one reason, one end. A lane reads such a stream with a few lists for its state, and tells
what the machine (framing, translator, assembler) would tell of it. At anything else it gives up, and takes nothing of the
read at hand. Then a new machine takes what the lane has kept of the stream so far, what comes of that is left out, because
it was told, and the read at hand is the machine's. So nothing of the machine's state is made here, and no rule of it
stands here twice: where the machine would have to think, the lane ends.

What is kept is a *log*: frames that are no pieces as they came, and of pieces in a row where they stand in their text.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Union

from wholecall.arguments.ladder import read_arguments
from wholecall.arguments.placeholders import PLACEHOLDER_SIZE
from wholecall.arguments.strict import read_strict
from wholecall.machine.said import SaidText
from wholecall.output.events import ArgumentsDelta, ToolCall, ToolCallDropped, ToolCallStarted, TurnFinished
from wholecall.output.turns import Reasoning, ReasoningBlock, Turn

if TYPE_CHECKING:
    from wholecall.deltas import Delta
    from wholecall.limits import Limits
    from wholecall.output.events import Event
    from wholecall.policy import Policy

__all__ = ["REASONING", "Lane", "LaneCall", "Row", "Source"]

REASONING: Final = -1  # the number of what stands among the places of calls
_LONGEST_FRAME: Final = 4096  # bytes of an event that has begun; small, for it is copied at each read
_MOST_ARGUMENTS: Final = 16_384  # characters of all calls of a turn
_MOST_LOGGED: Final = 65_536  # characters of frames that are no pieces


def _no_piece(_lane: Lane, _text: str, _events: list[Event[Any]]) -> bool:
    """Take no frame as more of the same text."""
    return False


class LaneCall:
    """A call: its labels, and the pieces of its text."""

    __slots__ = ("id", "index", "name", "parts", "size")

    def __init__(self, index: int, id: str, name: str) -> None:
        self.index, self.id, self.name = index, id, name
        self.parts: list[str] = []
        self.size = 0


Source = Union[SaidText, LaneCall]


class Row(NamedTuple):
    """Pieces in a row: the call or the text that they are of, and which part of it they are.

    Parts of a call are counted in pieces, for a piece that begins an object has a meaning of its own; those of speech in
    characters.
    """

    of: Source
    start: int
    end: int

    @property
    def texts(self) -> list[str]:
        """Their texts."""
        if isinstance(self.of, LaneCall):
            return self.of.parts[self.start : self.end]
        return [self.of.text[self.start : self.end]]


Entry = Union[str, Row]
# Takes a frame that is more of the same text, and nothing of any other; a function of the class, so that no lane holds itself.
More = Callable[[Any, str, "list[Event[Any]]"], bool]


class Lane:
    """A turn of one choice that is read in one pass.

    Attributes:
        dialect: its name.
        id, model: those of the answer; empty before its first frame.
        text, thought: what was said.
        calls: in their order.
        reason, provider_reason: why it ended, None while that is not known.
        usage: the counts so far.
        held: bytes of an event that has begun.
        is_over: it was closed.
    """

    dialect: str

    def __init__(self, policy: Policy, limits: Limits) -> None:
        self._policy, self._limits = policy, limits
        self.id = self.model = ""
        self.reason: Any = None  # a word of ours, once one came
        self.provider_reason: str | None = None
        self.text, self.thought = SaidText(), SaidText()
        self.calls: list[LaneCall] = []
        self.held = b""
        self.usage: dict[str, Any] = {}
        self.is_over = False
        self._ids: set[str] = set()
        self._events: list[Any] = []  # of calls that ended
        self._places: list[tuple[int, int]] = []  # where calls, by number, and reasoning began in the text
        self._n_arguments = self._n_logged = 0
        self._log: list[Entry] = []
        self._of: Source = self.text  # what pieces are of now, and which of them are not in the log yet
        self._start = self._end = 0
        self._more: More = _no_piece
        self._mark: tuple[int, Source, int, int] = (0, self.text, 0, 0)

    # Bytes.

    def feed(self, data: bytes) -> list[Event[Any]] | None:
        """Take the next bytes, and return the events that they cause; None, and take nothing, if anything is odd."""
        if self.held:
            data = self.held + data
        block, blank, rest = data.rpartition(b"\n\n")
        try:
            text = block.decode()
        except UnicodeDecodeError:
            text = ""
        first = text.removeprefix("data: ")
        if (len(first) == len(text) and blank) or (rest and not _is_held(rest)) or b"\r" in data:
            self.mark()
            return None
        events: list[Event[Any]] = []
        if "\n" in first:
            self.mark()
            texts = first.split("\n\ndata: ")
            odd = (text for text in texts if not (self._more(self, text, events) or self._take(text, events)))
            taken = "\n" not in "".join(texts) and next(odd, None) is None
        elif blank and not self._more(self, first, events):
            self.mark()
            taken = self._take(first, events)
        else:
            taken = True
        if not taken:
            return None
        self.held = rest
        return events

    @abstractmethod
    def _take(self, text: str, events: list[Event[Any]], /) -> bool:
        """Take a frame that is no piece like the one before, and add what comes of it; return False if it is odd."""

    def _keep(self, text: str) -> bool:
        """Put a frame that is no piece into the log; return False if that holds too much."""
        if self._start < self._end:
            self._log.append(Row(self._of, self._start, self._end))
        self._log.append(text)
        self._n_logged += len(text)
        return self._n_logged <= _MOST_LOGGED

    def _goes_on(self, of: Source | None, more: More = _no_piece) -> None:
        """Let pieces that follow be more of a text, as `more` takes them."""
        self._more = more
        of = of or self.text
        self._of = of
        self._start = self._end = len(of.parts) if isinstance(of, LaneCall) else of.size

    @property
    def has_begun(self) -> bool:
        """Whether a frame came."""
        return bool(self.id)

    @abstractmethod
    def run(self, row: Row, translator: Any, /) -> Delta:
        """Return what the dialect's translator would say of pieces in a row, which follow what it has translated."""

    def kept(self) -> Iterator[Entry]:
        """Yield what was taken before the read at hand, or before the last `mark`, in its order."""
        n, of, start, end = self._mark
        yield from self._log[:n]
        if start < end:
            yield Row(of, start, end)

    def mark(self) -> None:
        """Let all that was taken so far be in the log."""
        self._mark = len(self._log), self._of, self._start, self._end

    # Calls.

    def _begin(self, index: int, id: str, name: str) -> LaneCall | None:
        """Begin a call; return None if there may be no more, or one has its id."""
        most = self._limits.max_calls
        if id in self._ids or (most is not None and len(self.calls) >= most):
            return None
        call = LaneCall(index, id, name)
        self._places.append((self.text.size, index))
        self._ids.add(id)
        self.calls.append(call)
        return call

    def _piece(self, call: LaneCall, text: str, events: list[Event[Any]]) -> bool:
        """Take a piece of a call's text; return False if it could be more than a piece, or is too much."""
        size, n = call.size, self._n_arguments + len(text)
        if n > _MOST_ARGUMENTS or (text[0] == "{" and size and not PLACEHOLDER_SIZE < size > len(text)):
            return False
        if not size:
            events.append(ToolCallStarted(0, 0, call.index, call.id, call.name, "function"))
        call.size = size + len(text)
        self._n_arguments = n
        call.parts.append(text)
        events.append(ArgumentsDelta(0, 0, call.index, text))
        return True

    def _finish_calls(self, events: list[Event[Any]]) -> bool:
        """Emit the calls, all of which ended; return False if one of them is not plainly whole."""
        for call in self.calls:
            raw = "".join(call.parts)
            read = read_strict(raw, self._policy, self._limits)
            if type(read.value) is not dict or not read.value or read.flags:
                return False
            event = ToolCall(0, 0, call.index, call.id, call.name, read.value, raw, "exact")
            self._events.append(event)
            events.append(event)
        return True

    # The end.

    def close(self) -> list[Event[Any]] | None:
        """Return the last events, None if the end is odd."""
        self.mark()
        if self.held or not self.id or any(not call.size for call in self.calls):
            return None
        if self.reason is None:
            self._events += map(self._cut, self.calls)
        self.is_over = True
        return [*(self._events if self.reason is None else ()), self._finished()]

    def _cut(self, call: LaneCall) -> Event[Any]:
        raw = "".join(call.parts)
        verdict = read_arguments(raw, "open", self._policy, self._limits)
        assert verdict.reason is not None
        return ToolCallDropped(
            0, 0, call.index, call.id, call.name, "function", raw, verdict.reason, verdict.detail
        )

    def _finished(self) -> TurnFinished:
        n, reason, anomalies = len(self.calls), self.reason, ()
        usage = dict(self.usage) or None
        if reason is None:
            return TurnFinished(0, 0, "malformed" if n else "unknown", None, 0, n, usage, ("missing_finish",))
        return TurnFinished(0, 0, reason, self.provider_reason, n, 0, usage, anomalies)

    @property
    def turn(self) -> Turn[Any]:
        """The turn, which is over."""
        finished, text = self._finished(), self.text.text
        thought = ReasoningBlock(self.thought.text)
        reasoning = Reasoning((thought,)) if self.thought.size else Reasoning()
        content: list[Any] = []
        done = 0
        for place, number in self._places:
            if place > done:
                content.append(text[done:place])
                done = place
            content.append(thought if number == REASONING else number)
        if done < len(text):
            content.append(text[done:])
        calls: dict[str, Any] = {"dropped" if self.reason is None else "calls": tuple(self._events)}
        return Turn(
            self.dialect,
            self.id,
            self.model,
            text,
            reasoning,
            reason=finished.reason,
            provider_reason=finished.provider_reason,
            usage=finished.usage,
            anomalies=finished.anomalies,
            content=tuple(content),
            **calls,
        )


def _is_held(rest: bytes) -> bool:
    """Return whether the beginning of an event may wait for its end."""
    is_data = rest[:6] == b"data: "[: len(rest)]
    return is_data and len(rest) <= _LONGEST_FRAME and rest.find(b"\n", 0, -1) < 0
