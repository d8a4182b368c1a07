"""Targets that take no stream: argument texts, shrinking, transcripts, errors of providers."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from typing import Any, cast

from tests.fuzz.model import Target, held, opened
from tests.fuzz.streams import LIMITS, POLICIES
from tests.support import quirky
from tests.support.corpora import CORPORA
from tests.support.references import Refused, reference
from tests.support.turns import canonical
from wholecall import Limits, UnknownDialect, parse_arguments
from wholecall.calls.output.events import StreamFault
from wholecall.history import (
    TranscriptReport,
    classify_error,
    repair_transcript,
    shrink_arguments,
    shrink_transcript,
)
from wholecall.history.shapes.table import SHAPES, shape_of

_TEXTS = (
    '{"port":"Brést","n":[1,{"x":"}\\""}]}', "{}", "", "null", '{"a":1,}', "{'a': True, b: None}", '```json\n{"a":1}\n```',
    '"{\\"a\\":1}"', '{"a":1}{"a":1}', '{}{"a":1}', 'Here: {"a":1} ok', '{"a":1}<|im_end|>', '{"a":"\\ud83d"}', '{"a":"\\u0000"}',
    '{"a":1e999}', '{"a":1,"a":1}', '{"a":1,"a":2}', '{"a":"line\nbreak \\d"}', '{"a":"it\'s","b":[1,2,],/*c*/}', '{"a":{"b":{"c":{"d":[]}}}}',
    "{“a”: “b”}", '{"a":"x","b":"' + "y" * 700 + '"}', '[{"a":1}]', '{"n":"[1]","port":5}', '{"a":12345678901234567890}', '{"a":1.0E+2}', '{"a"',
)  # fmt: skip
_TOOL = {
    "type": "object",
    "properties": {"port": {"type": "string"}, "n": {"type": "array"}, "a": {"type": "number"}},
}


def _text(payload: bytes) -> str:
    """Return a payload as text, half characters (lone surrogates) included."""
    try:
        return payload.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return payload.decode("utf-8", "replace")


# Argument texts.


def run_arguments(data: bytes) -> None:
    """Judge a text: the verdict is whole, `exact` means strict JSON, and its value is read again."""
    options, payload = opened(data)
    text = _text(payload)
    policy, limits = options.pick(3, POLICIES), options.pick(2, LIMITS[:2])
    ended: Any = options.pick(1, ("clean", "length", "open"))
    verdict = parse_arguments(
        text, ended=ended, tool=_TOOL if options.flag(3, 7) else None, policy=policy, limits=limits
    )
    repr(verdict)
    taken = verdict.status != "dropped"
    held(
        "law 4: a verdict has arguments, or a reason",
        taken == (verdict.arguments is not None) == (verdict.reason is None),
    )
    held("law 12: `exact` has no edits", verdict.status != "exact" or not verdict.edits)
    places = [edit.offset for edit in verdict.edits]
    held("law 14: an edit is outside of the text", all(0 <= place <= len(text) for place in places))
    if taken and not options.flag(3, 7):
        again = parse_arguments(json.dumps(verdict.arguments), policy=policy)
        held("law 12: what came out is `exact`", again.status == "exact")
        held("law 12: and says the same", canonical(again.arguments) == canonical(verdict.arguments))
    if limits == Limits() and ended == "clean" and not options.flag(3, 7):
        _agree(text, verdict, keeps_halves=policy.lone_surrogates != "drop")


def _agree(text: str, verdict: Any, *, keeps_halves: bool) -> None:
    try:
        value = reference(text)
    except Refused:
        return
    except UnicodeEncodeError:  # half of a surrogate pair, which a policy may let pass
        held("law 11: `exact` is strict JSON", keeps_halves or verdict.status != "exact")
        return
    except (ValueError, RecursionError):
        held("law 11: `exact` is strict JSON", verdict.status != "exact")
        return
    if isinstance(value, dict) and verdict.reason not in (
        "nesting_too_deep",
        "number_too_long",
        "arguments_too_large",
    ):
        held("law 11: strict JSON is `exact`", verdict.status == "exact")
        held("law 11: the same value", _same(value, verdict.arguments))


def _same(value: Any, arguments: Any) -> bool:
    """Return whether two values are one, where the policy may have turned long integers into text."""
    if isinstance(value, dict):
        return (
            isinstance(arguments, dict)
            and list(value) == list(arguments)
            and all(_same(value[key], arguments[key]) for key in value)
        )
    if isinstance(value, list):
        return (
            isinstance(arguments, list) and len(value) == len(arguments) and all(map(_same, value, arguments))
        )
    if type(value) is int and abs(value) > 2**53 and isinstance(arguments, str):
        return str(value) == arguments
    return canonical(value) == canonical(arguments)


def _argument_seeds() -> Iterator[bytes]:
    texts = [*_TEXTS, *(json.dumps({"a": text, text: [text]}) for text in quirky.HOSTILE)]
    for number, text in enumerate(texts):
        yield bytes((0, 0, 0, 0, 0, 0, 0, 0)) + text.encode("utf-8", "surrogatepass")
        yield bytes((0, number % 3, number % 2, number % 6 + 128 * (number % 2), 0, 0, 0, 0)) + text.encode(
            "utf-8", "surrogatepass"
        )


# Shrinking.


def run_shrink(data: bytes) -> None:
    """Shrink a text, and the object in it: still JSON, never longer, and done once."""
    options, payload = opened(data)
    text = _text(payload)
    max_leaf = options.pick(0, (0, 1, 2, 5, 20, 200))
    chosen: dict[str, Any] = {
        "max_leaf": max_leaf,
        "tail": options.number(1) % (max_leaf + 1),
        "threshold": options.pick(2, (0, 0, 100, 500)),
        "marker": options.pick(3, ("...[truncated]", "…", "", '"cut"\n', "\u0301\u200d")),
        "protect": options.pick(4, ((), ("path",), ("a", "path"))),
        "max_bytes": options.pick(5, (None, None, 0, 30, 100, 400)),
    }
    found = shrink_arguments(text, **chosen)
    again = shrink_arguments(found.text, **chosen)
    held("law 26: twice is once", (again.text, again.changed, again.fits) == (found.text, False, found.fits))
    held("law 26: never longer", len(found.text) <= len(text) and _size(found.text) <= _size(text))
    held("law 26: the same object unless changed", found.changed or found.text is text)
    held("law 26: what is no JSON stays", found.valid or not found.changed)
    if not found.valid:
        return
    try:
        before = json.loads(text)
        after = json.loads(found.text)
    except (ValueError, RecursionError) as error:
        held("law 26: valid stays valid", "digits" in str(error) or isinstance(error, RecursionError))
        return
    held("law 26: the same kind of value", type(before) is type(after))
    if isinstance(before, dict) and chosen["max_bytes"] is None:
        held("law 26: the same keys", list(before) == list(after))
    if isinstance(before, dict) and _is_finite(before):
        kept = copy.deepcopy(before)
        shrunk = shrink_arguments(before, **chosen)
        held(
            "law 26: a dict is not changed",
            before == kept and (shrunk.text is before) == (not shrunk.changed),
        )


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _is_finite(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _shrink_seeds() -> Iterator[bytes]:
    long = json.dumps(
        {"a": "é😀" * 60, "path": "x" * 400, "n": [1.10, "y" * 90, {"b": list(range(40))}], "c": '"\\' * 50}
    )
    for number, text in enumerate(
        (*_TEXTS, long, json.dumps(json.loads(long), ensure_ascii=False), f"[{long}]")
    ):
        for way in range(3):
            yield bytes((number + way, 7, way, number + way, way, number * way, 0, 0)) + text.encode(
                "utf-8", "surrogatepass"
            )


# Transcripts.


def run_transcripts(data: bytes) -> None:
    """Repair a list of messages in any shape: settled after once, nothing changed in place."""
    options, payload = opened(data)
    messages = _messages(payload)
    if messages is None:
        return
    chosen: dict[str, Any] = {
        "shape": options.pick(0, ("auto", *(shape.name for shape in SHAPES))),
        "unanswered": options.pick(1, ("synthesise", "keep")),
        "nameless": options.pick(2, ("strip", "rename")),
        "aborted": options.pick(3, ("keep_text", "drop_turn")),
        "names": options.pick(4, (None, None, frozenset({"read"}))),
        "strict_json_arguments": options.flag(5, 0),
    }
    before = copy.deepcopy(messages)
    try:
        found = repair_transcript(messages, **chosen)
    except TypeError as error:
        held("law 4: repair raises what it does not say", "not a dict" in str(error))
        return
    except UnknownDialect:
        held("law 4: a shape that was named is unknown", chosen["shape"] == "auto")
        held("law 43: the input was changed", before == messages)
        return
    held("law 43: the input was changed", before == messages)
    held("law 43: `changed` is wrong", found.report.changed == (found.messages is not messages))
    chosen["shape"] = shape_of(messages, chosen["shape"]).name  # the report of it may have been taken out
    again = repair_transcript(found.messages, **chosen)
    held(
        f"law 41: repair goes on: {again.report}",
        again.messages is found.messages and again.report == TranscriptReport(),
    )
    repr(found)
    shrunk = shrink_transcript(
        messages, max_leaf=5, threshold=0, keep_recent=options.number(6) % 3, shape=chosen["shape"]
    )
    held("law 43: shrinking changed the input", before == messages)
    held("law 26: a transcript got longer", len(json.dumps(shrunk.messages)) <= len(json.dumps(messages)))


def _messages(payload: bytes) -> list[dict[str, Any]] | None:
    """Return the messages that a payload holds: a JSON array, or a line each; None for any other payload."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        value = [line for line in map(_line, payload.splitlines()) if line is not None]
    messages = value if isinstance(value, list) else [value]
    found = [message for message in messages if isinstance(message, dict)]
    return found if found and _is_finite(found) else None


def _line(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


@cache
def _transcripts() -> list[tuple[str, bytes]]:
    """Return transcripts of every shape, and the shape's name."""
    folder = CORPORA / "transcripts"
    paths = [path for path in sorted(folder.rglob("*.json*")) if path.parent != folder]
    return [(path.parent.name, path.read_bytes()) for path in paths if path.stat().st_size < 12_000]


def _transcript_seeds() -> Iterator[bytes]:
    names = ("auto", *(shape.name for shape in SHAPES))
    for number, (shape, text) in enumerate(_transcripts()):
        messages = _messages(text) or []
        lines = b"\n".join(json.dumps(message).encode() for message in messages)
        yield bytes((0, 0, 0, 0, 0, 0, 0, 0)) + lines
        yield (
            bytes((names.index(shape), number % 2, number % 3, number % 5, number % 4, number % 2, 1, 0))
            + lines
        )


# Errors of providers.

_STATUSES = (None, 400, 400, 401, 403, 404, 413, 422, 429, 500, 503, 529, -1, 0, 200, 700)
_HEADERS = ({}, {"Retry-After": "5"}, {"x-amzn-errortype": "ThrottlingException:x"}, {"date": "?"})


def run_errors(data: bytes) -> None:
    """Classify a body as bytes, as text, decoded and as a fault: well formed, and the same by each door."""
    options, payload = opened(data)
    status, headers = options.pick(0, _STATUSES), options.pick(1, _HEADERS)
    found = classify_error(status, payload, headers)
    wrong = _wrong_class(found)
    held(f"law 38: {wrong}", not wrong)
    text = _text(payload)
    classify_error(status, text, headers)
    body = _line(payload)
    if isinstance(body, (dict, list)) and text.isascii():
        decoded = classify_error(status, body, headers)
        held("law 39: bytes and the decoded value differ", found == decoded or not _is_plain(payload))
        if _is_plain(payload):
            fault = StreamFault(0, 0, "provider_error", "", body, fatal=True)
            held("law 39: a fault is its error", classify_error(None, body) == classify_error(fault))
    repr(found)


def _is_plain(payload: bytes) -> bool:
    """Return whether every reader of JSON agrees on a text: no repeated keys, no NaN, no huge number, no half
    character.
    """
    try:
        reference(payload.decode())
    except (ValueError, RecursionError):
        return False
    return True


def _wrong_class(error: Any) -> list[str]:
    is_format = error.category in {"transcript", "request", "context_overflow"}
    checks = {
        "scope": error.cooldown == (error.scope == "credential"),
        "a format error cools down": not (is_format and error.cooldown),
        "what is repaired is no transcript": not (error.repairable and error.category != "transcript"),
    }
    return [name for name, holds in checks.items() if not holds]


def _error_seeds() -> Iterator[bytes]:
    for line in (CORPORA / "errors" / "errors.jsonl").read_text("utf-8").splitlines():
        case = cast("dict[str, Any]", json.loads(line))
        status, body = case["status"], case["body"]
        head = bytes((_STATUSES.index(status) if status in _STATUSES else 0, 0, 0, 0, 0, 0, 0, 0))
        yield head + (body if isinstance(body, str) else json.dumps(body)).encode("utf-8", "surrogatepass")


TARGETS = (
    Target("arguments", run_arguments, _argument_seeds, "wholecall.calls.arguments"),
    Target("shrink", run_shrink, _shrink_seeds, "wholecall.history"),
    Target("transcripts", run_transcripts, _transcript_seeds, "wholecall.history"),
    Target("errors", run_errors, _error_seeds, "wholecall.history"),
)
