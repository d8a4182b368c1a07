"""Calls that come whole, in frames that may list the same ones again: which of them are new, and which are over.

Theory of operation. A dialect whose calls are whole has no blocks: its calls are numbered as they come, and each number
is a slot. A frame may list the calls of earlier frames: it was sent twice, each frame lists all calls so far, or the
last one lists them all. Therefore a call with the label, the name and the value of an earlier frame's is that call, one
for one; without a label two equal calls are two. A call with arguments is over at once. A call without arguments waits:
for the next call, for the reason, as a cut turn may have lost the arguments of its last call, or for the end of the
stream. Then it is over too, for it came whole. In some dialects all calls wait so, as their servers close the brackets
of cut text; in others a call waits for the next frame with calls, which may bring its arguments under its label.

The same call again under the same label is that call repeated, as relays do, or another one, where the label is one
that all calls have (quirk 64). Different calls under it show that the label does not distinguish calls. Even then each
may have been sent twice; equal ones are calls only if some came more often than others. That is known at the end, until
which `Repeats` keeps them.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd
from typing import Union

import msgspec

from wholecall.calls.arguments.equal import same_text
from wholecall.deltas import INVALID_INDEX, CallClosed, CallWhole, Delta, Finish, Index
from wholecall.dialects.decode import is_blank, plain
from wholecall.discreet import discreet_repr
from wholecall.types import CUT_REASONS, TurnReason

_MOST_LABELS = 4096  # of calls that are recognized when they are repeated
_MOST_NAMESAKES = 16  # calls of one label that are compared; with more the label does not distinguish calls
_MOST_KEPT = 256  # calls of one label that are kept
_MOST_REPEATED = 128  # calls that are kept because they may only seem to be repeated
_LONGEST_REPEATED = 1 << 20  # characters of all of them


class Manner(msgspec.Struct, frozen=True):
    """The way a dialect lists calls: an empty object `grows` later, each call `waits` for more, this one is `new`."""

    grows: bool = False
    waits: bool = False
    new: bool = False


_FRAMES = Manner()
_FILLED = -1  # instead of a frame: the call waits only for the calls before it


class _Call(msgspec.Struct):
    name: Union[str, None]
    text: str
    slot: int
    frame: int
    n_times: int = 1

    __repr__ = discreet_repr


class Repeats:
    """The calls that were repeated, in their order."""

    _calls: list[CallWhole]
    _size: int

    def __init__(self) -> None:
        self._calls = []
        self._size = 0

    def add(self, call: CallWhole) -> None:
        """Keep a call; a call beyond the limits counts as a mere repeat."""
        self._size += len(call.text)
        if len(self._calls) < _MOST_REPEATED and self._size <= _LONGEST_REPEATED:
            self._calls.append(call)

    def take(self) -> list[CallWhole]:
        """Return the kept calls, and forget them."""
        calls, self._calls, self._size = self._calls, [], 0
        return calls


def says_nothing(times: Iterable[int]) -> bool:
    """Return whether a label does not distinguish calls, by how often each of its different calls came."""
    return gcd(*times) == 1


class WholeCalls:
    """The whole calls of one turn, of all its choices."""

    _by_label: dict[str, list[_Call]]
    _again: Repeats
    _repeats_blank: bool
    _whole: set[int]
    _listed: set[str]
    _waiting: dict[int, dict[int, int]]
    _last: dict[int, tuple[int, int]]
    _frame: int
    _n_slots: int
    _n_unkept: int

    def __init__(self) -> None:
        self._by_label = {}
        self._again = Repeats()
        self._repeats_blank = False  # calls without arguments come again, perhaps with some
        self._whole = set()  # choices that ended for a reason other than a cut
        self._listed = set()  # labels that several calls of one frame have
        self._waiting = {}  # choices to the slots of calls without arguments, and in which frame these came
        self._last = {}  # choices to the slots of their last calls, and in which frame these came
        self._frame = 0
        self._n_slots = 0
        self._n_unkept = 0  # the number of calls whose label too many calls have

    def new_slot(self) -> int:
        """Return the slot of a call that is not kept here."""
        self._n_slots += 1
        return self._n_slots

    def next_frame(self) -> None:
        """Note that another frame begins."""
        self._frame += 1

    def add(self, call: CallWhole, index: Index | None = None, of: Manner = _FRAMES) -> list[Delta]:
        """Report a call that a frame lists, nothing if it is known; `index` is the wire's number of the call."""
        number = call.choice
        index = None if index == INVALID_INDEX else index
        label = None if call.id is None and index is None else f"{number} {index} {call.id}"
        slot = self._slot(call, label, of)
        if slot is None and label is not None:
            self._again.add(msgspec.structs.replace(call, alias=label))
        self._last[number] = slot or self._last_slot(number), self._frame
        if slot is None:
            return []
        before = [] if of.grows else self.finish(number, None)
        waiting = self._waiting.setdefault(number, {})
        waiting.pop(slot, None)
        filled = not (of.waits or is_blank(call.text))
        over = filled and not waiting
        if not over:
            waiting[slot] = _FILLED if filled else self._frame
        return [*before, msgspec.structs.replace(call, index=slot, begins=True, closes=over)]

    def _last_slot(self, number: int) -> int:
        """Return the slot of a choice's last call, 0 if there is none: a snapshot may know calls without the last."""
        return self._last.get(number, (0, 0))[0]

    def end_frame(self, number: int) -> list[Delta]:
        """Report the end of the earlier frames' calls that did not grow in this one, if it lists calls, too."""
        last, waiting = self._last.get(number), self._waiting.get(number)
        if not waiting or last is None or last[1] < self._frame:
            return []
        slots = sorted(slot for slot, frame in waiting.items() if frame < self._frame)
        for slot in slots:
            del waiting[slot]
        return [CallClosed(number, slot, None) for slot in slots]

    def finish(self, number: int, reason: TurnReason | None) -> list[Delta]:
        """Report that calls are over by the reason that came; a cut turn may have lost the last one's arguments."""
        waiting = self._waiting.pop(number, {})
        if waiting and reason in CUT_REASONS:
            waiting.pop(self._last_slot(number), None)
        if reason is None or reason in CUT_REASONS:
            self._whole.discard(number)
        elif len(self._whole) < _MOST_LABELS:
            self._whole.add(number)
        return [CallClosed(number, slot, None) for slot in waiting]

    def ended(self, finish: list[Delta]) -> list[Delta]:
        """Return why the only choice of a turn ended, preceded by the effects on its calls."""
        reason: TurnReason | None = next((end.reason for end in finish if isinstance(end, Finish)), None)
        return [*self.finish(0, reason), *self.no_repeats(), *finish]

    def lose(self) -> None:
        """Note that a frame was lost, perhaps with arguments: calls without arguments then wait for a reason."""
        self._waiting.clear()
        self._again.take()

    def end(self) -> list[Delta]:
        """Report that all calls are over with the stream; if calls without arguments repeat, it may have been cut."""
        if self._repeats_blank:
            self._waiting.clear()
        return [delta for number in [*self._waiting] for delta in self.finish(number, None)]

    def no_repeats(self, n_begun: int = 0) -> list[Delta]:
        """Return the calls that were taken for repeats and are not, of choices that ended for a reason other than a
        cut.

        `n_begun` is how many calls there are, where the wire gives the number separately.
        """
        kept = sum(call.n_times for calls in self._by_label.values() for call in calls) if n_begun else 0
        n_came = kept + self._n_unkept
        return [
            msgspec.structs.replace(call, index=self.new_slot(), alias=None, begins=True, closes=True)
            for call in self._again.take()
            if call.choice in self._whole
            and (n_begun == n_came if n_begun else self._says_nothing(call.alias or ""))
        ]

    def _says_nothing(self, label: str) -> bool:
        return label not in self._listed and says_nothing(known.n_times for known in self._by_label[label])

    def _slot(self, call: CallWhole, label: str | None, of: Manner) -> int | None:
        """Return the slot of a call: a new one, that of a call that has grown, or None for one that is known."""
        if label is None or (label not in self._by_label and len(self._by_label) >= _MOST_LABELS):
            return self.new_slot()
        namesakes = self._by_label.setdefault(label, [])
        if not namesakes:
            namesakes.append(_Call(call.name, call.text, self.new_slot(), self._frame))
            return self._n_slots
        if max(known.frame for known in namesakes[-_MOST_NAMESAKES:]) == self._frame:
            self._listed.add(label)
        before = [known for known in namesakes if known.frame < self._frame and known.name == call.name]
        for known in () if of.new else before[:_MOST_NAMESAKES]:
            if _says_the_same(known.text, call.text):
                known.frame = self._frame
                known.n_times += 1
                self._repeats_blank = self._repeats_blank or (of.grows and is_blank(call.text))
                return None
        for known in before if of.grows else ():
            if known.text and known.slot in self._waiting.get(call.choice, ()):  # it had an empty object
                known.text, known.frame, self._repeats_blank = call.text, self._frame, True
                return known.slot
        if len(namesakes) >= _MOST_KEPT:
            self._n_unkept += 1
            return self.new_slot()
        namesakes.append(_Call(call.name, call.text, self.new_slot(), self._frame))
        return self._n_slots


def _says_the_same(one: str, other: str) -> bool:
    """Return whether two texts have the same content; a repeating server leaves out the same members as before."""
    return one == other or (bool(one and other) and same_text(one, other, plain))
