"""Bedrock through `boto3`: binary event streams, of Converse and of invoked models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from tests.support.sdks import Truth, expected, sdk, swept

pytestmark = pytest.mark.sdk
ASKED = [{"role": "user", "content": [{"text": "x"}]}]


@contextmanager
def _client(url: str) -> Iterator[Any]:
    client = sdk("boto3").client(
        "bedrock-runtime",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",  # noqa: S106 - nobody checks it
        config=sdk("botocore.config").Config(retries={"max_attempts": 0}),
    )
    with closing(client):
        yield client


@contextmanager
def _converse(url: str) -> Iterator[Callable[[], Any]]:
    with _client(url) as bedrock:
        yield lambda: closing(bedrock.converse_stream(modelId="m", messages=ASKED)["stream"])


@contextmanager
def _invoke(url: str) -> Iterator[Callable[[], Any]]:
    with _client(url) as bedrock:
        yield lambda: closing(bedrock.invoke_model_with_response_stream(modelId="m", body=b"{}")["body"])
