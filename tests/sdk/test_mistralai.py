"""Mistral's chat and conversations through the `mistralai` SDK."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.sdks import MESSAGES, Truth, expected, sdk, swept

pytestmark = pytest.mark.sdk


@contextmanager
def _client(url: str) -> Iterator[Any]:
    with sdk("mistralai.client").Mistral(api_key="k", server_url=url) as client:
        yield client


@contextmanager
def _chat(url: str) -> Iterator[Callable[[], Any]]:
    with _client(url) as mistral:
        yield lambda: mistral.chat.stream(model="m", messages=MESSAGES)


@contextmanager
def _conversations(url: str) -> Iterator[Callable[[], Any]]:
    with _client(url) as mistral:
        yield lambda: mistral.beta.conversations.start_stream(model="m", inputs="x")
