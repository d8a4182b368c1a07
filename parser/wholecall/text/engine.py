"""The engine: its input is text in pieces, its output spans of text, reasoning, markup, calls or drops.

Theory of operation. A walk over the source (a generator) is suspended while the text so far leaves the next step open.
It goes from commit to commit: visible text is shown, a marker acted on, a region ended. *Between two commits nothing is
emitted*, and all that counts is in `State` and in the held text. Therefore the walk can restart at the last commit,
which is how the engine is restored, and why the division into pieces affects only the time of output, not its
content.

In mode *text* the walk looks for the earliest literal of the format and decides, by its place, whether it is a marker
or prose. In *reasoning* it looks for the end of the reasoning; calls in it count by the policy `in_reasoning`. The
*body* of a message to the user is shown as it comes. A marker opens a region, read by the readers of its record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Final

from wholecall.text import blocks, body_calls, markers, messages, nested_calls, records, tagged_calls
from wholecall.text.formats_shared import TURNS
from wholecall.text.outputs import Output, Shown
from wholecall.text.region import NotOne, Region, Unreadable
from wholecall.text.rules import are_closers
from wholecall.text.source import EngineEnded, Source, Waiting
from wholecall.text.state import Saved
from wholecall.text.telling import Teller
from wholecall.text.weak_calls import read_weak

if TYPE_CHECKING:
    from wholecall.limits import Limits
    from wholecall.text.options import InFence, InReasoning
    from wholecall.text.rules import Rules
    from wholecall.text.tools import Declared

_LONGEST_EDGE: Final = 4096  # characters of white space that wait for a marker

READERS: Final[dict[type, Callable[..., Waiting]]] = {
    records.Block: blocks.read_block,
    records.Tag: tagged_calls.read_tag,
    records.Nested: nested_calls.read_nested,
    records.Body: body_calls.read_body_call,
}


class TextEngine(Teller):
    """Reads one text."""

    def __init__(
        self, rules: Rules, declared: Declared, limits: Limits, *, prompt: str = "",
        in_reasoning: InReasoning = "unclosed", in_fence: InFence = "text",
    ) -> None:  # fmt: skip
        super().__init__(rules.naming(declared), declared, limits)
        self.in_reasoning = in_reasoning
        self.in_fence = in_fence
        self._walk = self._run()
        if prompt:
            self._begin_with(prompt)

    def feed(self, piece: str) -> list[Output]:
        """Take the next piece of the text, and return the decided outputs."""
        calm = self.calm
        if calm is None:
            return self._taken(piece)
        for character in calm:
            if character in piece:
                return self._taken(piece)
        if "\n" in piece:  # else nothing of the state changes
            self.state.saw(piece)
            self.calm = calm if not self.state.bol and self.state.blocks.is_decided() else None
        return [Shown(piece, self.aside)] if piece else []

    def _taken(self, piece: str) -> list[Output]:
        self.source.append(piece)
        return self._resume()

    def close(self, ended: EngineEnded) -> list[Output]:
        """End the text, and return the remaining outputs."""
        self.source.eof, self.source.ended = True, ended
        return self._resume()

    @property
    def is_holding(self) -> bool:
        """Whether text is held until later text decides it."""
        return self.source.size > max(self.done, self.hidden)

    @property
    def held(self) -> str:
        """The text that was not emitted yet."""
        return self.source.text(self.done, self.source.size)

    def saved(self) -> Saved:
        """Return the state from which an engine with the same rules, tools and limits can continue."""
        return Saved(
            state=self.state.copied(),
            held=self.held,
            hidden=max(self.hidden - self.done, 0),
            weak_after=max(self.weak_after - self.done, 0),
        )

    def restore(self, saved: Saved) -> None:
        """Continue where another engine was; this engine has to be new.

        Between two commits nothing is emitted, so the text since the last one is read again from there.
        """
        self.source = Source(self.source.window)
        self.state = saved.state.copied()
        self.done, self.hidden, self.weak_after = 0, saved.hidden, saved.weak_after
        self.source.append(saved.held)
        self._walk = self._run()
        self.out = self._resume()
        if self.out:
            self.calm = None

    def _resume(self) -> list[Output]:
        self.calm = None
        next(self._walk, None)
        out, self.out = self.out, []
        return out

    def _begin_with(self, prompt: str) -> None:
        prompt = prompt[max(0, *map(prompt.rfind, TURNS)) :]
        self.source.append(prompt)
        self.hidden = len(prompt)
        self._resume()
        if self.done == self.hidden and self.state.mode == "text":
            self.state.edge = self.state.bol = True
            self._walk = self._run()
            self._resume()

    # The walk.

    def _run(self) -> Waiting:
        source = self.source
        source.pos = self.done
        while not (source.eof and self.done >= source.size):
            yield from self.MODES[self.state.mode](self)

    def _text(self) -> Waiting:
        """Show text up to the next literal, and decide its meaning."""
        source, state = self.source, self.state
        if state.edge:
            following = yield from source.space(_LONGEST_EDGE)
            if not following:
                self.tell_markup(source.pos)
                return
            if source.pos - self.done >= _LONGEST_EDGE:
                self.show(source.pos)
                return
        literal = yield from self.shown_up_to(self.rules.text, source.pos)
        if literal is not None:
            yield from self._decide(literal)

    def _reasoning(self) -> Waiting:
        source, state = self.source, self.state
        if state.fresh:
            following = yield from source.space()
            opener = yield from source.take(markers.matcher(self.rules.thinks))
            if opener is not None or not following:
                state.fresh = False
                self.tell_markup(source.pos)
                return
        marks = self.rules.reasoning(state.ends, calls=self.in_reasoning != "ignore")
        literal = yield from self.shown_up_to(marks, source.pos)
        if literal is None:
            return
        if literal in state.ends:
            source.pos += len(literal)
            self.tell_markup(source.pos)
            self._end_reasoning()
        elif (yield from self.is_quoted()):
            self.as_text(literal)
        elif literal in self.rules.form.imply or self.in_reasoning == "call":
            self._end_reasoning()
        else:
            yield from self._undecided_reasoning(state.ends)

    def _end_reasoning(self) -> None:
        self.state.mode = "text"
        self.state.begin()

    def _undecided_reasoning(self, ends: tuple[str, ...]) -> Waiting:
        """Hold a call in reasoning until it is known whether the reasoning closes; if not, there is no call."""
        source = self.source
        start = source.pos
        most = self.limits.max_held_text
        closer = yield from source.find(markers.matcher(ends), most)
        meant = closer is None and source.at_end and source.ended == "clean" and self._is_all_calls(start)
        if not meant:
            self.show(source.pos)
            return
        source.pos = start
        self._end_reasoning()

    def _is_all_calls(self, start: int) -> bool:
        """Return whether there is nothing but calls and markup from here to the end of the text.

        A call in further reasoning is none here: it would be asked about the rest of the text in turn.
        """
        rest = TextEngine(
            self.rules, self.declared, self.limits, in_reasoning="ignore", in_fence=self.in_fence
        )
        told = [*rest.feed(self.source.text(start, self.source.size)), *rest.close("clean")]
        return not any(isinstance(output, Shown) and output.text.strip() for output in told)

    def _body(self) -> Waiting:
        yield from messages.read_body(self)

    MODES: ClassVar[dict[str, Callable[[TextEngine], Waiting]]] = {
        "text": _text,
        "reasoning": _reasoning,
        "body": _body,
    }

    # The meaning of a literal.

    def _decide(self, literal: str) -> Waiting:
        """Act on the literal at the cursor."""
        state, rules = self.state, self.rules
        if literal in rules.only_weak and not (state.bol or state.edge):
            self.as_text(literal)
            return
        if (yield from self.is_quoted()):
            self.as_text(literal)
            return
        if literal in rules.openers:
            yield from self._region(literal)
        elif literal in rules.thinks and (state.edge or state.bol or rules.is_special(literal)):
            self._pass(literal)
            state.mode, state.ends, state.fresh = "reasoning", rules.thinks[literal], True
        elif literal in rules.unthinks:
            self._pass(literal)
            state.bol = True
        elif literal in rules.closers and (literal in state.owed or state.edge or rules.is_special(literal)):
            self._close(literal)
        elif literal in rules.lone:
            yield from self._lone_closers()
        elif literal in rules.noise:
            yield from self._noise(literal)
        elif literal in rules.starts:
            yield from messages.read_header(self, literal)
        elif literal in rules.weak_openers and (yield from read_weak(self, literal)):
            return
        else:
            self.as_text(literal)

    def _pass(self, literal: str) -> None:
        self.source.pos += len(literal)
        self.tell_markup(self.source.pos)

    def _close(self, literal: str) -> None:
        """Pass an owed closer, and all that became owed since."""
        state = self.state
        self._pass(literal)
        if literal in state.owed:
            last = len(state.owed) - 1 - state.owed[::-1].index(literal)
            state.owed = state.owed[:last]
        if literal in state.wrapper:
            state.wrapper = ()

    def _noise(self, literal: str) -> Waiting:
        """Pass noise: a token by its looks, or a literal with nothing but markup around it."""
        source = self.source
        if self.rules.has_bar(literal) or self.state.edge:
            self._pass(literal)
            return
        source.pos += len(literal)
        while (yield from source.space()) and (yield from source.take(self.rules.behind_noise)) is not None:
            pass
        if source.at_end:
            self.tell_markup(source.pos)
        else:
            self.show(source.pos)

    def _lone_closers(self) -> Waiting:
        """Pass closers without a call if only markup follows them to the end of the text; else they are text."""
        source, rules, state = self.source, self.rules, self.state
        closers: list[str] = []
        end, is_text = source.pos, True
        while (taken := (yield from source.take(rules.behind_lone))) is not None:
            closers += [taken] if taken in rules.ends else []
            is_text = is_text and taken in rules.lone and (len(closers) == 1 or taken not in state.owed)
            end = source.pos if is_text else end
            yield from source.space()
        if source.at_end and not state.opened and are_closers(closers):
            self.tell_markup(source.pos, dangling=True)
        else:
            source.pos = end
            self.show(end)

    # Regions.

    def _region(self, opener: str) -> Waiting:
        source, record = self.source, self.rules.openers[opener]
        region = self.new_region(opener, record.closes, self.limits.max_arguments_bytes)
        source.pos += len(opener) - (record.overlap if isinstance(record, records.Block) else 0)
        try:
            yield from READERS[type(record)](region, record, self.rules)
        except NotOne:
            yield from self._rejected(region, opener)
            return
        except Unreadable as error:
            region.drop(source.pos, error.reason, error.detail, error.name)
        self.finish(region)

    def _rejected(self, region: Region, opener: str) -> Waiting:
        """Show an opener that opened nothing; after a wrapper, which was taken for markup already, it is a drop."""
        source, state = self.source, self.state
        if not state.in_wrapper:
            source.pos = region.start
            self.as_text(opener)
            return
        region.commit()
        closer = yield from source.find(markers.matcher(state.wrapper))
        if closer is not None:
            source.pos += len(closer)
            state.owed, state.wrapper = state.owed[: -len(state.wrapper) or None], ()
        region.drop(source.pos, "unparseable", "what stands in the wrapper is no call")
        self.finish(region)
