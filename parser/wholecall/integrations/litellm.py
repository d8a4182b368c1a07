"""litellm with whole calls: `completion` and `acompletion` that ask again, and a guardrail for its proxy.

Theory of operation. litellm keeps the clients of most providers in one cache. The cache here puts the transport under
each client that is put into it, next to the provider: after litellm has translated a stream, its losses cannot be seen.
A few providers are asked with other clients, which are given to them.
"""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from typing import Any
from weakref import WeakValueDictionary

import litellm
from litellm.caching.llm_caching_handler import LLMClientCache
from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.llms.custom_httpx.http_handler import HTTPHandler

from wholecall import ToolCallDropped
from wholecall.integrations.hearing import Hearing, attempts_of, put_under, told
from wholecall.repairing.transport.repair import RepairOptions

__all__ = ["WholeCallGuardrail", "acompletion", "completion"]

_OPTIONS = RepairOptions.__optional_keys__
_NOT_LIVE = "live_arguments needs attempts=1: a stream that goes on cannot take back what it has shown"


def completion(*, attempts: int = 3, **asked: Any) -> Any:
    """Return what `litellm.completion` returns, with whole calls only.

    If a turn has nothing but withheld calls, the model is asked again, with each of them and a tool's message: why it
    was not run, and that it must be sent again. The chunks of a stream go on with those of the next turn.

    Args:
        attempts: how often the model is asked; the last turn raises as under the plain transport.
        asked: the arguments of `litellm.completion`, by their names, and the options of `wholecall.transport.client`,
            but for `withheld`. `live_arguments=True` shows the arguments of calls while they arrive, and needs
            `attempts=1`.

    Returns:
        A `ModelResponse`, or with `stream=True` an iterator of its chunks.

    Raises:
        TypeError, ValueError: as for `RepairTransport`, and where `attempts` is less than 1.
    """
    asking = _Asking({**_client(asked), **asked}, attempts)
    if asked.get("stream"):
        return _chunks(asking)
    response: Any = None
    while response is None:
        response = _response(asking)
    return response


async def acompletion(*, attempts: int = 3, **asked: Any) -> Any:
    """Return what `litellm.acompletion` returns, with whole calls only; see `completion`."""
    asking = _Asking(asked, attempts)
    if asked.get("stream"):
        return _achunks(asking)
    response: Any = None
    while response is None:
        response = await _aresponse(asking)
    return response


class _Asking:
    """A question, with what the model has to be told.

    Args:
        asked: the arguments of the caller, ours among them.
        attempts: how often the model is asked.
    """

    def __init__(self, asked: Mapping[str, Any], attempts: int) -> None:
        # `tools` are litellm's, as each request lists them.
        options: Any = {name: value for name, value in asked.items() if name in _OPTIONS and name != "tools"}
        if options.get("live_arguments") and attempts > 1:
            raise ValueError(_NOT_LIVE)
        self.asked = {name: value for name, value in asked.items() if name not in options}
        self.hearing = Hearing(options)
        self._left = attempts_of(attempts)
        _prepare()

    def listening(self) -> Any:
        """Hear the next request."""
        self._left -= 1
        return self.hearing.listening(is_last=not self._left)

    def goes_on(self, message: Any) -> bool:
        """Return whether the model must be asked again, and take what it is told; after an error there is no message."""
        if not self.hearing.goes_on or (message is not None and message.tool_calls):
            return False
        text = None if message is None else message.content
        self.asked["messages"] = [*self.asked["messages"], *_messages(text, self.hearing)]
        return True


def _messages(text: str | None, hearing: Hearing) -> Iterator[dict[str, Any]]:
    """Yield the turn as messages: its text and withheld calls, and why each was not run."""
    lost = told(hearing.take())
    functions = [{"name": one.name, "arguments": json.dumps(one.arguments)} for one in lost]
    calls = [
        {"id": one.id, "type": "function", "function": function}
        for one, function in zip(lost, functions, strict=True)
    ]
    yield {"role": "assistant", "content": text or None, "tool_calls": calls}
    yield from ({"role": "tool", "tool_call_id": one.id, "content": one.says} for one in lost)


class _Said:
    """The text and the calls of a stream's chunks so far, as a message."""

    def __init__(self) -> None:
        self.content = ""
        self.tool_calls: list[Any] = []
        self.ends: list[Any] = []

    def takes(self, chunk: Any) -> bool:
        """Take a chunk; return whether it can be passed on, or may have to be held as the end of a lost turn."""
        for choice in getattr(chunk, "choices", ()):  # chunks of other APIs have none
            self.content += choice.delta.content or ""
            self.tool_calls += choice.delta.tool_calls or ()
        if self.ends or any(choice.finish_reason for choice in getattr(chunk, "choices", ())):
            self.ends.append(chunk)
        return not self.ends


def _response(asking: _Asking) -> Any:
    """Return the response to a question, None if it has to be asked again."""
    response: Any = None
    with asking.listening():
        response = litellm.completion(**asking.asked)
    return None if asking.goes_on(response and response.choices[0].message) else response


async def _aresponse(asking: _Asking) -> Any:
    """Do the same, asynchronously."""
    response: Any = None
    with asking.listening():
        response = await litellm.acompletion(**asking.asked)
    return None if asking.goes_on(response and response.choices[0].message) else response


def _chunks(asking: _Asking) -> Iterator[Any]:
    """Yield the chunks of turns, until one has a whole call or no call."""
    said: _Said | None = None
    while said is None or asking.goes_on(said):
        said = _Said()
        stream: Any = ()
        with asking.listening():
            stream = litellm.completion(**asking.asked)
        yield from filter(said.takes, asking.hearing.heard(stream))
    yield from said.ends


async def _achunks(asking: _Asking) -> AsyncIterator[Any]:
    """Do the same, asynchronously."""
    said: _Said | None = None
    while said is None or asking.goes_on(said):
        said = _Said()
        stream: Any = _nothing()
        with asking.listening():
            stream = await litellm.acompletion(**asking.asked)
        async for chunk in asking.hearing.aheard(stream):
            if said.takes(chunk):
                yield chunk
    for chunk in said.ends:
        yield chunk


async def _nothing() -> AsyncIterator[Any]:
    """Yield nothing."""
    nothing: tuple[Any, ...] = ()
    for chunk in nothing:
        yield chunk


# Clients.


_OWN_CLIENTS = frozenset(
    {"anthropic", "gemini"}
)  # providers that litellm asks with a client for each request


@cache
def _handler() -> HTTPHandler:
    handler = HTTPHandler()
    put_under(handler)
    return handler


def _client(asked: Mapping[str, Any]) -> dict[str, HTTPHandler]:
    """Return the client of a request, for providers that would take another one than that of the cache."""
    _, provider, *_ = litellm.get_llm_provider(
        model=asked["model"], custom_llm_provider=asked.get("custom_llm_provider")
    )
    return {"client": _handler()} if provider in _OWN_CLIENTS else {}


class _Clients(LLMClientCache):
    """litellm's cache of clients, which puts the transport under each."""

    def set_cache(self, key: str, value: object, *args: Any, **kwargs: Any) -> Any:
        with suppress(TypeError):  # no client of HTTP
            put_under(value)
        return super().set_cache(key, value, *args, **kwargs)


def _prepare() -> None:
    """Make litellm put its clients into our cache; those that it has made before are left alone."""
    if not isinstance(litellm.in_memory_llm_clients_cache, _Clients):
        litellm.in_memory_llm_clients_cache = _Clients()
    known = (
        litellm.client_session,
        litellm.aclient_session,
        litellm.module_level_client,
        litellm.module_level_aclient,
    )
    for client in filter(None, known):
        put_under(client)


# The proxy.


def _is_chat(call_type: Any) -> bool:
    """Return whether a type of litellm's requests is that of Chat Completions."""
    return getattr(call_type, "value", call_type) in {"completion", "acompletion"}


class WholeCallGuardrail(CustomGuardrail):
    """A guardrail of litellm's proxy, and as such one of its loggers: its clients get whole calls only.

    ::

        guardrails:
          - guardrail_name: whole-calls
            litellm_params: {guardrail: wholecall.integrations.litellm.WholeCallGuardrail, mode: post_call, default_on: true}

    A stream of Chat Completions with nothing but withheld calls goes on with the chunks of another turn, in which the
    model was told of them. An answer that is no stream has the transport's error in place of them, which the router tries
    again (`num_retries`): then the model is told, too. Other streams, and those for which the guardrail does not run, end
    with that error. The names and reasons of withheld calls are in `guardrail_information`, which litellm's loggers get.

    Args:
        attempts: how often the model is asked; the last turn raises as under the plain transport.
        ask: asks for another stream with the arguments of a request; None takes the proxy's router, or outside of a
            proxy `litellm.acompletion`.
        kwargs: the options of `wholecall.transport.async_client`, but for `withheld` and `live_arguments`, and those of a `CustomGuardrail`.

    Raises:
        TypeError, ValueError: as for `AsyncRepairTransport`, and where `attempts` is less than 1.
    """

    def __init__(self, *, attempts: int = 3, ask: Callable[..., Any] | None = None, **kwargs: Any) -> None:
        options: Any = {name: value for name, value in kwargs.items() if name in _OPTIONS}
        if options.get("live_arguments"):
            raise ValueError(_NOT_LIVE)
        super().__init__(**{name: value for name, value in kwargs.items() if name not in options})
        self._attempts = attempts_of(attempts)
        self._ask = ask
        self._hearing = Hearing(options, raises=True)
        self._heard: WeakValueDictionary[str, Hearing] = WeakValueDictionary()
        _prepare()

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Any
    ) -> dict[str, Any] | None:
        """Hear the request that follows."""
        asked: dict[str, Any] = await super().async_pre_call_deployment_hook(kwargs, call_type) or kwargs
        id = str(kwargs.get("litellm_call_id"))
        before = self._heard.get(id)
        if before is not None and before.dropped and _is_chat(call_type):  # the router tries again
            asked["messages"] = [*asked["messages"], *_messages(None, before)]
        hearing = self._heard[id] = self._hearing.another()
        hearing.hears = partial(self._log, asked)
        hearing.open()
        return asked

    def _log(self, asked: dict[str, Any], drop: ToolCallDropped) -> None:
        """Tell litellm's loggers of a withheld call, without its text."""
        self.add_standard_logging_guardrail_information_to_request_data(
            guardrail_json_response={"name": drop.name, "id": drop.id, "reason": drop.reason},
            request_data=asked,
            guardrail_status="guardrail_intervened",
            guardrail_provider="wholecall",
        )

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        """Pass a stream on; one of Chat Completions that lost its calls is followed by another."""
        asked = {
            name: value for name, value in request_data.items() if name != "deployment"
        }  # the router's choice
        left = self._attempts
        if not _is_chat(getattr(asked.get("litellm_logging_obj"), "call_type", "acompletion")):
            left = 1
        while True:
            left, said = left - 1, _Said()
            hearing = self._heard.get(str(asked.get("litellm_call_id"))) or self._hearing.another()
            hearing.is_last = not left
            async for chunk in hearing.aheard(response):
                if said.takes(chunk):
                    yield chunk
            if said.tool_calls or not hearing.goes_on:
                break
            asked["messages"] = [*asked["messages"], *_messages(said.content, hearing)]
            response = await self._asking()(**asked)
        for chunk in said.ends:
            yield chunk

    def _asking(self) -> Callable[..., Any]:
        """Return what asks for another stream."""
        found: Any = self._ask
        if found is None:
            with suppress(ImportError):
                from litellm.proxy.proxy_server import llm_router  # noqa: PLC0415 - which only a proxy has

                found = llm_router and llm_router.acompletion
        asking: Callable[..., Any] = found or litellm.acompletion
        return asking
