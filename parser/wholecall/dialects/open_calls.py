"""Which slots hold an open call, in dialects whose stops name only a slot."""

from __future__ import annotations

from wholecall.deltas import CallClosed, Delta, Index

__all__ = ["OpenCalls"]


class OpenCalls:
    """The open calls of one message.

    A closed call is not the last word: a cut turn can close one with a member missing, so what follows decides.

    Attributes:
        ids: of the open calls, by their slots; None where a delta came without a start (quirk 77).
    """

    ids: dict[Index | None, str | None]

    def __init__(self) -> None:
        self.ids = {}

    def start(self, index: Index | None, id_: str | None) -> list[Delta]:
        """Open a slot: the same start again only restates its call, any other closes what is open (quirk 77)."""
        repeated = id_ is not None and self.ids.get(index) == id_
        deltas = [] if repeated else self.stop(index)
        self.ids[index] = id_
        return deltas

    def stop(self, index: Index | None) -> list[Delta]:
        """Close a slot, if a call is open in it."""
        if index not in self.ids:
            return []
        del self.ids[index]
        return [CallClosed(0, index, None, final=False)]
