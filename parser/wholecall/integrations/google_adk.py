"""Google's ADK with whole calls: a plugin that tells the model of each call that was withheld."""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins import BasePlugin
from google.genai import types

from wholecall.integrations.hearing import UNREAD, Hearing, attempts_of, put_under, told
from wholecall.repairing.transport.repair import RepairOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["WholeCalls"]

_HEARING: ContextVar[Hearing | None] = ContextVar("wholecall_adk", default=None)
_SAYS: Final = (
    "Error: the call was not executed, because its arguments did not arrive whole. Please call it again."
)


class WholeCalls(BasePlugin):
    """A plugin under which agents run whole calls only: `InMemoryRunner(agent, plugins=[WholeCalls()])`.

    The HTTP client of the agent's Gemini model gets the repairing transport. A withheld call is put into the model's
    response, and the plugin answers it in its tool's place: why it was not run, and that it must be sent again. The
    model reads the answer in its next turn.

    Args:
        name: of the plugin.
        attempts: how often in a row the model may answer with nothing but calls that must be withheld; the last such
            turn raises as under the plain transport.
        options: those of `wholecall.transport.async_client`, but for `withheld`; `on_dropped` hears each withheld call.

    Raises:
        TypeError, ValueError: as for `AsyncRepairTransport`, and where `attempts` is less than 1. The first request of
            a model without a client of httpx or httpx2 raises a `TypeError`.
    """

    def __init__(
        self, name: str = "whole_calls", *, attempts: int = 3, **options: Unpack[RepairOptions]
    ) -> None:
        super().__init__(name)
        self._attempts = attempts_of(attempts)
        self._hearing = Hearing(options)
        self._says: dict[str, str] = {}  # by the id of a withheld call that is not answered yet

    async def before_model_callback(self, *, callback_context: Any, llm_request: LlmRequest) -> None:
        """Hear the request that follows."""
        _put_under(callback_context._invocation_context.agent.canonical_model)  # noqa: SLF001 - ADK's plugins do so
        hearing = self._hearing.another()
        hearing.begin(is_last=_in_vain(llm_request.contents) + 1 >= self._attempts)
        hearing.open()
        _HEARING.set(hearing)

    async def after_model_callback(
        self, *, callback_context: Any, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Add the withheld calls to a response that is no piece of another one."""
        hearing = _HEARING.get()
        if hearing is None:
            return None
        hearing.close()
        has_calls = any(part.function_call for part in _parts(llm_response))
        if llm_response.partial or not hearing.dropped or (hearing.is_last and not has_calls):
            return None
        parts = [*_parts(llm_response), *self._lost(hearing, llm_response)]
        content = types.Content(role="model", parts=parts)
        answered = {"content": content, "error_code": None, "error_message": None}
        return llm_response.model_copy(update=answered)

    async def on_model_error_callback(
        self, *, callback_context: Any, llm_request: LlmRequest, error: Exception
    ) -> LlmResponse | None:
        """Take a turn that broke off in the middle of a call for a turn with a withheld call."""
        hearing = _HEARING.get()
        if hearing is None:
            return None
        hearing.close()
        if not hearing.goes_on:
            return None
        return LlmResponse(content=types.Content(role="model", parts=self._lost(hearing, None)))

    async def before_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any
    ) -> dict[str, Any] | None:
        """Answer a withheld call in its tool's place."""
        if set(tool_args) != {UNREAD}:
            return None
        return {"error": self._says.pop(tool_context.function_call_id, _SAYS)}

    def _lost(self, hearing: Hearing, response: LlmResponse | None) -> list[types.Part]:
        """Return withheld calls as parts, and note what each is answered."""
        calls = [part.function_call for part in _parts(response) if part.function_call]
        lost = told(hearing.take(), (call.id or "" for call in calls))
        self._says.update({one.id: one.says for one in lost})
        made = [types.FunctionCall(id=one.id, name=one.name, args=one.arguments) for one in lost]
        return [types.Part(function_call=call) for call in made]


def _parts(response: LlmResponse | None) -> list[types.Part]:
    content = None if response is None else response.content
    return list((content and content.parts) or ())


def _put_under(model: Any) -> None:
    """Put the transport under a model; google-genai takes aiohttp where that is installed and no client was given."""
    put_under(model)
    client = getattr(getattr(model, "api_client", None), "_api_client", None)
    if client is not None and client._use_aiohttp():  # noqa: SLF001 - it has no other name
        client._http_options.httpx_async_client = client._async_httpx_client  # noqa: SLF001 - as above


def _in_vain(contents: list[types.Content]) -> int:
    """Return how many turns at the end had nothing but withheld calls."""
    count = 0
    for content in reversed(contents):
        calls = [part.function_call for part in content.parts or () if part.function_call]
        if calls and all(set(call.args or ()) == {UNREAD} for call in calls):
            count += 1
        elif not any(part.function_response for part in content.parts or ()):
            break
    return count
