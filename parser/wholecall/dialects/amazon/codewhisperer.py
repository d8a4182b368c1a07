"""The answers of CodeWhisperer, which Amazon Q Developer and Kiro ask (`GenerateAssistantResponse`, `SendMessage`).

    messageMetadataEvent    conversationId, utteranceId
    assistantResponseEvent  content, modelId         codeEvent  content
    reasoningContentEvent   text | signature | redactedContent
    toolUseEvent            toolUseId, name, input, stop
    toolResultEvent         toolResult{toolUseId, content, status}
    metadataEvent           tokenUsage, stopReason, stopDetails
    meteringEvent, contextUsageEvent, citationEvent, codeReferenceEvent, followupPromptEvent, …
    invalidStateEvent       reason, message          …Exception  message

In a binary event stream the event's type names the event, and the payload is bare; decoded by an SDK, an event is an
object whose only member is named so. Every event of a call has its id and its name; `input` are pieces of JSON text, and
`stop` ends the call, with its last piece or alone. The service stops a call that it could not write to its end, too, so
`CallClosed` is not final. Older answers have no reason, and end with the stream.

Covers: CodeWhisperer's answers, for Amazon Q Developer and Kiro, as binary event stream and as SDKs decode it.
Calls: told apart by `toolUseId`; each ends with its `stop`, and what follows.
Source: aws/amazon-q-developer-cli, crates/amzn-codewhisperer-streaming-client/src/types (`_chat_response_stream.rs`,
    `_metadata_event.rs`, `_stop_reason.rs`) and crates/chat-cli/src/cli/chat/parser.rs (2026).
"""

from __future__ import annotations

from typing import ClassVar, Final, Union

from wholecall import deltas
from wholecall.dialects import at, report, say
from wholecall.dialects.amazon.events import EventStreamTranslator

_QUIET: Final = (
    *(
        "citationEvent",
        "codeReferenceEvent",
        "contextUsageEvent",
        "dryRunSucceedEvent",
        "followupPromptEvent",
    ),
    *("intentsEvent", "interactionComponentsEvent", "meteringEvent", "supplementaryWebLinksEvent"),
)


def _rows(of: str) -> say.Rows:
    """Return the rows of all events, whose members are below a path."""
    text = (say.opened("", f"{of}modelId"), say.text(f"{of}content"))
    return {
        "messageMetadataEvent": (say.opened(f"{of}utteranceId"),),
        "assistantResponseEvent": text,
        "codeEvent": text,
        "reasoningContentEvent": (
            say.opened(),
            say.thought(f"{of}text", None, signature=f"{of}signature", data=f"{of}redactedContent"),
        ),
        "toolUseEvent": (
            say.opened(),
            say.own(
                "_used",
                at.id(f"{of}toolUseId"),
                at.name(f"{of}name"),
                at.json_value(f"{of}input"),
                at.value(f"{of}stop"),
            ),
        ),
        "toolResultEvent": (say.own(report.answered, at.id(f"{of}toolResult.toolUseId")),),
        "metadataEvent": (
            say.stop_unless_open(),
            say.usage(f"{of}tokenUsage"),
            say.own("_over", at.value(f"{of}stopReason")),
        ),
        "invalidStateEvent": (
            say.own(report.failure, code=at.value(f"{of}reason"), message=at.value(f"{of}message")),
        ),
    }


class CodeWhispererTranslator(EventStreamTranslator):
    """Events of one answer to deltas: each is the content of the event of its name, or a member of that name."""

    ROWS: ClassVar[say.Rows] = _rows("")
    BODIES: ClassVar[say.Rows] = {
        **{name: _rows(f"{name}.")[name] for name in _rows("")},
        **dict.fromkeys(_QUIET, ()),
    }
    KINDS = ()
    QUIET = frozenset({*_QUIET, "initial-response"})

    _slots: dict[Union[str, None], int]
    _names: dict[Union[str, None], Union[str, None]]
    _n_calls: int

    def _clear(self) -> None:
        self._slots = {}  # of calls that have not stopped, by their ids
        self._names = {}  # of these calls
        self._n_calls = 0

    def close(self) -> list[deltas.Delta]:
        """Report the end of an answer without a reason, if all of its calls have stopped."""
        return deltas.by_transport(self._end()) if self._open and not self._slots else []

    def _used(
        self, id_: str | None, name: str | None, said: tuple[str, bool], stop: object
    ) -> list[deltas.Delta]:
        """Report a call's start, a piece of its text, its end, or several of these.

        After its stop an id is that of another call, or of the same call sent once more: the machine decides.
        """
        told = [] if id_ in self._slots and name in (None, self._names.get(id_)) else self._named(id_, name)
        slot = self._slots[id_]
        told += report.piece(slot, said[0], whole=said[1])
        if stop is True:
            del self._slots[id_]
            told += report.closed(slot, final=False)
        return told

    def _named(self, id_: str | None, name: str | None) -> list[deltas.Delta]:
        """Report that a call starts, or its name."""
        self._names[id_] = name
        if id_ in self._slots:
            return report.seen(self._slots[id_], id_, name)
        self._slots[id_] = self._n_calls
        self._n_calls += 1
        return report.call_start(self._slots[id_], id_, name)

    def _over(self, reason: object) -> list[deltas.Delta]:
        """Report why the answer ended, if the event says so."""
        told = report.finish(reason)
        return [*told, *self._end()] if told else []
