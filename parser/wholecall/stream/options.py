"""The options of a parser: those that the shells pass on, and all of them in the form of a snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union, get_args

import msgspec

from wholecall.calls.arguments.partial import Path
from wholecall.dialects.table import DIALECTS, named
from wholecall.errors import BadSnapshot, UnknownDialect
from wholecall.framing import FRAMINGS
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.text.options import TextCalls, TextWanted

if TYPE_CHECKING:
    from wholecall.calls.tools.tool import Tools
    from wholecall.stream.live import Watch

EventsWanted = Literal["all", "calls"]
_WANTED = get_args(EventsWanted)


class ParserOptions(TypedDict, total=False):
    """The options of `ToolCallParser` that the shells hand on."""

    text: TextWanted
    output: Any
    events: EventsWanted
    live: bool
    watch: Watch | None
    framing: str | None
    policy: Policy
    limits: Limits


def checked_events(events: EventsWanted, *, is_live: bool) -> EventsWanted:
    """Return which events are wanted; `is_live` is whether arguments are to be shown while they arrive.

    Raises:
        ValueError: it is not one of the words, or leaves out the events to be shown.
    """
    if events not in _WANTED:
        raise ValueError(f"events is 'all' or 'calls', not {events!r}")
    if is_live and events != "all":
        raise ValueError(
            f"`live` and `watch` show text as it comes, and events={events!r} leaves it out; take one of them"
        )
    return events


def for_turns(options: ParserOptions) -> ParserOptions:
    """Return the options of a parser whose turns are wanted, not its events: it makes no events for pieces of text."""
    if options.get("live") or options.get("watch") is not None:
        return options
    return {"events": "calls", **options}


class MovedOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The options of a parser in the form of a snapshot, and the calls that it follows live.

    Tools are not included, because they are types and functions of the caller. Their names are.

    Attributes:
        dialect, framing: their names, None while they are not known.
        events, live, watch, text, policy, limits: the parser's options.
        tools: the names of its tools, sorted; None if it has none.
        output: whether its answers are values; their type is not included either.
        resets: the calls that are followed live (turn, choice, index), and how often their texts were replaced; an
            answer has the index -1.
    """

    dialect: str | None = None
    framing: str | None = None
    events: EventsWanted = "all"
    live: bool = False
    watch: dict[str, Union[str, Path]] | None = None
    text: Union[TextCalls, None] = None
    policy: Policy = Policy()
    limits: Limits = Limits()
    tools: tuple[str, ...] | None = None
    output: bool = False
    resets: dict[tuple[int, int, int], int] = {}

    def of_parser(self, tools: Tools[Any] | None, output: Any) -> dict[str, Any]:
        """Return the options of such a parser, except its tools and its output, which are given.

        Raises:
            BadSnapshot: they are not the tools that the snapshot was taken with, by their names; or the dialect or the
                framing is not known here.
        """
        given = None if tools is None else tuple(sorted(tools))
        if given != self.tools:
            raise BadSnapshot(
                f"the snapshot was taken with {_listed(self.tools)}, and {_listed(given)} given; "
                "restore it with the `tools` that its parser had"
            )
        if (output is not None) != self.output:
            had, give = ("with", "the") if self.output else ("without", "no")
            raise BadSnapshot(
                f"the snapshot was taken {had} `output`; restore it with {give} `output` that its parser had"
            )
        try:
            named(self.dialect or DIALECTS[0].name)
        except UnknownDialect as error:
            raise BadSnapshot(f"the stream's dialect must be registered here as well: {error}") from None
        is_hidden = self.events != "all" and (self.live or self.watch is not None)
        is_nowhere = self.watch and () in self.watch.values()
        if self.framing not in (None, *FRAMINGS) or is_hidden or is_nowhere:
            raise BadSnapshot("the snapshot has options that no parser has")
        return {
            "dialect": self.dialect or "auto",
            "framing": self.framing,
            **{name: getattr(self, name) for name in ("events", "live", "watch", "text", "policy", "limits")},
        }


def _listed(names: tuple[str, ...] | None) -> str:
    return "no tools" if names is None else "the tools " + ", ".join(map(repr, names[:20]))
