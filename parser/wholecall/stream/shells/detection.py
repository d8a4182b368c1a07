"""Detect the dialect of a stream by its first bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.framing.base import BytesLike
from wholecall.stream.parser import ToolCallParser

if TYPE_CHECKING:
    from typing_extensions import Self


class Detection(str):
    """The name of a dialect, a string like any other.

    Attributes:
        text_format: the format of calls that the model wrote as text, as `text=` takes it; None where its text has no
            call that a tag or a special token opens.
    """

    __slots__ = ("text_format",)
    text_format: str | None

    def __new__(cls, name: str, text_format: str | None = None) -> Self:
        """Make the name of a dialect, with its text format."""
        made = super().__new__(cls, name)
        made.text_format = text_format
        return made


def detect(data: BytesLike) -> Detection | None:
    """Return the name of the dialect of a stream that begins with these bytes, or of a whole response.

    None if no frame among them is decisive: more bytes may decide, or no dialect knows the stream. The attribute
    `text_format` names the format of tool calls that came as text, if any: parse with `text=` then.

    Raises:
        TypeError: `data` is not bytes; encode text with `.encode()`.
    """
    parser = ToolCallParser()
    events = [*parser.feed(data), *parser.close()]
    if parser.dialect is None:
        return None
    from wholecall.stream.shells.leaks import Leaks  # noqa: PLC0415 - with all readers of text, for who wants them

    leaks = Leaks()
    for event in events:
        leaks.add(event)
    return Detection(parser.dialect, next((name for name, _ in leaks.found.most_common(1)), None))
