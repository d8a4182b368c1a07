"""Agents of pydantic-ai with whole calls: a capability that asks the model to send a withheld call again."""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from pydantic_ai import ModelRetry, RunContext, ToolDefinition
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models import Model, ModelRequestContext, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from wholecall import json_state
from wholecall.integrations.hearing import Hearing, put_under, told
from wholecall.repairing.transport.repair import RepairOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["WholeCalls"]

_WITHHELD: Final = "wholecall"  # the member of a part's details that says why its call is not run


class WholeCalls(AbstractCapability[Any]):
    """A capability under which an agent runs whole calls only.

    The HTTP client of the run's model gets the repairing transport. A withheld call becomes a part of the response, and
    is answered with a retry prompt, as one whose arguments do not validate: the prompt says why the call was not run,
    and the model sends it again. That uses up the tool's retries.

    Args:
        options: those of `wholecall.transport.async_client`, but for `withheld`: `live_arguments=True` shows the
            arguments of calls while they arrive, `on_dropped` hears each withheld call.

    Raises:
        TypeError, ValueError: as for `AsyncRepairTransport`. The first request of a model without a client of httpx or
            httpx2 raises a `TypeError`.
    """

    def __init__(self, **options: Unpack[RepairOptions]) -> None:
        self._options = options
        self._hearing = Hearing(options)

    async def for_run(self, ctx: RunContext[Any]) -> WholeCalls:
        """Return a capability that hears this run alone."""
        return WholeCalls(**self._options)

    def get_wrapper_model(self, model: Model) -> Model:
        """Return a model whose requests are heard."""
        return _Heard(model, self._hearing)

    async def on_model_request_error(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, error: Exception
    ) -> ModelResponse:
        """Take a turn that broke off in the middle of a call for a turn with a withheld call."""
        if not self._hearing.goes_on:
            raise error
        return ModelResponse(parts=[])

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Add the withheld calls to the response, each with the reason in its `provider_details`."""
        dropped = self._hearing.take()
        if not dropped:
            return response
        kept = [part for part in response.parts if not _is_cut(part)]
        lost = told(dropped, (part.tool_call_id for part in kept if isinstance(part, ToolCallPart)))
        parts = [
            ToolCallPart(one.name, one.arguments, one.id, provider_details={_WITHHELD: one.says})
            for one in lost
        ]
        return replace(response, parts=[*kept, *parts])

    async def before_tool_validate(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any
    ) -> Any:
        """Ask for a withheld call again."""
        says = (call.provider_details or {}).get(_WITHHELD)
        if says is not None:
            raise ModelRetry(says)
        return args


def _is_cut(part: Any) -> bool:
    """Return whether a part is a call of which only a beginning was shown: no beginning is a JSON object."""
    if not isinstance(part, ToolCallPart) or isinstance(part.args, dict):
        return False
    return json_state(part.args or "") != "complete"


def _keep_what_was_shown(stream: StreamedResponse, hearing: Hearing) -> None:
    """End a stream that breaks off in the middle of calls, so that the model can be asked for them again."""
    kept: Any = stream
    events = kept._get_event_iterator  # noqa: SLF001 - pydantic-ai's models override it
    kept._get_event_iterator = lambda: hearing.aheard(events())  # noqa: SLF001 - as above


class _Heard(WrapperModel):
    """A model whose requests a hearing hears."""

    def __init__(self, wrapped: Model, hearing: Hearing) -> None:
        super().__init__(wrapped)
        self._hearing = hearing

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        put_under(self.wrapped)
        self._hearing.begin()
        with self._hearing.sending():  # what it raises, `on_model_request_error` gets
            return await super().request(messages, model_settings, model_request_parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        put_under(self.wrapped)
        stream = super().request_stream(messages, model_settings, model_request_parameters, run_context)
        self._hearing.begin()
        with self._hearing.sending():  # as above
            response = await stream.__aenter__()
        _keep_what_was_shown(response, self._hearing)
        try:
            yield response
        finally:
            await stream.__aexit__(None, None, None)
