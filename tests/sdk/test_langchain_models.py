"""LangChain's chunks of messages, as `langchain-openai` and `langchain-anthropic` make them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.sdks import Truth, expected, sdk, swept

pytestmark = pytest.mark.sdk


@contextmanager
def _chat(url: str) -> Iterator[Callable[[], Any]]:
    model = sdk("langchain_openai").ChatOpenAI(model="m", api_key="k", base_url=f"{url}/v1", max_retries=0)
    yield lambda: model.stream("x")


@contextmanager
def _responses(url: str) -> Iterator[Callable[[], Any]]:
    model = sdk("langchain_openai").ChatOpenAI(
        model="m", api_key="k", base_url=f"{url}/v1", max_retries=0, use_responses_api=True
    )
    yield lambda: model.stream("x")


@contextmanager
def _messages(url: str) -> Iterator[Callable[[], Any]]:
    model = sdk("langchain_anthropic").ChatAnthropic(model="m", api_key="k", base_url=url, max_retries=0)
    yield lambda: model.stream("x")
