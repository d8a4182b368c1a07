"""Half-finished arguments at every delta: wholecall's ways, the floor, and the parsers that people use for it.

Every contender reads the pieces of one argument text. The *floor* appends them and joins them once, which shows
nothing on the way. The *rivals* parse all text so far whenever a piece has come; they are an extra of the
project, and one that is not installed is not among the contenders.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.texts import every, long_arguments
from wholecall import PartialJsonParser, partial_json
from wholecall.calls.arguments.progress import ProgressScanner, StringWatcher

# Reads the pieces; returns the whole value, if it builds one.
Contender = Callable[[Iterable[str]], Any]
WATCHED = "content"  # the long string of `long_arguments`


def pieces(size: int, delta: int = 4) -> list[str]:
    """Return an argument text with one string of about `size` characters, in pieces of `delta` characters."""
    return every(long_arguments(size), delta)


def floor(deltas: Iterable[str]) -> str:
    """Append and join."""
    parts: list[str] = []
    for delta in deltas:
        parts.append(delta)  # noqa: PERF402 - a stream's deltas come one by one
    return "".join(parts)


def watch(deltas: Iterable[str]) -> None:
    """Emit the text of the long string as it comes."""
    watcher = StringWatcher(WATCHED)
    for delta in deltas:
        watcher.feed(delta)


def watched_text(deltas: Iterable[str]) -> str:
    """Return a watcher's output, joined."""
    watcher = StringWatcher(WATCHED)
    return "".join([watcher.feed(delta) for delta in deltas])


def scan(deltas: Iterable[str]) -> dict[str, Any]:
    """Emit every string's text as it comes and every member that closes."""
    scanner = ProgressScanner()
    for delta in deltas:
        scanner.feed(delta)
    return dict(scanner.snapshot().value)


def snapshots(deltas: Iterable[str]) -> dict[str, Any]:
    """The same, and take a snapshot at every delta."""
    scanner = ProgressScanner()
    snapshot = scanner.snapshot()
    for delta in deltas:
        scanner.feed(delta)
        snapshot = scanner.snapshot()
    return dict(snapshot.value)


def values(deltas: Iterable[str]) -> dict[str, Any]:
    """The same, and ask every snapshot for its value: this copies the open string, as any string must be."""
    scanner = ProgressScanner()
    value = scanner.snapshot().value
    for delta in deltas:
        scanner.feed(delta)
        value = scanner.snapshot().value
    return dict(value)


def partial(deltas: Iterable[str]) -> dict[str, Any]:
    """Show a text without a stream: a snapshot at every delta."""
    parser = PartialJsonParser()
    for delta in deltas:
        parser.feed(delta)
    return dict(parser.close().value)


def again(deltas: Iterable[str]) -> dict[str, Any]:
    """The same without a parser that remembers: all text so far is read at every delta."""
    text, value = "", None
    for delta in deltas:
        text += delta
        value = partial_json(text).value
    return dict(value or {})


OURS: dict[str, Contender] = {
    "watch": watch,
    "scan": scan,
    "snapshots": snapshots,
    "values": values,
    "partial": partial,
}


def _jiter(deltas: Iterable[str]) -> Any:
    parse = importlib.import_module("jiter").from_json
    data, value = b"", None
    for delta in deltas:
        data += delta.encode()
        value = parse(data, partial_mode="trailing-strings")
    return value


def _partial_json_parser(deltas: Iterable[str]) -> Any:
    parse = importlib.import_module("partial_json_parser").loads
    text, value = "", None
    for delta in deltas:
        text += delta
        value = parse(text)
    return value


def _json_repair(deltas: Iterable[str]) -> Any:
    parse = importlib.import_module("json_repair").loads
    text, value = "", None
    for delta in deltas:
        text += delta
        value = parse(text, stream_stable=True)
    return value


_PARSERS: dict[str, Contender] = {
    "jiter": _jiter,
    "partial_json_parser": _partial_json_parser,
    "json_repair": _json_repair,
}
RIVALS: dict[str, Contender] = {
    module: contender for module, contender in _PARSERS.items() if importlib.util.find_spec(module)
}
