"""Answers while they stream: progress between the events of a parser, and snapshots on request.

Theory of operation. As `live` follows the arguments of calls, this module follows the text of each choice that is
requested as a value, by the events. Text goes to a separate reader, and a call, or another message of the turn, makes
the shown state void as soon as more text comes. A parser whose answers are not followed does nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from wholecall.calls.arguments.answer_progress import AnswerScanner, PartialOutput
from wholecall.calls.arguments.partial import Piece, StringDelta
from wholecall.calls.arguments.tokens import utf8_size
from wholecall.calls.output.answers import OutputProgress
from wholecall.calls.output.call_events import ToolCallStarted
from wholecall.calls.output.events import Event, TextDelta, TurnFinished
from wholecall.limits import Limits

Key = tuple[int, int]  # turn, choice


class _Followed:
    """One answer: its reader, and whether another message comes next; text beyond the limit is not read."""

    __slots__ = ("_most", "_size", "is_over", "reader")

    def __init__(self, limits: Limits) -> None:
        self.reader = AnswerScanner(limits=limits)
        self.is_over = False
        self._most, self._size = limits.max_arguments_bytes, 0

    def feed(self, text: str) -> list[Piece]:
        """Return the progress of more text."""
        if self.is_over:
            text = text.lstrip()
            if not text:
                return []
            self.is_over, self._size = False, 0
            self.reader.reset()
        self._size += utf8_size(text)
        return [] if self._most is not None and self._size > self._most else self.reader.feed(text)


class LiveOutput:
    """A follower of the answers of one stream."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._answers: dict[Key, _Followed] = {}

    def after(self, take: Callable[[], list[Event[Any]]]) -> Callable[[], list[Event[Any]]]:
        """Return a function that takes events as `take` does, with their progress."""
        return lambda: list(self._extended(take()))

    def partial(self, key: Key) -> PartialOutput | None:
        """Return a snapshot of an answer that is arriving, None if there is none."""
        known = self._answers.get(key)
        return None if known is None else known.reader.snapshot()

    def resets(self) -> dict[tuple[int, int, int], int]:
        """Return the answers that are followed, and how often their shown state became void."""
        return {(*key, -1): known.reader.resets for key, known in self._answers.items()}

    def follow(self, key: Key, text: str, resets: int, *, is_over: bool) -> None:
        """Continue to follow an answer of a snapshot, whose text has been shown."""
        known = self._answers[key] = _Followed(self._limits)
        known.feed(text)
        known.reader.resets, known.is_over = resets, is_over

    def _extended(self, events: Iterable[Event[Any]]) -> Iterator[Event[Any]]:
        for event in events:
            if isinstance(event, OutputProgress):  # the machine's word that another message began
                self._end_message(event.turn, event.choice)
                continue
            yield event
            if isinstance(event, TextDelta):
                yield from self._progress(event)
            elif isinstance(event, ToolCallStarted):
                self._end_message(event.turn, event.choice)
            elif isinstance(event, TurnFinished):
                self._answers.pop((event.turn, event.choice), None)

    def _end_message(self, *key: int) -> None:
        turn, choice = key
        known = self._answers.get((turn, choice))
        if known is not None:
            known.is_over = True

    def _progress(self, event: TextDelta) -> Iterator[OutputProgress]:
        where = event.turn, event.choice
        known = self._answers.get(where)
        if known is None:
            known = self._answers[where] = _Followed(self._limits)
        pieces, reader = known.feed(event.text), known.reader
        for piece in pieces:
            if isinstance(piece, StringDelta):
                yield OutputProgress(*where, piece.path, piece.text, resets=reader.resets)
            else:
                yield OutputProgress(*where, piece.path, "", True, piece.value, reader.resets)
