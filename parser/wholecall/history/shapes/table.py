"""The shapes as one literal table, in the order in which they are tried on a list of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeVar

from wholecall.history.parts import Message
from wholecall.history.shapes.anthropic import ANTHROPIC
from wholecall.history.shapes.atif import ATIF
from wholecall.history.shapes.base import Shape, View
from wholecall.history.shapes.chat import CHAT
from wholecall.history.shapes.claude_code import CLAUDE_CODE
from wholecall.history.shapes.codex import CODEX
from wholecall.history.shapes.gemini import GEMINI
from wholecall.history.shapes.otel import OTEL
from wholecall.history.shapes.pi import PI
from wholecall.history.shapes.responses import RESPONSES

__all__ = ["RECORDS", "SHAPES", "ShapeName", "shape_of", "view_of"]

ViewT = TypeVar("ViewT", bound=View)

ShapeName = Literal[
    "auto", "chat-completions", "responses", "anthropic", "gemini", "pi", "claude-code", "codex"
]

# Envelopes first; then how results are carried decides, because that is what the repair has to write.
SHAPES: Final[tuple[Shape, ...]] = (CODEX, CLAUDE_CODE, GEMINI, PI, RESPONSES, CHAT, ANTHROPIC)
# What nobody sends again, so that it can only be read; asked before the shapes, of which some look alike.
RECORDS: Final[tuple[View, ...]] = (ATIF, OTEL)
_VIEWS: Final[tuple[View, ...]] = (*RECORDS, *SHAPES)


def shape_of(messages: Sequence[Message], name: str) -> Shape:
    """Return the shape of a list of messages: the named one, or the first whose own or whose usual ways it has.

    Where nothing shows it (texts only), the shape is chat completions, in which texts are read as in any other.

    Raises:
        ValueError: there is no such shape.
    """
    if name != "auto":
        for shape in SHAPES:
            if shape.name == name:
                return shape
        known = ", ".join(shape.name for shape in SHAPES)
        raise ValueError(f"there is no shape {name!r}; give one of auto, {known}")
    return _first(SHAPES, messages) or CHAT


def view_of(messages: Sequence[Message]) -> View:
    """Return how messages are to be read, also those that are only a record."""
    return _first(_VIEWS, messages) or CHAT


def _first(views: Sequence[ViewT], messages: Sequence[Message]) -> ViewT | None:
    """Return the first view that messages have the own or the usual ways of, None if nothing shows it."""
    own = like = len(views)  # the numbers of the first views that were met
    for message in messages:  # once: a message may have to be read from a file
        own = next((n for n, view in enumerate(views[:own]) if view.is_own(message)), own)
        if own == 0:
            break
        if own == len(views):
            like = next((n for n, view in enumerate(views[:like]) if view.is_like(message)), like)
    found = own if own < len(views) else like
    return views[found] if found < len(views) else None
