"""The assembler of a stream whose texts may hold calls: a layer reads the dialect's deltas first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from wholecall.deltas import Delta, Run
from wholecall.machine.answers import spoil
from wholecall.machine.assembler import Assembler
from wholecall.text.layer import TextLayer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wholecall.calls.tools.tool import Tools
    from wholecall.limits import Limits
    from wholecall.machine.answer import OutputWanted
    from wholecall.machine.verdicts import Ended
    from wholecall.policy import Policy
    from wholecall.text.options import TextCalls


class TextAssembler(Assembler):
    """An assembler that turns the deltas of one stream into events, including calls in its texts."""

    _layer: TextLayer

    DERIVED: ClassVar = frozenset({"_wanted"})

    def __init__(
        self,
        wanted: TextCalls,
        policy: Policy,
        limits: Limits,
        tools: Tools[Any] | None,
        *,
        pieces: bool = True,
        output: OutputWanted | None = None,
    ) -> None:
        super().__init__(policy, limits, tools, pieces=pieces, wanted=output)
        self._wanted = wanted
        self._layer = TextLayer(wanted, tools, limits)

    def advance(self, told: Iterable[Delta]) -> None:
        """Take deltas, in the order of their frames."""
        super().advance(self._layer.read(told))

    def advance_replaced(self, told: Iterable[Delta]) -> None:
        """Take the deltas of a frame in which bytes that are not UTF-8 were replaced."""
        self._layer.replaced = True
        pieces = (
            piece for delta in told for piece in (delta.pieces() if isinstance(delta, Run) else (delta,))
        )
        super().advance_replaced(self._layer.read(pieces))
        for choice in self._choices.values():  # held text is from these bytes, too
            spoil(choice)

    def makers(self) -> dict[type, Callable[[], Any]]:
        """Return how to make the objects of turns that a snapshot holds."""
        return {
            **super().makers(),
            TextLayer: lambda: TextLayer(self._wanted, self._options.tools, self._limits),
        }

    @property
    def is_holding(self) -> bool:
        """Whether text waits that may still become a call."""
        return self._layer.is_holding

    def keep(self) -> None:
        """Note the state that a snapshot needs."""
        super().keep()
        self._layer.keep()

    def close(self, ended: Ended = "open", detail: str = "") -> None:
        """Finish every turn, because the stream is over: first the text that is still held."""
        aborted = ended == "aborted" or self.failed
        layer = self._layer
        super().advance(
            layer.abort() if aborted else layer.close("clean" if ended == "clean" else "open", all_turns=True)
        )
        super().close(ended, detail)
