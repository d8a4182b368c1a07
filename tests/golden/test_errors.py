"""What providers say when a request fails, and what it means: each message has its class."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from wholecall.history import ErrorCategory, ErrorClass, ErrorKind, classify_error

CASES: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).resolve().parents[2] / "corpora" / "errors" / "errors.jsonl")
    .read_text("utf-8")
    .splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_message_has_its_class(case: dict[str, Any]) -> None:
    """A provider's error is classed by what the provider meant, all fields of the class included."""
    expected = msgspec.convert(case["expect"], ErrorClass)

    assert expected == classify_error(case["status"], case["body"], case.get("headers"))


def test_every_word_is_shown() -> None:
    """Each category and each kind is what some provider says."""
    expected = {*get_args(ErrorCategory)}, {*get_args(ErrorKind)}
    kinds = {case["expect"].get("kind") for case in CASES} - {None}

    assert expected == ({case["expect"]["category"] for case in CASES}, kinds)


def test_names_are_unique() -> None:
    """No two cases share a name."""
    names = [case["name"] for case in CASES]

    assert sorted(set(names)) == sorted(names)
