"""The evidence about a call: an append-only record of facts, and the questions that are asked of it.

Theory of operation. Whatever the wire shows for or against a call, or for or against a whole choice, is noted as a
`Fact`, by `Evidence.note` and nowhere else. Nothing is taken back: a later fact makes an earlier one *void* (`_VOIDS`).
A whole text that the wire sends after text was lost makes the loss void:

    a damaged frame                          lost_text
    response.output_item.done, all text      restored       (lost_text is void)

A fact that is noted twice counts once. The questions (`lost_text`, `closed`, `refusal` and so on) only look at the facts
in force; `verdicts` decides by them, and `told_against` says in words which of them speak against the call.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final, Literal

import msgspec

from wholecall.types import DropReason

FactKind = Literal[
    "lost_text",
    "orphan_text",
    "accounted",
    "restored",
    "confirmed_empty",
    "text_elsewhere",
    "refused",
    "permitted",
    "cut",
    "closed",
    "reopened",
    "role_repeated",
    "reasoned",
    "end_shown",
    "came_whole",
    "aborted",
    "dropped",
    "started_over",
    "read_again",
]

_VOIDS: Final[dict[FactKind, tuple[FactKind, ...]]] = {
    "accounted": ("orphan_text",),
    "restored": ("lost_text", "orphan_text"),
    "confirmed_empty": ("lost_text", "orphan_text"),
    "permitted": ("refused",),
    "reopened": ("closed",),
    "started_over": ("lost_text", "orphan_text", "restored"),
    "aborted": ("aborted",),  # the last detail counts
    "read_again": ("reasoned", "end_shown"),
}
_AGAINST: Final[dict[FactKind, str]] = {
    "lost_text": "a part of the stream was lost while it was open",
    "orphan_text": "text without an owner came while it was open",
    "refused": "it cannot be emitted",
    "cut": "the wire calls it incomplete",
    "role_repeated": "the role came again after it began",
}
_MISSING: Final[tuple[FactKind, ...]] = ("lost_text", "orphan_text")
_MOST: Final = 64  # facts that are kept before those that are void are forgotten


class Fact(msgspec.Struct, frozen=True, gc=False):
    """One fact; `detail` says more to people, and a refusal and a drop have a reason."""

    kind: FactKind
    reason: DropReason | None = None
    detail: str = ""


class Evidence:
    """The facts about a choice, or about one call.

    Attributes:
        facts: in their order; a long record keeps only those in force.
    """

    facts: list[Fact]
    _in_force: dict[FactKind, Fact]

    __slots__ = tuple(__annotations__)
    DERIVED: ClassVar = frozenset({"_in_force"})

    def __init__(self) -> None:
        self.facts, self._in_force = [], {}

    def remade(self) -> None:
        """Restore which facts are in force.

        Raises:
            ValueError: never here; classes with further state may refuse theirs.
        """
        facts, self.facts, self._in_force = self.facts, [], {}
        self.note_again(facts)

    def note(self, kind: FactKind, reason: DropReason | None = None, detail: str = "") -> None:
        """Add a fact, unless it is in force already and makes nothing void."""
        known = self._in_force
        voids = known.keys() & _VOIDS[kind] if kind in _VOIDS else ()
        if kind in known and not voids:
            return
        for void in voids:
            del known[void]
        fact = known[kind] = Fact(kind, reason, detail)
        self.facts.append(fact)
        if len(self.facts) > _MOST:
            self.facts[:] = known.values()

    def note_again(self, facts: Iterable[Fact]) -> None:
        """Add facts that were made void."""
        for fact in facts:
            self.note(fact.kind, fact.reason, fact.detail)

    def told_against(self) -> tuple[str, ...]:
        """Return in words the facts in force that speak against the call, in their order."""
        facts = self._in_force.values()
        return tuple(fact.detail or _AGAINST[fact.kind] for fact in facts if fact.kind in _AGAINST)

    def missing_text(self) -> tuple[Fact, ...]:
        """Return the facts in force by which text is missing."""
        return tuple(self._in_force[kind] for kind in _MISSING if kind in self._in_force)

    @property
    def lost_text(self) -> bool:
        """Whether text was lost that could be its own."""
        return "lost_text" in self._in_force

    @property
    def aborted(self) -> str:
        """Why the call, or the turn, was aborted, in words; empty if it was not."""
        aborted = self._in_force.get("aborted")
        return "" if aborted is None else aborted.detail

    @property
    def text_elsewhere(self) -> bool:
        """Whether text came in another choice that could be a call's here (quirk 14)."""
        return "text_elsewhere" in self._in_force


class CallEvidence(Evidence):
    """The facts about one call."""

    __slots__ = ()

    @property
    def orphan_text(self) -> bool:
        """Whether text came without an owner that could be its own, and was not accounted for."""
        return "orphan_text" in self._in_force

    @property
    def lacks_text(self) -> bool:
        """Whether text that could be its own is missing: it was lost, or has no owner."""
        return "lost_text" in self._in_force or "orphan_text" in self._in_force

    @property
    def restored(self) -> bool:
        """Whether a whole text came in place of text that was missing."""
        return "restored" in self._in_force

    @property
    def refusal(self) -> DropReason | None:
        """Why the call cannot be emitted, whatever its text; the first reason stands."""
        refused = self._in_force.get("refused")
        return None if refused is None else refused.reason

    @property
    def detail(self) -> str:
        """The refusal, explained to people."""
        refused = self._in_force.get("refused")
        return "" if refused is None else refused.detail

    @property
    def dropped(self) -> DropReason | None:
        """Why the call was dropped, None if it was not."""
        dropped = self._in_force.get("dropped")
        return None if dropped is None else dropped.reason

    @property
    def cut(self) -> bool:
        """Whether the wire itself calls the call incomplete."""
        return "cut" in self._in_force

    @property
    def closed(self) -> bool:
        """Whether the wire ended this call, and did not open it again."""
        return "closed" in self._in_force

    @property
    def role_repeated(self) -> bool:
        """Whether the role came again after the call began: later text may be another answer's."""
        return "role_repeated" in self._in_force

    @property
    def reasoned(self) -> bool:
        """Whether a finish reason, or another end of its turn, came after the call began."""
        return "reasoned" in self._in_force

    @property
    def end_shown(self) -> bool:
        """Whether a reason that allows calls, a list of calls or an end of its own shows that no text is missing."""
        return "end_shown" in self._in_force

    @property
    def read_again(self) -> bool:
        """Whether its text is that on which all readings of its record agree."""
        return "read_again" in self._in_force

    @property
    def came_whole(self) -> bool:
        """Whether the call came whole, or its end is final: without text it has no arguments."""
        return "came_whole" in self._in_force
