"""Agents of Strands with whole calls: hooks that tell the model of each call that was withheld."""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from strands.hooks import (
    AfterModelCallEvent,
    BeforeModelCallEvent,
    BeforeToolCallEvent,
    HookProvider,
    HookRegistry,
)

from wholecall.integrations.hearing import UNREAD, Hearing, Told, attempts_of, put_under, told
from wholecall.repairing.transport.repair import RepairOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["WholeCalls"]

_HEARING: Final = "wholecall_hearing"  # the member of an invocation's state
_LOST: Final = "wholecall_withheld"


class WholeCalls(HookProvider):
    """Hooks under which an agent runs whole calls only: `Agent(model, tools=tools, hooks=[WholeCalls()])`.

    The HTTP client of the agent's model gets the repairing transport. A withheld call stands in the messages with a
    result of the status `error`, which says why it was not run and that it must be sent again; a turn with nothing
    else is followed by another one at once.

    Args:
        attempts: how often in a row the model may answer with nothing but calls that must be withheld; the last such
            turn raises as under the plain transport.
        options: those of `wholecall.transport.async_client`, but for `withheld`: `live_arguments=True` shows the
            arguments of calls while they arrive, `on_dropped` hears each withheld call.

    Raises:
        TypeError, ValueError: as for `AsyncRepairTransport`, and where `attempts` is less than 1. The first request of
            a model without a client of httpx or httpx2 raises a `TypeError`.
    """

    def __init__(self, *, attempts: int = 3, **options: Unpack[RepairOptions]) -> None:
        self._attempts = attempts_of(attempts)
        self._hearing = Hearing(options)

    def register_hooks(self, registry: HookRegistry, **_kwargs: Any) -> None:
        """Register the hooks."""
        registry.add_callback(BeforeModelCallEvent, self._before_model)
        registry.add_callback(AfterModelCallEvent, self._after_model)
        registry.add_callback(BeforeToolCallEvent, self._before_tool)

    def _before_model(self, event: BeforeModelCallEvent) -> None:
        """Hear the request that follows."""
        _put_under(event.agent.model)
        hearing = self._hearing.another()
        hearing.begin(is_last=_in_vain(event.agent.messages) + 1 >= self._attempts)
        event.invocation_state[_HEARING] = hearing
        hearing.open()

    def _after_model(self, event: AfterModelCallEvent) -> None:
        """Put what was withheld into the message, or beside a turn that has nothing else."""
        hearing: Hearing = event.invocation_state.pop(_HEARING)
        hearing.close()
        message: Any = {"role": "assistant", "content": []}
        if event.stop_response is not None:
            message = event.stop_response.message
        uses = [part["toolUse"] for part in message["content"] if "toolUse" in part]
        if not hearing.dropped or (hearing.is_last and not uses):
            return
        lost = told(hearing.take(), (use["toolUseId"] for use in uses))
        calls: list[Any] = [
            {"toolUse": {"toolUseId": one.id, "name": one.name, "input": one.arguments}} for one in lost
        ]
        if uses:
            message["content"] += calls
            event.invocation_state.setdefault(_LOST, {}).update({one.id: one.says for one in lost})
            return
        said = [part for part in message["content"] if part.get("text")]
        event.agent.messages.append({"role": "assistant", "content": [*said, *calls]})
        event.agent.messages.append({"role": "user", "content": [_result(one) for one in lost]})
        event.retry = True

    def _before_tool(self, event: BeforeToolCallEvent) -> None:
        """Answer a withheld call in the tool's place."""
        says = event.invocation_state.get(_LOST, {}).pop(event.tool_use["toolUseId"], None)
        if says is not None:
            event.cancel_tool = says


def _put_under(model: Any) -> None:
    """Put the transport under a model; some make a client for each request, with arguments that are kept."""
    arguments = getattr(model, "client_args", None)
    if (
        isinstance(arguments, dict)
        and getattr(model, "_custom_client", None) is None
        and not hasattr(model, "client")
    ):
        if "http_client" not in arguments or arguments["http_client"].is_closed:
            from openai import DefaultAsyncHttpxClient  # noqa: PLC0415 - only such a model needs it

            arguments["http_client"] = DefaultAsyncHttpxClient()
        put_under(arguments["http_client"])
    else:
        put_under(getattr(model, "_custom_client", None) or model)


def _result(one: Told) -> Any:
    content = [{"text": one.says}]
    return {"toolResult": {"toolUseId": one.id, "status": "error", "content": content}}


def _in_vain(messages: list[Any]) -> int:
    """Return how many turns at the end had nothing but withheld calls."""
    count = 0
    for asked, answered in zip(messages[-2::-2], messages[::-2], strict=False):
        uses = [part["toolUse"]["input"] for part in asked["content"] if "toolUse" in part]
        if not uses or any(set(input) != {UNREAD} for input in uses):
            break
        if any(part.get("toolResult", {}).get("status") != "error" for part in answered["content"]):
            break
        count += 1
    return count
