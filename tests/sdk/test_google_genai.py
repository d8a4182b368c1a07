"""Gemini through the `google-genai` SDK."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from tests.support.sdks import Truth, expected, sdk, swept

pytestmark = pytest.mark.sdk


@contextmanager
def _streams(url: str) -> Iterator[Callable[[], Any]]:
    with sdk("google.genai").Client(api_key="k", http_options={"base_url": url}) as client:
        yield lambda: closing(client.models.generate_content_stream(model="m", contents="x"))
