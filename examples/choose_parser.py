"""The `--tool-call-parser` that fits a model: what it wrote is read in every format, and the calls are counted.

    python examples/choose_parser.py completions/*.txt

Each file holds one raw completion, special tokens included, as an engine without a tool parser returns it
(`skip_special_tokens=False`). The formats with most whole calls are printed first, under the names for vLLM and SGLang.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from wholecall import read_text, text_formats


def counted(texts: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return for each format its parser's name, how many calls it finds, and how many it drops; the best first."""
    found: list[tuple[str, int, int]] = []
    for text_format in text_formats():
        turns = [read_text(text, text_format) for text in texts]
        calls = sum(len(turn.calls) for turn in turns)
        found.append((f"wholecall_{text_format}", calls, sum(len(turn.dropped) for turn in turns)))
    return sorted(found, key=lambda row: (-row[1], row[2]))


def main(paths: Iterable[str]) -> int:
    """Print the formats that find calls; return 1 if none does."""
    rows = [row for row in counted([Path(path).read_text("utf-8") for path in paths]) if row[1]]
    for name, calls, dropped in rows:
        print(f"{name:28} {calls:4} calls {dropped:4} dropped")
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
