"""Types that all lanes share: the options of a caller, and the values of members without oddities, for the views."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, Union

import msgspec

if TYPE_CHECKING:
    from wholecall.calls.tools.tool import Tools
    from wholecall.limits import Limits
    from wholecall.policy import Policy


class Asked(NamedTuple):
    """The options of a caller; `shows` whether text is shown as it comes."""

    policy: Policy
    limits: Limits
    tools: Tools[Any] | None
    shows: bool


CRLF: Final = b"\r\n\r\n"  # the end of an event, where lines end so

Word = Annotated[str, msgspec.Meta(min_length=1)]
Id = Annotated[str, msgspec.Meta(pattern=r"^[\w.:/-]{1,64}\Z")]
Nothing = Union[Literal[""], None]
NoList = Union[Annotated[list[Any], msgspec.Meta(max_length=0)], None]
Counts = Union[dict[str, Any], None]

# Labels of calls are checked once, when a call begins: a pattern of a view costs as much as the rest of its event.
_LONGEST: Final = 64
_ID: Final = re.compile(r"[\w.:/-]+\Z")
_NAME: Final = re.compile(r"[a-zA-Z0-9_.:/-]+\Z")


def is_id(text: str) -> bool:
    """Return whether a text is an id as servers make them."""
    if len(text) > _LONGEST or text in ("null", "None"):
        return False
    return (text.isascii() and text.isidentifier()) or _ID.match(text) is not None  # nearly always the first


def is_name(text: str) -> bool:
    """Return whether a text is a name that a tool may have."""
    if len(text) > _LONGEST:
        return False
    return (text.isascii() and text.isidentifier()) or _NAME.match(text) is not None
