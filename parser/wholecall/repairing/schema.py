"""The language of published schemas as tables, and the completion of objects that lack members.

Theory of operation. Strict clients check each frame against the published schema of its wire, and fail on `"created":
""` or `"usage": {"total_tokens": null}` as if the answer were lost. A schema lists the members of an object with their
types. A value that does not match counts as absent, as it does for the parser; a required member that is absent gets
its stand-in. A member without a stand-in was either sent in earlier frames (ids, the model), which the rewriter knows, or
cannot be made up (a text): then the object cannot be written. Members that are not in the schema stay. A valid object
is returned itself: its frame passes byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Union

import msgspec

__all__ = ["Kinds", "Member", "Schema", "conformed", "stand_ins"]

Payload = dict[str, Any]
_MOST_WHOLE: Final = 2.0**53  # beyond it, no number has a fraction


class Member(msgspec.Struct, frozen=True):
    """A member of an object.

    Attributes:
        types: its allowed types.
        stand_in: its value for clients where it is absent; None where nothing can be made up.
        needed: whether it must be there.
        is_told: whether earlier frames may have sent it, so that a stand-in is the last resort.
        is_id: whether it is an id, which must not be empty.
        is_label: whether the rewriter reads values of other types, such as `"index": "0"`.
        words: the allowed texts; none for any.
        inside: the schema of the object, or of each object of the list.
        sums: the members whose sum it is, where it is absent.
    """

    types: tuple[type, ...]
    stand_in: Any = None
    needed: bool = True
    is_told: bool = False
    is_id: bool = False
    is_label: bool = False
    words: frozenset[str] = frozenset()
    inside: Schema | Kinds | None = None
    sums: tuple[str, ...] = ()


class Schema:
    """The members of an object.

    Args:
        members: by their names; a sum of other members comes after them.
    """

    __slots__ = ("members", "needed", "told", "types", "untold")

    def __init__(self, members: Mapping[str, Member]) -> None:
        self.members = dict(members)
        self.needed = frozenset(name for name, member in members.items() if member.needed)
        self.told = frozenset(name for name in self.needed if members[name].is_told)
        self.untold = self.needed - self.told
        # Types that need no further look, by member.
        self.types = {
            name: () if member.words or member.is_id or member.inside is not None else member.types
            for name, member in members.items()
        }


class Kinds:
    """Objects that are distinguished by their `type`; for an unknown type only the common members are known.

    Args:
        of: the members of each type.
        common: the members of each of them, including unknown ones.
    """

    __slots__ = ("common", "of")

    def __init__(
        self, of: Mapping[str, Mapping[str, Member]], common: Mapping[str, Member] | None = None
    ) -> None:
        self.of = {kind: Schema(members) for kind, members in of.items()}
        self.common = Schema(common or {})


_Asked = Union[Schema, Kinds]


def conformed(value: Payload, asked: _Asked, *, is_first: bool = False) -> Payload | None:
    """Return an object that matches its schema: itself, if it does; None where a needed member cannot be made up.

    Args:
        value: the object.
        asked: its schema, or those of its possible kinds.
        is_first: whether nothing was sent before: members of earlier frames then get their stand-ins, too.
    """
    schema = _schema_of(value, asked) if isinstance(asked, Kinds) else asked
    if schema is None:
        return None
    edits = _edits(value, schema, is_first)
    needed = schema.needed if is_first else schema.untold
    if not edits and needed <= value.keys():
        return value
    whole = {**value, **edits}
    for name, member in schema.members.items():
        if name in needed and whole.get(name) is None:
            if member.stand_in is None:
                return None
            whole[name] = sum(whole[each] for each in member.sums) if member.sums else member.stand_in
    return {name: each for name, each in whole.items() if each is not None or name not in edits}


def _edits(value: Payload, schema: Schema, is_first: bool) -> Payload:
    """Return the new values of members that do not match the schema; None for those that count as absent."""
    edits: Payload = {}
    for name, given in value.items():
        types = schema.types.get(name)
        if types is None or type(given) in types:
            continue
        member = schema.members[name]
        if given is None:
            if name in schema.needed and (is_first or not member.is_told):
                edits[name] = None
            continue
        found = _fitting(given, member, is_first)
        if found is not given and (is_first or not member.is_label):
            edits[name] = found
    return edits


def stand_ins(schema: Schema) -> Payload:
    """Return the stand-ins for the members of earlier frames, for use when there were none."""
    return {name: member.stand_in for name, member in schema.members.items() if name in schema.told}


def _schema_of(value: Payload, kinds: Kinds) -> Schema | None:
    kind = value.get("type")
    return kinds.of.get(kind, kinds.common) if type(kind) is str and kind else None


def _fitting(given: Any, member: Member, is_first: bool) -> Any:
    """Return a value that matches a member: itself, if it does; None where it counts as absent."""
    kind, inside = type(given), member.inside
    if kind in member.types:
        if kind is str:
            is_word = given in member.words if member.words else not (member.is_id and given == "")
            return given if is_word else None
        if kind is dict and inside is not None:
            return conformed(given, inside, is_first=is_first)
        return given if inside is None else _listed(given, inside, is_first)
    if kind is float and int in member.types:
        return int(given) if abs(given) < _MOST_WHOLE else None
    if kind is dict and given and list in member.types and inside is not None:
        return _listed([given], inside, is_first)  # one object is a list of one (quirk 39)
    return None


def _listed(given: list[Any], asked: _Asked, is_first: bool) -> list[Any]:
    """Return a list of objects without those that cannot match; itself, if all match."""
    found = [conformed(each, asked, is_first=is_first) if type(each) is dict else None for each in given]
    if len(found) == len(given) and all(map(_is, found, given)):
        return given
    return [each for each in found if each is not None]


def _is(one: object, other: object) -> bool:
    return one is other
