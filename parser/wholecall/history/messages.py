"""A turn as the messages that send it back: text, reasoning and calls in the shape of one format.

Theory of operation. `content` decides which content of a turn goes back, and under which ids; a *shape* writes it. The
table gives each format its shape and its capacity. A turn is kept, not rebuilt: reasoning, extra fields (signatures,
Gemini's `extra_content`) and blocks that only the provider understands go back in their places, only to their origin
(quirk 96). The caller supplies the results of the calls, under the ids of `Encoded`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, Final

import msgspec

from wholecall.errors import UnknownDialect, choices, meant, renamed_argument
from wholecall.history.content import Call, CallEvent, Capacity, Options, Piece, gather
from wholecall.history.encode import Malformed
from wholecall.history.formats import Format, format_named
from wholecall.history.ids import CallIds
from wholecall.history.shapes import (
    ag_ui,
    anthropic,
    chat,
    converse,
    gemini,
    langchain,
    mistral,
    ollama,
    otel,
    responses,
    vercel,
)
from wholecall.history.values import copied, dumped
from wholecall.output.events import ServerToolCall
from wholecall.output.turns import OtherBlock, ReasoningBlock, Turn

__all__ = ["Encoded", "encode_calls"]

JSON = dict[str, Any]


class Encoded(msgspec.Struct, frozen=True):
    """A turn in the form in which a format accepts it back.

    Messages are typed as `Any`, so that lists of each SDK's own message types accept them.

    Attributes:
        messages: the messages to append to the conversation, dicts: one assistant message, or (Responses, Realtime,
            Mistral's conversations) its items; for AG-UI preceded by those of its reasoning. Empty if no content is
            left.
        ids: the ids of the conversation with those of this turn: `ids[call.id]` is the id for the call's
            result. Give it to the next `encode_calls` of the same conversation.
        by_index: the same ids by the `index` of each call that waits for a result: a drop may have no id.
        left_out: the calls and drops that are not in the messages; they take no result.
        without_id: the `index` of each call in the messages without an id; its result must have none either: for Gemini
            no id is generated.
        carries_on: further members that the next request must have next to the messages, by name, such as Anthropic's
            `container`; usually empty.
    """

    messages: list[Any]
    ids: CallIds
    by_index: dict[int, str]
    left_out: tuple[CallEvent, ...]
    without_id: frozenset[int] = frozenset()
    carries_on: dict[str, Any] = {}

    def __repr__(self) -> str:
        head = f"messages={len(self.messages)} calls={len(self.by_index)} left_out={len(self.left_out)}"
        return f"<Encoded {head} carries_on={self.carries_on}>" if self.carries_on else f"<Encoded {head}>"


def _nothing(_turn: Turn[Any]) -> JSON:
    return {}


def _any_of_them(_call: ServerToolCall) -> bool:
    return True


def _message_id(turn: Turn[Any]) -> JSON:
    """Return the required id of a message: the provider's, else one derived from the content of the turn."""
    id = turn.response_id
    if not id:
        groups = (turn.calls, turn.custom_calls, turn.builtin_calls, turn.dropped)
        said = dumped([turn.text, *(event.id for group in groups for event in group)])
        id = f"msg_{hashlib.sha256(said.encode()).hexdigest()[:16]}"
    return {"id": id}


class _Shape(msgspec.Struct, frozen=True):
    """The writer of pieces, and the members of the last message that come from the turn."""

    write: Callable[[Sequence[Piece]], list[JSON]]
    capacity: Capacity = Capacity()
    about: Callable[[Turn[Any]], JSON] = _nothing

    def messages(self, pieces: Sequence[Piece], turn: Turn[Any]) -> list[JSON]:
        """Return the messages, none if there is no content."""
        if not any(_says(piece, self.capacity) for piece in pieces):
            return []
        *before, last = self.write(pieces)
        return [*before, self.about(turn) | last]


def _says(piece: Piece, capacity: Capacity) -> bool:
    """Return whether a message can consist of this piece alone; thoughts alone are not a message, but are kept."""
    if isinstance(piece, ReasoningBlock):
        return capacity.record and bool(piece.text.strip())
    if isinstance(piece, OtherBlock):
        return not piece.is_reasoning
    return isinstance(piece, Call) or bool(piece.strip())


_CHAT = _Shape(chat.encode, Capacity(frozenset({"chat-completions"}), blocks=True))
_ANTHROPIC = _Shape(
    anthropic.encode, Capacity(frozenset({"anthropic", "bedrock-invoke-anthropic"}), blocks=True, pauses=True)
)
_CONVERSE = _Shape(
    converse.encode, Capacity(frozenset({"bedrock-converse", "bedrock-invoke-nova"}), blocks=True)
)
_GEMINI = _Shape(gemini.encode, Capacity(frozenset({"gemini", "gemini-live"}), blocks=True, made_ids=False))
_COHERE = _Shape(chat.encode_cohere, Capacity(frozenset({"cohere-v2", "bedrock-invoke-cohere-v2"})))

# LangChain keeps thinking in Anthropic's form, and its integration sends such blocks unchanged.
_LANGCHAIN = frozenset(
    {"langchain", "langchain-events", "langchain-protocol", "anthropic", "bedrock-invoke-anthropic"}
)

_SHAPES: Final = MappingProxyType(
    {
        "chat-completions": _Shape(
            chat.encode, Capacity(frozenset({"chat-completions"}), free_text=True, blocks=True)
        ),
        "bedrock-invoke-chat-completions": _Shape(
            chat.encode, Capacity(frozenset({"bedrock-invoke-chat-completions"}), blocks=True)
        ),
        "dashscope": _Shape(chat.encode, Capacity(frozenset({"dashscope"}))),
        "kimi": _CHAT,
        "minimax": _CHAT,
        "mistral": _Shape(chat.encode),  # refuses unknown fields: no further fields are sent
        "stepfun": _CHAT,
        "responses": _Shape(
            responses.encode,
            Capacity(
                frozenset({"responses"}),
                free_text=True,
                builtins=True,
                blocks=True,
                server_calls=responses.goes_back,
                follows=True,
            ),
        ),
        "openai-realtime": _Shape(responses.encode),
        "mistral-conversations": _Shape(mistral.encode, Capacity(frozenset({"mistral-conversations"}))),
        "cohere-v2": _COHERE,
        "bedrock-invoke-cohere-v2": _COHERE,
        "anthropic": _ANTHROPIC,
        "bedrock-invoke-anthropic": _ANTHROPIC,
        "bedrock-converse": _CONVERSE,
        "bedrock-invoke-nova": _CONVERSE,
        "gemini": _GEMINI,
        "gemini-live": _GEMINI,
        "ollama": _Shape(ollama.encode, Capacity(frozenset({"ollama"}))),
        "langchain": _Shape(langchain.encode, Capacity(_LANGCHAIN, raw_text=True)),
        "ag-ui": _Shape(ag_ui.encode, Capacity(frozenset({"ag-ui"})), _message_id),
        "vercel-ui": _Shape(vercel.encode, Capacity(frozenset({"vercel-ui"})), _message_id),
        "otel": _Shape(
            otel.encode,
            Capacity(free_text=True, server_calls=_any_of_them, raw_text=True, record=True),
            otel.finish_reason,
        ),
    }
)


@renamed_argument("transport", "format")
def encode_calls(
    turn: Turn[Any],
    format: str | Format,
    *,
    on_malformed: Malformed = "wrap",
    strict_json_arguments: bool = False,
    ids: CallIds | None = None,
) -> Encoded:
    """Return the turn as messages of the format: text, reasoning, and all calls that can go back.

    Dropped calls go back with their raw text (wrapped where only an object can go), so that the model sees its own
    text; they need a result like any other. Calls without a name and calls that an abort cut off are left out. If the
    format has no free-text calls, such a call becomes a call with the one member `input`.

    Frameworks that execute the calls of their messages receive dropped calls in a place where they do not: LangChain in
    `invalid_tool_calls`, the Vercel AI SDK as failed parts, with their result in `errorText`. Without `ids` this turn
    is a separate conversation: ids that the parser generated (`call_0_0_0`), and those of servers that count from the
    start in each turn, repeat in the next turn, and some providers refuse that. Over several turns pass on
    `Encoded.ids`, or let `Conversation` do it.

    `langchain` gives the members of an `AIMessage`: build it with `AIMessage(**message)`. `otel` gives an entry of
    `gen_ai.output.messages`, a record that takes no results.

    Args:
        turn: the turn, usually a finished one; of a turn that continues, the content that has ended so far. It covers
            one choice; give `turn.choice(n)` for another one. It is not changed.
        format: the name of a known format, or a `Format` whose name has a shape.
        on_malformed: the replacement of text that is not a JSON object where only an object is accepted, see
            `encode_arguments`; with `"omit"` such calls are left out. Under `"wrap"` the text stays bare where
            LangChain and OpenTelemetry have a place for it.
        strict_json_arguments: treat a string format as strict, whatever its own setting.
        ids: the ids of the conversation so far (`Encoded.ids` of its last turn); None begins one.

    Returns:
        The messages, the ids for the results, and the calls left out.

    Raises:
        UnknownDialect: the format's name is not known, or has no message shape.
        TypeError: `format` or `ids` is of another type.
        ValueError: `on_malformed` is not one of its words, or `ids` follows another format's rule.
    """
    target = format_named(format)
    shape = _shape(target)
    before = CallIds(target.ids) if ids is None else _checked(ids, target)
    options = Options(target, on_malformed, strict_json_arguments)
    gathered = gather(turn, shape.capacity, options, before)
    messages = shape.messages(gathered.pieces, turn)
    carries_on = copied(turn.carries_on) if turn.dialect in shape.capacity.origins else {}
    return Encoded(
        messages, gathered.ids, gathered.by_index, gathered.left_out, gathered.without_id, carries_on
    )


def _shape(format: Format) -> _Shape:
    shape = _SHAPES.get(meant(format.name, _SHAPES) or "")
    if shape is None:
        raise UnknownDialect(
            f"{format.name!r} has no message shape; use encode_arguments and build its messages, or:"
            f" {choices(format.name, _SHAPES)}"
        )
    return shape


def _checked(ids: object, format: Format) -> CallIds:
    if not isinstance(ids, CallIds):
        raise TypeError(f"ids are those of the Encoded before, not {type(ids).__name__}")
    if ids.rule != format.ids:
        raise ValueError(
            f"these ids obey {ids.rule!r}, but {format.name} wants {format.ids!r}; begin with ids=None"
        )
    return ids
