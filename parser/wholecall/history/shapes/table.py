"""The shapes as one literal table, in the order in which they are tried on a list of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from wholecall.errors import UnknownDialect
from wholecall.history.parts import Message
from wholecall.history.shapes.ag_ui import AG_UI
from wholecall.history.shapes.anthropic import ANTHROPIC
from wholecall.history.shapes.atif import ATIF
from wholecall.history.shapes.base import Shape, View
from wholecall.history.shapes.blocks import block_types
from wholecall.history.shapes.chat import CHAT
from wholecall.history.shapes.claude_code import CLAUDE_CODE
from wholecall.history.shapes.codex import CODEX
from wholecall.history.shapes.converse import CONVERSE
from wholecall.history.shapes.gemini import GEMINI
from wholecall.history.shapes.langchain import LANGCHAIN
from wholecall.history.shapes.mistral import MISTRAL
from wholecall.history.shapes.ollama import OLLAMA
from wholecall.history.shapes.otel import OTEL
from wholecall.history.shapes.pi import PI
from wholecall.history.shapes.responses import RESPONSES
from wholecall.history.shapes.vercel import VERCEL

ShapeName = Literal[
    "auto",
    "chat-completions",
    "responses",
    "anthropic",
    "gemini",
    "bedrock-converse",
    "ollama",
    "mistral-conversations",
    "langchain",
    "ag-ui",
    "vercel-ui",
    "pi",
    "claude-code",
    "codex",
]

# Envelopes first; then the form of results decides, because the repair must write results.
SHAPES: Final[tuple[Shape, ...]] = (
    *(CODEX, CLAUDE_CODE, VERCEL, GEMINI, MISTRAL, PI, RESPONSES, AG_UI, CHAT),
    *(OLLAMA, LANGCHAIN, CONVERSE, ANTHROPIC),
)
# Views of records that are never sent again, and can only be read; tried before the shapes, some of which look alike.
RECORDS: Final[tuple[View, ...]] = (ATIF, OTEL)
_VIEWS: Final[tuple[View, ...]] = (*RECORDS, *SHAPES)
_SPEAKERS: Final = ("user", "assistant", "system", "developer")
# Other forms of calls and results: Gemini's Interactions, and the model messages of the Vercel AI SDK.
_FOREIGN: Final = ("function_result", "tool-call", "tool-result")


class Seen(msgspec.Struct, frozen=True):
    """The first views whose features some messages have.

    Attributes:
        own: the number of the first view of which a message has an exclusive feature; that of no view if there is none.
        like: the number of the first view of which a message has a usual feature.
    """

    own: int = len(_VIEWS)
    like: int = len(_VIEWS)

    @property
    def view(self) -> View | None:
        """The view for reading them, None if nothing shows it."""
        found = self.own if self.own < len(_VIEWS) else self.like
        return _VIEWS[found] if found < len(_VIEWS) else None


NOTHING: Final = Seen()


def shape_of(messages: Sequence[Message], name: str, before: Seen = NOTHING) -> Shape:
    """Return the shape of a list of messages: the named one, or the first with its exclusive or usual features.

    If nothing shows it and all messages are texts, the shape is chat completions, which reads texts like any other
    shape.

    Args:
        messages: each a dict.
        name: of the shape, or `"auto"`.
        before: the features of the messages before these.

    Raises:
        UnknownDialect: no known shape has messages like these.
        ValueError: there is no such shape.
    """
    if name != "auto":
        for shape in SHAPES:
            if shape.name == name:
                return shape
        raise ValueError(f"there is no shape {name!r}; give one of auto, {_NAMES}")
    found = seen_in(messages, before).view
    strange = next((n for n, one in enumerate(messages) if _is_strange(one, shown=found is not None)), None)
    if strange is not None:
        raise UnknownDialect(
            f"no known shape has messages like messages[{strange}], whose calls would not be seen; write them as a"
            f" provider takes them, or name their shape, one of {_NAMES}"
        )
    if found is None or isinstance(found, Shape):
        return found or CHAT
    raise UnknownDialect(
        f"the messages are a record, {found.name!r}, which nobody sends again; give those of {_NAMES}"
    )


_NAMES: Final = ", ".join(shape.name for shape in SHAPES)


def _is_strange(message: Message, *, shown: bool) -> bool:
    """Return whether a message may contain calls unseen; while the shape is unknown, it must be a text."""
    if message.get("type") in _FOREIGN or block_types(message).intersection(_FOREIGN):
        return True
    if shown:
        return False
    content = message.get("content")
    plain = content is None or isinstance(content, (str, list, tuple))
    return not plain or message.get("role", "") not in _SPEAKERS


def view_of(messages: Sequence[Message]) -> View:
    """Return the view for reading messages, including those that are only a record."""
    return seen_in(messages).view or CHAT


def seen_in(messages: Sequence[Message], before: Seen = NOTHING) -> Seen:
    """Return the features of messages, combined with those of the messages before them."""
    own, like = before.own, before.like
    for message in messages:  # once: a message may have to be read from a file
        if own == 0:
            break
        own = next((n for n, view in enumerate(_VIEWS[:own]) if view.is_own(message)), own)
        if own == len(_VIEWS):
            like = next((n for n, view in enumerate(_VIEWS[:like]) if view.is_like(message)), like)
    return Seen(own, like)
