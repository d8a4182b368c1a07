"""Ollama's chat through the `ollama` SDK."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from tests.support.sdks import MESSAGES, Truth, expected, sdk, swept

pytestmark = pytest.mark.sdk


@contextmanager
def _chat(url: str) -> Iterator[Callable[[], Any]]:
    with sdk("ollama").Client(host=url) as client:
        yield lambda: closing(client.chat(model="m", messages=MESSAGES, stream=True))


@contextmanager
def _generate(url: str) -> Iterator[Callable[[], Any]]:
    with sdk("ollama").Client(host=url) as client:
        yield lambda: closing(client.generate(model="m", prompt="x", stream=True))
