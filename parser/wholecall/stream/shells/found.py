"""Results of a stream while it is read: its turns, its calls, and the arguments in progress.

Theory of operation. A caller that reads a stream through a shell gets the results from the shell. Calls and turns so
far are available from the first chunk on, `turn` once the stream is over: the turn of an unread stream is empty, and an
agent loop takes an empty turn for the last one. A stream is over when it was read to its end, when it failed, or when
it was left and closed; calls that were open then are dropped.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Generic

from wholecall.calls.arguments.verdict import ArgsT
from wholecall.errors import StreamUnread, Uncopyable

if TYPE_CHECKING:
    from wholecall.calls.arguments.partial import PartialArguments
    from wholecall.calls.output.call_events import ToolCall, ToolCallDropped, ToolCallStarted
    from wholecall.calls.output.events import Event
    from wholecall.calls.output.turns import Turn
    from wholecall.stream.parser import ToolCallParser
    from wholecall.stream.shells.sources import AsyncFeeding, Feeding

_NOTHING = (
    "nothing was read of the stream: iterate over it first (what an SDK's own methods read passes by unseen);"
    " to iterate over events there is wholecall.events(stream)"
)
_NOT_OVER = (
    "the stream is not over, nor is its turn: read it to its end, or close it; `turns` are those so far"
)


class Found(Uncopyable, Generic[ArgsT]):
    """The results of the chunks that have passed."""

    def __init__(self, feeding: Feeding[Any] | AsyncFeeding[Any]) -> None:
        self._feeding: Any = feeding
        self._feedings: list[Feeding[Any] | AsyncFeeding[Any]] = [feeding]  # one of them reads the stream
        self._parser: ToolCallParser[ArgsT] = feeding.parser

    @property
    def turn(self) -> Turn[ArgsT]:
        """The turn, once the stream is over; the last one of several.

        Raises:
            StreamUnread: the stream was not read to its end, nor closed; or nothing was read of it before that.
        """
        if not self._read().is_over:
            raise StreamUnread(_NOT_OVER)
        return self._parser.turn

    @property
    def turns(self) -> tuple[Turn[ArgsT], ...]:
        """All turns so far.

        Raises:
            StreamUnread: nothing was read of the stream.
        """
        self._read()
        return self._parser.turns

    @property
    def calls(self) -> tuple[ToolCall[ArgsT], ...]:
        """The calls to execute so far, of all turns; with several choices, those of the first.

        Raises:
            StreamUnread: nothing was read of the stream.
        """
        return tuple(chain.from_iterable(turn.calls for turn in self.turns))

    @property
    def dropped(self) -> tuple[ToolCallDropped, ...]:
        """The calls that must not be executed, of all turns; with several choices, those of the first.

        Raises:
            StreamUnread: nothing was read of the stream.
        """
        return tuple(chain.from_iterable(turn.dropped for turn in self.turns))

    @property
    def partial(self) -> dict[ToolCallStarted, PartialArguments]:
        """The known arguments of each call in progress, by its start: to show, never to execute.

        A snapshot costs a step per open object or list. A finished call has none, because its event says more.

        Raises:
            ValueError: the arguments are not followed: this needs `live=True`, without `watch`.
            StreamUnread: nothing was read of the stream.
        """
        partial = self._parser.partials()
        self._read()
        return partial

    def _read(self) -> Feeding[Any] | AsyncFeeding[Any]:
        """Return the feeding that reads the stream.

        Raises:
            StreamUnread: nothing was read.
        """
        feeding = next((one for one in self._feedings if one.was_asked), None)
        if feeding is None:
            raise StreamUnread(_NOTHING)
        return feeding

    def _join(self, other: Found[Any]) -> None:
        """Include the feedings of another reader of the same stream."""
        self._feedings += other._feedings

    def _events(self) -> tuple[Event[ArgsT], ...]:
        """Return the events of the last chunk."""
        return tuple(self._read().events)
