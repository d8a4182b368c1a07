"""Chat Completions through SDKs that speak it to others: `groq`, and Hugging Face's `InferenceClient`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.sdks import MESSAGES, Truth, expected, sdk, swept

pytestmark = pytest.mark.sdk


@contextmanager
def _groq(url: str) -> Iterator[Callable[[], Any]]:
    with sdk("groq").Groq(api_key="k", base_url=url, max_retries=0) as client:
        yield lambda: client.chat.completions.create(model="m", messages=MESSAGES, stream=True)


@contextmanager
def _hugging_face(url: str) -> Iterator[Callable[[], Any]]:
    with sdk("huggingface_hub").InferenceClient(base_url=f"{url}/v1", api_key="k") as client:
        yield lambda: client.chat_completion(MESSAGES, stream=True)
