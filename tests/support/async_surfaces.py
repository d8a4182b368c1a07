"""The ways in which SDKs give asynchronous streamed responses, each opened at a server's address."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from inspect import isawaitable
from typing import Any

from tests.support.surfaces import ASKED, MESSAGES, TOOLS, sdk


@asynccontextmanager
async def _google(url: str) -> AsyncIterator[Any]:
    client = sdk("google.genai").Client(api_key="k", http_options={"base_url": url})
    async with client.aio as aio:
        yield aio
    client.close()


@asynccontextmanager
async def _ollama(url: str) -> AsyncIterator[Any]:
    client = sdk("ollama").AsyncClient(host=url)
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def _langchain(url: str) -> AsyncIterator[Any]:
    model = sdk("langchain_openai").ChatOpenAI(model="m", api_key="k", base_url=f"{url}/v1", max_retries=0)
    try:
        yield model.bind_tools(TOOLS)
    finally:
        await model.root_async_client.close()
        model.root_client.close()


_CLIENTS: dict[str, Callable[[str], Any]] = {
    "anthropic": lambda url: sdk("anthropic").AsyncAnthropic(api_key="k", base_url=url, max_retries=0),
    "cohere": lambda url: sdk("cohere").AsyncClientV2(api_key="k", base_url=url),
    "google": _google,
    "groq": lambda url: sdk("groq").AsyncGroq(api_key="k", base_url=url, max_retries=0),
    "hugging-face": lambda url: sdk("huggingface_hub").AsyncInferenceClient(
        base_url=f"{url}/v1", api_key="k"
    ),
    "langchain": _langchain,
    "mistral": lambda url: sdk("mistralai.client").Mistral(api_key="k", server_url=url),
    "ollama": _ollama,
    "openai": lambda url: sdk("openai").AsyncOpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0),
}

# A function that asks a client for a streamed response; its result may have to be awaited.
ASYNC_STREAMS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "anthropic": ("anthropic", lambda sdk: sdk.messages.create(**ASKED, max_tokens=9, stream=True)),
    "anthropic-helper": ("anthropic", lambda sdk: sdk.messages.stream(**ASKED, max_tokens=9)),
    "chat": ("openai", lambda sdk: sdk.chat.completions.create(**ASKED, stream=True)),
    "chat-helper": ("openai", lambda sdk: sdk.chat.completions.stream(**ASKED)),
    "cohere": ("cohere", lambda sdk: sdk.chat_stream(**ASKED)),
    "gemini": ("google", lambda aio: aio.models.generate_content_stream(model="m", contents="x")),
    "groq": ("groq", lambda sdk: sdk.chat.completions.create(**ASKED, stream=True)),
    "hugging-face": ("hugging-face", lambda sdk: sdk.chat_completion(MESSAGES, stream=True)),
    "langchain": ("langchain", lambda model: model.astream("x")),
    "mistral-conversations": (
        "mistral",
        lambda sdk: sdk.beta.conversations.start_stream_async(model="m", inputs="x"),
    ),
    "ollama": ("ollama", lambda sdk: sdk.chat(**ASKED, stream=True)),
    "responses": ("openai", lambda sdk: sdk.responses.create(model="m", input="x", stream=True)),
    "responses-helper": ("openai", lambda sdk: sdk.responses.stream(model="m", input="x")),
}


@asynccontextmanager
async def asking_async(name: str, url: str) -> AsyncIterator[Callable[[], Awaitable[Any]]]:
    """Open the client of a surface at a server's address; yield a function that asks for another streamed response."""
    client, ask = ASYNC_STREAMS[name]
    async with _CLIENTS[client](url) as one:

        async def asked() -> Any:
            given = ask(one)
            return await given if isawaitable(given) else given

        yield asked
