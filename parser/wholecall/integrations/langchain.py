"""LangChain's agents with whole calls: a middleware that tells the model of each call that was withheld."""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from wholecall.integrations.hearing import Hearing, attempts_of, put_under, told
from wholecall.repairing.transport.repair import RepairOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["WholeCalls"]

_WITHHELD: Final = "withheld"


class WholeCalls(AgentMiddleware[Any, Any, Any]):
    """A middleware under which an agent of `create_agent` runs whole calls only.

    The HTTP clients of the request's model get the repairing transport. A withheld call is put into the messages
    together with a `ToolMessage` of the status `error`, which says why it was not run and that it must be sent again:
    the agent does not run it, and the model reads the message in its next turn. The artifact of that message is
    `{"withheld": reason}`.

    Args:
        attempts: how often in a row the model may answer with nothing but calls that must be withheld; the last such
            turn raises as under the plain transport.
        options: those of `wholecall.transport.client`, but for `withheld`: `live_arguments=True` shows the arguments
            of calls while they arrive, `on_dropped` hears each withheld call.

    Raises:
        TypeError, ValueError: as for `AsyncRepairTransport`, and where `attempts` is less than 1. The first request of
            a model without a client of httpx or httpx2 raises a `TypeError`.
    """

    def __init__(self, *, attempts: int = 3, **options: Unpack[RepairOptions]) -> None:
        super().__init__()
        self._attempts = attempts_of(attempts)
        self._hearing = Hearing(options)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Ask the model; what it is told stands in the messages that come back."""
        put_under(request.model)
        hearing = self._hearing.another()
        response = ModelResponse(result=[AIMessage("")])
        with hearing.listening(is_last=self._is_last(request)):
            response = handler(request)
        return _of_response(response, hearing)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Do the same, asynchronously."""
        put_under(request.model)
        hearing = self._hearing.another()
        response = ModelResponse(result=[AIMessage("")])
        with hearing.listening(is_last=self._is_last(request)):
            response = await handler(request)
        return _of_response(response, hearing)

    def _is_last(self, request: ModelRequest[Any]) -> bool:
        return _in_vain(request.messages) + 1 >= self._attempts


def _of_response(response: ModelResponse[Any], hearing: Hearing) -> ModelResponse[Any]:
    """Return the response, with the calls that the model has to send again."""
    said = next((one for one in reversed(response.result) if isinstance(one, AIMessage)), None)
    if said is None or not hearing.dropped or (hearing.is_last and not said.tool_calls):
        return response
    lost = told(hearing.take(), (call["id"] or "" for call in said.tool_calls))
    calls = [{"name": one.name, "args": one.arguments, "id": one.id, "type": "tool_call"} for one in lost]
    whole = said.model_copy(update={"tool_calls": [*said.tool_calls, *calls]})
    answers = [
        ToolMessage(
            one.says, tool_call_id=one.id, name=one.name, status="error", artifact={_WITHHELD: one.reason}
        )
        for one in lost
    ]
    result: list[BaseMessage] = [whole if one is said else one for one in response.result]
    return ModelResponse(result=[*result, *answers], structured_response=response.structured_response)


def _in_vain(messages: Sequence[BaseMessage]) -> int:
    """Return how many turns at the end had nothing but withheld calls."""
    turns, answers = 0, list[ToolMessage]()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answers.append(message)
        elif not (isinstance(message, AIMessage) and answers and all(map(_is_withheld, answers))):
            break
        else:
            turns += 1
            answers.clear()
    return turns


def _is_withheld(message: ToolMessage) -> bool:
    return isinstance(message.artifact, dict) and _WITHHELD in message.artifact
