"""Claims of dialects to a frame, their evidence, and the choice between several.

Theory of operation. A dialect claims a frame by members that only it has, or by some that others may carry as well:
`{"metadata": {"usage": {}}}` is an event of Bedrock's, and Google's `interaction.created` has that member, too. The
members that a dialect's marks ask for are therefore its *own*, and the table says which of these are *weak*, and which
other members its frames have besides. Together these members are *telling*: only dialects that own one of those in a
frame are asked about it, and those that know events by their names. Nearly always a frame has no other such members than
those of the first dialect that claims it, and that one has it. A frame with others is contested: claims that hold
without their weak members, and without empty members (`candidates: []`), go before all others; a weak claim counts only
where no member names the frame's kind. Where more than one claim is left, the frame decides nothing, and waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from wholecall.dialects.detect import ENTRIES, SUPPORTING
from wholecall.dialects.marks import FRAME, NAME, Entry, Mark, Row

_private = True


class _Members(NamedTuple):
    """The members by which a dialect is known, or that its frames have in addition.

    Attributes:
        own: all of them.
        weak: those that others may have as well.
        strong: the others.
        is_named: the name of an event may also be decisive.
    """

    own: frozenset[str]
    weak: frozenset[str]
    strong: frozenset[str]
    is_named: bool


def members_of(row: Row) -> frozenset[str]:
    """Return the frame's own members that a row asks for; the event's name is one of them."""
    negative = (path for path, test in row.items() if isinstance(test, Mark) and test.negative)
    asked = "|".join(row.keys() - {FRAME, *negative}).split("|")
    return frozenset(way.partition(".")[0].partition("[")[0] for way in asked) - {""}


def _members(entry: Entry) -> _Members:
    asked = frozenset[str]().union(*map(members_of, entry.rows))
    weak = frozenset(entry.weak.split())
    own = (asked - SUPPORTING - {NAME}).union(weak, entry.besides.split())
    return _Members(own, weak, own - weak, NAME in asked)


KNOWN: Final = {name: _members(entry) for name, entry in ENTRIES.items()}
_RIVALS: Final = {
    member: tuple(name for name, members in KNOWN.items() if member in members.own)
    for member in frozenset[str]().union(*(members.own for members in KNOWN.values()))
}
_TELLING: Final = frozenset(_RIVALS)
_LABELS: Final = ("type", "event_type", "jsonrpc", "object")  # members that name a frame's kind

# Pairs of which the second dialect takes frames of the first as well; at equal strength the first dialect has them. Only
# in some pairs does one row imply another (choices with a text are choices): in others a frame satisfies rows of both.
NARROWER: Final = frozenset(
    {
        ("legacy-completions", "chat-completions"),
        ("bedrock-invoke-legacy-completions", "bedrock-invoke-chat-completions"),
        ("snowflake-cortex", "chat-completions"),
        ("vercel-data", "chat-completions"),
        ("vercel-data", "vercel-ui"),
        ("mastra", "vercel-ui"),
        ("gemini-live", "gemini"),
        ("langchain", "gemini"),
        ("snowflake-agents", "bedrock-converse"),
        ("llama-stack", "llama-api"),
        ("cursor", "claude-code"),
    }
)


def telling(payload: Mapping[str, Any]) -> frozenset[str]:
    """Return the members of a frame by which any dialect is known."""
    return _TELLING.intersection(payload)


def foreign(name: str, telling: frozenset[str]) -> frozenset[str]:
    """Return the telling members of a frame by which other dialects than this one may be known."""
    return telling - KNOWN[name].strong


def rivals(members: frozenset[str]) -> frozenset[str]:
    """Return the names of the dialects that are known by one of these members."""
    return frozenset(name for member in members for name in _RIVALS[member])


def without_weak(name: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a frame without its empty and weak members, which decide nothing where other dialects claim it."""
    weak = KNOWN[name].weak
    return {key: value for key, value in payload.items() if key not in weak and not _is_empty(value)}


def is_labelled(payload: Mapping[str, Any], among: frozenset[str]) -> bool:
    """Return whether one of these members identifies the frame: a word for its kind, or choices."""
    named = any(label in among and isinstance(payload[label], str) for label in _LABELS)
    return named or ("choices" in among and isinstance(payload["choices"], list))


def yields(name: str, others: list[str]) -> bool:
    """Return whether a dialect leaves a frame to one of these others, of whose frames it takes some."""
    return any((other, name) in NARROWER for other in others)


def are_akin(one: str, other: str) -> bool:
    """Return whether one of two dialects takes frames of the other as well."""
    return (one, other) in NARROWER or (other, one) in NARROWER


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, (str, list, dict)) and not value)
