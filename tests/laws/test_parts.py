"""Streams in parts of another stream, as SageMaker sends what a container answers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import corpora
from tests.support.encode_bedrock import parts
from wholecall import ToolCallParser

SIZES = (7, 61, 4096)


def _read(dialect: str, data: bytes, reads: int = 1460) -> list[Any]:
    parser: ToolCallParser[Any] = ToolCallParser(dialect)
    pieces = [data[at : at + reads] for at in range(0, len(data), reads)]
    return [*(event for piece in pieces for event in parser.feed(piece)), *parser.close()]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "entries", corpora.groups((e for e in corpora.cases() if e["file"].endswith(".sse")), long=8192)
)
def test_parts_are_read_as_what_they_carry(entries: list[dict[str, Any]]) -> None:
    """Law 134: server-sent events in parts of any size give the events that they give alone."""
    wrong = []
    for number, entry in enumerate(entries):
        data = corpora.recorded(entry)
        expected = _read(entry["dialect"], data)
        actual = _read(entry["dialect"], parts(data, SIZES[number % len(SIZES)]))
        if actual != expected:
            wrong.append(entry["name"])

    assert wrong == []
