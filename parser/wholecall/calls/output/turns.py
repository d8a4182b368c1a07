"""A turn as users read it, once it is over or while it is running."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

import msgspec

from wholecall.calls.arguments.verdict import ArgsT
from wholecall.calls.output import call_events
from wholecall.calls.output.answers import Output, OutputDropped
from wholecall.calls.output.events import StreamFault
from wholecall.discreet import discreet_repr
from wholecall.errors import StreamFailed
from wholecall.types import Anomaly, TurnReason

if TYPE_CHECKING:
    from typing_extensions import Self


class ReasoningBlock(msgspec.Struct, frozen=True):
    """One block of reasoning, with the members that the provider wants back.

    Attributes:
        text: the reasoning or its summary.
        id: the provider's id of the block.
        signature: the provider's signature over the text.
        data: encrypted reasoning.
        name: the block's distinction from usual reasoning, such as Cohere's `tool_plan`; None for most.
    """

    text: str = ""
    id: str | None = None
    signature: str | None = None
    data: str | None = None
    name: str | None = None

    __repr__ = discreet_repr


class Reasoning(msgspec.Struct, frozen=True):
    """The reasoning of a choice, in blocks; `text` joins them."""

    blocks: tuple[ReasoningBlock, ...] = ()

    @property
    def text(self) -> str:
        """The text of all blocks."""
        return "".join(block.text for block in self.blocks)

    def __bool__(self) -> bool:
        return bool(self.blocks)


class OtherBlock(msgspec.Struct, frozen=True):
    """A part of an answer that only its provider understands, as it came; sent back unchanged, and to no other
    provider.

    Such parts are results of tools that the provider ran, a text with its citations, details of reasoning, items and
    blocks of types that no other provider knows.

    Attributes:
        value: the block, item or part, as the wire had it; for a text block of Anthropic's, all except the text.
        text: its part of the visible answer, `""` for most.
    """

    value: dict[str, Any]
    text: str = ""

    @property
    def type(self) -> str | None:
        """The provider's name for it, None where there is none."""
        named = self.value.get("type")
        return named if isinstance(named, str) else None

    @property
    def is_reasoning(self) -> bool:
        """Whether it belongs to the reasoning, such as OpenRouter's details."""
        return (self.type or "").startswith("reasoning")

    def __repr__(self) -> str:
        return f"<OtherBlock {self.type} text={len(self.text)} chars>"


class Turn(msgspec.Struct, Generic[ArgsT], frozen=True):
    """One message of a stream, whole or so far; its fields describe one choice.

    Attributes:
        dialect: the dialect's name, None while it is not known.
        response_id: the provider's id of the message.
        model: the model that the provider names.
        text: the visible answer.
        reasoning: the model's reasoning, with signatures and encrypted blocks.
        calls: calls to execute.
        custom_calls: free-text calls to execute.
        builtin_calls: calls of provider-defined tools to execute.
        server_calls: calls that the provider executes.
        dropped: calls that must not be executed.
        cancelled: ids of calls of this turn that the provider took back, in order, as `ToolCallCancelled` reported
            them. Such a call is in no list of calls to execute any more; a call that has been executed may have to be
            undone.
        reason: why the turn ended, None while it continues.
        provider_reason: the provider's own statement of the reason.
        usage: the provider's token counts.
        faults: faults of the wire during the turn.
        anomalies: oddities of the turn.
        others: the other choices by number: alternatives to this one, never a batch with it.
        content: everything in the order in which it began: texts, blocks of reasoning, the `index` of each call,
            whatever its outcome, and an `OtherBlock` for everything else that the provider wants back.
        carries_on: members that the next request needs in addition to its messages, by name, such as Anthropic's
            `container`: `create(messages=messages, **turn.carries_on)`.
        output: the answer as a value, or the reason why there is none; None without `output=`, while the turn
            continues, and where it ended in calls.
    """

    dialect: str | None
    response_id: str | None = None
    model: str | None = None
    text: str = ""
    reasoning: Reasoning = Reasoning()
    calls: tuple[call_events.ToolCall[ArgsT], ...] = ()
    custom_calls: tuple[call_events.CustomToolCall, ...] = ()
    builtin_calls: tuple[call_events.BuiltinToolCall, ...] = ()
    server_calls: tuple[call_events.ServerToolCall, ...] = ()
    dropped: tuple[call_events.ToolCallDropped, ...] = ()
    cancelled: tuple[str, ...] = ()
    reason: TurnReason | None = None
    provider_reason: str | None = None
    usage: dict[str, Any] | None = None
    faults: tuple[StreamFault, ...] = ()
    anomalies: tuple[Anomaly, ...] = ()
    others: dict[int, Turn[ArgsT]] = {}
    content: tuple[str | ReasoningBlock | OtherBlock | int, ...] = ()
    carries_on: dict[str, Any] = {}
    output: Output[Any] | OutputDropped | None = None

    def __repr__(self) -> str:
        return (
            f"<Turn {self.dialect} reason={self.reason} calls={len(self.calls)} dropped={len(self.dropped)}"
            f" text={len(self.text)} chars>"
        )

    @property
    def continues(self) -> bool:
        """Whether the conversation continues without its user: calls wait for results, or the provider paused.

        Send the turn back, with the results of its calls, and ask again. A dropped call counts if it can be answered.
        """
        waiting = self.calls or self.custom_calls or self.builtin_calls or self.reason == "pause"
        return bool(waiting) or any(call.is_answerable for call in self.dropped)

    def choice(self, number: int) -> Turn[ArgsT]:
        """Return the turn as seen from the given choice; `choice(0)` is the first.

        Raises:
            KeyError: the turn has no choice of this number.
        """
        return self if number == 0 else self.others[number]

    def raise_for_fault(self) -> Self:
        """Raise if the turn failed: a fault was fatal, or the stream could not be read at all.

        Returns:
            The turn itself, if it did not.

        Raises:
            StreamFailed: with the kind of the first fatal fault and the provider's error object; or of a turn without
                any content (an error page, an empty body, another dialect than the named one) with the first fault, or
                the kind `nothing_came`.
        """
        fatal = [fault for fault in self.faults if fault.fatal]
        if not fatal and not self._says_nothing():
            return self
        for fault in fatal or self.faults:
            raise StreamFailed(fault.kind, fault.detail, fault.error)
        raise StreamFailed("nothing_came", "the stream ended before it said anything")

    def _says_nothing(self) -> bool:
        """Return whether the provider sent nothing: no content, no id, no reason, no count."""
        came = self.content or self.text or self.others or self.cancelled
        return not (came or self.response_id or self.model or self.provider_reason or self.usage)
