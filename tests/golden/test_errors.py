"""Providers' messages for failed requests, each with its class."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import msgspec

from wholecall.history import ErrorCategory, ErrorClass, ErrorKind, classify_error

CASES: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).resolve().parents[2] / "corpora" / "errors" / "errors.jsonl")
    .read_text("utf-8")
    .splitlines()
]


def test_a_message_has_its_class() -> None:
    """A provider's error is classed by its meaning, all fields of the class included."""
    expected = {case["name"]: msgspec.convert(case["expect"], ErrorClass) for case in CASES}
    actual = {
        case["name"]: classify_error(case["status"], case["body"], case.get("headers")) for case in CASES
    }

    assert expected == actual


def test_every_word_is_shown() -> None:
    """Each category and each kind occurs in some provider's error."""
    expected = {*get_args(ErrorCategory)}, {*get_args(ErrorKind)}
    kinds = {case["expect"].get("kind") for case in CASES} - {None}

    assert expected == ({case["expect"]["category"] for case in CASES}, kinds)


def test_names_are_unique() -> None:
    """No two cases share a name."""
    names = [case["name"] for case in CASES]

    assert sorted(set(names)) == sorted(names)
