"""Errors: no function raises, every door gives the same class, and a format error costs no credential."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from wholecall.calls.output.events import StreamFault
from wholecall.history import ErrorCategory, ErrorClass, ErrorKind, ErrorScope, classify_error
from wholecall.history.errors.classify import RULES
from wholecall.types import FaultKind

CASES: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).resolve().parents[2] / "corpora" / "errors" / "errors.jsonl")
    .read_text("utf-8")
    .splitlines()
]
PHRASES = [rule.says for rule in RULES.rules]
MEMBERS = (
    *(
        "error",
        "message",
        "type",
        "code",
        "status",
        "detail",
        "param",
        "loc",
        "msg",
        "metadata",
        "raw",
        "errors",
    ),
    *(
        "input",
        "messages",
        "content",
        "innererror",
        "__type",
        "base_resp",
        "status_msg",
        "retry_after",
        "is_byok",
    ),
)

statuses = st.one_of(
    st.none(), st.integers(-1, 700), st.sampled_from([400, 401, 402, 403, 413, 422, 429, 500, 529])
)
words = st.one_of(st.sampled_from(PHRASES), st.text(max_size=30))
leaves = st.one_of(
    words, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)
)
bodies = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(MEMBERS), st.text(max_size=5)), inner, max_size=4),
    ),
    max_leaves=12,
)
objects = bodies.filter(lambda body: isinstance(body, (dict, list)))
headers = st.dictionaries(st.sampled_from(["Retry-After", "x-amzn-errortype", "date"]), words, max_size=2)


def violations(error: ErrorClass) -> list[str]:
    """Return the faults of a class, for any error."""
    is_format = error.category in {"transcript", "request", "context_overflow"}
    checks = {
        "category": error.category in get_args(ErrorCategory),
        "kind": error.kind is None or error.kind in get_args(ErrorKind),
        "scope": error.scope in get_args(ErrorScope),
        "cooldown": error.cooldown == (error.scope == "credential"),
        "a format error cools down": not (is_format and error.cooldown),
        "what is repaired is no transcript": not (error.repairable and error.category != "transcript"),
        "ids of no transcript": not (error.ids and error.category != "transcript"),
        "a type of no arguments": error.expects is None or error.kind == "arguments_type",
    }
    return [name for name, holds in checks.items() if not holds]


@given(statuses, bodies, headers)
def test_any_value(status: int | None, body: Any, head: dict[str, str]) -> None:
    """Law 38: no decoded body makes `classify_error` raise, and every class is well formed."""
    assert [] == violations(classify_error(status, body, head))


@given(statuses, st.one_of(st.binary(max_size=200), st.text(max_size=200)))
def test_any_bytes(status: int | None, body: bytes | str) -> None:
    """Law 38: nor do any bytes or text."""
    assert [] == violations(classify_error(status, body))


@given(statuses, st.lists(words, max_size=8), st.randoms())
def test_any_damage(status: int | None, texts: list[str], rng: Any) -> None:
    """Law 38: nor does JSON that is cut, or has bytes replaced."""
    octets = bytearray(json.dumps({"error": {"message": " ".join(texts), "details": texts}}).encode())
    for _ in range(3):
        octets[rng.randrange(len(octets))] = rng.randrange(256)

    assert [] == violations(classify_error(status, bytes(octets[: rng.randrange(len(octets))])))


@given(statuses, objects, headers)
def test_doors_agree(status: int | None, body: Any, head: dict[str, str]) -> None:
    """Law 39: text, bytes and the decoded value of one body give one class, however it is spelled."""
    texts = (json.dumps(body), json.dumps(body, indent=1, ensure_ascii=False))
    expected = classify_error(status, body, head)
    doors = [*texts, *(text.encode("utf-8", "surrogatepass") for text in texts if text.isascii())]

    assert [expected] * len(doors) == [classify_error(status, door, head) for door in doors]


@given(bodies.filter(lambda body: body is not None), st.sampled_from(get_args(FaultKind)))
def test_a_fault_is_its_error(error: Any, kind: Any) -> None:
    """Law 39: a fault of a stream gets the class of the provider's error in it, no other fault gets one."""
    fault = StreamFault(0, 0, kind, "", error, fatal=True)
    expected = classify_error(None, error if kind == "provider_error" else None)

    assert expected == classify_error(fault)


def test_known_errors_by_every_door() -> None:
    """Law 39: a provider's error has one class as a decoded body, as text, as bytes and inside a stream."""
    different = []
    for case in CASES:
        status, body, head = case["status"], case["body"], case.get("headers")
        if isinstance(body, (dict, list)):
            text = json.dumps(body)
            spelled = classify_error(status, text, head), classify_error(status, text.encode(), head)
            different += [case["name"]] * (set(spelled) != {classify_error(status, body, head)})
        fault = StreamFault(0, 0, "provider_error", "", body, fatal=True)
        different += [case["name"]] * (classify_error(None, body) != classify_error(fault))

    assert CASES
    assert [] == different


def test_words_outweigh_the_status() -> None:
    """Law 40: a format error in a provider's words is the same with any status, and cools nothing down."""
    cases = [
        case for case in CASES if case["expect"]["category"] == "transcript" and case["expect"].get("kind")
    ]
    found = {
        (case["name"], status): classify_error(status, case["body"], case.get("headers"))
        for case in cases
        for status in (400, 422, 429, 500, 503)
    }

    assert {} == {
        key: error for key, error in found.items() if error.category != "transcript" or error.cooldown
    }
