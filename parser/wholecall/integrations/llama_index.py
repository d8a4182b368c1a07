"""LlamaIndex's agents with whole calls: a `FunctionAgent` that tells the model of each call that was withheld."""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.agent.workflow import AgentOutput, FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import ChatMessage

from wholecall.integrations.hearing import Hearing, attempts_of, put_under, told
from wholecall.repairing.transport.repair import RepairOptions

__all__ = ["WholeFunctionAgent"]

_OPTIONS = RepairOptions.__optional_keys__ - {"tools"}


class WholeFunctionAgent(FunctionAgent):
    """A `FunctionAgent` that runs whole calls only.

    The HTTP client of its model gets the repairing transport. A withheld call is put into the agent's messages together
    with a tool's message, which says why it was not run and that it must be sent again; after a turn with nothing else
    the model is asked again in the same step.

    Args:
        attempts: how often the model is asked in a step; the last turn raises as under the plain transport.
        kwargs: the arguments of a `FunctionAgent`, and the options of `wholecall.transport.async_client`, but for
            `withheld` and `tools`: `live_arguments=True` shows the arguments of calls while they arrive, `on_dropped`
            hears each withheld call.

    Raises:
        TypeError, ValueError: as for `AsyncRepairTransport`, and where `attempts` is less than 1. The first step of a
            model without a client of httpx or httpx2 raises a `TypeError`.
    """

    _hearing: Hearing = PrivateAttr()
    _attempts: int = PrivateAttr()

    def __init__(self, *, attempts: int = 3, **kwargs: Any) -> None:
        options: Any = {name: value for name, value in kwargs.items() if name in _OPTIONS}
        super().__init__(**{name: value for name, value in kwargs.items() if name not in options})
        self._attempts = attempts_of(attempts)
        self._hearing = Hearing(options)

    async def take_step(
        self, ctx: Any, llm_input: list[ChatMessage], tools: Sequence[Any], memory: Any
    ) -> AgentOutput:
        """Ask the model, again if a turn has nothing but withheld calls."""
        hearing, left = self._hearing.another(), self._attempts
        # LlamaIndex makes the client before its first request, or a new one for each.
        put_under(getattr(self.llm, "_get_aclient", lambda: self.llm)())
        while True:
            left -= 1
            output: AgentOutput | None = None
            with hearing.listening(is_last=not left):
                output = await super().take_step(ctx, llm_input, tools, memory)
            calls = [] if output is None else output.tool_calls
            if output is not None and not (hearing.dropped and (calls or hearing.goes_on)):
                return output
            said = ChatMessage(role="assistant", content="") if output is None else None
            await self._tell(ctx, said, hearing, [call.tool_id for call in calls])
            if output is not None and calls:
                return output

    async def _tell(self, ctx: Any, said: ChatMessage | None, hearing: Hearing, taken: Sequence[str]) -> None:
        """Put withheld calls into the last message of the agent, or into another one, and answer them."""
        messages: list[ChatMessage] = await ctx.store.get(self.scratchpad_key, default=[])
        if said is not None:
            messages.append(said)
        for one in told(hearing.take(), taken):
            block = ToolCallBlock(tool_call_id=one.id, tool_name=one.name, tool_kwargs=one.arguments)
            messages[-1 - _answers(messages)].blocks.append(block)
            messages.append(
                ChatMessage(role="tool", content=one.says, additional_kwargs={"tool_call_id": one.id})
            )
        await ctx.store.set(self.scratchpad_key, messages)


def _answers(messages: Sequence[ChatMessage]) -> int:
    """Return how many tools' messages are at the end."""
    count = 0
    while messages[-1 - count].role == "tool":
        count += 1
    return count
