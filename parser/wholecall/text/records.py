"""Records of a format: its markers and their content. They are data; `readers` reads by them.

A *block* is a marker with content; the text after it decides its kind. A *tag* carries the name of the call, then
tagged parameters or one JSON object. *Nested* elements are MiniMax M3's, where a token precedes every tag. A *body* is
a tag with plain text for its arguments. *Messages* have a header, a body and an end. A marker that several formats
share has one record whose body decides, so that a wrongly chosen format still reads its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Union

import msgspec

Hold = Literal["json", "inner", "named", "pairs", "python", "relaxed"]
Weak = Literal["json", "python", "calls", "fenced", "relaxed", "action", "react"]
Think = tuple[str, str]  # the opener and the closer of reasoning


class Params(msgspec.Struct, frozen=True, kw_only=True):
    """Tagged parameters, each a key and a raw text.

    Attributes:
        opens: the opener of a parameter.
        closes: the closer of its value.
        key: the notation of the key: `eq` (`<parameter=KEY>`), `attr` (`name="KEY"`), or `pair` (`<k>KEY</k><v>`).
        key_closes: the closer of the key of a pair; none where the opener of the value ends it.
        value_opens: the opener of the value of a pair.
        type_opens: the opener of a type between the two; `type_closes` is its closer.
        gt: the end of the head.
        key_attr: the attribute that holds the key.
        trim: the white space around a value that is markup: `none`, one line end at each side (`nl`), the same but
            only if there is a leading one (`nl2`).
        cdata: whether a value may be in a CDATA section.
        typing: the source of a value's type: the tool's `schema`, the attribute `string` (`string_attr`), an
            attribute or element with the type's name (`type_attr`), or the schema with a quoted text read as the
            JSON string that it is (`quoted`).
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
    typing: Literal["schema", "string_attr", "type_attr", "quoted"] = "schema"


class Block(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A marker with content.

    Attributes:
        opens: the opener.
        closes: the closers; none where the format has no closer.
        holds: what may follow: JSON, another opener, `NAME` and an object, `NAME` and pairs, calls in Python's
            spelling, or `call:NAME{…}`.
        pairs: the parameters of `pairs`.
        seps: separators allowed between a name and its object.
        skip_prefix: text allowed before the name.
        as_key: whether the name is the key of its arguments, `{"NAME": {…}}`.
        noise: whether any text may precede the call in this marker.
        strict: whether the closer is needed.
        overlap: how many characters at the end of the opener belong to its content.
        declared: whether it counts only for the name of a declared tool.
        text_names: names whose body is text, not a call.
        name_is_id: whether the name as written, with its index, is also the id of the call.
        id_sep: the separator between the name and an id of the call.
        name_alone: whether a declared name with nothing after it, at a clean end, is a call without arguments.
        lead: the opener and the closer of a text before the name that is no part of it; without a closer there is none.
        lead_is_id: whether that text is the id of the call.
        tails: markup between the object and the closer.
        kinds: the word before the name that says what is called, with its line end.
        head_ends: ends of the name that count only before an object.
        fenced: whether the object must be in a fence.
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
    lead: tuple[str, str] = ("", "")
    lead_is_id: bool = False
    tails: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    head_ends: tuple[str, ...] = ()
    fenced: bool = False


class Tag(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A tag that carries the name.

    Attributes:
        opens: the opener.
        closes: the end of the call.
        params: its parameters.
        name: how the name is written in the head: `eq` (`<function=NAME>`) or `attr` (`<invoke name="NAME">`).
        name_attr: the attribute that holds the name.
        gt: the end of the head.
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
    """Nested elements: a token precedes every tag."""

    opens: tuple[str, ...]
    closes: tuple[str, ...]
    token: str


class Body(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A tag that names the tool, then a body of plain text or one JSON object, then a closer on its own line.

    It counts only at the start of a line and for a declared tool.

    Attributes:
        opens: the opener.
        closes: the closers.
        gt: the end of the head.
        generic: names in the head that are no tool's: the first word of the body is the name then.
        key: the argument that a plain text is, unless the tool has one parameter.
    """

    opens: tuple[str, ...]
    closes: tuple[str, ...]
    gt: str = ">"
    generic: tuple[str, ...] = ()
    key: str


class Messages(msgspec.Struct, frozen=True, kw_only=True):
    """Messages with a header.

    Attributes:
        starts: the openers of a header.
        body: the end of a header.
        ends: the ends of a body.
        kind: the family of models: the recipients and bodies differ.
        params: tagged parameters that a body may consist of.
    """

    starts: tuple[str, ...]
    body: str
    ends: tuple[str, ...]
    kind: Literal["harmony", "muse"] = "harmony"
    params: Params | None = None


Record = Union[Block, Tag, Nested, Body]


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """The way a family of models writes calls.

    Attributes:
        name: its name for `text=`.
        calls: the records of calls.
        think: the openers and closers of reasoning.
        noise: text that is never shown: stop tokens, role markers, wrappers of channels.
        messages: its messages, if it has any.
        weak: which shapes without a marker it also writes; they count only for declared tools.
        imply: markers that end reasoning although they do not close it.
    """

    name: str
    calls: tuple[Record, ...] = ()
    think: tuple[Think, ...] = ()
    noise: tuple[str, ...] = ()
    messages: Messages | None = None
    weak: tuple[Weak, ...] = ()
    imply: tuple[str, ...] = ()

    def openers(self) -> Iterable[str]:
        """Return the openers of calls."""
        return (opener for record in self.calls for opener in record.opens)
