"""smolagents with whole calls: a model whose withheld calls its agents take for what could not be parsed."""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from smolagents.models import ChatMessage, ChatMessageStreamDelta, MessageRole, Model

from wholecall.integrations.hearing import Hearing, put_under
from wholecall.repairing.transport.repair import RepairOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["WholeModel"]


class WholeModel(Model):
    """A model whose turns have whole calls only: `ToolCallingAgent(tools, WholeModel(OpenAIModel("gpt-5")))`.

    The HTTP client of the model gets the repairing transport. After a turn with nothing but withheld calls the agent's
    step ends with an `AgentParsingError`, which says why they were not run and that they must be sent again: the agent
    tells it to the model in the next step. If others of the turn's calls are whole, these are run, and the turn's text
    ends with the same words.

    Args:
        model: the model, such as an `OpenAIModel`.
        options: those of `wholecall.transport.client`, but for `withheld` and `live_arguments`: smolagents joins all
            pieces that it has shown, and could run the beginning of a call.

    Raises:
        TypeError, ValueError: as for `RepairTransport`, and for `live_arguments`. The first request of a model without
            a client of httpx or httpx2 raises a `TypeError`.
    """

    def __init__(self, model: Any, **options: Unpack[RepairOptions]) -> None:
        if options.get("live_arguments"):
            raise TypeError("live_arguments is no option here: smolagents keeps each piece that it has shown")
        super().__init__(model_id=model.model_id)
        self._model = model
        self._heard = Hearing(options)
        self._here = threading.local()

    def __getattr__(self, name: str) -> Any:
        if name == "_model":
            raise AttributeError(name)
        return getattr(self._model, name)

    def generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatMessage:
        """Return the message that the model generates, with whole calls only."""
        hearing = self._begin()
        message = ChatMessage(role=MessageRole.ASSISTANT, content="")
        with hearing.listening():
            message = self._model.generate(messages, *args, **kwargs)
        if message.tool_calls and hearing.dropped:
            message.content = f"{message.content or ''}\n{_says(hearing)}".lstrip()
        return message

    def generate_stream(self, messages: Any, *args: Any, **kwargs: Any) -> Iterator[ChatMessageStreamDelta]:
        """Yield the pieces of such a message."""
        hearing, has_calls = self._begin(), False
        for delta in hearing.heard(self._model.generate_stream(messages, *args, **kwargs)):
            has_calls = has_calls or bool(delta.tool_calls)
            yield delta
        if has_calls and hearing.dropped:
            yield ChatMessageStreamDelta(content=f"\n{_says(hearing)}")

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        """Return a message without calls with those that its text holds.

        Raises:
            ValueError: calls of the message were withheld, or one in its text has no arguments.
        """
        hearing: Hearing | None = getattr(self._here, "hearing", None)
        if hearing is not None and hearing.dropped:
            raise ValueError(_says(hearing))
        parsed: ChatMessage = self._model.parse_tool_calls(message)
        unread = [
            call.function.name
            for call in parsed.tool_calls or ()
            if not isinstance(call.function.arguments, dict)
        ]
        if unread:
            raise ValueError(f"the call of {unread[0]!r} has no object of arguments. Please call it again.")
        return parsed

    def _begin(self) -> Hearing:
        put_under(self._model)
        self._here.hearing = self._heard.another()
        return self._here.hearing  # type: ignore[no-any-return]


def _says(hearing: Hearing) -> str:
    """Return what the model is told of withheld calls."""
    return "\n".join(drop.describe() for drop in hearing.take())
