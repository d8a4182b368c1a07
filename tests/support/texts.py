"""The project's cases of calls in text, in `corpora/text`: texts by format, and streams that leak them.

`<format>.jsonl` holds the texts of a format, one case a line; `streams/<dialect>` holds streams whose texts hold calls,
each with a sidecar. `corpora/README.md` lists their members, `tests/hygiene/test_text_corpora.py` reports their faults.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from tests.support.corpora import CORPORA, SIDECAR
from wholecall import ReasoningDelta, TextCalls, TextDelta, TextParser, ToolCallParser

if TYPE_CHECKING:
    from pathlib import Path

    from wholecall.calls.output.events import Event

TEXTS = CORPORA / "text"
STREAMS = TEXTS / "streams"
_OPTIONS = ("prompt", "in_reasoning", "in_fence")


def texts() -> list[dict[str, Any]]:
    """Return the cases of all formats; `format` is the name of their file, `case` names them."""
    return [
        {"format": path.stem, "case": f"{path.stem}-{said['name']}", **said}
        for path in sorted(TEXTS.glob("*.jsonl"))
        for said in map(json.loads, path.read_text("utf-8").splitlines())
    ]


def leaks() -> list[dict[str, Any]]:
    """Return the streams: the content of their sidecars, and the `stream` itself."""
    found = []
    for sidecar in sorted(STREAMS.rglob("*" + SIDECAR)):
        stem = sidecar.name.removesuffix(SIDECAR)
        (stream,) = (path for path in sidecar.parent.glob(f"{stem}.*") if path != sidecar)
        found.append(
            {"case": f"{sidecar.parent.name}/{stem}", "stream": stream, **json.loads(sidecar.read_bytes())}
        )
    return found


def in_pieces(text: str, size: int) -> list[str]:
    """Return a text in pieces of a size; 0 leaves it whole."""
    return [text[start : start + size] for start in range(0, len(text), size)] if size else [text]


def read_text_case(case: dict[str, Any], *, size: int = 0, **options: Any) -> list[Event]:
    """Return the events of a text that comes in pieces, read in its own format unless the options name another."""
    chosen = {"format": case["format"], **{name: case[name] for name in _OPTIONS if name in case}, **options}
    parser: TextParser[Any] = TextParser(TextCalls(**chosen), tools=case["tools"])
    events = [event for piece in in_pieces(case["text"], size) for event in parser.feed(piece)]
    return joined([*events, *parser.close(case.get("ended", "clean"))])


def read_stream(
    stream: Path, chunks: Iterable[bytes], text: dict[str, Any] | None, tools: Any = None
) -> list[Event]:
    """Return the events of a stream that comes in chunks; `text` are the options of `TextCalls`."""
    parser: ToolCallParser[Any] = ToolCallParser(
        stream.parent.name, tools=tools, text=None if text is None else TextCalls(**text)
    )
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return joined([*events, *parser.close()])


def joined(events: Iterable[Event]) -> list[Event]:
    """Return events with neighbours that show text, or reasoning of one block, put together."""
    found: list[Event] = []
    for event in events:
        last = found[-1] if found else None
        if isinstance(event, (TextDelta, ReasoningDelta)) and isinstance(last, type(event)):
            merged = replace(last, text=last.text + event.text)
            if merged == replace(event, text=merged.text):
                found[-1] = merged
                continue
        found.append(event)
    return found
