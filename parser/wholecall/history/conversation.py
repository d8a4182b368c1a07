"""Turns and the results of their calls as the messages of the next request.

Theory of operation. `content` decides which content of a turn goes back, and under which ids; the module of a shape
(`wholecall.history.shapes`) writes it. The table here gives each format its writer, its capacity, and the form in which
it takes results. A turn is kept, not rebuilt: reasoning, extra fields (signatures, Gemini's `extra_content`) and blocks
that only the provider understands go back in their places, only to their origin (quirk 96).

A provider requires one result for each call in the history, under the id that the call has there. Therefore the messages
of `encode_calls` decide which calls are answered: the same ids, the same formats. Executed calls get the caller's
results. Dropped calls are answered with their error, unless the caller gives another result. `output.results` has the
form of one result; a turn's results are separate messages, or all in one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Optional

import msgspec

from wholecall.calls.output.call_events import ServerToolCall, ToolCallDropped
from wholecall.calls.output.results import Answer, tool_result
from wholecall.calls.output.turns import OtherBlock, ReasoningBlock, Turn
from wholecall.errors import UnknownDialect, choices, meant, renamed_argument, renamed_field
from wholecall.history.content import Call, CallEvent, Capacity, Options, Piece, gather
from wholecall.history.formats import HistoryFormat, Malformed, format_named
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

if TYPE_CHECKING:
    from typing_extensions import Self

JSON = dict[str, Any]
# Tool results, by the call's id (or index): text, a JSON value, or an exception.
Results = Mapping[Any, object]


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


# --- the formats ---------------------------------------------------------------------------------------


def _each(results: list[JSON]) -> list[JSON]:
    return results


def _in(member: str, role: str = "user") -> Callable[[list[JSON]], list[JSON]]:
    """Return a function that puts all results into one message."""
    return lambda results: [{"role": role, member: results}]


def _with_ids(results: list[JSON]) -> list[JSON]:
    """Return AG-UI's messages, which have their own ids."""
    return [{"id": f"{result['toolCallId']}/result", **result} for result in results]


class _Results(NamedTuple):
    """The form in which a format takes results.

    Attributes:
        dialect: the dialect of the results.
        together: makes messages of a turn's results.
        kinds: whether calls of kinds other than functions have separate forms of results.
    """

    dialect: str
    together: Callable[[list[JSON]], list[JSON]] = _each
    kinds: bool = False

    def messages(self, answers: Sequence[Answer]) -> list[JSON]:
        """Return the messages of a turn's results."""
        made = [tool_result(self.dialect, answer) for answer in answers]
        return self.together(made) if made else []


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


def _says(piece: Piece, capacity: Capacity) -> bool:
    """Return whether a message can consist of this piece alone; thoughts alone are not a message, but are kept."""
    if isinstance(piece, ReasoningBlock):
        return capacity.record and bool(piece.text.strip())
    if isinstance(piece, OtherBlock):
        return not piece.is_reasoning
    return isinstance(piece, Call) or bool(piece.strip())


class _Shape(msgspec.Struct, frozen=True):
    """The messages of a format.

    Attributes:
        encode: writes the pieces of a turn.
        capacity: the pieces that it can write.
        results: the form in which it takes results; None if they are in the parts of their calls.
        about: makes the members of the last message that come from the turn.
    """

    encode: Callable[[Sequence[Piece]], list[JSON]]
    capacity: Capacity = Capacity()
    results: Optional[_Results] = None
    about: Callable[[Turn[Any]], JSON] = _nothing

    def messages(self, pieces: Sequence[Piece], turn: Turn[Any]) -> list[JSON]:
        """Return the messages, none if there is no content."""
        if not any(_says(piece, self.capacity) for piece in pieces):
            return []
        *before, last = self.encode(pieces)
        return [*before, self.about(turn) | last]


_ANSWERS_OF_CHAT = _Results("chat-completions")


def _of_chat(*origins: str, **capacity: Any) -> _Shape:
    return _Shape(chat.encode, Capacity(frozenset(origins), **capacity), _ANSWERS_OF_CHAT)


_CHAT = _of_chat("chat-completions", blocks=True)
_COHERE = _Shape(
    chat.encode_cohere, Capacity(frozenset({"cohere-v2", "bedrock-invoke-cohere-v2"})), _ANSWERS_OF_CHAT
)
_RESPONSES = Capacity(
    frozenset({"responses"}),
    free_text=True,
    builtins=True,
    blocks=True,
    server_calls=responses.goes_back,
    follows=True,
)
_ANTHROPIC = _Shape(
    anthropic.encode,
    Capacity(frozenset({"anthropic", "bedrock-invoke-anthropic"}), blocks=True, pauses=True),
    _Results("anthropic", _in("content")),
)
_CONVERSE = _Shape(
    converse.encode,
    Capacity(frozenset({"bedrock-converse", "bedrock-invoke-nova"}), blocks=True),
    _Results("bedrock-converse", _in("content")),
)
_GEMINI = _Shape(
    gemini.encode,
    Capacity(frozenset({"gemini", "gemini-live"}), blocks=True, made_ids=False),
    _Results("gemini", _in("parts")),
)
# LangChain keeps thinking in Anthropic's form, and its integration sends such blocks unchanged.
_LANGCHAIN = frozenset(
    {"langchain", "langchain-events", "langchain-protocol", "anthropic", "bedrock-invoke-anthropic"}
)

_SHAPES: Final = MappingProxyType(
    {
        "chat-completions": _of_chat("chat-completions", free_text=True, blocks=True),
        "bedrock-invoke-chat-completions": _of_chat("bedrock-invoke-chat-completions", blocks=True),
        "dashscope": _of_chat("dashscope"),
        "kimi": _CHAT,
        "minimax": _CHAT,
        "mistral": _of_chat(),  # refuses unknown fields: no further fields are sent
        "stepfun": _CHAT,
        "responses": _Shape(responses.encode, _RESPONSES, _Results("responses", kinds=True)),
        "openai-realtime": _Shape(responses.encode, results=_Results("responses")),
        "mistral-conversations": _Shape(
            mistral.encode,
            Capacity(frozenset({"mistral-conversations"})),
            _Results("mistral-conversations"),
        ),
        "cohere-v2": _COHERE,
        "bedrock-invoke-cohere-v2": _COHERE,
        "anthropic": _ANTHROPIC,
        "bedrock-invoke-anthropic": _ANTHROPIC,
        "bedrock-converse": _CONVERSE,
        "bedrock-invoke-nova": _CONVERSE,
        "gemini": _GEMINI,
        "gemini-live": _GEMINI,
        "ollama": _Shape(ollama.encode, Capacity(frozenset({"ollama"})), _Results("ollama")),
        "langchain": _Shape(langchain.encode, Capacity(_LANGCHAIN, raw_text=True), _Results("langchain")),
        "ag-ui": _Shape(
            ag_ui.encode, Capacity(frozenset({"ag-ui"})), _Results("ag-ui", _with_ids), _message_id
        ),
        "vercel-ui": _Shape(vercel.encode, Capacity(frozenset({"vercel-ui"})), about=_message_id),
        "otel": _Shape(
            otel.encode,
            Capacity(free_text=True, server_calls=_any_of_them, raw_text=True, record=True),
            _Results("otel", _in("parts", "tool")),
            otel.finish_reason,
        ),
    }
)


# --- turns ---------------------------------------------------------------------------------------------


@renamed_argument("transport", "format")
def encode_calls(
    turn: Turn[Any],
    format: str | HistoryFormat,
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
        format: the name of a known format, or a `HistoryFormat` whose name has a shape.
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


def _shape(format: HistoryFormat) -> _Shape:
    shape = _SHAPES.get(meant(format.name, _SHAPES) or "")
    if shape is None:
        raise UnknownDialect(
            f"{format.name!r} has no message shape; use encode_arguments and build its messages, or:"
            f" {choices(format.name, _SHAPES)}"
        )
    return shape


def _checked(ids: object, format: HistoryFormat) -> CallIds:
    if not isinstance(ids, CallIds):
        raise TypeError(f"ids are those of the Encoded before, not {type(ids).__name__}")
    if ids.rule != format.ids:
        raise ValueError(
            f"these ids obey {ids.rule!r}, but {format.name} wants {format.ids!r}; begin with ids=None"
        )
    return ids


# --- results -------------------------------------------------------------------------------------------


@renamed_argument("transport", "format")
def encode_results(
    turn: Turn[Any],
    results: Results,
    format: str | HistoryFormat,
    *,
    on_malformed: Malformed = "wrap",
    strict_json_arguments: bool = False,
    ids: CallIds | None = None,
) -> list[Any]:
    """Return the messages that answer the calls of a turn: after those of `encode_calls`, under the same ids.

    Dropped calls in the history are answered with their error (`describe()`).

    Args:
        turn: the turn, as given to `encode_calls`.
        results: the tools' results, by the call's `id`, or by its `index`: text, a JSON value, or an exception, which
            states why there is no result. Dropped calls need none.
        format: as given to `encode_calls`, like the other options.
        on_malformed: see `encode_calls`.
        strict_json_arguments: see `encode_calls`.
        ids: see `encode_calls`; not the ids that it returned for this turn.

    Returns:
        The messages to append, dicts: one for each result, or one with all of them (Anthropic, Converse, Gemini).

    Raises:
        ValueError: a call has no result, or a result has no call; the message names the ids.
        UnknownDialect: the format's name is not known, or takes no results as messages.
        TypeError: a result is not a JSON value.
    """
    target = format_named(format)
    form = _results(target)
    if form is None:
        known = (name for name, each in _SHAPES.items() if each.results is not None)
        raise UnknownDialect(
            f"{target.name!r} takes no results as messages of their own; use Conversation, or:"
            f" {choices(target.name, known)}"
        )
    encoded = encode_calls(
        turn, target, on_malformed=on_malformed, strict_json_arguments=strict_json_arguments, ids=ids
    )
    return form.messages(_answers(turn, results, encoded, kinds=form.kinds))


def _results(format: HistoryFormat) -> _Results | None:
    form = _SHAPES.get(meant(format.name, _SHAPES) or "")
    return None if form is None else form.results


def _answers(turn: Turn[Any], results: Results, encoded: Encoded, *, kinds: bool = False) -> list[Answer]:
    """Return the results of the calls in the history, in their order."""
    groups: tuple[Sequence[CallEvent], ...] = turn.calls, turn.custom_calls, turn.builtin_calls, turn.dropped
    events = {event.index: event for group in groups for event in group}
    calls = [events[index] for index in sorted(encoded.by_index)]
    keys = [next((key for key in (call.id, call.index) if key in results), None) for call in calls]
    missing = [
        call.id
        for call, key in zip(calls, keys, strict=True)
        if key is None and not isinstance(call, ToolCallDropped)
    ]
    if missing or len(results) > len({key for key in keys if key is not None}):
        left = [key for key in results if key not in keys]
        halves = [f"the calls {missing!r} have no result"] if missing else []
        halves += [f"the results {left!r} have no call"] if left else []
        raise ValueError(
            f"{', and '.join(halves)}; give one for each call of the turn by its id, and none for what was left out"
        )
    return [
        _answer(
            call,
            None if call.index in encoded.without_id else encoded.by_index[call.index],
            _NONE if key is None else results[key],
            kinds=kinds,
        )
        for call, key in zip(calls, keys, strict=True)
    ]


_NONE: Final = object()  # no result from the caller


def _answer(call: CallEvent, id: str | None, output: object, *, kinds: bool) -> Answer:
    name, kind = call.name, call.kind if kinds and call.kind != "server" else "function"
    if isinstance(call, ToolCallDropped):
        output = call.describe() if output is _NONE else output
        return Answer(id, name, output, kind, failed=True)
    if isinstance(output, BaseException):
        return Answer(id, name, f"{type(output).__name__}: {output}", kind, failed=True)
    return Answer(id, name, output, kind)


@renamed_field("transport", "format")
@dataclass(slots=True)
class Conversation:
    """Turns and their results as the messages of one conversation, whose ids never collide.

    ::

        conversation = Conversation.after(messages, "anthropic")
        while (turn := ask(messages, **conversation.carries_on)).continues:
            messages += conversation.add(turn, {call.id: run(call) for call in turn.calls})

    Attributes:
        format: the name of a known format, or a `HistoryFormat`.
        on_malformed, strict_json_arguments: see `encode_calls`.
        ids: the ids of the conversation so far.
        carries_on: further members that the next request must have next to the messages, by name, such as Anthropic's
            `container`; usually empty.
    """

    format: str | HistoryFormat
    on_malformed: Malformed = "wrap"
    strict_json_arguments: bool = False
    ids: CallIds | None = None
    carries_on: dict[str, Any] = field(default_factory=dict)

    @classmethod
    @renamed_argument("transport", "format")
    def after(cls, messages: Iterable[object], format: str | HistoryFormat, **options: Any) -> Self:
        """Return a conversation that continues existing messages: its ids do not collide with theirs.

        Args:
            messages: the conversation so far, dicts of any shape, such as those of a stored session.
            format: the name of a known format, or a `HistoryFormat`.
            options: `on_malformed` and `strict_json_arguments`.

        Raises:
            UnknownDialect: the format's name is not known.
        """
        return cls(format, ids=CallIds.after(messages, format_named(format).ids), **options)

    def add(self, turn: Turn[Any], results: Results = MappingProxyType({})) -> list[Any]:
        """Return the messages that a turn adds, dicts: the model's message, then the results of its calls.

        Args:
            turn: the finished turn; a choice of it is `turn.choice(n)`.
            results: see `encode_results`.

        Raises:
            ValueError, UnknownDialect, TypeError: see `encode_results`; the conversation does not change.
        """
        encoded = encode_calls(
            turn,
            self.format,
            on_malformed=self.on_malformed,
            strict_json_arguments=self.strict_json_arguments,
            ids=self.ids,
        )
        form = _results(format_named(self.format))
        answers = _answers(turn, results, encoded, kinds=form is not None and form.kinds)
        self.ids = encoded.ids
        self.carries_on = self.carries_on | encoded.carries_on
        if form is None:
            return vercel.with_outputs(encoded.messages, answers)
        return [*encoded.messages, *form.messages(answers)]
