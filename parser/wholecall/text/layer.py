"""Between dialect and assembler: an engine reads the text, and calls written in it become deltas of calls.

Theory of operation. Each choice has one engine for its visible text and one for its reasoning, so that text fields,
reasoning fields and text blocks are read alike in every dialect. When a turn ends, or a choice gets its finish reason,
its texts end before that delta is passed on: held text is decided then. A fault that ends the stream, or an
abort, ends them without deciding: a call that was begun is a drop.

Reasoning in a separate channel never closes in the text itself. Under `unclosed` its calls count only if nothing
else came in the choice: a visible text or a structured call shows that the model continued, and then the calls were
thoughts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec
from msgspec.structs import replace

from wholecall import deltas
from wholecall.text.engine import TextEngine
from wholecall.text.outputs import Output, Shown, Unread, Written
from wholecall.text.rules import rules_of
from wholecall.text.state import Saved
from wholecall.text.tools import Declared
from wholecall.types import CUT_REASONS, DropReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wholecall.calls.tools.tool import Tools
    from wholecall.limits import Limits
    from wholecall.text.options import TextCalls
    from wholecall.text.source import Ended

_OF_CALLS = (
    deltas.CallSeen,
    deltas.CallWhole,
    deltas.Fragment,
    deltas.Labelled,
    deltas.Reread,
    deltas.Restated,
    deltas.Slot,
)


class _Channel(NamedTuple):
    """The place of a text: the turn's key, the choice, and whether it is reasoning."""

    turn: str | None
    choice: int
    is_reasoning: bool


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """One text in a snapshot: its channel, and the state that its engine needs to continue."""

    turn: str | None
    choice: int
    is_reasoning: bool
    saved: Saved
    block: deltas.ReasoningFragment | None


class TextLayer:
    """Reads the texts of one stream.

    Attributes:
        replaced: whether bytes of the stream were not UTF-8 and were replaced: a call with U+FFFD does not count.
        holed: whether text was lost: the lost text may have opened anything, so that nothing after it is a call.
    """

    replaced: bool
    holed: bool
    _turn: str | None
    _over: list[tuple[str | None, int]]
    _kept: list[Kept]

    DERIVED: ClassVar = frozenset(
        {"_wanted", "_declared", "_limits", "_rules", "_format", "_engines", "_blocks"}
    )

    def __init__(self, wanted: TextCalls, tools: Tools[Any] | None, limits: Limits) -> None:
        self._wanted = wanted
        self._declared = Declared(tools)
        self._limits = limits
        weak = wanted.weak_shapes() if tools is not None else frozenset()
        self._rules = rules_of(wanted.read_as(), weak)
        self._format = self._rules.form.name
        self._engines: dict[_Channel, TextEngine] = {}
        self._blocks: dict[
            _Channel, deltas.ReasoningFragment
        ] = {}  # the source of the last fragment of reasoning
        self._over = []  # choices with a finish reason: later text passes unchanged
        self.replaced = self.holed = False
        self._turn = None
        self._kept = []  # the engines, for a snapshot

    @property
    def is_holding(self) -> bool:
        """Whether text is held that may still become a call."""
        return any(engine.is_holding for engine in self._engines.values())

    def keep(self) -> None:
        """Note the state for a snapshot, including that of the engines."""
        self._kept = [
            Kept(
                turn=channel.turn,
                choice=channel.choice,
                is_reasoning=channel.is_reasoning,
                saved=engine.saved(),
                block=self._blocks.get(channel),
            )
            for channel, engine in self._engines.items()
        ]

    def remade(self) -> None:
        """Rebuild the engines."""
        for kept in self._kept:
            channel = _Channel(kept.turn, kept.choice, kept.is_reasoning)
            self._engine(channel).restore(kept.saved)
            if kept.block is not None:
                self._blocks[channel] = kept.block
        self._kept = []

    def read(self, told: Iterable[deltas.Delta]) -> Iterator[deltas.Delta]:
        """Yield the deltas with text-borne calls read."""
        for delta in told:
            of = delta.of if isinstance(delta, deltas.Run) else delta
            if (
                isinstance(of, (deltas.TextFragment, deltas.ReasoningFragment))
                and (self._turn, of.choice) in self._over
            ):
                yield delta
            elif isinstance(of, deltas.TextFragment):
                yield from self._text(of.choice, delta.texts if isinstance(delta, deltas.Run) else [of.text])
            elif isinstance(of, deltas.ReasoningFragment):
                yield from self._reasoning(of, delta)
            elif isinstance(of, _OF_CALLS):
                yield from self._release(of.choice)
                yield delta
            elif isinstance(delta, deltas.Finish):
                yield from self._end(delta.choice, "length" if delta.reason in CUT_REASONS else "clean")
                yield delta
            elif isinstance(delta, deltas.TurnEnded):
                yield from self._end_turn("clean", self._turn if delta.key is None else delta.key)
                yield delta
            elif isinstance(delta, deltas.TurnOpened):
                yield from self._opened(delta)
            elif isinstance(delta, deltas.WireFault) and delta.fatal:
                yield from self.abort()
                yield delta
            elif isinstance(delta, deltas.TextBegan) or (
                isinstance(delta, deltas.BlockKept) and delta.of_text
            ):
                pass  # text in which calls are read is no longer shown as a block of the wire
            else:
                self.holed = self.holed or (isinstance(delta, deltas.WireFault) and delta.hole)
                yield delta

    # The ends of texts.

    def _opened(self, delta: deltas.TurnOpened) -> Iterator[deltas.Delta]:
        """Start new texts for a message that begins anew, which ends the one before it, or has no key."""
        if delta.restart or delta.key is None:
            yield from self._end_turn("open", self._turn)
        if delta.restart and delta.key != self._turn:
            yield from self._end_turn("open", delta.key)
        self._turn = delta.key
        yield delta

    def _end_turn(self, ended: Ended, turn: str | None) -> Iterator[deltas.Delta]:
        yield from self.close(ended, turn)
        self._over = [over for over in self._over if over[0] != turn]
        self.holed = self.holed and bool(self._engines)

    def _end(self, choice: int, ended: Ended) -> Iterator[deltas.Delta]:
        for is_reasoning in (True, False):
            yield from self._ended(_Channel(self._turn, choice, is_reasoning), ended)
        if (self._turn, choice) not in self._over:
            self._over.append((self._turn, choice))

    def _ended(self, channel: _Channel, ended: Ended) -> Iterator[deltas.Delta]:
        engine = self._engines.pop(channel, None)
        if engine is not None:
            yield from self._told(channel, engine.close(ended))
        self._blocks.pop(channel, None)

    def close(
        self, ended: Ended, turn: str | None = None, *, all_turns: bool = False
    ) -> Iterator[deltas.Delta]:
        """End the texts of a turn, or of all turns, and yield their last deltas."""
        for channel in sorted(self._engines, key=lambda channel: (channel.choice, not channel.is_reasoning)):
            if all_turns or channel.turn == turn:
                yield from self._ended(channel, ended)

    def abort(self) -> Iterator[deltas.Delta]:
        """End all texts without deciding held text: a call that was begun is dropped, all else is text."""
        for channel in list(self._engines):
            held = self._engines.pop(channel).held
            if not held:
                continue
            if held.lstrip().startswith(tuple(self._rules.openers)):
                yield deltas.CallWritten(
                    channel.choice, None, None, "", held, flags=("from_text",), extra=self._extra(),
                    reason="aborted", detail="the turn was aborted in it",
                )  # fmt: skip
            else:
                yield from self._told(channel, [Shown(held, channel.is_reasoning)])

    # Texts.

    def _text(self, choice: int, texts: list[str]) -> Iterator[deltas.Delta]:
        if not all(map(str.isspace, texts)):
            yield from self._release(choice)
        channel = _Channel(self._turn, choice, False)
        engine = self._engines.get(channel) or self._engine(channel)
        outputs = [output for text in texts for output in engine.feed(text)]
        if outputs and all(type(output) is Shown and not output.reasoning for output in outputs):
            shown = [output.text for output in outputs if isinstance(output, Shown)]
            yield (
                deltas.TextFragment(choice, shown[0])
                if len(shown) == 1
                else deltas.Run(deltas.TextFragment(choice, ""), shown)
            )
        else:
            yield from self._told(channel, outputs)

    def _reasoning(self, of: deltas.ReasoningFragment, delta: deltas.Delta) -> Iterator[deltas.Delta]:
        """Read reasoning in a separate channel; its data other than text passes."""
        texts = delta.texts if isinstance(delta, deltas.Run) else [of.text]
        if self._wanted.in_reasoning == "ignore" or not any(texts):
            yield delta
            return
        channel = _Channel(self._turn, of.choice, True)
        before = self._blocks.get(channel)
        if before is not None and before.block != of.block and channel in self._engines:
            yield from self._release(of.choice)
        self._blocks[channel] = replace(of, text="", signature=None, data=None)
        engine = self._engines.get(channel) or self._engine(channel)
        yield from self._told(channel, [output for text in texts for output in engine.feed(text)])
        if of.signature is not None or of.data is not None:
            yield replace(of, text="")

    def _release(self, choice: int) -> Iterator[deltas.Delta]:
        """Release held reasoning: other content came, so that it was reasoning."""
        channel = _Channel(self._turn, choice, True)
        if channel in self._engines and self._wanted.in_reasoning == "unclosed":
            yield from self._ended(channel, "open")

    def _engine(self, channel: _Channel) -> TextEngine:
        wanted = self._wanted
        engine = TextEngine(
            self._rules, self._declared, self._limits,
            prompt="" if channel.is_reasoning else wanted.prompt,
            in_reasoning=wanted.in_reasoning, in_fence=wanted.in_fence,
        )  # fmt: skip
        if channel.is_reasoning and wanted.in_reasoning == "unclosed":
            engine.state.mode = "reasoning"
        self._engines[channel] = engine
        return engine

    # From spans to deltas.

    def _told(self, channel: _Channel, outputs: list[Output]) -> Iterator[deltas.Delta]:
        choice = channel.choice
        for output in outputs:
            if isinstance(output, Shown):
                yield self._shown(channel, output)
            elif isinstance(output, Written):
                yield deltas.CallWritten(
                    choice, output.name, output.id, output.arguments, output.source, output.edits,
                    ("from_text", *output.flags), self._extra(), *self._objection(output),
                )  # fmt: skip
            elif isinstance(output, Unread):
                yield deltas.CallWritten(
                    choice, output.name, output.id, "", output.source, flags=("from_text",), extra=self._extra(),
                    reason=output.reason, detail=output.detail,
                )  # fmt: skip
            elif output.dangling:
                yield deltas.Noted(choice, "dangling_marker")

    def _objection(self, output: Written) -> tuple[DropReason | None, str]:
        """Return the objection to a call that is whole by its text alone."""
        if self.holed:
            return "incomplete_input", "text was lost before it, or in it"
        if self.replaced and "\ufffd" in output.source:
            return "invalid_utf8", "its text held bytes that are not UTF-8"
        return None, ""

    def _shown(self, channel: _Channel, output: Shown) -> deltas.Delta:
        if channel.is_reasoning:
            return replace(self._blocks[channel], text=output.text)
        if output.reasoning:
            return deltas.ReasoningFragment(channel.choice, output.text, block="text")
        return deltas.TextFragment(channel.choice, output.text)

    def _extra(self) -> dict[str, Any]:
        return {"text_format": self._format}
