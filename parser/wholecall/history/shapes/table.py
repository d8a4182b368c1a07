"""The shapes as one literal table, in the order in which they are tried on a list of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from wholecall.history.parts import Message
from wholecall.history.shapes.anthropic import ANTHROPIC
from wholecall.history.shapes.base import Shape
from wholecall.history.shapes.chat import CHAT
from wholecall.history.shapes.claude_code import CLAUDE_CODE
from wholecall.history.shapes.codex import CODEX
from wholecall.history.shapes.gemini import GEMINI
from wholecall.history.shapes.pi import PI
from wholecall.history.shapes.responses import RESPONSES

__all__ = ["SHAPES", "ShapeName", "shape_of"]

ShapeName = Literal[
    "auto", "chat-completions", "responses", "anthropic", "gemini", "pi", "claude-code", "codex"
]

# Envelopes first; then how results are carried decides, because that is what the repair has to write.
SHAPES: Final[tuple[Shape, ...]] = (CODEX, CLAUDE_CODE, GEMINI, PI, RESPONSES, CHAT, ANTHROPIC)


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
    own = like = len(SHAPES)  # the numbers of the first shapes that were met
    for message in messages:  # once: a message may have to be read from a file
        own = next((n for n, shape in enumerate(SHAPES[:own]) if shape.is_own(message)), own)
        if own == 0:
            break
        if own == len(SHAPES):
            like = next((n for n, shape in enumerate(SHAPES[:like]) if shape.is_like(message)), like)
    return (*SHAPES, CHAT)[own if own < len(SHAPES) else like]
