"""The results of a turn's calls as the messages that follow it, and whole conversations.

Theory of operation. A provider requires one result for each call in the history, under the id that the call has there.
Therefore the messages of `encode_calls` decide which calls are answered: the same ids, the same formats. Executed
calls get the caller's results. Dropped calls are answered with their error, unless the caller gives another result.
`output.results` has the form of one result; the table here states which form a format takes, and how a turn's
results are grouped: each as a separate message, or all in one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from wholecall.errors import UnknownDialect, choices, meant, renamed_argument, renamed_field
from wholecall.history.content import CallEvent
from wholecall.history.encode import Malformed
from wholecall.history.formats import Format, format_named
from wholecall.history.ids import CallIds
from wholecall.history.messages import Encoded, encode_calls
from wholecall.history.shapes.vercel import with_outputs
from wholecall.output.events import ToolCallDropped
from wholecall.output.results import Answer, tool_result
from wholecall.output.turns import Turn

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Conversation", "Results", "encode_results"]

JSON = dict[str, Any]
Results = Mapping[
    Any, object
]  # tool results, by the call's id (or index): text, a JSON value, or an exception


def _each(results: list[JSON]) -> list[JSON]:
    return results


def _in(member: str, role: str = "user") -> Callable[[list[JSON]], list[JSON]]:
    """Return a function that puts all results into one message."""
    return lambda results: [{"role": role, member: results}]


def _with_ids(results: list[JSON]) -> list[JSON]:
    """Return AG-UI's messages, which have their own ids."""
    return [{"id": f"{result['toolCallId']}/result", **result} for result in results]


class _Carrier(NamedTuple):
    """The form in which a format takes results.

    Attributes:
        dialect: the dialect of the results.
        together: makes messages of a turn's results.
        kinds: whether calls of kinds other than functions have separate forms of results.
    """

    dialect: str
    together: Callable[[list[JSON]], list[JSON]] = _each
    kinds: bool = False


_CHAT = _Carrier("chat-completions")
_ANTHROPIC = _Carrier("anthropic", _in("content"))
_CONVERSE = _Carrier("bedrock-converse", _in("content"))
_GEMINI = _Carrier("gemini", _in("parts"))
_CARRIERS: Final[Mapping[str, _Carrier]] = MappingProxyType(
    {
        "chat-completions": _CHAT,
        "bedrock-invoke-chat-completions": _CHAT,
        "dashscope": _CHAT,
        "kimi": _CHAT,
        "minimax": _CHAT,
        "mistral": _CHAT,
        "stepfun": _CHAT,
        "cohere-v2": _CHAT,
        "bedrock-invoke-cohere-v2": _CHAT,
        "responses": _Carrier("responses", kinds=True),
        "openai-realtime": _Carrier("responses"),
        "mistral-conversations": _Carrier("mistral-conversations"),
        "anthropic": _ANTHROPIC,
        "bedrock-invoke-anthropic": _ANTHROPIC,
        "bedrock-converse": _CONVERSE,
        "bedrock-invoke-nova": _CONVERSE,
        "gemini": _GEMINI,
        "gemini-live": _GEMINI,
        "ollama": _Carrier("ollama"),
        "langchain": _Carrier("langchain"),
        "ag-ui": _Carrier("ag-ui", _with_ids),
        "otel": _Carrier("otel", _in("parts", "tool")),
    }
)


@renamed_argument("transport", "format")
def encode_results(
    turn: Turn[Any],
    results: Results,
    format: str | Format,
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
    carrier = _CARRIERS.get(meant(target.name, _CARRIERS) or "")
    if carrier is None:
        raise UnknownDialect(
            f"{target.name!r} takes no results as messages of their own; use Conversation, or:"
            f" {choices(target.name, _CARRIERS)}"
        )
    encoded = encode_calls(
        turn, target, on_malformed=on_malformed, strict_json_arguments=strict_json_arguments, ids=ids
    )
    return _messages(carrier, _answers(turn, results, encoded, kinds=carrier.kinds))


def _messages(carrier: _Carrier, answers: list[Answer]) -> list[JSON]:
    made = [tool_result(carrier.dialect, answer) for answer in answers]
    return carrier.together(made) if made else []


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
        format: the name of a known format, or a `Format`.
        on_malformed, strict_json_arguments: see `encode_calls`.
        ids: the ids of the conversation so far.
        carries_on: further members that the next request must have next to the messages, by name, such as Anthropic's
            `container`; usually empty.
    """

    format: str | Format
    on_malformed: Malformed = "wrap"
    strict_json_arguments: bool = False
    ids: CallIds | None = None
    carries_on: dict[str, Any] = field(default_factory=dict)

    @classmethod
    @renamed_argument("transport", "format")
    def after(cls, messages: Iterable[object], format: str | Format, **options: Any) -> Self:
        """Return a conversation that continues existing messages: its ids do not collide with theirs.

        Args:
            messages: the conversation so far, dicts of any shape, such as those of a stored session.
            format: the name of a known format, or a `Format`.
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
        carrier = _CARRIERS.get(meant(format_named(self.format).name, _CARRIERS) or "")
        answers = _answers(turn, results, encoded, kinds=carrier is not None and carrier.kinds)
        self.ids = encoded.ids
        self.carries_on = self.carries_on | encoded.carries_on
        if carrier is None:
            return with_outputs(encoded.messages, answers)
        return [*encoded.messages, *_messages(carrier, answers)]
