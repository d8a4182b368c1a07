"""The ways in which SDKs give streamed responses, each opened at a server's address."""

from __future__ import annotations

import gc
import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from typing import Any

MESSAGES = [{"role": "user", "content": "What is the tide at Brest?"}]
ASKED: dict[str, Any] = {"model": "m", "messages": MESSAGES}
TURNS = [{"role": "user", "content": [{"text": "x"}]}]
# Without tools LangChain's model of Anthropic takes its messages for text.
TOOLS = [{"name": "tide", "description": "Say how high.", "parameters": {"type": "object", "properties": {}}}]
RUN = {"thread_id": "t", "assistant_id": "a"}


def sdk(name: str) -> Any:
    """Import a module of an SDK; tests are collected where there are none."""
    return importlib.import_module(name)


@contextmanager
def _bedrock(url: str) -> Iterator[Any]:
    client = sdk("boto3").client(
        "bedrock-runtime",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",  # noqa: S106 - nobody checks it
        config=sdk("botocore.config").Config(retries={"max_attempts": 0}),
    )
    with closing(client):
        yield client


@contextmanager
def _litellm(url: str) -> Iterator[Any]:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no request at the import
    litellm = sdk("litellm")
    litellm.suppress_debug_info = True
    yield partial(
        litellm.completion, api_base=url, api_key="k", max_retries=0, messages=MESSAGES, stream=True
    )


@contextmanager
def _litellm_collected(url: str) -> Iterator[Any]:
    with _litellm(url) as complete:

        def collected(**asked: Any) -> Any:
            # A stream of litellm that raised has no `close`; one that is collected while its HTTP client holds the
            # lock of its pool waits for that lock for ever.
            gc.collect()
            return complete(**asked)

        yield collected


@contextmanager
def _chat_openai(url: str, **options: Any) -> Iterator[Any]:
    options = {"model": "m", "api_key": "k", "base_url": f"{url}/v1", "max_retries": 0, **options}
    model = sdk("langchain_openai").ChatOpenAI(**options)
    with model.root_client:
        yield model.bind_tools(TOOLS)


@contextmanager
def _chat_anthropic(url: str) -> Iterator[Any]:
    model = sdk("langchain_anthropic").ChatAnthropic(model="m", api_key="k", base_url=url, max_retries=0)
    with model._client:
        yield model.bind_tools(TOOLS)


# A context that opens a client at a server's address.
CLIENTS: dict[str, Callable[[str], AbstractContextManager[Any]]] = {
    "anthropic": lambda url: sdk("anthropic").Anthropic(api_key="k", base_url=url, max_retries=0),
    "bedrock": _bedrock,
    "cohere-v1": lambda url: sdk("cohere").Client(api_key="k", base_url=url),
    "cohere-v2": lambda url: sdk("cohere").ClientV2(api_key="k", base_url=url),
    "google": lambda url: sdk("google.genai").Client(api_key="k", http_options={"base_url": url}),
    "groq": lambda url: sdk("groq").Groq(api_key="k", base_url=url, max_retries=0),
    "hugging-face": lambda url: sdk("huggingface_hub").InferenceClient(base_url=f"{url}/v1", api_key="k"),
    "langchain-anthropic": _chat_anthropic,
    "langchain-chat": _chat_openai,
    "langchain-responses": lambda url: _chat_openai(url, use_responses_api=True),
    "litellm-anthropic": _litellm_collected,
    "litellm-chat": lambda url: _litellm(f"{url}/v1"),
    "mistral": lambda url: sdk("mistralai.client").Mistral(api_key="k", server_url=url),
    "ollama": lambda url: sdk("ollama").Client(host=url),
    "openai": lambda url: sdk("openai").OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0),
}


# A function that asks a client for a streamed response.
STREAMS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "anthropic": ("anthropic", lambda sdk: sdk.messages.create(**ASKED, max_tokens=9, stream=True)),
    "anthropic-helper": ("anthropic", lambda sdk: sdk.messages.stream(**ASKED, max_tokens=9)),
    "anthropic-beta": ("anthropic", lambda sdk: sdk.beta.messages.stream(**ASKED, max_tokens=9)),
    "assistants": ("openai", lambda sdk: sdk.beta.threads.runs.create(**RUN, stream=True)),
    "assistants-helper": ("openai", lambda sdk: sdk.beta.threads.runs.stream(**RUN)),
    "bedrock-converse": (
        "bedrock",
        lambda sdk: sdk.converse_stream(modelId="m", messages=TURNS)["stream"],
    ),
    "bedrock-invoke": (
        "bedrock",
        lambda sdk: sdk.invoke_model_with_response_stream(modelId="m", body=b"{}")["body"],
    ),
    "chat": ("openai", lambda sdk: sdk.chat.completions.create(**ASKED, stream=True)),
    "chat-helper": ("openai", lambda sdk: sdk.chat.completions.stream(**ASKED)),
    "cohere-v1": ("cohere-v1", lambda sdk: sdk.chat_stream(model="m", message="x")),
    "cohere-v2": ("cohere-v2", lambda sdk: sdk.chat_stream(**ASKED)),
    "gemini": ("google", lambda sdk: sdk.models.generate_content_stream(model="m", contents="x")),
    "groq": ("groq", lambda sdk: sdk.chat.completions.create(**ASKED, stream=True)),
    "hugging-face": ("hugging-face", lambda sdk: sdk.chat_completion(MESSAGES, stream=True)),
    "langchain-anthropic": ("langchain-anthropic", lambda model: model.stream("x")),
    "langchain-chat": ("langchain-chat", lambda model: model.stream("x")),
    "langchain-responses": ("langchain-responses", lambda model: model.stream("x")),
    "litellm-anthropic": ("litellm-anthropic", lambda complete: complete(model="anthropic/m")),
    "litellm-chat": ("litellm-chat", lambda complete: complete(model="openai/m")),
    "mistral": ("mistral", lambda sdk: sdk.chat.stream(**ASKED)),
    "mistral-conversations": (
        "mistral",
        lambda sdk: sdk.beta.conversations.start_stream(model="m", inputs="x"),
    ),
    "ollama": ("ollama", lambda sdk: sdk.chat(**ASKED, stream=True)),
    "ollama-generate": ("ollama", lambda sdk: sdk.generate(model="m", prompt="x", stream=True)),
    "responses": ("openai", lambda sdk: sdk.responses.create(model="m", input="x", stream=True)),
    "responses-helper": ("openai", lambda sdk: sdk.responses.stream(model="m", input="x")),
}


@contextmanager
def asking(name: str, url: str) -> Iterator[Callable[[], Any]]:
    """Open the client of a surface at a server's address; yield a function that asks for another streamed response."""
    client, ask = STREAMS[name]
    with CLIENTS[client](url) as one:
        yield partial(ask, one)
