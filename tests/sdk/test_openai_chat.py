"""Chat Completions through the `openai` SDK: its chunks, its helper's events, its whole responses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.sdks import MESSAGES, Truth, expected, sdk, swept

# The helper dumps its own objects, and pydantic warns of what the server sent in another type.
pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")]


@contextmanager
def client(url: str) -> Iterator[Any]:
    """Open a client at the server's address."""
    with sdk("openai").OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0) as client:
        yield client


@contextmanager
def _raw(url: str) -> Iterator[Callable[[], Any]]:
    with client(url) as openai:
        yield lambda: openai.chat.completions.create(model="m", messages=MESSAGES, stream=True)


@contextmanager
def _helper(url: str) -> Iterator[Callable[[], Any]]:
    with client(url) as openai:
        yield lambda: openai.chat.completions.stream(model="m", messages=MESSAGES)
