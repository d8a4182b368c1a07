"""Streams of `litellm`, which retells every provider's chunks as Chat Completions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.sdks import MESSAGES, Truth, expected, sdk, swept

pytestmark = pytest.mark.sdk


@contextmanager
def _chat(url: str) -> Iterator[Callable[[], Any]]:
    asked: Any = {"model": "openai/m", "messages": MESSAGES, "api_base": f"{url}/v1", "api_key": "k"}
    yield lambda: sdk("litellm").completion(**asked, stream=True, max_retries=0)


@contextmanager
def _messages(url: str) -> Iterator[Callable[[], Any]]:
    asked: Any = {"model": "anthropic/m", "messages": MESSAGES, "api_base": url, "api_key": "k"}
    yield lambda: sdk("litellm").completion(**asked, stream=True, max_retries=0)
