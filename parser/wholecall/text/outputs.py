"""Outputs of the engine for a text: in order, and complete.

All outputs are spans of the text: shown to the user, markup, a call, or an attempted call that does not
count. Joined in order the spans are the text.
"""

from __future__ import annotations

from typing import Union

import msgspec

from wholecall.discreet import discreet_repr
from wholecall.types import DropReason, EditKind, Flag


class Shown(msgspec.Struct, frozen=True, gc=False):
    """Text for the user, or reasoning."""

    text: str
    reasoning: bool = False

    __repr__ = discreet_repr


class Markup(msgspec.Struct, frozen=True, gc=False):
    """Text that only holds other text together. `dangling`: an opener with nothing after it."""

    text: str
    dangling: bool = False

    __repr__ = discreet_repr


class Written(msgspec.Struct, frozen=True, gc=False):
    """A whole call. `arguments` is JSON: the model's own text, or written from its meaning (`translated`)."""

    name: str
    arguments: str
    source: str
    id: str | None = None
    edits: tuple[EditKind, ...] = ()
    flags: tuple[Flag, ...] = ()

    __repr__ = discreet_repr


class Unread(msgspec.Struct, frozen=True, gc=False):
    """An attempted call that does not count; `source` is all of it, markers included."""

    reason: DropReason
    source: str
    name: str | None = None
    id: str | None = None
    detail: str = ""

    __repr__ = discreet_repr


Output = Union[Shown, Markup, Written, Unread]
