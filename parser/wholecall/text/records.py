"""Records of a format: the markers, and the content of each. They are data; `readers` reads by them.

A *block* is a marker that holds something, told apart by what follows. A *tag* carries the name of the call, then
tagged parameters or one JSON object. *Nested* elements are MiniMax M3's, where a token stands before every tag.
*Messages* have a header, a body and an end. What several formats share is one record whose body decides, so that a
wrongly chosen format still reads its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Union

import msgspec

__all__ = ["Block", "Format", "Hold", "Messages", "Nested", "Params", "Record", "Tag", "Think", "Weak"]

Hold = Literal["json", "inner", "named", "pairs", "python", "relaxed"]
Weak = Literal["json", "python", "fenced", "relaxed", "action", "react"]
Think = tuple[str, str]  # what opens reasoning, and what closes it


class Params(msgspec.Struct, frozen=True, kw_only=True):
    """Tagged parameters, each a key and a raw text.

    Attributes:
        opens: what begins one.
        closes: what ends its value.
        key: how the key stands there: `eq` (`<parameter=KEY>`), `attr` (`name="KEY"`), or `pair` (`<k>KEY</k><v>`).
        key_closes: what ends the key of a pair.
        value_opens: what begins the value of a pair.
        type_opens: what begins a type between the two, and `type_closes` what ends it.
        gt: what ends the head.
        key_attr: the attribute that holds the key.
        trim: which white space round a value is markup: `none`, one line end at each side (`nl`), the same but only
            if there is a leading one (`nl2`).
        cdata: whether a value may stand in a CDATA section.
        typing: who says of which type a value is: the tool's `schema`, the attribute `string` (`string_attr`), or an
            attribute or element with the type's name (`type_attr`).
    """

    opens: tuple[str, ...]
    closes: tuple[str, ...]
    key: Literal["eq", "attr", "pair"] = "eq"
    key_closes: str = ""
    value_opens: str = ""
    type_opens: str = ""
    type_closes: str = ""
    gt: str = ">"
    key_attr: str = "name"
    trim: Literal["none", "nl", "nl2"] = "none"
    cdata: bool = False
    typing: Literal["schema", "string_attr", "type_attr"] = "schema"


class Block(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A marker that holds something.

    Attributes:
        opens: what begins it.
        closes: what ends it; none where the format has no closer.
        holds: what may follow: JSON, another opener, `NAME` and an object, `NAME` and pairs, calls in Python's
            spelling, or `call:NAME{…}`.
        pairs: the parameters of `pairs`.
        seps: what may stand between a name and its object.
        skip_prefix: what may stand before the name.
        as_key: whether the name is the key of its arguments, `{"NAME": {…}}`.
        noise: whether anything may stand between this marker and the call in it.
        strict: whether the closer is needed.
        overlap: how many characters at the end of the opener belong to what it holds.
        declared: whether it counts only for the name of a declared tool.
        text_names: names whose body is text, not a call.
        name_is_id: whether the name as it stands, with its index, is also the id of the call.
        id_sep: what stands between the name and an id of the call.
        name_alone: whether a declared name with nothing behind it, at a clean end, is a call without arguments.
    """

    opens: tuple[str, ...]
    closes: tuple[str, ...] = ()
    holds: tuple[Hold, ...] = ("json",)
    pairs: Params | None = None
    seps: tuple[str, ...] = ()
    skip_prefix: tuple[str, ...] = ()
    as_key: bool = False
    noise: bool = False
    strict: bool = False
    overlap: int = 0
    declared: bool = False
    text_names: tuple[str, ...] = ()
    name_is_id: bool = False
    id_sep: str = ""
    name_alone: bool = False


class Tag(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A tag that carries the name.

    Attributes:
        opens: what begins it.
        closes: what ends the call.
        params: its parameters.
        name: how the name stands in the head: `eq` (`<function=NAME>`) or `attr` (`<invoke name="NAME">`).
        name_attr: the attribute that holds the name.
        gt: what ends the head.
        bare: whether it counts anywhere without its wrapper, or only at the start of a line and for a declared tool.
    """

    opens: tuple[str, ...]
    closes: tuple[str, ...]
    params: Params
    name: Literal["eq", "attr"] = "attr"
    name_attr: str = "name"
    gt: str = ">"
    bare: Literal["any", "line"] = "any"


class Nested(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Nested elements, every tag of which stands behind a token."""

    opens: tuple[str, ...]
    closes: tuple[str, ...]
    token: str


class Messages(msgspec.Struct, frozen=True, kw_only=True):
    """Messages with a header.

    Attributes:
        starts: what begins a header.
        body: what ends it.
        ends: what ends a body.
        kind: whose they are: the recipients and bodies differ.
        params: tagged parameters that a body may consist of.
    """

    starts: tuple[str, ...]
    body: str
    ends: tuple[str, ...]
    kind: Literal["harmony", "muse"] = "harmony"
    params: Params | None = None


Record = Union[Block, Tag, Nested]


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """How a family of models writes calls.

    Attributes:
        name: what `text=` calls it.
        calls: what holds calls.
        think: what opens and closes reasoning.
        noise: what is never shown: stop tokens, role markers, wrappers of channels.
        messages: its messages, if it has any.
        weak: which shapes without a marker it also writes; they count only for declared tools.
        imply: what ends reasoning although it does not close it.
    """

    name: str
    calls: tuple[Record, ...] = ()
    think: tuple[Think, ...] = ()
    noise: tuple[str, ...] = ()
    messages: Messages | None = None
    weak: tuple[Weak, ...] = ()
    imply: tuple[str, ...] = ()

    def openers(self) -> Iterable[str]:
        """Return what begins a call."""
        return (opener for record in self.calls for opener in record.opens)
