"""One recorded stream to one row: the data of its events, and its calls.

Theory of operation. Each recording has its own parser, which gets the chunks, large ones in slices. Each event is
written into the row at once, with the time of the chunk that caused it. The kinds of events depend on the first chunk:
if that has a time, the row states when the first text arrived, so pieces of text are needed; all other recordings are
read without them, which is faster and gives the same calls.

Where the chunks break off, the calls before that stay.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Union

import wholecall
from wholecall.bulk import rows
from wholecall.calls.output.usage import tokens_of

_private = True

_SLICE = 64 * 1024  # bytes: larger chunks are read in pieces of this size
_FORGET_EVERY = 16  # pieces: the model's text so far is in no row

Data = Union[bytes, bytearray, memoryview]


def row_of(chunks: Iterable[tuple[float | None, Data]], known: rows.Known, judging: rows.Judging) -> rows.Row:
    """Return the row of one recording.

    The content of the bytes never raises, nor do chunks that raise `BadRecording`: then the row has a `trouble`, and
    the calls before it. Any other exception is a fault of ours: its type is the trouble of a row without calls.

    Args:
        chunks: each with its seconds since the response began, or None. If the first has none, all count as if they
            had none. Their sizes do not matter.
        known: the known facts about the recording.
        judging: the settings for reading it. Its framing has to be known.
    """
    return rows.guarded(known, lambda: _Reading(known, judging).read(chunks))


def _parser(known: rows.Known, judging: rows.Judging, *, text: bool) -> wholecall.ToolCallParser:
    """Return a parser for a recording; an unknown dialect is detected from the bytes."""

    def of(dialect: str) -> wholecall.ToolCallParser:
        return wholecall.ToolCallParser(
            dialect,
            events="all" if text else "calls",
            framing=judging.framing,
            policy=judging.policy,
            limits=judging.limits,
        )

    try:
        return of(known.dialect or "auto")
    except wholecall.UnknownDialect:
        return of("auto")


def _pieces(chunk: Data) -> Iterator[bytes]:
    """Yield the bytes of a chunk, a large one in slices."""
    if len(chunk) <= _SLICE:
        yield bytes(chunk)
        return
    view = memoryview(chunk)
    for start in range(0, len(view), _SLICE):
        yield bytes(view[start : start + _SLICE])


class _Reading:
    """A recording while it is read: its row so far, and the rows of the ended calls."""

    def __init__(self, known: rows.Known, judging: rows.Judging) -> None:
        self.recording = rows.unread(known)
        self.calls: list[dict[str, Any]] = []
        self._known, self._judging = known, judging
        self._hash = hashlib.sha256() if judging.hashed else None
        self._parser: wholecall.ToolCallParser | None = None
        self._is_timed = False
        self._now: float | None = None  # the time of the current chunk
        self._n_pieces = self._n_characters = 0
        self._started: dict[
            tuple[int, int, int], float | None
        ] = {}  # the start time, by turn, choice and index of a call
        self._finished = (-1, 0)  # the turn whose end the row shows, and its choice, less than 1
        self._tokens: dict[int, tuple[int | None, int | None]] = {}  # by turn
        self._taken_back: set[tuple[int, int, str]] = set()  # turn, choice and id of calls

    def read(self, chunks: Iterable[tuple[float | None, Data]]) -> rows.Row:
        """Read all chunks, and return the row."""
        try:
            for seconds, chunk in chunks:
                self._take(seconds, chunk)
        except wholecall.BadRecording as error:
            self._break_off(error)
        else:
            self._see((self._parser or _parser(self._known, self._judging, text=False)).close())
        self._sum_up()
        return rows.Row(self.recording, self.calls)

    def _take(self, seconds: float | None, chunk: Data) -> None:
        """Read one chunk."""
        parser, row = self._parser, self.recording
        if parser is None:
            self._is_timed = seconds is not None
            parser = self._parser = _parser(self._known, self._judging, text=self._is_timed)
        if self._is_timed and seconds is not None:
            row["last_s"] = seconds
        self._now = seconds
        row["chunks"] += 1
        row["bytes"] += len(chunk)
        for piece in _pieces(chunk):
            if self._hash is not None:
                self._hash.update(piece)
            self._see(parser.feed(piece))
            self._n_pieces += 1
            if self._n_pieces % _FORGET_EVERY == 0:
                parser.forget()

    def _break_off(self, error: wholecall.BadRecording) -> None:
        """End the stream where its recording is damaged; a stream that never began has no events."""
        trouble = str(error)
        name = self._known.name or ""
        for prefix in (name, name.rpartition("#")[0]):  # of a recording, of its file
            trouble = trouble.removeprefix(f"{prefix}: ") if prefix else trouble
        self.recording["trouble"] = trouble
        if self._parser is not None:
            self._see(self._parser.fail(trouble))

    def _see(self, events: Iterable[wholecall.Event]) -> None:
        for event in events:
            act = self.ACTIONS.get(type(event))
            if act is not None:
                act(self, event)

    # Event handlers.

    def _turn_started(self, event: wholecall.TurnStarted) -> None:
        row = self.recording
        row["turns"] += 1
        row["dialect"] = event.dialect
        row["response_id"] = event.id or row["response_id"]
        row["model"] = event.model or row["model"]

    def _text(self, _: wholecall.TextDelta) -> None:
        if self.recording["first_text_s"] is None:
            self.recording["first_text_s"] = self._now

    def _call_started(self, event: wholecall.ToolCallStarted) -> None:
        if self._is_timed:
            self._started[event.turn, event.choice, event.index] = self._now
            self._called()

    def _called(self) -> None:
        if self.recording["first_call_s"] is None:
            self.recording["first_call_s"] = self._now

    def _call_ended(self, event: Any) -> None:
        call = rows.CALL_OF[type(event)](event, self._judging)
        self._n_characters = rows.grown(self._n_characters, call)
        if self._is_timed:
            self._called()
            call["started_s"] = self._started.get((event.turn, event.choice, event.index))
            call["ended_s"] = self._now
        self.calls.append(call)

    def _call_taken_back(self, event: wholecall.ToolCallCancelled) -> None:
        self._taken_back.add((event.turn, event.choice, event.id))

    def _fault(self, event: wholecall.StreamFault) -> None:
        self.recording["faults"].append(event.kind)

    def _turn_finished(self, event: wholecall.TurnFinished) -> None:
        row = self.recording
        row["anomalies"] += event.anomalies
        if (event.turn, -event.choice) > self._finished:
            self._finished = event.turn, -event.choice
            row["finish"], row["provider_finish"] = event.reason, event.provider_reason
        if event.usage is not None:
            row["usage"] = event.usage
            self._tokens[event.turn] = tokens_of(event.usage)

    # At the end.

    def _sum_up(self) -> None:
        row, calls = self.recording, self.calls
        calls.sort(key=_place)
        if self._taken_back:
            self._cancel()
        rows.sum_up(row, calls)
        if self._tokens:
            row["input_tokens"], row["output_tokens"] = map(
                rows.summed, zip(*self._tokens.values(), strict=True)
            )
        if row["usage"] is not None:
            row["usage"] = rows.as_json(row["usage"])
        if self._hash is not None:
            row["content_hash"] = self._hash.hexdigest()[:32]

    def _cancel(self) -> None:
        """Mark the calls that were taken back: the list of their turn no longer holds them.

        For turns that the parser does not keep, the ids decide.
        """
        turns = () if self._parser is None else self._parser.turns
        first = self.recording["turns"] - len(turns)
        standing = {place for number, turn in enumerate(turns, first) for place in _standing(number, turn)}
        for call in self.calls:
            turn, choice, _ = place = _place(call)
            gone = (
                place not in standing
                if turn >= first
                else (turn, choice, call["call_id"]) in self._taken_back
            )
            if gone and call["outcome"] == "call":
                call["outcome"] = "cancelled"

    # The handler of each kind of event; other events have no data for a row.
    ACTIONS: ClassVar[dict[type, Callable[[_Reading, Any], None]]] = {
        wholecall.TurnStarted: _turn_started,
        wholecall.TextDelta: _text,
        wholecall.ToolCallStarted: _call_started,
        **dict.fromkeys(rows.CALL_OF, _call_ended),
        wholecall.ToolCallCancelled: _call_taken_back,
        wholecall.StreamFault: _fault,
        wholecall.TurnFinished: _turn_finished,
    }


def _place(call: dict[str, Any]) -> tuple[int, int, int]:
    return call["turn"], call["choice"], call["index"]


def _standing(number: int, turn: wholecall.Turn) -> Iterator[tuple[int, int, int]]:
    """Yield the places of the calls that a turn holds."""
    for choice, view in {0: turn, **turn.others}.items():
        lists: list[Sequence[Any]] = [view.calls, view.custom_calls, view.builtin_calls, view.server_calls]
        yield from ((number, min(choice, rows.MOST_INT32), call.index) for calls in lists for call in calls)
