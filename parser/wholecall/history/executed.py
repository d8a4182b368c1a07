"""Calls that a provider executed itself: the calls that go back with their results, and their form.

Theory of operation. A provider accepts its own blocks unchanged, and refuses a result without its call or, in an answer
that was not interrupted, a call without its result. Therefore a result goes back only with its call, once; a call goes
back if its result is among the blocks, if a block contains all of it (an item of Responses, a part of Gemini), or if
the provider has yet to execute it: in an answer that it paused, or that waits for the client's calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Any, Final

import msgspec

from wholecall.output.events import ServerToolCall
from wholecall.output.turns import OtherBlock, Turn
from wholecall.types import TurnReason

__all__ = ["Executed", "pending_in", "result_of"]

_GEMINI_CALLS: Final = ("executableCode", "executable_code", "toolCall", "tool_call")
_UNFINISHED: Final[frozenset[TurnReason | None]] = frozenset({"pause", "tool_calls"})


class Executed(msgspec.Struct, frozen=True):
    """The provider's own calls and blocks of a turn that go back.

    Attributes:
        told: the ids of calls that a block contains.
        tells_unnamed: whether blocks contain calls without an id (parts of Gemini).
        answered: the ids of calls whose results are blocks.
        waits: whether the provider has yet to execute the others.
    """

    told: frozenset[str] = frozenset()
    tells_unnamed: bool = False
    answered: frozenset[str] = frozenset()
    waits: bool = False

    @classmethod
    def of(cls, turn: Turn[Any], *, pauses: bool) -> Executed:
        """Return the facts from a turn's blocks; `pauses` states whether the provider continues calls that it began."""
        blocks = [part for part in turn.content if isinstance(part, OtherBlock)]
        return cls(
            frozenset(id for block in blocks if result_of(block) is None for id in _ids(block)),
            any(call.get("id") is None for block in blocks for call in _calls_of_gemini(block)),
            frozenset(id for block in blocks if (id := result_of(block)) is not None),
            pauses and turn.reason in _UNFINISHED,
        )

    def is_told(self, call: ServerToolCall) -> bool:
        """Return whether a block represents the call."""
        own = (call.extra or {}).get("item_id")
        bare = self.tells_unnamed and "id_generated" in call.flags
        return bare or call.id in self.told or own in self.told

    def goes_back(self, call: ServerToolCall) -> bool:
        """Return whether the call goes back as a call."""
        return self.waits or call.id in self.answered

    def going(self, parts: Iterable[object], calls: AbstractSet[str | None]) -> frozenset[int]:
        """Return which blocks go back, by identity: those that are not a result, and the first result of each call.

        `calls` are the ids on the wire of the calls that go back, and of those that have waited since an earlier turn.
        """
        going: set[int] = set()
        answered: set[str] = set()
        for block in parts:
            result = result_of(block) if isinstance(block, OtherBlock) else None
            if result is None or (result not in answered and (result in self.told or result in calls)):
                going.add(id(block))
            if result is not None:
                answered.add(result)
        return frozenset(going)


def result_of(block: OtherBlock) -> str | None:
    """Return the id of the call of which a block is the result, None for any other block."""
    value = block.value
    of_converse = value.get("toolResult")
    named = (
        value.get("tool_use_id")
        or (value.get("call_id") if (block.type or "").endswith("_output") else None)
        or (of_converse.get("toolUseId") if isinstance(of_converse, dict) else None)
    )
    return named if isinstance(named, str) else None


def _ids(block: OtherBlock) -> list[str]:
    """Return the ids under which the call of a block may be known."""
    holders = (block.value, *_calls_of_gemini(block))
    return [id for one in holders for name in ("id", "call_id") if isinstance(id := one.get(name), str)]


def _calls_of_gemini(block: OtherBlock) -> list[dict[str, Any]]:
    """Return the call of a Gemini part, if there is one, in either spelling."""
    return [call for name in _GEMINI_CALLS if isinstance(call := block.value.get(name), dict)]


def pending_in(messages: Iterable[dict[str, Any]]) -> frozenset[str]:
    """Return the ids of the provider's calls that have no result among some objects of messages."""
    called: set[str] = set()
    answered: set[str] = set()
    for one in messages:
        kind, id, of = one.get("type"), one.get("id"), one.get("tool_use_id")
        if isinstance(id, str) and kind in ("server_tool_use", "mcp_tool_use"):
            called.add(id)
        if isinstance(of, str):
            answered.add(of)
    return frozenset(called - answered)
