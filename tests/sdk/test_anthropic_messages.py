"""Messages through the `anthropic` SDK: its raw events, its helpers' events, its whole messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.sdks import MESSAGES, Truth, expected, sdk, swept

pytestmark = pytest.mark.sdk
ASKED: Any = {"model": "m", "max_tokens": 9, "messages": MESSAGES}


@contextmanager
def _client(url: str) -> Iterator[Any]:
    with sdk("anthropic").Anthropic(api_key="k", base_url=url, max_retries=0) as client:
        yield client


@contextmanager
def _raw(url: str) -> Iterator[Callable[[], Any]]:
    with _client(url) as anthropic:
        yield lambda: anthropic.messages.create(**ASKED, stream=True)


@contextmanager
def _helper(url: str) -> Iterator[Callable[[], Any]]:
    with _client(url) as anthropic:
        yield lambda: anthropic.messages.stream(**ASKED)


@contextmanager
def _beta(url: str) -> Iterator[Callable[[], Any]]:
    with _client(url) as anthropic:
        yield lambda: anthropic.beta.messages.stream(**ASKED)
