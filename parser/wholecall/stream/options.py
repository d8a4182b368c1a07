"""The options of a parser that the shells pass on."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from wholecall.limits import Limits
    from wholecall.policy import Policy
    from wholecall.stream.live import Watch

__all__ = ["ParserOptions"]


class ParserOptions(TypedDict, total=False):
    """The options of `ToolCallParser` that the shells hand on."""

    live: bool
    watch: Watch | None
    framing: str | None
    policy: Policy
    limits: Limits
