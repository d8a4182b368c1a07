"""Spans of a text from which calls are read: shown text, markup, a call, a drop.

Theory of operation. The engines that read the texts of a stream classify each span; spans that show no text and open no
call leave no trace in the events. This module only listens to the layer that calls the engines: its use of their
answers stays unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec

from wholecall.deltas import CallWritten, ReasoningFragment, TextFragment
from wholecall.discreet import discreet_repr
from wholecall.stream.written import TextAssembler
from wholecall.text.layer import TextLayer
from wholecall.text.outputs import Markup, Shown, Written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wholecall.deltas import Delta
    from wholecall.limits import Limits
    from wholecall.policy import Policy
    from wholecall.text.engine import TextEngine
    from wholecall.text.options import TextCalls
    from wholecall.text.outputs import Output
    from wholecall.text.source import Ended

__all__ = ["ListeningAssembler", "SpanKind", "TextSpan"]

SpanKind = Literal["text", "reasoning", "markup", "call", "drop"]


class TextSpan(msgspec.Struct, frozen=True):
    """A part of a text.

    Attributes:
        choice: the choice that the text belongs to.
        kind: the class of the span.
        text: the text as the model wrote it.
    """

    choice: int
    kind: SpanKind
    text: str

    __repr__ = discreet_repr


class ListeningAssembler(TextAssembler):
    """An assembler of one stream that also keeps the classes of the parts of its texts."""

    def __init__(self, wanted: TextCalls, policy: Policy, limits: Limits) -> None:
        super().__init__(wanted, policy, limits, None)
        self._layer = self._listening = _ListeningLayer(wanted, None, limits)

    def spans(self) -> tuple[TextSpan, ...]:
        """Return the parts of texts that were decided since the last time."""
        heard, self._listening.heard = self._listening.heard, []
        return tuple(_joined(heard))


class _ListeningLayer(TextLayer):
    """A text layer of one stream that keeps the answers of its engines."""

    def __init__(self, wanted: TextCalls, tools: None, limits: Limits) -> None:
        super().__init__(wanted, tools, limits)
        self.heard: list[TextSpan] = []

    def abort(self) -> Iterator[Delta]:
        """End all texts; the text that they held was classified by no engine."""
        for delta in super().abort():
            if isinstance(delta, CallWritten):
                self.heard.append(TextSpan(delta.choice, "drop", delta.source))
            elif isinstance(delta, TextFragment):
                self.heard.append(TextSpan(delta.choice, "text", delta.text))
            elif isinstance(delta, ReasoningFragment):
                self.heard.append(TextSpan(delta.choice, "reasoning", delta.text))
            yield delta

    def _engine(self, channel: Any) -> TextEngine:
        engine = super()._engine(channel)

        def hear(outputs: list[Output]) -> list[Output]:
            self.heard += (_span(output, channel.choice, channel.is_reasoning) for output in outputs)
            return outputs

        self._engines[channel] = cast("TextEngine", _Listened(engine, hear))
        return self._engines[channel]


class _Listened:
    """An engine whose answers are listened to, with the interface that its layer uses."""

    def __init__(self, engine: TextEngine, hear: Callable[[list[Output]], list[Output]]) -> None:
        self._engine = engine
        self._hear = hear

    @property
    def held(self) -> str:
        return self._engine.held

    def feed(self, piece: str) -> list[Output]:
        return self._hear(self._engine.feed(piece))

    def close(self, ended: Ended) -> list[Output]:
        return self._hear(self._engine.close(ended))


def _joined(spans: list[TextSpan]) -> Iterator[TextSpan]:
    """Yield spans; those other than calls and drops are joined if they were decided in several pieces."""
    for (choice, kind), alike in groupby(spans, lambda span: (span.choice, span.kind)):
        if kind in {"call", "drop"}:
            yield from alike
        else:
            yield TextSpan(choice, kind, "".join(span.text for span in alike))


def _span(output: Output, choice: int, is_reasoning: bool) -> TextSpan:
    if isinstance(output, Shown):
        return TextSpan(choice, "reasoning" if is_reasoning or output.reasoning else "text", output.text)
    if isinstance(output, Markup):
        return TextSpan(choice, "markup", output.text)
    return TextSpan(choice, "call" if isinstance(output, Written) else "drop", output.source)
