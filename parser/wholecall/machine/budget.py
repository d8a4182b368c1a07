"""Counts the bytes of argument text per call and per turn, and enforces the limits, without work per fragment.

Theory of operation. Counting each fragment would slow down the fast path. Therefore a call holds a *grant*: a number of
characters (`Call.room`) that it may append without asking, each reserved at four bytes, the most that UTF-8 needs. When
the grant is used up, the bytes are counted exactly and a new grant is given. The rest of an ended call's grant is
collected when the turn runs short of room. Near a limit the grants shrink to nothing and each fragment is counted, so a
limit is met at the same byte however the stream is cut into chunks.

A call that is beyond a limit takes nothing more, and its turn continues: other calls may be whole. This has an end:
refused text is counted, and when it is more than all calls of the turn may hold, the turn is overrun.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from wholecall.calls.arguments.tokens import utf8_size
from wholecall.limits import Limits
from wholecall.machine.call import Call

_GRANT = 4096  # characters; also how often the fragments of a call are joined
_WIDEST = 4  # bytes of the widest character
_UNBOUNDED = 1 << 62
_VALUE = 8  # bytes of a value that is not text, or of a reference to one


class Budget:
    """The bytes that the calls of one turn may still take.

    Attributes:
        is_overrun: more text was refused than all calls of the turn may hold.
    """

    __slots__ = ("_free", "_holders", "_most_refused", "_per_call", "_raw", "_refused", "is_overrun")
    DERIVED: ClassVar = frozenset({"_most_refused", "_per_call", "_raw"})

    _free: int
    _holders: dict[Call, int]
    _refused: int
    is_overrun: bool

    def __init__(self, limits: Limits) -> None:
        self._per_call = _UNBOUNDED if limits.max_arguments_bytes is None else limits.max_arguments_bytes
        total = limits.max_total_arguments_bytes
        self._most_refused = _UNBOUNDED if total is None else total
        self._free = self._most_refused  # bytes that no call has or may take
        self._refused = 0  # characters
        self.is_overrun = False
        self._raw = _UNBOUNDED if limits.max_raw_bytes is None else limits.max_raw_bytes
        self._holders = {}  # calls with an open grant, and the bytes it may take

    def remade(self) -> None:
        """Check that calls hold the grants: msgspec does not check keys that are text.

        Raises:
            ValueError: another object holds one.
        """
        if {*map(type, self._holders)} - {Call}:
            raise ValueError("a grant is no call's")

    def admit(self, call: Call, text: str) -> bool:
        """Return whether the call may take the text; if not, it is refused and cut to `max_raw_bytes`."""
        if call.full:
            self._refused += len(text)
            self.is_overrun = self._refused > self._most_refused
            return False
        if call.room >= len(text):
            return True
        if call.granted or call.parts:
            self._count(call)
        most = (len(text) + _GRANT) * _WIDEST
        if most <= self._free and call.bytes + most <= self._per_call:
            self._grant(call, len(text) + _GRANT)
            return True
        return self._admit_exactly(call, text)

    def take_extra(self, call: Call, extra: Mapping[str, Any]) -> None:
        """Keep fields of the provider's in a call whose terminal event has not been emitted; they count with its text.

        Only their excess over the fields that they replace counts: servers send the same ones again and again.
        """
        if call.full or call.is_over:
            return
        kept = call.extra if call.extra is not None else {}
        grown = 0
        for key, value in extra.items():
            grown += weight(value) - (weight(kept[key]) if key in kept else -len(key))
        if grown > 0 and (call.extra_size + grown > self._per_call or self._free_after(grown) < 0):
            self._overflow(call, "")
            return
        self._spend(grown)
        call.take_extra(extra, grown)

    def release(self, call: Call) -> None:
        """Take back the grant of a call whose text was cleared."""
        if not call.full:
            self._count(call)

    def _admit_exactly(self, call: Call, text: str) -> bool:
        """Admit a text that may exceed a limit, after counting its bytes."""
        need, held = utf8_size(text), call.bytes
        if held and call.may_be_replaced_by(text):
            held = 0
        spare = min(self._per_call - held - need, self._free_after(need))
        if spare < 0:
            self._overflow(call, text)
            return False
        self._grant(call, len(text) + min(_GRANT, spare // _WIDEST))
        return True

    def admit_whole(self, call: Call, text: str, *, counted: bool = False) -> bool:
        """Return whether the call may hold a restated text; `counted`: it equals the fragments, which are counted."""
        if call.full:
            return False
        if counted and not call.charged_whole:
            return True
        size = utf8_size(text)
        self._count(call)
        beyond = max(size - call.bytes, 0)  # the larger of the two texts counts
        if size > self._per_call or self._free_after(beyond - call.charged_whole) < 0:
            self._overflow(call, "" if call.size else text)
            return False
        self._spend(beyond - call.charged_whole)
        call.charged_whole = beyond
        return True

    def _free_after(self, need: int) -> int:
        """Return the bytes of the turn that are free after `need`, negative if there are too few."""
        if self._free < need and self._holders:
            for holder in list(self._holders):
                self._count(holder)
        return self._free - need

    def _spend(self, size: int) -> None:
        """Take bytes from those that are free; less than none gives bytes back."""
        self._free -= size

    def _grant(self, call: Call, characters: int) -> None:
        call.grant(characters)
        self._holders[call] = reserved = characters * _WIDEST
        self._spend(reserved)

    def _count(self, call: Call) -> None:
        call.count()
        self._spend(call.bytes - call.charged - self._holders.pop(call, 0))
        call.charged = call.bytes
        call.grant(0)

    def _overflow(self, call: Call, text: str) -> None:
        call.refuse("arguments_too_large", "the argument text exceeds a limit")
        call.cut_to(self._raw, text)
        self._count(call)


def weight(value: object) -> int:
    """Return about how many bytes a JSON value takes, whatever its depth."""
    if type(value) is str:  # nearly always
        return len(value)
    total, waiting = 0, [value]
    while waiting:
        value = waiting.pop()
        total += len(value) if isinstance(value, str) else _VALUE
        if isinstance(value, dict):
            waiting += value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return total
