"""The precedence of the reasons for which a turn ended, where the wire states several."""

from __future__ import annotations

from wholecall.types import TurnReason

_private = True

_PRECEDENCE = ("aborted", "error", "content_filter", "length")


def outranks(new: TurnReason, old: TurnReason | None) -> bool:
    """Return whether a second reason replaces the first: the worse reason wins, otherwise the last."""
    if old in _PRECEDENCE:
        return new in _PRECEDENCE and _PRECEDENCE.index(new) <= _PRECEDENCE.index(old)
    return True
