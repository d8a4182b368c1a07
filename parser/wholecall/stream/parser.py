"""The parser: bytes of one stream in, events out.

Theory of operation. Framing cuts the bytes into frames, the dialect's translator reports the content of a frame in
deltas (`reading`), and the assembler makes events of them. The framing is chosen from the first bytes, the dialect from
the first decisive frame; earlier frames are kept, up to a limit, and translated then (`opening`). A stream that begins
as its dialect documents it is read by a fast lane until anything in it is odd (`lanes`). Nothing here does I/O, and no
input from the wire raises.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, cast, overload

from wholecall.calls.arguments.verdict import ArgsT
from wholecall.calls.output.answers import OutputProgress
from wholecall.calls.output.events import Event, TextDelta
from wholecall.calls.output.turns import Turn
from wholecall.calls.tools.answers import answer_check
from wholecall.calls.tools.tool import AnyTools, Tools, TypedTools
from wholecall.deltas import WireFault
from wholecall.dialects.decode import LONGEST_NOISE, spoken
from wholecall.errors import BadSnapshot, StreamClosed, Uncopyable, UnknownDialect, choices
from wholecall.framing import FRAMINGS, Framing, opening, table
from wholecall.framing.base import BytesLike, checked
from wholecall.framing.eventstream import PayloadPartsFraming
from wholecall.framing.frame import Frame, framed
from wholecall.framing.parts import LARGE, parted
from wholecall.limits import Limits
from wholecall.machine.answer import OutputWanted
from wholecall.policy import Policy
from wholecall.stream import assembling, payloads
from wholecall.stream.lanes.table import LIMITS, POLICY, are_far, lane_for, lane_of, lane_of_frame
from wholecall.stream.lanes.words import Asked
from wholecall.stream.live import LiveArguments, Watch
from wholecall.stream.live_output import LiveOutput
from wholecall.stream.options import EventsWanted, MovedOptions, ParserOptions, checked_events
from wholecall.stream.reading import FrameReader, nothing
from wholecall.text.options import TextWanted, text_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from typing_extensions import Self, Unpack

    from wholecall.calls.arguments.answer_progress import PartialOutput
    from wholecall.calls.arguments.partial import PartialArguments
    from wholecall.calls.output import call_events
    from wholecall.machine.assembler import Assembler
    from wholecall.stream.lanes.lane import Lane

_MANY: Final = 16  # from this many frames on, a read is searched for frames without content
_FEW: Final = 256  # bytes of a read that is never searched


class ToolCallParser(FrameReader, Uncopyable, Generic[ArgsT]):
    """A parser that turns one stream, cut anywhere, into whole tool calls.

    ::

        with ToolCallParser() as parser:
            for chunk in response.iter_bytes():
                for event in parser.feed(chunk):
                    ...
            for event in parser.close():
                ...

    Leaving the `with` block with an exception aborts the turn: its open calls are dropped.

    Args:
        dialect: a dialect's name, or `"auto"` to find it from the first decisive frame.
        tools: the tools that the model was given: `Tools`, or its argument. Calls are checked against them, and
            `ToolCall.value` is of the type that describes the tool. Their names also settle other doubts:
            names in pieces, and two calls under one index. None takes every call that is whole.
        events: `"all"`, or `"calls"` for events of calls, turns and faults only: the events that show text as it comes
            (`TextDelta`, `ReasoningDelta`, `ArgumentsDelta`, `ArgumentsReset`) are not made. All else is the same.
        output: the type of the answer, if it is to be a value (a Struct, dataclass, TypedDict, pydantic model or
            `TypeAdapter`, or any other that msgspec checks), a JSON Schema, alone or as the request has it, or `"json"`
            for any JSON. An `Output` or `OutputDropped` reports the result, and so does `Turn.output`.
        live: whether to report arguments, and an answer that is to be a value, while they arrive: `ArgumentsProgress`
            and `OutputProgress` events, and `partial`.
        watch: strings to report instead of everything, by tool: `{"write_file": "content"}` names a top-level key,
            a tuple of keys and indices goes deeper.
        text: calls that the model writes as text: a format's name, `"auto"`, or `TextCalls`; None takes text for text.
        framing: `"sse"`, `"jsonl"`, `"jsonarray"`, `"eventstream"` or `"vercel"`; None chooses from the first bytes.
        policy: how calls are judged.
        limits: bounds on a stream.

    Raises:
        UnknownDialect: the dialect, the framing or the format of calls in text is not known.
        ValueError: `events` is not one of its words, or `"calls"` together with `live` or `watch`.
        TypeError, ValueError, ImportError: `tools` does not describe tools; see `Tools`. Or `output` is not a type.
    """

    INSTEAD = "take its snapshot() and give that to restore()"
    DERIVED: ClassVar = frozenset(
        {
            "_policy",
            "_limits",
            "_tools",
            "_wanted",
            "_events",
            "_text",
            "_live",
            "_live_output",
            "_collect",
            "_is_made",
            "_framing",
            "_lane",
            "_ended",
            "_may_begin_in",
            "__orig_class__",  # of `ToolCallParser[...]()`
        }
    )

    _head: bytes

    @overload
    def __init__(
        self: ToolCallParser[dict[str, Any]],
        dialect: str = ...,
        *,
        tools: None = None,
        **options: Unpack[ParserOptions],
    ) -> None: ...
    @overload
    def __init__(
        self, dialect: str = ..., *, tools: TypedTools[ArgsT], **options: Unpack[ParserOptions]
    ) -> None: ...
    @overload
    def __init__(
        self: ToolCallParser[Any], dialect: str = ..., *, tools: AnyTools, **options: Unpack[ParserOptions]
    ) -> None: ...
    def __init__(
        self,
        dialect: str = "auto",
        *,
        tools: Any = None,
        output: Any = None,
        events: EventsWanted = "all",
        live: bool = False,
        watch: Watch | None = None,
        text: TextWanted = None,
        framing: str | None = None,
        policy: Policy = POLICY,
        limits: Limits = LIMITS,
    ) -> None:
        self._policy = policy
        self._limits = limits
        self._tools = tools if tools is None or isinstance(tools, Tools) else Tools(tools)
        self._events: EventsWanted = checked_events(events, is_live=live or watch is not None)
        self._text = text_calls(text)
        self._wanted = None if output is None else OutputWanted(answer_check(output), is_live=live)
        super().__init__(dialect)
        self._live = LiveArguments(limits, watch) if live or watch is not None else None
        self._live_output = LiveOutput(limits) if live and self._wanted is not None else None
        if framing is not None and framing not in FRAMINGS:
            raise UnknownDialect(f"there is no framing {framing!r}; {choices(framing, FRAMINGS)}")
        self._framing = FRAMINGS[framing](limits) if framing is not None else None
        self._head = b""  # the first bytes, while they do not identify the framing
        is_plain = self._text is None and self._wanted is None and self._live is None
        has_lane = is_plain and framing in (None, "sse", "jsonl") and are_far(policy, limits)
        # The dialect in whose lane the stream may begin, `"auto"`, or an empty name.
        self._may_begin_in = dialect if has_lane else ""
        lane_of(dialect)  # is imported now, if there is one
        self._lane: Lane | None = None  # which reads the stream
        self._ended: Lane | None = None  # which has read the stream to its end
        self._is_made = (
            False  # the machine, for which no lane waits; only bytes without a framing wait for it
        )
        if framing is not None or not has_lane or dialect != "auto":  # a named dialect is imported now
            self._made()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.abort("an exception left the block")

    def __repr__(self) -> str:
        state = "closed" if self._life == "closed" else "open"
        lane = self._lane or self._ended
        n = self._made().n_turns if lane is None else int(lane.has_begun)
        dialect = lane.dialect if lane is not None and lane.has_begun else self._made().dialect
        return f"<ToolCallParser {dialect} {state} turns={n}>"

    @property
    def dialect(self) -> str | None:
        """The name of the stream's dialect, None while it is not known."""
        lane = self._lane or self._ended
        if lane is not None and lane.has_begun:
            return lane.dialect
        machine = self._made()
        return machine.dialect if self._translator is not None else None

    @property
    def is_enveloped(self) -> bool:
        """Return whether the stream's frames come in envelopes of a gateway, which are removed."""
        return self._is_made and self._opening.enveloped

    @property
    def has_reasons(self) -> bool:
        """Return whether the provider has stated why each choice of the current turn ended; cheaper than `turn`."""
        lane = self._lane or self._ended
        return self._made().has_reasons if lane is None else lane.provider_reason is not None

    @property
    def is_holding(self) -> bool:
        """Return whether text waits because it may be a call; only with `text`."""
        return self._is_made and self._assembler.is_holding

    def is_from_text(
        self, call: call_events.ToolCallStarted | call_events.ToolCall[Any] | call_events.ToolCallDropped
    ) -> bool:
        """Return whether the call of an event was written as text; only with `text`, and while its turn is kept."""
        known = self._assembler.call(call.turn, call.choice, call.index) if self._is_made else None
        return known is not None and known.source is not None

    @property
    def turn(self) -> Turn[ArgsT]:
        """The current turn so far, the last one after `close`."""
        ended = self._ended
        turn: Turn[ArgsT] = self._machine.snapshot() if ended is None else ended.turn
        return turn

    @property
    def turns(self) -> tuple[Turn[ArgsT], ...]:
        """All turns of the stream so far."""
        return self.turns_from(0)

    def turns_from(self, number: int) -> tuple[Turn[ArgsT], ...]:
        """Return the turns of the stream so far, from this number on, counted from 0."""
        return self._machine.snapshots(number) if self._ended is None else (self.turn,)[max(number, 0) :]

    def turns_over(self, start: int, stop: int) -> tuple[tuple[Turn[ArgsT], ...], int]:
        """Return the turns from `start` up to `stop` before the first one that runs, and the number of the next one."""
        return self._machine.over(start, stop)

    def forget(self) -> None:
        """Forget the text and the reasoning so far, which events have reported; `turn` and `turns` keep the calls.

        Use it for sessions without end, and where only events are needed: then the model's text takes no memory.
        """
        lane = self._lane or self._ended
        if lane is not None:
            lane.forget()
        else:
            self._machine.forget()

    @overload
    def partial(self, call: OutputProgress | TextDelta) -> PartialOutput | None: ...
    @overload
    def partial(
        self, call: call_events.ToolCallStarted | call_events.ArgumentsDelta | call_events.ArgumentsProgress
    ) -> PartialArguments | None: ...
    def partial(
        self,
        call: call_events.ToolCallStarted
        | call_events.ArgumentsDelta
        | call_events.ArgumentsProgress
        | OutputProgress
        | TextDelta,
    ) -> PartialArguments | None:
        """Return the state of a call's arguments, or of an answer, while they arrive: for display, never for execution.

        A snapshot costs one step per open object or list, whatever their size.

        Args:
            call: any event of the call; or of the answer, with `output`.

        Returns:
            The snapshot, None once the call or the turn is over (their last events report more) and for free-text
            calls.

        Raises:
            ValueError: the parser was not made with `live=True`, or with `watch`, which keeps no arguments; or it has
                no `output`, and the event belongs to an answer.
        """
        if isinstance(call, (OutputProgress, TextDelta)):
            if self._live_output is None:
                raise ValueError("snapshots of an answer need ToolCallParser(live=True, output=…)")
            return self._live_output.partial((call.turn, call.choice))
        return self._shown().partial((call.turn, call.choice, call.index))

    def partials(self) -> dict[call_events.ToolCallStarted, PartialArguments]:
        """Return the state of the arguments of each open call, by the event that started it; see `partial`.

        Raises:
            ValueError: the parser was not made with `live=True`, or with `watch`, which keeps no arguments.
        """
        return self._shown().partials()

    def _shown(self) -> LiveArguments:
        if self._live is None or self._live.is_watching:
            raise ValueError("snapshots of arguments need `live=True` without `watch`")
        return self._live

    def feed(self, data: BytesLike) -> list[Event[ArgsT]]:
        """Take the next bytes of the stream, cut anywhere, and return the events they cause.

        Raises:
            StreamClosed: the parser was closed or aborted.
            TypeError: `data` is not bytes; encode text with `.encode()`.
        """
        lane = self._lane
        if lane is None and self._may_begin_in:
            lane = self._lane_for(data)
        if lane is not None:
            if type(data) is not bytes:
                data = checked(data)
            events = lane.feed(data)
            if events is not None:
                return events
            self._leave(lane)
        framing = self._framing  # a closed parser has no framing
        if framing is None:
            framing = self._choose_framing(data)
            if framing is None:
                return []
            data, self._head = self._head, b""
        elif type(data) is not bytes:
            data = checked(data)
        size = len(data)
        if size > LARGE and len(parts := parted(data)) > 1:
            return self._feed_each(parts)
        if size > self._unweighed:
            return self._feed_each(self._until_weighed(data))
        self._unweighed -= size
        texts, like = framing.read(data)
        if framing.faults or framing.replaced:
            came = self._take_singly(framing, framed(texts, like))
            self._life = "frames" if came or self._life == "frames" else "bytes"
        elif texts:  # of a healthy stream: all at once
            if size > _FEW and len(texts) > _MANY and len(texts[-1]) <= LONGEST_NOISE and self._proven:
                texts = spoken(texts, like)
            translate = self._translate
            deltas = translate(texts, like)
            del texts, like  # the text of a large event need not stay while its arguments are read
            self._assembler.advance(deltas)
        elif data and self._life == "new":
            self._life = "bytes"
        collect = self._collect  # an attribute, which is faster called by a name of its own
        return collect()

    def _feed_each(self, parts: Iterable[bytes]) -> list[Event[ArgsT]]:
        """Take the parts of a read that is taken in several."""
        return [event for part in parts for event in self.feed(part)]

    def feed_event(self, payload: Any, event: str | None = None) -> list[Event[ArgsT]]:
        """Take one decoded payload, or one whole, non-streamed response body.

        Args:
            payload: a dict, or an SDK's object that can dump itself; a list holds one payload after the other.
            event: the event's name, where the transport has one.

        Raises:
            StreamClosed: the parser was closed or aborted.
        """
        lane = self._lane
        if lane is not None and event is None and (events := lane.feed_object(payload)) is not None:
            return events
        self._refuse_if_closed()
        frames = list(payloads.frames_of(payload, event))
        if self._may_begin_in and frames:
            lane = self._lane = self._lane_of(frames[0])
        if lane is not None:
            events = lane.feed_frames(frames)
            if events is not None:
                return events
            self._leave(lane)
        self._machine.advance(self._translate([frame.data for frame in frames], frames))
        self._count(frames)
        return self._collect()

    def close(self) -> list[Event[ArgsT]]:
        """End the stream and return the last events; calling it again returns none."""
        if self._life in {"closing", "closed"}:
            return []
        lane = self._lane
        events = lane.close() if lane is not None else None
        if events is not None:
            self._lane, self._ended = None, lane
            self._stop()
            return events
        if lane is not None:
            self._leave(lane)
        return self._end()

    def _end(self) -> list[Event[ArgsT]]:
        """End the stream where it is, and return the last events."""
        machine = self._machine
        self._close_framing()
        machine.advance(self._last_word())
        machine.close()
        self._stop()
        return self._collect()

    def abort(self, reason: str = "aborted by the caller") -> list[Event[ArgsT]]:
        """Drop every open call, end the stream and return the last events; calling it again returns none.

        Args:
            reason: a text for people; the `detail` of the calls that are dropped.
        """
        if self._life == "closed":
            return []
        machine = self._machine
        self._stop()
        machine.close("aborted", reason)
        return self._collect()

    def fail(self, reason: str) -> list[Event[ArgsT]]:
        """End the stream because its source failed, and return the last events; once.

        A lost connection is not an end of the stream: a fatal fault `source_failed` reports it, every open call is
        dropped, and the turn has the reason `error`. Bytes of an incomplete frame are not read any more.

        Args:
            reason: a text for people; the `detail` of the fault, and of the calls that are dropped.
        """
        if self._life == "closed":
            return []
        machine = self._machine
        self._stop()
        machine.explain(reason)
        machine.advance([WireFault("source_failed", reason, fatal=True)])
        machine.close()
        return self._collect()

    def snapshot(self) -> bytes:
        """Return the parser's whole state as bytes (MessagePack), between any two feeds; the parser does not change.

        The parser that `restore` makes continues like this one, in another process too: same events, same turns. The
        snapshot includes the options, but not the tools. It holds the content of `turns`, and less after `forget`.
        Protect snapshots as you protect a session: an attacker who can change them can change the arguments of a tool.

        Raises:
            TypeError: a registered dialect has state that it does not annotate; the message names it.
        """
        from wholecall.stream.snapshots import rows  # noqa: PLC0415 - few streams are moved, and the import is slow

        live = self._live
        self._machine.keep()
        options = MovedOptions(
            dialect=self.dialect,
            framing=None if self._framing is None else table.name_of(self._framing),
            events=self._events,
            live=live is not None,
            watch=None if live is None else live.watch,
            text=self._text,
            policy=self._policy,
            limits=self._limits,
            tools=None if self._tools is None else tuple(sorted(self._tools)),
            output=self._wanted is not None,
            resets={
                **({} if live is None else live.resets()),
                **(self._live_output.resets() if self._live_output else {}),
            },
        )
        return rows.sealed(options, self._roots())

    @overload
    @classmethod
    def restore(
        cls, data: BytesLike, *, tools: None = None, output: Any = ...
    ) -> ToolCallParser[dict[str, Any]]: ...
    @overload
    @classmethod
    def restore(
        cls, data: BytesLike, *, tools: TypedTools[ArgsT], output: Any = ...
    ) -> ToolCallParser[ArgsT]: ...
    @overload
    @classmethod
    def restore(cls, data: BytesLike, *, tools: AnyTools, output: Any = ...) -> ToolCallParser[Any]: ...
    @classmethod
    def restore(cls, data: BytesLike, *, tools: Any = None, output: Any = None) -> ToolCallParser[Any]:
        """Return a parser that continues where the parser of this snapshot stopped.

        Args:
            data: the result of `snapshot`.
            tools: those that the parser had; compared by their names, and used again for the `value` of calls that they
                accepted.
            output: the `output` that the parser had; used again for the `value` of answers that it accepted.

        Raises:
            BadSnapshot: it is not a snapshot, or is damaged or forged, or has another version, an unknown dialect or
                other tools.
            TypeError, ValueError, ImportError: `data` is not bytes, or `tools` or `output` describes none.
        """
        from wholecall.stream.snapshots import rows  # noqa: PLC0415 - as above

        options, reading = rows.opened(data, MovedOptions)
        known = tools if tools is None or isinstance(tools, Tools) else Tools(tools)
        parser = cls(tools=cast("AnyTools", known), output=output, **options.of_parser(known, output))
        parser._may_begin_in = ""
        parser._made()
        makers: dict[type, Callable[[], Any]] = {
            PayloadPartsFraming: partial(PayloadPartsFraming, parser._limits)
        }
        reading.fill(parser._roots(), makers | parser._assembler.makers())
        for key, resets in options.resets.items():
            if not parser._follows(key, resets):
                raise BadSnapshot("a call or an answer is followed live that nobody watches")
        if parser._life == "closed":
            parser._stop()
        return parser

    def _follows(self, key: tuple[int, int, int], resets: int) -> bool:
        """Continue to follow a call or an answer of a snapshot; return False if it cannot be followed."""
        turn, choice, index = key
        if index < 0:
            answer = self._assembler.answer(turn, choice)
            if self._live_output is None or answer is None:
                return False
            self._live_output.follow((turn, choice), answer.text, resets, is_over=answer.is_over)
            return True
        call = self._assembler.call(*key)
        return self._live is not None and call is not None and self._live.follow(call, resets)

    def _roots(self) -> list[object]:
        """Return the objects that a new parser has and a snapshot fills: the parser and its parts."""
        translator = self._translator
        wrapped = None if translator is None else translator.wrapped
        parts = (self, self._assembler, self._opening, self._framing, translator, wrapped)
        return [part for part in parts if part is not None]

    def _stop(self) -> None:
        """Take no more input; and release the references to the parser itself, so that it is freed when unused."""
        self._framing, self._life = None, "closed"
        self._translate = nothing

    # The fast lane, and the machine after it.

    def _lane_for(self, data: BytesLike) -> Lane | None:
        """Choose and return a lane by the first bytes that are not comments, if there is one."""
        dialect, self._may_begin_in = self._may_begin_in, ""
        if type(data) is not bytes or self._life not in ("new", "bytes"):
            return None
        framing = None if self._framing is None else table.name_of(self._framing)
        lane, may_begin = lane_for(dialect, framing, data, self._asked())
        self._may_begin_in = dialect if may_begin else ""
        if lane is not None and self._framing is not None:
            lane.room = self._framing.room  # comments came
        self._lane = lane
        return lane

    def _lane_of(self, frame: Frame) -> Lane | None:
        """Return the lane of a stream that begins with a frame, if there is one."""
        dialect, self._may_begin_in = self._may_begin_in, ""
        if self._life not in ("new", "bytes"):
            return None
        return lane_of_frame(dialect, frame, self._asked())

    def _asked(self) -> Asked:
        return Asked(self._policy, self._limits, self._tools, self._events == "all")

    @property
    def _machine(self) -> Assembler:
        """The assembler, which has taken all input so far."""
        lane = self._lane or self._ended
        if lane is not None:
            lane.mark()
            self._leave(lane)
        return self._made()

    def _made(self) -> Assembler:
        """Return the assembler, which is made when it is first needed."""
        if not self._is_made:
            self._is_made = True
            pieces = self._events == "all"
            machine = assembling.assembler(
                self._text, self._policy, self._limits, self._tools, pieces=pieces, output=self._wanted
            )
            self._start(machine, self._limits)
            self._collect = machine.take
            for follower in (self._live, self._live_output):
                self._collect = self._collect if follower is None else follower.after(self._collect)
        return self._assembler

    def _leave(self, lane: Lane) -> None:
        """Let the machine take the input that a lane has kept; its events were emitted already."""
        self._lane = self._ended = None
        self._made()
        self._translate = self._translate_first
        kept, begun = lane.kept(), lane.held or lane.body
        room = None if lane.room is None else lane.room + len(begun)
        if kept:
            self._life = "frames"
        if lane.held is not None and (kept or room != self._limits.max_stream_bytes):
            self._framing = FRAMINGS[lane.framing](self._limits)
            self._framing.room = room
        for entry in kept:
            if entry is None:
                self._assembler.forget()
            elif isinstance(entry, Frame):
                self._assembler.advance(self._translate([entry.data], entry))
            else:
                self._assembler.advance(lane.run(entry, self._translator))
        self._collect()
        if begun:
            self.feed(begun)
        if lane.is_over:
            self._end()

    # Framing.

    def _refuse_if_closed(self) -> None:
        if self._life == "closed":
            raise StreamClosed("the stream is closed; use a new parser for another stream")

    def _choose_framing(self, data: BytesLike) -> Framing | None:
        self._refuse_if_closed()
        self._made()
        self._head += checked(data)
        name = opening.framing_of(self._head)
        if name is not None:
            self._framing = FRAMINGS[name](self._limits)
        return self._framing

    def _close_framing(self) -> None:
        framing, came, self._life = self._framing, self._life, "closing"
        if framing is None:
            came = "bytes" if self._head else came
        elif self._take_singly(framing, framing.close()):
            came = "frames"
        if came == "bytes" and not self._assembler.failed:
            detail = "bytes arrived but no event; were line ends removed, as by iter_lines()?"
            self._assembler.advance([WireFault("not_sse", detail)])
