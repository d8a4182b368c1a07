"""Responses, Assistants and Realtime through the `openai` SDK."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.sdks import Truth, expected, sdk, swept

pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore:The Assistants API is deprecated")]


@contextmanager
def _client(url: str) -> Iterator[Any]:
    with sdk("openai").OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0) as client:
        yield client


@contextmanager
def _responses(url: str) -> Iterator[Callable[[], Any]]:
    with _client(url) as openai:
        yield lambda: openai.responses.create(model="m", input="x", stream=True)


@contextmanager
def _responses_helper(url: str) -> Iterator[Callable[[], Any]]:
    with _client(url) as openai:
        yield lambda: openai.responses.stream(model="m", input="x")


@contextmanager
def _runs(url: str) -> Iterator[Callable[[], Any]]:
    with _client(url) as openai:
        yield lambda: openai.beta.threads.runs.create(thread_id="t", assistant_id="a", stream=True)


@contextmanager
def _runs_helper(url: str) -> Iterator[Callable[[], Any]]:
    with _client(url) as openai:
        yield lambda: openai.beta.threads.runs.stream(thread_id="t", assistant_id="a")
