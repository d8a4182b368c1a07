"""What a provider ran itself in a turn: which of its calls and of their results go back, and in which form.

Theory of operation. A provider takes its own blocks back as it wrote them, and refuses a result without its call or, in
an answer that was not interrupted, a call without its result. So a result goes back with its call only, once; a
call goes back where its result stands among the blocks, where a block tells all of it (an item of Responses, a part of
Gemini), or where the provider is still to run it: in an answer that it paused, or that waits for calls of the client's.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Any, Final

import msgspec

from wholecall.output.events import ServerToolCall
from wholecall.output.turns import OtherBlock, Turn
from wholecall.types import TurnReason

__all__ = ["Executed"]

_UNFINISHED: Final[frozenset[TurnReason | None]] = frozenset({"pause", "tool_calls"})


class Executed(msgspec.Struct, frozen=True):
    """What of a turn's own calls and blocks goes back.

    Attributes:
        told: the ids of calls that a block tells.
        answered: those whose results are blocks.
        waits: whether the provider is still to run the others.
    """

    told: frozenset[str] = frozenset()
    answered: frozenset[str] = frozenset()
    waits: bool = False

    @classmethod
    def of(cls, turn: Turn[Any], *, pauses: bool) -> Executed:
        """Return what a turn's blocks say; `pauses` is whether the provider goes on with calls that it began."""
        blocks = [part for part in turn.content if isinstance(part, OtherBlock)]
        return cls(
            frozenset(id for block in blocks if _result_of(block) is None for id in _ids(block)),
            frozenset(id for block in blocks if (id := _result_of(block)) is not None),
            pauses and turn.reason in _UNFINISHED,
        )

    def is_told(self, call: ServerToolCall) -> bool:
        """Return whether a block stands for the call."""
        own = (call.extra or {}).get("item_id")
        return call.id in self.told or own in self.told

    def goes_back(self, call: ServerToolCall) -> bool:
        """Return whether the call goes back as a call."""
        return self.waits or call.id in self.answered

    def going(self, parts: Iterable[object], calls: AbstractSet[str | None]) -> frozenset[int]:
        """Return which blocks go back, by identity: those that are no result, and the first result of each call.

        `calls` are the ids on the wire of the calls that go back.
        """
        going: set[int] = set()
        answered: set[str] = set()
        for block in parts:
            result = _result_of(block) if isinstance(block, OtherBlock) else None
            if result is None or (result not in answered and (result in self.told or result in calls)):
                going.add(id(block))
            if result is not None:
                answered.add(result)
        return frozenset(going)


def _result_of(block: OtherBlock) -> str | None:
    """Return the id of the call that a block is the result of, None of any other block."""
    value = block.value
    named = value.get("tool_use_id") or (
        value.get("call_id") if (block.type or "").endswith("_output") else None
    )
    return named if isinstance(named, str) else None


def _ids(block: OtherBlock) -> list[str]:
    """Return the ids under which a call may be known that a block tells."""
    return [id for name in ("id", "call_id") if isinstance(id := block.value.get(name), str)]
