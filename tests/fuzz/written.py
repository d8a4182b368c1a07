"""The target of calls that a model wrote as text: whatever the text, in whatever format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from tests.fuzz.model import Options, Target, held, opened
from tests.support.corpora import CORPORA
from tests.text.reading import ALL_WEAK, EVERY, TOOLS, calls, merged, read, spelled
from wholecall import Limits, TextParser

_NAMES = sorted(EVERY)
_LONGEST = 2_000  # characters of a seed
_PROMPTS = ("", "", "<think>", "<|start|>assistant", "<tool_", "so ")
_ENDS = ("clean", "length", "open")
_SMALL = Limits(max_arguments_bytes=40, max_raw_bytes=30, max_held_text=50, max_depth=3)


def _reading(options: Options) -> dict[str, Any]:
    return {
        "tools": TOOLS if options.flag(1, 0) else None,
        "weak": ALL_WEAK if options.flag(1, 1) else None,
        "prompt": options.pick(2, _PROMPTS),
        "in_reasoning": options.pick(3, ("ignore", "unclosed", "call")),
        "in_fence": "call" if options.flag(1, 2) else "text",
    }


def run_text(data: bytes) -> None:
    """Read a text whole, in pieces and cut short: the same outputs, nothing lost, no call that the whole has not."""
    options, payload = opened(data)
    text = payload.decode("utf-8", "replace")
    name, ended = options.pick(0, _NAMES), options.pick(1, _ENDS)
    reading = _reading(options)
    whole = read(name, [text], ended, **reading)
    held("law 80: text was lost", text == spelled(whole))
    pieces = list(options.cut(text))
    for limits in (None, _SMALL):
        bounded = read(name, [text], ended, limits=limits, **reading)
        again = read(name, pieces, ended, limits=limits, **reading)
        held("law 77: the outputs depend on the pieces", merged(bounded) == merged(again))
    sent = calls(read(name, [text], "length", **reading))
    found = calls(
        read(name, [text[: options.number(7) * len(text) // 256]], options.pick(6, _ENDS[1:]), **reading)
    )
    held("law 78: a call came out of a text that broke off", sent[: len(found)] == found)
    parser = TextParser(name)
    for event in [*parser.feed(text), *parser.close()]:
        json.loads(event.to_json())


@cache
def _texts() -> list[tuple[str, str]]:
    """Return short texts, each with its format's name."""
    found: list[tuple[str, str]] = []
    for path in sorted((CORPORA / "text").glob("*.jsonl")):
        cases = map(json.loads, path.read_text("utf-8").splitlines())
        found += [(path.stem, case["text"]) for case in cases if len(case["text"]) < _LONGEST]
    return found


def _seeds() -> Iterator[bytes]:
    for number, (name, text) in enumerate(_texts()):
        form = _NAMES.index(name if name in EVERY else "auto")
        yield bytes((form, number % 256, 0, number % 3, 1, 5, number % 2, number * 37 % 256)) + text.encode()


TARGETS = (Target("text", run_text, _seeds, "wholecall.text"),)
