"""The repairer: reads the bytes of any event stream, and returns the bytes of a strict one.

Theory of operation. The stream is cut into blocks of one event each. Every block goes to the parser, and then with the
parser's events to the dialect's *rewriter*, which passes, holds or edits it. Blocks wait until the dialect is known. A
stream of a dialect without a rewriter, or a stream that is not an event stream, passes unchanged from then on. The output
depends on the bytes alone, not on how they were cut.

A stream that lacks its dialect's end ends for the client with an error frame. So does a stream all of whose calls were
withheld, unless the caller chose otherwise (`withholding`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.events import Event, StreamFault
from wholecall.calls.tools.tool import AnyTools, Tools
from wholecall.dialects.table import named
from wholecall.errors import StreamClosed, Uncopyable
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.repairing.beginning import Beginning, Lookout
from wholecall.repairing.blocks import Blocks, ended, has_id, is_empty, silent
from wholecall.repairing.leaks import Leaks
from wholecall.repairing.pieces import Piece, PieceReader
from wholecall.repairing.report import Ledger, RepairReport
from wholecall.repairing.rewriter import Rewriter, most_of, never_ended
from wholecall.repairing.table import WIRES
from wholecall.repairing.templates import FrameTemplate
from wholecall.repairing.withholding import Withheld, checked
from wholecall.stream.parser import ToolCallParser
from wholecall.text.options import TextWanted, text_calls

_MOST_SAID = 65536  # bytes after which their text is forgotten

Dropped = Callable[[ToolCallDropped], object]
Faulty = Callable[[StreamFault], object]


class Repairer(Beginning, Uncopyable):
    """Turn the event stream of any server into a strict one, while it streams.

    Calls are emitted whole, with whole names, stable ids, dense indices and JSON arguments, or not at all. Text,
    reasoning and everything unknown passes unchanged, except frames that no client can read: frames without a JSON
    object, and events without a type. A healthy stream passes unchanged.

    Args:
        tools: the tools that the model was given, as for `ToolCallParser`.
        live_arguments: whether calls are shown while their arguments arrive; the last brace follows the verdict. Slips
            are repaired before they are shown. No dialect can take back a shown call: if it is cut, fits no tool, or
            gets another id, name or other arguments than it began with, the stream ends with an error frame, for which
            clients raise. By default calls are held until they are whole.
        withheld: how a turn ends that claims success but whose calls were all withheld. `"error"` ends the stream with
            an error frame that names the tools and the reasons, and for which clients raise. `"end"` ends it with a
            fitting reason: `length` after a cut, else `stop`, which agents take for the end of their work. `"auto"` is
            `"error"`, except for cut calls of Anthropic streams: they end with `max_tokens`, after which agents ask the
            model to continue. Wire reasons that report a failure (`length`) always stay.
        on_dropped: called with each withheld call, which holds the reason.
        on_fault: called with each fault of the wire.
        text: calls that the model writes as text, as for `ToolCallParser`: they are emitted as structured calls, and
            removed from the text.
        expected: the requested dialect, where the endpoint shows it. A stream that begins as another dialect, or as
            none, is read as this one from its first decisive frame on, and frames are taken out of their envelopes
            (quirk 120). With None the beginning alone decides, and such frames pass.
        legacy: whether the request lists `functions`, so that its client reads a `function_call` (Chat Completions);
            False for a request with `tools`. Calls in the other form are rewritten. With None they keep their form.
        policy: how calls are judged.
        limits: bounds of a stream; `max_pending_frames_bytes` bounds the frames that wait for the dialect, and
            `max_event_bytes` those that wait for a verdict.

    Raises:
        TypeError, ValueError, ImportError: `tools` does not describe tools; see `Tools`. `withheld` is not one of its
            words.
    """

    def __init__(
        self,
        *,
        tools: AnyTools | None = None,
        live_arguments: bool = False,
        withheld: Withheld = "auto",
        on_dropped: Dropped | None = None,
        on_fault: Faulty | None = None,
        text: TextWanted = None,
        expected: str | None = None,
        legacy: bool | None = None,
        policy: Policy = Policy(),  # noqa: B008 - frozen
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        wanted = text_calls(text)
        known = tools if tools is None or isinstance(tools, Tools) else Tools[Any](tools)

        def new_parser(dialect: str = "auto") -> ToolCallParser[Any]:
            return ToolCallParser(dialect, tools=known, framing="sse", policy=policy, limits=limits)

        def new_leaks() -> Leaks | None:
            return None if wanted is None else Leaks(wanted, tools=known, policy=policy, limits=limits)

        self._new_parser, self._new_leaks = new_parser, new_leaks  # see `_start_again`
        self._leaks = new_leaks()
        asked = None if expected is None else named(expected).name
        wire = WIRES.get(asked or "")
        super().__init__(
            new_parser(),
            limits,
            live=live_arguments,
            withheld=checked(withheld),
            legacy=legacy,
            only_data=wire is not None and wire.rewriter.only_data,
        )
        self._blocks = Blocks()
        self._most = most_of(limits.max_event_bytes)
        self._expected = asked  # until the stream is known to be of that dialect
        self._lookout: Lookout | None = None  # made when it is another dialect
        self._most_alike = min(self._most, most_of(limits.max_line_bytes))
        self._pieces = PieceReader(limits, self._most_alike)
        self._on_dropped = on_dropped
        self._on_fault = on_fault
        self._ledger = Ledger()
        self._has_ids = False
        self._n_kept = 0  # bytes of which the parsers may hold the text
        self._closed = False

    def __repr__(self) -> str:
        state = "closed" if self._closed else "ended" if self.ended else "open"
        return f"<Repairer {self._parser.dialect} {state}>"

    @property
    def ended(self) -> bool:
        """Return whether the stream was ended by an error of ours; nothing more is sent then."""
        return self._error is not None

    @property
    def _error(self) -> str | None:
        return self._refused if self._rewriter is None else self._rewriter.failed

    @property
    def report(self) -> RepairReport:
        """The report of the stream so far."""
        rewriter, lookout = self._rewriter, self._lookout
        held = len(self._head) + len(self._blocks) + sum(map(len, self._waiting))
        held += 0 if lookout is None else lookout.held
        return self._ledger.report(
            dialect=self._parser.dialect,
            ended=self._is_over,
            error=self._error,
            held=0 if self._closed else held + (0 if rewriter is None else rewriter.held),
            unread=self._error is None
            and (self._passes or (self._closed and self._begun and rewriter is None)),
        )

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes of the stream, cut anywhere, and return the bytes that may be sent now.

        Raises:
            StreamClosed: the repairer was closed or aborted.
        """
        if self._closed:
            raise StreamClosed("the stream is closed; use a new repairer for another stream")
        self._n_kept += len(data)
        if self._n_kept > _MOST_SAID:
            self._forget_said()
        over = b""  # bytes beyond the limit of the stream
        if self._room is not None:
            self._room -= len(data)
            if self._room < 0:
                data, over = data[: self._room], data[self._room :]
        rewriter = self._rewriter
        if not over and rewriter is not None and rewriter.template is not None and self._leaks is None:
            is_whole = type(data) is bytes and not self._blocks.is_open
            if is_whole and self._fits(data, rewriter, rewriter.template):
                return self._go_on(
                    data, rewriter, rewriter.template
                )  # one event per read, as in most streams
        elif self.ended:
            return b""
        elif self._passes:
            return self._passed(data)
        elif not self._begun:
            data = self._begin(data)
            if self._passes:
                return self._passed(data)
        return self._cut(data, over[:1])

    def _forget_said(self) -> None:
        """Let the parsers forget text and reasoning; they are kept for turns, which are not used here."""
        self._n_kept = 0
        self._parser.forget()
        if self._leaks is not None:
            self._leaks.forget()

    def _cut(self, data: bytes, over: bytes) -> bytes:
        """Cut bytes into blocks and return those that may be sent; a block that is too large is not waited for.

        The byte that is over the limit of the stream goes to the parser, which ends the stream.
        """
        out = self._read(self._blocks.feed(data))
        if self._blocks.is_open and len(self._blocks) > self._most and not self.ended:
            out.append(self._give_up())
        if self._passes:
            out.append(self._blocks.close())
            return self._passed(b"".join(out))
        if over and not self.ended:
            out += self._read([self._blocks.close() + over])
            if not self.ended:
                out.append(self._refuse())
        return b"".join(out)

    def close(self) -> bytes:
        """End the stream and return the remaining bytes; a second call returns nothing."""
        if self._closed:
            return b""
        self._closed = True
        tail = self._head + self._blocks.close()
        if self._passes or not self._begun:
            return b"" if self.ended else self._end_passing(tail)
        if self.ended:
            is_over = self._is_over
            self._break_off(self._parser.abort("the stream was ended by an error"), is_over=is_over)
            return b""
        return self._end(tail)

    def fail(self, code: str, message: str) -> bytes:
        """End the stream because its source failed, and return the remaining bytes.

        These are the waiting text and the dialect's error frame, for which clients raise, but no call. If the turn had
        already ended (`report.ended`) nothing was lost, and the result is that of `close`. For a stream that is not
        repaired the result is the waiting bytes, unchanged: there is no form for an error.

        Args:
            code: for programs, such as `upstream_lost`; Anthropic's frame has no place for it.
            message: for people, and shown to them; also the `detail` of the calls that are dropped.
        """
        if self._closed:
            return b""
        is_over = self._is_over
        self._closed = True
        leaked = b"" if self._leaks is None else self._leaks.held
        passing = b"" if self._lookout is None else b"".join(self._lookout.close())
        tail = self._head + b"".join(self._waiting) + leaked + self._blocks.close() + passing
        events = self._parser.close() if is_over else self._parser.fail(message)
        self._break_off(events, is_over=is_over)
        rewriter = self._rewriter
        if rewriter is None:
            return b"" if self.ended else tail
        return self._given(self._taken([], events) if is_over else rewriter.fail(code, message))

    def ping(self) -> bytes:
        """Return a frame that only shows that the server is alive; nothing where none is allowed.

        For connections that are silent while a call is held: clients and balancers give up on those. It may be sent at
        once, after the bytes returned before. Chat gets a chunk with an empty delta, Anthropic a `ping`, Responses a
        `keepalive` with the last number; each only between the first event of a turn and its end. Gemini gets nothing:
        it has no empty response.
        """
        if self._closed or self._rewriter is None or self.ended:
            return b""
        return self._rewriter.ping()

    def abort(self, reason: str = "aborted by the caller") -> None:
        """Drop open calls and forget waiting bytes: the stream broke off.

        Args:
            reason: for people; the `detail` of the calls that are dropped.
        """
        if not self._closed:
            is_over = self._is_over
            self._closed = True
            self._break_off(self._parser.abort(reason), is_over=is_over)

    # Blocks.

    def _read(self, blocks: Sequence[bytes]) -> list[bytes]:
        """Return the bytes of blocks that may be sent now; consecutive text is read at once."""
        leaks = self._leaks
        if leaks is not None:
            blocks = leaks.take(blocks)
            self._note_leaks(leaks)
        return self._mended(blocks)

    def _note_leaks(self, leaks: Leaks) -> None:
        dropped, leaks.dropped = leaks.dropped, []
        self._note(dropped)
        self._ledger.mended = self._ledger.mended or leaks.is_mended

    def _mended(self, blocks: Sequence[bytes]) -> list[bytes]:
        out: list[bytes] = []
        at = 0
        while at < len(blocks):
            rewriter = self._rewriter
            template = None if rewriter is None else rewriter.template
            if rewriter is None or template is None or not self._fits(blocks[at], rewriter, template):
                leaks = self._leaks
                out.append(self._block(blocks[at]))
                at += 1
                if self._leaks is not leaks:  # see `_start_again`
                    return [*out, *self._read(blocks[at:])]
                continue
            start, at = at, at + 1
            # A call may end in any frame: these are read one by one.
            is_run = not template.is_call
            while is_run and at < len(blocks) and self._fits(blocks[at], rewriter, template):
                at += 1
            out.append(self._go_on(b"".join(blocks[start:at]), rewriter, template))
        return out

    def _fits(self, block: bytes, rewriter: Rewriter[Any], template: FrameTemplate) -> bool:
        """Return whether a block is from the template of the previous block, and within the limits."""
        return len(block) <= self._most_alike and rewriter.has_room(block) and template.fits(block)

    def _go_on(self, block: bytes, rewriter: Rewriter[Any], template: FrameTemplate) -> bytes:
        """Take a block from the template of the previous one, and treat it in the same way if the parser agrees."""
        events = self._parser.feed(block)
        if not template.agrees(events):
            return self._judged(block, events)
        if not template.is_call:
            rewriter.shown(template.number)
            return block
        self._pieces.skip(block)
        return self._given(rewriter.go_on(block, template.text, events), block)

    def _block(self, block: bytes) -> bytes:
        if self._passes:
            return block
        if self.ended:
            return b""
        if len(block) > self._most:  # as for blocks that arrive in pieces
            return self._give_up() + (block if self._rewriter is None else b"")
        return self._judged(block, self._parser.feed(block))

    def _passed(self, data: bytes) -> bytes:
        """Return bytes of a passing stream, and repair it from the first frame of the requested dialect on."""
        lookout = self._looking_out
        if lookout is None:
            return super()._passed(data)
        if self._room_is_up or lookout.is_full:
            self._expected = self._lookout = None
            return super()._passed(b"".join(lookout.close(data)))
        out, ours = lookout.take(data)
        return out + self._start_again() + self._cut(ours, b"") if ours else out

    def _end_passing(self, data: bytes) -> bytes:
        """End a passing stream, unless its last bytes are of the requested dialect."""
        lookout = self._looking_out
        out, ours = (data, b"") if lookout is None else lookout.close(data)
        if ours:
            return out + self._start_again() + self._cut(ours, b"") + self._end(self._blocks.close())
        self._parser.abort()  # its state is of no use
        return out

    @property
    def _looking_out(self) -> Lookout | None:
        """Return the lookout for frames of the requested dialect; None without one."""
        if self._lookout is None and self._expected is not None:
            self._lookout = Lookout(self._expected, self._limits, self._most)
        return self._lookout

    def _start_again(self) -> bytes:
        """Read the following bytes as the requested dialect; return the waiting bytes, except calls."""
        self._note(self._parser.abort("another dialect was asked for"))
        held, self._waiting = b"".join(self._waiting), []
        out = held if self._rewriter is None else self._given(self._rewriter.leave())
        self._parser = self._new_parser(dialect=self._expected or "auto")
        self._leaks = self._new_leaks()
        self._rewriter, self._expected, self._lookout = None, None, None
        self._passes, self._begun = False, True
        return out

    def _is_ours(self, block: bytes) -> bool:
        """Return whether a block is of the requested dialect, in a stream of another dialect so far."""
        parser = self._parser
        if parser.dialect == self._expected:
            self._expected = None  # the requested dialect from the beginning, as in nearly all streams
            self._opens = parser.is_enveloped
            return False
        lookout = self._looking_out if parser.dialect is not None else None
        return lookout is not None and lookout.sees(block)

    def _judged(self, block: bytes, events: Sequence[Event[Any]]) -> bytes:
        """Take a block and the parser's events for it."""
        if self._expected is not None and self._is_ours(block):
            return self._start_again() + b"".join(self._read([block]))
        if self._has_ids:
            block = block.lstrip(b"\r\n")  # see `silent`
        self._has_ids = self._has_ids or has_id(block)
        if events:
            self._note(events)
        rewriter = self._rewriter
        if rewriter is None:
            return self._find_rewriter(block, events)
        rewriter.template = None
        if not self._opens and rewriter.passes(block, events):
            return block
        return self._mend(block, events)

    def _mend(self, block: bytes, events: Sequence[Event[Any]]) -> bytes:
        if is_empty(block):
            self._pieces.skip(block)
            found = []
        else:
            found = self._opened(self._pieces.read(block))
        if found or events:
            out = self._taken(found, events)
        else:
            out = b"" if self._only_data else silent(block, has_ids=self._has_ids)
        return self._given(out, block)

    def _opened(self, found: list[Piece]) -> list[Piece]:
        """Return frames without their envelopes, which clients of the requested dialect do not open."""
        return [piece.opened() for piece in found] if self._opens else found

    def _given(self, out: bytes, block: bytes = b"") -> bytes:
        """Return the output for a block, after entering both in the ledger."""
        rewriter = self._rewriter
        self._ledger.book(block, out, is_all=rewriter is None or not rewriter.held)
        return out

    def _taken(self, found: Sequence[Piece], events: Sequence[Event[Any]]) -> bytes:
        assert self._rewriter is not None
        return self._rewriter.receive(found, events)

    def _end(self, tail: bytes) -> bytes:
        """Read the bytes without a blank line after them, as the parser does, and release the waiting bytes."""
        leaks, early = self._leaks, b""
        if leaks is not None:
            early = b"".join(self._mended(leaks.close()))
            self._note_leaks(leaks)
        return early + self._last(tail)

    def _last(self, tail: bytes) -> bytes:
        events = [*(self._parser.feed(tail) if tail else ()), *self._parser.close()]
        self._note(events)
        held, self._waiting = self._waiting, []
        self._rewriter = self._rewriter or self._new_rewriter()
        if self._rewriter is None:
            return self._end_passing(b"".join([*held, tail]))
        if not (tail or events or held):
            return b""  # the turn has ended
        early = b"".join(self._mend(block, []) for block in held)
        whole = ended(tail)
        found = self._opened(self._pieces.end(tail, whole))
        out = self._taken(found, events) + self._missing_end(events)
        out = early + self._given(out, whole if found else b"")
        if not found:
            return out if self.ended or self._only_data else out + tail
        if all(piece.payload is None for piece in found) and out.endswith(whole):
            return out.removesuffix(whole) + tail  # `[DONE]`, or unreadable bytes: unchanged
        return out

    def _missing_end(self, events: Sequence[Event[Any]]) -> bytes:
        """Return the error that ends a stream whose turn did not end."""
        rewriter = self._rewriter
        assert rewriter is not None
        if not never_ended(events) or rewriter.is_done:
            return b""
        self._ledger.ended = False
        return rewriter.fail_incomplete()

    @property
    def _is_over(self) -> bool:
        """Return whether the provider has ended the turn: by a reason for each choice, or by a `[DONE]`."""
        if self._closed or self._ledger.ended:
            return self._ledger.ended
        if self._rewriter is not None and self._rewriter.is_done:
            return True
        return self._parser.has_reasons

    def _break_off(self, events: Sequence[Event[Any]], *, is_over: bool) -> None:
        """Note the last events of a stream that did not end."""
        self._note(events)
        self._ledger.ended = is_over

    def _note(self, events: Sequence[Event[Any]]) -> None:
        self._ledger.note(events)
        if self._on_dropped is None and self._on_fault is None:
            return
        for event in events:
            if self._on_dropped is not None and type(event) is ToolCallDropped:
                self._on_dropped(event)
            elif self._on_fault is not None and type(event) is StreamFault:
                self._on_fault(event)
