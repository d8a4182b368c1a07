"""The results of a turn's calls as the messages that follow it, and whole conversations.

Theory of operation. A provider wants one result for each call that stands in the history, under the id that the call
has there. So what `encode_calls` writes decides what is answered: the same ids, the same transports. Calls that were
executed take the caller's results. Dropped ones are answered with what was wrong with them, unless the caller has
something else to say. How one result looks is in `output.results`; the table here says which of these a transport
takes, and how a turn's results stand together: each a message of its own, or all in one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from wholecall.errors import UnknownDialect, choices, meant
from wholecall.history.content import CallEvent
from wholecall.history.encode import Malformed
from wholecall.history.framework_shapes import with_outputs
from wholecall.history.ids import CallIds
from wholecall.history.messages import Encoded, encode_calls
from wholecall.history.transports import Transport, transport_named
from wholecall.output.events import ToolCallDropped
from wholecall.output.results import Answer, tool_result
from wholecall.output.turns import Turn

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Conversation", "Results", "encode_results"]

JSON = dict[str, Any]
Results = Mapping[
    Any, object
]  # what tools gave, by the call's id (or index): text, a JSON value, or an exception


def _each(results: list[JSON]) -> list[JSON]:
    return results


def _in(member: str, role: str = "user") -> Callable[[list[JSON]], list[JSON]]:
    """Return what puts all results into one message."""
    return lambda results: [{"role": role, member: results}]


def _with_ids(results: list[JSON]) -> list[JSON]:
    """Return AG-UI's messages, which have ids of their own."""
    return [{"id": f"{result['toolCallId']}/result", **result} for result in results]


class _Carrier(NamedTuple):
    """How a transport takes results.

    Attributes:
        dialect: in whose words.
        together: makes messages of a turn's results.
        kinds: whether calls of other kinds than functions are answered in words of their own.
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


def encode_results(
    turn: Turn[Any],
    results: Results,
    transport: str | Transport,
    *,
    on_malformed: Malformed = "wrap",
    strict_json_arguments: bool = False,
    ids: CallIds | None = None,
) -> list[Any]:
    """Return the messages that answer the calls of a turn: after those of `encode_calls`, under the same ids.

    Calls that were dropped and stand in the history are answered with what was wrong with them (`describe()`).

    Args:
        turn: the turn, as given to `encode_calls`.
        results: what the tools gave, by the call's `id`, or by its `index`: text, a JSON value, or an exception,
            which says why there is no result. Dropped calls need none.
        transport: as given to `encode_calls`, like the other options.
        on_malformed: see `encode_calls`.
        strict_json_arguments: see `encode_calls`.
        ids: see `encode_calls`; not those that it returned for this turn.

    Returns:
        The messages to append, dicts: one for each result, or one with all of them (Anthropic, Converse, Gemini).

    Raises:
        ValueError: a call has no result, or a result no call; the message names the ids.
        UnknownDialect: the transport's name is not known, or takes no results as messages.
        TypeError: a result is nothing that JSON has.
    """
    target = transport_named(transport)
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
    """Return the results of the calls that stand in the history, in their order."""
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


_NONE: Final = object()  # no result of the caller's


def _answer(call: CallEvent, id: str | None, output: object, *, kinds: bool) -> Answer:
    name, kind = call.name, call.kind if kinds and call.kind != "server" else "function"
    if isinstance(call, ToolCallDropped):
        output = call.describe() if output is _NONE else output
        return Answer(id, name, output, kind, failed=True)
    if isinstance(output, BaseException):
        return Answer(id, name, f"{type(output).__name__}: {output}", kind, failed=True)
    return Answer(id, name, output, kind)


class Conversation(msgspec.Struct):
    """Turns and their results as the messages of one conversation, whose ids never collide.

    ::

        conversation = Conversation.after(messages, "anthropic")
        while (turn := ask(messages, **conversation.carries_on)).continues:
            messages += conversation.add(turn, {call.id: run(call) for call in turn.calls})

    Attributes:
        transport: the name of a known transport, or a `Transport`.
        on_malformed, strict_json_arguments: see `encode_calls`.
        ids: the ids of the conversation so far.
        carries_on: what the next request has to have beside the messages, by the names of its members, such as
            Anthropic's `container`; empty for most.
    """

    transport: str | Transport
    on_malformed: Malformed = "wrap"
    strict_json_arguments: bool = False
    ids: CallIds | None = None
    carries_on: dict[str, Any] = {}

    @classmethod
    def after(cls, messages: Iterable[object], transport: str | Transport, **options: Any) -> Self:
        """Return the conversation that goes on after messages that there are: its ids collide with none of theirs.

        Args:
            messages: the conversation so far, dicts of whatever shape, such as those of a stored session.
            transport: the name of a known transport, or a `Transport`.
            options: `on_malformed` and `strict_json_arguments`.

        Raises:
            UnknownDialect: the transport's name is not known.
        """
        return cls(transport, ids=CallIds.after(messages, transport_named(transport).ids), **options)

    def add(self, turn: Turn[Any], results: Results = MappingProxyType({})) -> list[Any]:
        """Return the messages that a turn adds, dicts: what the model said, then the results of its calls.

        Args:
            turn: the finished turn; a choice of it is `turn.choice(n)`.
            results: see `encode_results`.

        Raises:
            ValueError, UnknownDialect, TypeError: see `encode_results`; the conversation stays as it was.
        """
        encoded = encode_calls(
            turn,
            self.transport,
            on_malformed=self.on_malformed,
            strict_json_arguments=self.strict_json_arguments,
            ids=self.ids,
        )
        carrier = _CARRIERS.get(meant(transport_named(self.transport).name, _CARRIERS) or "")
        answers = _answers(turn, results, encoded, kinds=carrier is not None and carrier.kinds)
        self.ids = encoded.ids
        self.carries_on = self.carries_on | encoded.carries_on
        if carrier is None:
            return with_outputs(encoded.messages, answers)
        return [*encoded.messages, *_messages(carrier, answers)]
