"""Shared parts of both protocols of the Vercel AI SDK: calls known by their ids, and seals of reasoning.

The id of a call is its key in one step of a message. A message may run through several steps, as servers call the model
again with the results of their tools, and an id may come again in a later step (quirk 64).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Union

import msgspec

from wholecall.deltas import (
    ITEM_DONE,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Slot,
    StepBegan,
)
from wholecall.dialects import report
from wholecall.dialects.decode import dumped
from wholecall.dialects.reasons import NOT_WHOLE
from wholecall.dialects.whole_calls import Repeats, says_nothing
from wholecall.types import DropReason, Flag, Kind

__all__ = ["Announced", "Calls", "sealed"]

_SIGNATURES = ("signature", "thoughtSignature")
_SEALED = ("redactedData", "reasoningEncryptedContent")


class Announced(msgspec.Struct, frozen=True):
    """The attributes of a call in an event, in addition to its text."""

    id: str | None
    name: str | None = None
    kind: Kind = "function"
    extra: dict[str, Any] | None = None


class Calls:
    """The calls of one message, by their ids; repeated from its beginning, it has the same slots (quirk 91).

    Calls are bound by their ids as blocks are by their numbers: text with an unknown id belongs to the open call, and
    an input under another id to the open call of that name with the same input.
    """

    _step: int
    _open: dict[str, str]
    _filled: set[str]
    _whole: set[str]
    _has_whole: bool
    _kinds: dict[str, Kind]
    _n_begun: int
    _n_whole: int
    _times: dict[str, list[int]]
    _guarded: set[str]
    _again: Repeats
    _last: list[Union[str, None]]

    def __init__(self) -> None:
        self._step = 0
        self._open = {}  # ids to slots
        self._filled = set()  # slots that hold text
        self._whole = set()  # ids of calls that were sent whole in this step
        self._has_whole = False  # a call was sent whole
        self._kinds = {}  # of slots: members that a later event leaves out still count
        self._n_begun = 0  # calls without an id that had a beginning
        self._n_whole = 0  # whole inputs of calls without an id
        self._times = {}  # by id, "" for none: how often each different input in a row came
        self._guarded = set()  # ids that an approval or a result names: their calls are not only the client's
        self._again = Repeats()  # in a row
        self._last = []  # the last whole input: id, name and text

    @property
    def step(self) -> int:
        """The number of the step at hand."""
        return self._step

    @property
    def has_calls(self) -> bool:
        """Whether any call came."""
        return self._has_whole or bool(self._open)

    def next_step(self) -> list[Delta]:
        """Free the ids; open calls keep their slots."""
        new = self.no_repeats()
        if self._times or self._open:
            new.append(StepBegan(0, self._step + 1))
        self._step += 1
        for kept in (self._whole, self._times, self._guarded):
            kept.clear()
        return new

    def taken_back(self) -> Calls:
        """Return the calls of the step that follows one whose calls are all taken back."""
        calls = Calls()
        calls._step, calls._has_whole = self._step + 1, self._has_whole
        return calls

    def asked(self, id_: str | None) -> list[Delta]:
        """Report that a call waits for an approval; each other one under its id may wait, too."""
        self.guard(id_)
        return self.flagged(Announced(id_), ("needs_approval",)) if id_ in self._open else []

    def guard(self, id_: str | None) -> None:
        """Treat no other call of this id as one of the client's, as it is unknown which call is meant."""
        self._guarded.add(id_ or "")

    def begun(self, call: Announced) -> list[Delta]:
        """Report that a call begins."""
        self._whole.discard(call.id or "")
        if call.id is None:
            self._n_begun, self._last = self._n_begun + 1, []
        slot, kind = self._slot(call)
        return [CallSeen(0, slot, None, call.id, call.name, kind, extra=call.extra, begins=True)]

    def flagged(self, call: Announced, flags: tuple[Flag, ...]) -> list[Delta]:
        """Report more about a call."""
        slot, kind = self._slot(call)
        return [CallSeen(0, slot, None, call.id, call.name, kind, flags=flags, extra=call.extra)]

    def piece(self, id_: str | None, text: object) -> list[Delta]:
        """Report a piece of a call's text."""
        return [msgspec.structs.replace(self.text_of(id_), text=dumped(text))] if text else []

    def text_of(self, id_: str | None) -> Slot:
        """Note that text of a call comes; return the common fields of its pieces."""
        slot, _ = self._slot(Announced(id_))
        if slot is not None:
            self._filled.add(slot)
        return Slot(0, slot, id_, "")

    def whole(
        self, call: Announced, text: str, flags: tuple[Flag, ...] = (), *, listed: bool = False
    ) -> list[Delta]:
        """Report all of a call; one with an id is not closed by that. Another input under its id is another call.

        `listed`: in a whole message, which lists no call twice.
        """
        if not (listed and call.id is None) and self._is_known(call, text):
            said = CallWhole(0, None, None, call.id, call.name, text, ITEM_DONE, call.kind, extra=call.extra)
            self._again.add(said)
            return []
        before = self.closed(call.id) if call.id in self._whole else []
        again = call.id in self._whole and call.id not in self._open
        slot, kind = self._slot(call)
        if call.id is not None:
            self._whole.add(call.id)
        self._has_whole = True
        whole = CallWhole(
            0, slot, None, call.id, call.name, text, ITEM_DONE, kind, flags=flags, extra=call.extra
        )
        return [*before, msgspec.structs.replace(whole, begins=again, closes=slot is None)]

    def closed(self, id_: str | None) -> list[Delta]:
        """Report that a call is over."""
        slot = self._forget(id_)
        return [] if slot is None else [CallClosed(0, slot, None)]

    def refused(self, call: Announced, text: str, reason: DropReason, detail: str) -> list[Delta]:
        """Report that the wire itself refuses a call; the text counts only if no piece of it came."""
        slot, kind = self._slot(call)
        seen = CallSeen(0, slot, None, call.id, call.name, kind, extra=call.extra)
        kept = "" if slot in self._filled else text
        self._forget(call.id)
        return [seen, CallRefused(0, slot, None, reason, detail, kept)]

    def ended(self, finish: list[Delta]) -> list[Delta]:
        """Return why the message ended, preceded by the effects on its calls."""
        whole = not any(isinstance(end, Finish) and end.reason in NOT_WHOLE for end in finish)
        return [*(self.no_repeats() if whole else ()), *self._untold(), *finish]

    def _untold(self) -> list[Delta]:
        """Refuse calls that were begun and never sent whole, though others were: text alone shows where one ends."""
        detail = "the input of other calls was told, and that of this one was not"
        slots = self.unsure() if self._has_whole else []
        return [CallRefused(0, slot, None, "incomplete_input", detail) for slot in slots]

    def unsure(self) -> list[str]:
        """Return the slots of calls that were begun and not sent whole, if their text does not show where it ends."""
        begun = (slot for id_, slot in self._open.items() if id_ not in self._whole)
        return [slot for slot in begun if slot not in self._filled or self._kinds.get(slot) == "custom"]

    def no_repeats(self) -> list[Delta]:
        """Return the calls that were taken for repeats, and are not, once the message is over.

        Without ids each input is a call if as many came as calls began. Else, where the inputs under an id differ, the
        id does not distinguish calls (quirk 64), and they are calls if not each came twice.
        """
        new = [call for call in self._again.take() if self._is_new(call)]
        return [msgspec.structs.replace(call, id=None, begins=True, closes=True) for call in new]

    def _is_new(self, call: CallWhole) -> bool:
        if call.id is None and self._n_begun:
            return self._n_begun == self._n_whole
        id_ = call.id or ""
        if id_ in self._guarded:
            return False
        return says_nothing(self._times[id_])

    def _is_known(self, call: Announced, text: str) -> bool:
        """Return whether an input comes twice in a row, with no beginning between."""
        last, self._last = self._last, [call.id, call.name, text]
        known = last == self._last and (call.id is None or call.id in self._whole)
        self._n_whole += call.id is None
        times = self._times.setdefault(call.id or "", [])
        if known and times:
            times[-1] += 1
        else:
            times.append(1)
        return known

    def _slot(self, call: Announced) -> tuple[str | None, Kind]:
        if call.id is None:
            return None, call.kind
        slot = self._open.setdefault(call.id, f"{self._step}/{call.id}")
        if call.kind != "function":
            self._kinds[slot] = call.kind
        return slot, self._kinds.get(slot, "function")

    def _forget(self, id_: str | None) -> str | None:
        slot = self._open.pop(id_, None) if id_ is not None else None
        if slot is not None:
            self._filled.discard(slot)
        return slot


def sealed(block: Any, text: object, metadata: object) -> list[Delta]:
    """Return a piece of reasoning, with the values that its provider wants back; nothing if there is neither."""
    kept = list(_members(metadata))
    signature = next((value for name, value in kept if name in _SIGNATURES), None)
    data = next((value for name, value in kept if name in _SEALED), None)
    return report.thought(text, block, signature=signature, data=data)


def _members(metadata: object) -> Iterator[tuple[str, str]]:
    """Yield each provider's additions to a part, if they are text."""
    for added in metadata.values() if isinstance(metadata, dict) else ():
        for name, value in added.items() if isinstance(added, dict) else ():
            if isinstance(value, str) and value:
                yield name, value
