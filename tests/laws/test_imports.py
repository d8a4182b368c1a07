"""Law 73: reading a stream imports only the translator of the detected dialect, and perhaps its lane."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import corpora, share
from wholecall.dialects import DIALECTS

_QUICK = frozenset({"anthropic", "bedrock-invoke-nova", "chat-completions", "gemini", "responses"})
_PROGRAM = """
import json, sys
from wholecall import ToolCallParser

def imported_by(act, *arguments):
    before = set(sys.modules)
    return act(*arguments), sorted(sys.modules.keys() - before)

def read(parser):
    parser.feed(open(sys.argv[1], "rb").read())
    parser.close()
    return parser.dialect

parser, by_making = imported_by(ToolCallParser, sys.argv[2])
dialect, by_reading = imported_by(read, parser)
print(json.dumps([dialect, by_making, by_reading]))
"""


def _streams() -> list[object]:
    """Return the first recorded stream of dialects that are found by themselves: of some, and of a share of the others."""
    first = {path.parent.name: path for path in reversed(corpora.streams())}
    others = [dialect.name for dialect in DIALECTS if dialect.name not in _QUICK]
    tried = _QUICK.union(share.every(3, others, "imports"))
    return [
        pytest.param(
            dialect.name,
            first[dialect.name],
            id=dialect.name,
            marks=() if dialect.name in _QUICK else pytest.mark.slow,
        )
        for dialect in DIALECTS
        if dialect.name in first and dialect.name in tried
    ]


def _told(recording: Path, dialect: str) -> tuple[str, list[str], list[str]]:
    command = [sys.executable, "-c", _PROGRAM, str(recording), dialect]
    run = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own
    return tuple(json.loads(run.stdout))


@pytest.mark.parametrize(("dialect", "recording"), _streams())
def test_only_what_was_found_is_imported(dialect: str, recording: Path) -> None:
    """Of a named dialect all is imported when the parser is made; one that is found needs the same.

    A lane is imported for who names its dialect, and for a stream whose first bytes look like its own.
    """
    named, by_making, nothing = _told(recording, dialect)
    found, no_more, by_reading = _told(recording, "auto")

    assert (dialect, [], []) == (named, nothing, no_more)
    asked, read = ({one for one in each if ".lanes." not in one} for each in (by_making, by_reading))
    assert (found, asked) == (dialect, read)
    assert any(module.startswith("wholecall.dialects.") for module in by_making)
