"""The end of a turn whose calls were withheld: an error, or a reason.

An agent that gets a plain `stop` instead of its calls takes the turn for finished work, and stops in silence. Therefore
a turn that claims success and emits no call ends with an error by default, for which clients raise. Where agents are
known to ask the model to continue after a cut, a cut is reported instead. A reason that itself reports a failure
(`length`, `content_filter`, the provider's own words for an error) stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final, Literal, NamedTuple

from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.reasons import outranks
from wholecall.repairing.schema import EndWords
from wholecall.types import CUT_REASONS, DropReason, TurnReason

Withheld = Literal["auto", "error", "end"]

_WORDS: Final[tuple[Withheld, ...]] = ("auto", "error", "end")
# Codes of errors.
CALLS_WITHHELD: Final = "calls_withheld"
INCOMPLETE: Final = "upstream_incomplete"

# Reasons of drops for calls that did not end.
_CUT: Final[frozenset[DropReason]] = frozenset({"truncated", "unterminated", "incomplete_input"})
# Reasons that an agent's loop must see, with or without calls.
_KEPT: Final[frozenset[TurnReason]] = frozenset({*CUT_REASONS, "malformed", "error", "pause"})
_PLAIN_NAME: Final = re.compile(r"[\w.:/-]{1,64}\Z", re.ASCII)
_MOST_NAMED: Final = 8


def checked(withheld: Withheld) -> Withheld:
    """Return a valid word for the end of such a turn.

    Raises:
        ValueError: it is not one of the words.
    """
    if withheld not in _WORDS:
        raise ValueError(f"withheld is one of {', '.join(_WORDS)}: {withheld!r}")
    return withheld


class _Loss(NamedTuple):
    choice: int
    name: str
    reason: DropReason


class Losses:
    """The withheld calls of a turn.

    Args:
        withheld: how a turn ends that emits no call.
        goes_on_after_cuts: whether agents of the dialect ask the model to go on after a cut.
    """

    def __init__(self, withheld: Withheld, *, goes_on_after_cuts: bool) -> None:
        self._withheld = withheld
        self._says_cut = withheld == "auto" and goes_on_after_cuts
        self._lost: list[_Loss] = []

    def __str__(self) -> str:
        """Return the names of tools and the reasons, without a model's text."""
        named = [
            f"{loss.name if _PLAIN_NAME.match(loss.name) else 'a call'} ({loss.reason})"
            for loss in self._lost[:_MOST_NAMED]
        ]
        more = len(self._lost) - len(named)
        return ", ".join(named) + (f" and {more} more" if more else "")

    def __bool__(self) -> bool:
        """Return whether a call was withheld."""
        return bool(self._lost)

    @property
    def sentence(self) -> str:
        """The complete message of an error."""
        return f"all tool calls were withheld: {self}"

    def note(self, drop: ToolCallDropped) -> None:
        """Note a withheld call; calls that the provider executes do not count."""
        if drop.kind != "server":
            self._lost.append(_Loss(drop.choice, drop.name or "", drop.reason))

    def clear(self) -> None:
        """Forget the calls: another turn begins."""
        self._lost.clear()

    def is_cut(self, choice: int | None = None) -> bool:
        """Return whether one of the calls did not end: in the choice, or in any."""
        return any(loss.reason in _CUT and choice in (None, loss.choice) for loss in self._lost)

    def is_error(self, claimed: TurnReason, *, executed: bool) -> bool:
        """Return whether the turn must end as an error.

        Args:
            claimed: the reason of the wire.
            executed: whether the turn emits calls.
        """
        if self._withheld == "end" or executed or not self._lost or claimed in _KEPT:
            return False
        return not (self._says_cut and self.is_cut())

    def reason(self, claimed: TurnReason, *, executed: bool, choice: int | None = None) -> TurnReason:
        """Return the reason that fits the output; every dialect has its own words for it.

        Args:
            claimed: the reason of the wire.
            executed: whether calls are emitted.
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


class Ends:
    """The reasons for which the choices of a turn ended.

    Args:
        losses: the calls that were withheld.
        executed: the choices whose calls are emitted.
        end_words: the dialect's words for reasons.

    Attributes:
        words: the worst reason of each choice, in the wire's word and in ours.
    """

    def __init__(self, losses: Losses, executed: AbstractSet[int], end_words: EndWords) -> None:
        self._losses = losses
        self._executed = executed
        self._end_words = end_words
        self.words: dict[int, tuple[str, TurnReason]] = {}

    def note(self, endings: Iterable[tuple[int, str, TurnReason]]) -> set[int]:
        """Note choices that ended, each with its reason in the wire's word and in ours, and return their numbers."""
        ended: set[int] = set()
        for number, word, reason in endings:
            ended.add(number)
            if number not in self.words or outranks(reason, self.words[number][1]):
                self.words[number] = word, reason
        return ended

    def is_error(self) -> bool:
        """Return whether the reasons promise calls that are not emitted."""
        executed = bool(self._executed)
        return bool(self.words) and all(
            self._losses.is_error(claimed, executed=executed) for _, claimed in self.words.values()
        )

    def reason(self, number: int) -> tuple[TurnReason, str]:
        """Return the reason that fits a choice's output, in our word and in the wire's."""
        word, claimed = self.words[number]
        reason = self._losses.reason(claimed, executed=number in self._executed, choice=number)
        return reason, self._end_words.fitting(word, claimed, reason)
