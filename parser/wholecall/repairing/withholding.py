"""The end of a turn whose calls were withheld: an error, or a reason.

An agent that gets a plain `stop` in the place of its calls takes the turn for finished work, and stops in silence. So
a turn that claims success and of which no call comes out ends with an error by default, for which clients raise. Where
agents are known to ask the model to go on after a cut, a cut is what they are told instead. A reason that says by
itself that something went wrong (`length`, `content_filter`, the provider's own words for an error) stays.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from wholecall.output.events import ToolCallDropped
from wholecall.types import CUT_REASONS, DropReason, TurnReason

__all__ = ["CALLS_WITHHELD", "INCOMPLETE", "Losses", "Withheld", "checked"]

Withheld = Literal["auto", "error", "end"]

_WORDS: Final[tuple[Withheld, ...]] = ("auto", "error", "end")
# Codes of errors.
CALLS_WITHHELD: Final = "calls_withheld"
INCOMPLETE: Final = "upstream_incomplete"

# Why calls are dropped that came to no end.
_CUT: Final[frozenset[DropReason]] = frozenset({"truncated", "unterminated", "incomplete_input"})
# Reasons that an agent's loop must see, whatever comes out.
_KEPT: Final[frozenset[TurnReason]] = frozenset({*CUT_REASONS, "malformed", "error", "pause"})
_PLAIN_NAME: Final = re.compile(r"[\w.:/-]{1,64}\Z", re.ASCII)
_MOST_NAMED: Final = 8


def checked(withheld: Withheld) -> Withheld:
    """Return one of the words for it.

    Raises:
        ValueError: it is none of them.
    """
    if withheld not in _WORDS:
        raise ValueError(f"withheld is one of {', '.join(_WORDS)}: {withheld!r}")
    return withheld


class _Loss(NamedTuple):
    choice: int
    name: str
    reason: DropReason


class Losses:
    """The calls of a turn that were withheld.

    Args:
        withheld: how a turn ends of which no call comes out.
        goes_on_after_cuts: whether agents of the dialect ask the model to go on after a cut.
    """

    def __init__(self, withheld: Withheld, *, goes_on_after_cuts: bool) -> None:
        self._withheld = withheld
        self._says_cut = withheld == "auto" and goes_on_after_cuts
        self._lost: list[_Loss] = []

    def __str__(self) -> str:
        """Name tools and reasons; no text of a model."""
        named = [
            f"{loss.name if _PLAIN_NAME.match(loss.name) else 'a call'} ({loss.reason})"
            for loss in self._lost[:_MOST_NAMED]
        ]
        more = len(self._lost) - len(named)
        return ", ".join(named) + (f" and {more} more" if more else "")

    @property
    def sentence(self) -> str:
        """The message of an error that says it all."""
        return f"all tool calls were withheld: {self}"

    def note(self, drop: ToolCallDropped) -> None:
        """Take note of a call that was withheld; what the provider executes is none."""
        if drop.kind != "server":
            self._lost.append(_Loss(drop.choice, drop.name or "", drop.reason))

    def clear(self) -> None:
        """Forget them: another turn begins."""
        self._lost.clear()

    def is_cut(self, choice: int | None = None) -> bool:
        """Whether one of them came to no end: in the choice, or in any."""
        return any(loss.reason in _CUT and choice in (None, loss.choice) for loss in self._lost)

    def is_error(self, claimed: TurnReason, *, executed: bool) -> bool:
        """Whether the turn must end as an error.

        Args:
            claimed: the reason of the wire.
            executed: whether calls come out of the turn.
        """
        if self._withheld == "end" or executed or not self._lost or claimed in _KEPT:
            return False
        return not (self._says_cut and self.is_cut())

    def reason(self, claimed: TurnReason, *, executed: bool, choice: int | None = None) -> TurnReason:
        """Return the reason that goes with what comes out; every dialect has its own words for it.

        Args:
            claimed: the reason of the wire.
            executed: whether calls come out.
            choice: the choice that ends; None ends them all.
        """
        if claimed in _KEPT:
            return claimed
        if executed:
            return "tool_calls"
        cut = self.is_cut(choice)
        if claimed == "tool_calls":
            return "length" if cut else "stop"  # a plain end would hide the loss
        return "length" if cut and self._says_cut else claimed
