"""A server of S3, and a new bucket for each test."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

import pytest
from pyarrow import fs

if TYPE_CHECKING:
    from tests.support.s3 import Server

SECRET = "verysecretly"
_NUMBERS = count()


@pytest.fixture(scope="session")
def running_s3() -> Iterator[Server]:
    """A server; its clients find credentials in the environment."""
    from tests.support.s3 import running  # noqa: PLC0415 - an extra: tests without it are skipped

    with pytest.MonkeyPatch.context() as patch, running() as server:
        patch.setenv("AWS_ACCESS_KEY_ID", "AKIA" + SECRET)
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.port}")
        patch.setenv("AWS_REGION", "us-east-1")
        yield server


@pytest.fixture
def s3(running_s3: Server) -> Server:
    """The server, which serves every request unless a test says otherwise."""
    running_s3.clear()
    return running_s3


@pytest.fixture
def bucket(s3: Server) -> str:
    """The URL of a new bucket."""
    name = f"bucket-{next(_NUMBERS)}"
    store, _ = fs.FileSystem.from_uri(f"s3://{name}?allow_bucket_creation=true")
    store.create_dir(name)
    s3.clear()
    return f"s3://{name}"
