"""Arguments while they stream: progress between the events of a parser, and snapshots on request.

Theory of operation. Each open call has its own reader, which is fed the text of `ArgumentsDelta` and `ArgumentsReset`
and ends with the call's terminal event. A reader of everything (`ProgressScanner`) reports every piece of every string
and every closed value; a watcher (`StringWatcher`) reports one string of one tool and costs less. Their events are put
after the event that caused them. A parser without readers does nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Union

from wholecall.calls.arguments.partial import PartialArguments, Path, StringDelta
from wholecall.calls.arguments.progress import ProgressScanner, StringWatcher
from wholecall.calls.output import call_events
from wholecall.calls.output.events import Event
from wholecall.limits import Limits

if TYPE_CHECKING:
    from wholecall.machine.call import Call

Watch = Mapping[
    str, Union[str, Path]
]  # by the tool's name: a top-level key, or the keys and indices to a string
Reader = Union[ProgressScanner, StringWatcher]
Key = tuple[int, int, int]  # turn, choice, index

_TERMINAL = (
    call_events.ToolCall,
    call_events.ToolCallDropped,
    call_events.BuiltinToolCall,
    call_events.ServerToolCall,
)  # those of calls with JSON arguments


class LiveArguments:
    """A follower of the arguments of the open calls of one stream.

    `watch` names the strings to follow; None follows everything.
    """

    def __init__(self, limits: Limits, watch: Watch | None) -> None:
        self._limits = limits
        self._watch = watch
        self._readers: dict[Key, Reader] = {}
        self._shown: dict[
            Key, tuple[call_events.ToolCallStarted, ProgressScanner]
        ] = {}  # of those that have snapshots

    @property
    def is_watching(self) -> bool:
        """Whether only single strings are followed."""
        return self._watch is not None

    @property
    def watch(self) -> dict[str, Union[str, Path]] | None:
        """The strings that are followed, None if everything is."""
        if self._watch is None:
            return None
        return {tool: path if isinstance(path, str) else tuple(path) for tool, path in self._watch.items()}

    def resets(self) -> dict[Key, int]:
        """Return the calls that are followed, and how often their texts were replaced."""
        return {key: reader.resets for key, reader in self._readers.items()}

    def follow(self, call: Call, resets: int) -> bool:
        """Continue to follow a call of a snapshot, whose text has been shown; return False if no reader does."""
        key = call.turn, call.choice, call.number
        if call.public_name is not None:
            self._start(call_events.ToolCallStarted(*key, call.id, call.public_name, call.kind))
        reader = self._readers.get(key)
        if reader is None:
            return False
        reader.feed(call.tail(call.size)[: call.shown])
        reader.resets = resets
        return True

    def after(self, take: Callable[[], list[Event[Any]]]) -> Callable[[], list[Event[Any]]]:
        """Return a function that takes events as `take` does, with their progress."""
        return lambda: self.extended(take())

    def extended(self, events: Iterable[Event[Any]]) -> list[Event[Any]]:
        """Return the events with the progress after each that caused some."""
        out: list[Event[Any]] = []
        for event in events:
            out.append(event)
            if isinstance(event, (call_events.ArgumentsDelta, call_events.ArgumentsReset)):
                reader = self._readers.get((event.turn, event.choice, event.index))
                if reader is not None:
                    out += _progress(event, reader)
            elif isinstance(event, call_events.ToolCallStarted):
                self._start(event)
            elif isinstance(event, _TERMINAL):
                key = event.turn, event.choice, event.index
                self._readers.pop(key, None)
                self._shown.pop(key, None)
        return out

    def partial(self, key: Key) -> PartialArguments | None:
        """Return a snapshot of an open call's arguments, None if there is no such call or it is only watched."""
        shown = self._shown.get(key)
        return None if shown is None else shown[1].snapshot()

    def partials(self) -> dict[call_events.ToolCallStarted, PartialArguments]:
        """Return a snapshot of each open call's arguments, in the order in which the calls began."""
        return {started: scanner.snapshot() for started, scanner in self._shown.values()}

    def _start(self, event: call_events.ToolCallStarted) -> None:
        key = event.turn, event.choice, event.index
        if event.kind == "custom":
            return  # free text, shown by ArgumentsDelta as it is
        if self._watch is None:
            self._readers[key] = scanner = ProgressScanner(limits=self._limits)
            self._shown[key] = event, scanner
        elif event.name in self._watch:
            self._readers[key] = StringWatcher(self._watch[event.name], limits=self._limits)


def _progress(
    event: call_events.ArgumentsDelta | call_events.ArgumentsReset, reader: Reader
) -> Iterator[call_events.ArgumentsProgress]:
    """Yield the progress that new argument text makes."""
    where = event.turn, event.choice, event.index
    is_new = isinstance(event, call_events.ArgumentsDelta)
    if isinstance(reader, StringWatcher):
        was_closed = reader.closed and is_new
        text = (
            reader.feed(event.delta)
            if isinstance(event, call_events.ArgumentsDelta)
            else reader.reset(event.raw_arguments)
        )
        if text:
            yield call_events.ArgumentsProgress(*where, reader.path, text, resets=reader.resets)
        if reader.closed and not was_closed:
            yield call_events.ArgumentsProgress(*where, reader.path, closed=True, resets=reader.resets)
        return
    pieces = (
        reader.feed(event.delta)
        if isinstance(event, call_events.ArgumentsDelta)
        else reader.reset(event.raw_arguments)
    )
    for piece in pieces:
        if isinstance(piece, StringDelta):
            yield call_events.ArgumentsProgress(*where, piece.path, piece.text, resets=reader.resets)
        else:
            yield call_events.ArgumentsProgress(*where, piece.path, "", True, piece.value, reader.resets)
