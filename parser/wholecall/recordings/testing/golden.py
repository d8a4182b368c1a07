"""Golden files: output that was reviewed and approved once, one JSON value per line.

Theory of operation. A value becomes lines of JSON with sorted keys, so that equal values are equal files. They are
compared as JSON values, not as text: a golden file may be written by hand. Numbers of other types are other values
(`1` is neither `1.0` nor `true`).
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

SUFFIX = ".golden.jsonl"
_CONTEXT = 1  # equal lines shown around a difference


class Comparison(msgspec.Struct, frozen=True):
    """The result of a comparison with a golden file.

    Attributes:
        kind: whether the file holds the value.
        diff: the lines that differ, those of the file with `-`, those of the value with `+`; it shows content of the
            file and of the value.
        added: how many lines only the value has.
        removed: how many only the file has.
    """

    kind: Literal["equal", "different", "missing"]
    diff: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0

    def __repr__(self) -> str:
        return f"Comparison({self.kind!r}, added={self.added}, removed={self.removed})"


def beside(recording: Path, name: str = "") -> Path:
    """Return the path of a recording's golden file, `<recording>[.<name>].golden.jsonl`."""
    return recording.with_name(f"{recording.name}{name and f'.{name}'}{SUFFIX}")


def lines_of(value: Any) -> list[str]:
    """Return a value as lines of JSON.

    Args:
        value: events or other Structs, dataclasses, pydantic's models (of SDKs too) and all JSON values; each item of a
            list, tuple or iterator is a line, anything else is one line.

    Raises:
        TypeError: JSON cannot represent the value.
        ValueError: it holds a number that JSON cannot represent.
    """
    is_one = isinstance(value, (str, bytes, Mapping, msgspec.Struct)) or hasattr(value, "model_dump")
    values: Iterable[Any] = [value] if is_one or not isinstance(value, Iterable) else value
    return [_line(one) for one in values]


def compare(path: Path, lines: list[str]) -> Comparison:
    """Compare a golden file with the lines of a value.

    Raises:
        OSError: the file exists and cannot be read.
    """
    try:
        held = path.read_bytes().decode("utf-8", "replace").split("\n")  # `splitlines` would cut inside text
    except FileNotFoundError:
        return Comparison("missing", added=len(lines))
    golden = [_sorted(line.strip()) for line in held if line.strip()]
    now = [_sorted(line) for line in lines]
    if golden == now:
        return Comparison("equal")
    diff = difflib.unified_diff(golden, now, "golden", "now", n=_CONTEXT, lineterm="")
    shown = tuple(diff)[2:]
    marks = [line[:1] for line in shown]
    return Comparison("different", shown, marks.count("+"), marks.count("-"))


def write(path: Path, lines: list[str]) -> None:
    """Write a golden file.

    Raises:
        OSError: it cannot be written.
    """
    path.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))


def _line(value: Any) -> str:
    return _dumped(msgspec.to_builtins(value, order="deterministic", enc_hook=_plain))


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    raise TypeError(f"a {type(value).__name__} is nothing that JSON can say")


def _dumped(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode()


def _sorted(line: str) -> str:
    """Return a line with its keys sorted; a line that is not JSON stays as it is, and therefore differs."""
    try:
        return _dumped(json.loads(line))
    except (ValueError, RecursionError):
        return line
