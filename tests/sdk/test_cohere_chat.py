"""Chat through the `cohere` SDK, of both versions of the API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from tests.support.sdks import MESSAGES, Truth, expected, sdk, swept

pytestmark = pytest.mark.sdk


@contextmanager
def _v1(url: str) -> Iterator[Callable[[], Any]]:
    with sdk("cohere").Client(api_key="k", base_url=url) as client:
        yield lambda: closing(client.chat_stream(model="m", message="x"))


@contextmanager
def _v2(url: str) -> Iterator[Callable[[], Any]]:
    with sdk("cohere").ClientV2(api_key="k", base_url=url) as client:
        yield lambda: closing(client.chat_stream(model="m", messages=MESSAGES))
