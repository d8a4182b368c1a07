"""openai-agents with whole calls: a model that asks again for a withheld call, and a provider of such models."""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from agents import Model, ModelProvider, ModelResponse, MultiProvider
from agents.items import TResponseInputItem, TResponseStreamEvent
from openai.types.responses import ResponseFunctionToolCall

from wholecall.integrations.hearing import Hearing, Told, attempts_of, put_under, told
from wholecall.repairing.transport.repair import RepairOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["WholeModel", "WholeProvider"]

_WITHHELD: Final = "wholecall"  # the member of a call's item that holds what was withheld beside it
_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})


class WholeModel(Model):
    """A model whose turns have whole calls only.

    The HTTP client of the model gets the repairing transport. If a turn has nothing but withheld calls, the model is
    asked again, with each of them and its output: why it was not run, and that it must be sent again. If others of its
    calls are whole, these are run, and the model reads the same in its next turn.

    Args:
        model: the model, such as an `OpenAIChatCompletionsModel` or an `OpenAIResponsesModel`.
        attempts: how often the model is asked for one turn; the last such turn raises as under the plain transport. A
            turn in a conversation that the server keeps (`conversation_id`) is asked for once.
        options: those of `wholecall.transport.async_client`, but for `withheld`: `live_arguments=True` shows the
            arguments of calls while they arrive, `on_dropped` hears each withheld call.

    Raises:
        TypeError, ValueError: as for `AsyncRepairTransport`, and where `attempts` is less than 1. The first request of
            a model without a client of httpx or httpx2 raises a `TypeError`.
    """

    def __init__(self, model: Model, *, attempts: int = 3, **options: Unpack[RepairOptions]) -> None:
        self._model = model
        self._attempts = attempts_of(attempts)
        self._hearing = Hearing(options)

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        *args: Any,
        **kwargs: Any,
    ) -> ModelResponse:
        """Return a response whose calls are whole."""
        put_under(self._model)
        asked, hearing = _asked(input), self._hearing.another()
        ask, left = self._model.get_response, self._most(kwargs)
        while True:
            left -= 1
            response = None
            with hearing.listening(is_last=not left):
                response = await ask(system_instructions, asked, *args, **kwargs)
            output = [] if response is None else response.output
            if response is not None and (_calls(output) or not hearing.goes_on):
                _note(output, hearing)
                return response
            asked += [*_said(output), *_items(told(hearing.take()))]

    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        *args: Any,
        **kwargs: Any,
    ) -> AsyncIterator[TResponseStreamEvent]:
        """Yield the events of a response whose calls are whole; a turn that is asked for again has no end."""
        put_under(self._model)
        asked, hearing = _asked(input), self._hearing.another()
        ask, left = self._model.stream_response, self._most(kwargs)
        while True:
            left -= 1
            hearing.begin(is_last=not left)
            end: Any = None
            async for event in hearing.aheard(ask(system_instructions, asked, *args, **kwargs)):
                if event.type in _ENDS:
                    end = event
                else:
                    yield event
            output = [] if end is None else end.response.output
            if _calls(output) or not hearing.goes_on:
                break
            asked += [*_said(output), *_items(told(hearing.take()))]
        _note(output, hearing)
        if end is not None:
            yield end

    def _most(self, kwargs: dict[str, Any]) -> int:
        """Return how often the model may be asked: once, if the server keeps the conversation."""
        return 1 if kwargs.get("conversation_id") else self._attempts

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


class WholeProvider(ModelProvider):
    """A provider whose models are `WholeModel`s: `RunConfig(model_provider=WholeProvider())`.

    Args:
        provider: where the models come from; None takes the framework's own `MultiProvider`.
        attempts: as for `WholeModel`.
        options: as for `WholeModel`.
    """

    def __init__(
        self,
        provider: ModelProvider | None = None,
        *,
        attempts: int = 3,
        **options: Unpack[RepairOptions],
    ) -> None:
        self._provider = provider or MultiProvider()
        self._attempts = attempts_of(attempts)
        self._options = options
        Hearing(options)  # wrong options are refused here

    def get_model(self, model_name: str | None) -> Model:
        """Return a model by its name."""
        return WholeModel(self._provider.get_model(model_name), attempts=self._attempts, **self._options)

    async def aclose(self) -> None:
        """Close the provider."""
        await self._provider.aclose()


def _calls(output: Iterable[object]) -> list[ResponseFunctionToolCall]:
    return [item for item in output if isinstance(item, ResponseFunctionToolCall)]


def _note(output: Sequence[object], hearing: Hearing) -> None:
    """Note withheld calls at the first whole one of their turn, where the next request finds them."""
    calls = _calls(output)
    if calls and hearing.dropped:
        lost = told(hearing.take(), (call.call_id for call in calls))
        setattr(calls[0], _WITHHELD, [list(one) for one in lost])


def _asked(input: str | list[Any]) -> list[Any]:
    """Return the items of a request, with the calls that were withheld beside others."""
    if isinstance(input, str):
        return [{"role": "user", "content": input}]
    items: list[Any] = []
    for item in input:
        lost: Any = item.get(_WITHHELD) if isinstance(item, dict) else None
        items += _items(Told(*one) for one in lost or ())
        items.append({name: value for name, value in item.items() if name != _WITHHELD} if lost else item)
    return items


def _items(lost: Iterable[Told]) -> list[Any]:
    """Return withheld calls as items, each with its output."""
    items: list[Any] = []
    for one in lost:
        call = {"type": "function_call", "call_id": one.id, "name": one.name}
        items.append({**call, "arguments": json.dumps(one.arguments)})
        items.append({"type": "function_call_output", "call_id": one.id, "output": one.says})
    return items


def _said(output: Iterable[Any]) -> list[Any]:
    """Return what a turn without calls said, as items of the next request."""
    return [item.model_dump(exclude_unset=True) for item in output]
