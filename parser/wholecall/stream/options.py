"""The options of a parser: those that the shells pass on, and all of them as a snapshot holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Union

import msgspec

from wholecall.arguments.progress import Path
from wholecall.dialects.table import DIALECTS, named
from wholecall.errors import BadSnapshot, UnknownDialect
from wholecall.framing import FRAMINGS
from wholecall.limits import Limits
from wholecall.policy import Policy

if TYPE_CHECKING:
    from wholecall.stream.live import Watch
    from wholecall.tools import Tools

__all__ = ["MovedOptions", "ParserOptions"]


class ParserOptions(TypedDict, total=False):
    """The options of `ToolCallParser` that the shells hand on."""

    live: bool
    watch: Watch | None
    framing: str | None
    policy: Policy
    limits: Limits


class MovedOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How a parser was made, in what a snapshot can hold; and what it follows live.

    Tools do not travel, for they are types and functions of the caller's. Their names do.

    Attributes:
        dialect, framing: their names, None while they are not known.
        live, watch, policy, limits: the parser's options.
        tools: the names of its tools, sorted; None if it has none.
        resets: the calls that are followed live (turn, choice, index), and how often their texts were replaced.
    """

    dialect: str | None = None
    framing: str | None = None
    live: bool = False
    watch: dict[str, Union[str, Path]] | None = None
    policy: Policy = Policy()
    limits: Limits = Limits()
    tools: tuple[str, ...] | None = None
    resets: dict[tuple[int, int, int], int] = {}

    def of_parser(self, tools: Tools[Any] | None) -> dict[str, Any]:
        """Return the options of a parser that is made so, but for its tools, which are given.

        Raises:
            BadSnapshot: they are not the tools that the snapshot was taken with, by their names; or the dialect
                or the framing is not known here.
        """
        given = None if tools is None else tuple(sorted(tools))
        if given != self.tools:
            raise BadSnapshot(
                f"the snapshot was taken with {_listed(self.tools)}, and {_listed(given)} given; "
                "restore it with the `tools` that its parser had"
            )
        try:
            named(self.dialect or DIALECTS[0].name)
        except UnknownDialect as error:
            raise BadSnapshot(f"the stream's dialect must be registered here as well: {error}") from None
        if self.framing not in (None, *FRAMINGS) or (self.watch and () in self.watch.values()):
            raise BadSnapshot("the snapshot has options that no parser has")
        return {
            "dialect": self.dialect or "auto",
            "framing": self.framing,
            **{name: getattr(self, name) for name in ("live", "watch", "policy", "limits")},
        }


def _listed(names: tuple[str, ...] | None) -> str:
    return "no tools" if names is None else "the tools " + ", ".join(map(repr, names[:20]))
