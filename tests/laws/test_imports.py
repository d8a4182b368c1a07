"""Law 73: reading a stream imports only the translator of the detected dialect, and perhaps its lane."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support import corpora, share
from wholecall.dialects import DIALECTS

_QUICK = frozenset({"anthropic", "bedrock-invoke-nova", "chat-completions", "gemini", "responses"})
# All is read in children of one interpreter that has imported no more than the package: to start one for each stream
# takes ten times as long.
_PROGRAM = """
import json, os, sys
from wholecall import ToolCallParser

def imported_by(act, *arguments):
    before = set(sys.modules)
    return act(*arguments), sorted(sys.modules.keys() - before)

def read(parser, recording):
    with open(recording, "rb") as stream:
        parser.feed(stream.read())
    parser.close()
    return parser.dialect

def told(recording, dialect):
    parser, by_making = imported_by(ToolCallParser, dialect)
    found, by_reading = imported_by(read, parser, recording)
    print(json.dumps([found, by_making, by_reading]), flush=True)

for run in json.loads(sys.argv[1]):
    child = os.fork()
    if not child:
        told(*run)
        os._exit(0)
    os.waitpid(child, 0)
"""


def _groups() -> list[object]:
    """Return names of dialects that are found by themselves: some, and a share of the others."""
    others = [dialect.name for dialect in DIALECTS if dialect.name not in _QUICK]
    return [
        pytest.param(sorted(_QUICK), id="some"),
        pytest.param(share.every(3, others, "imports"), id="others", marks=pytest.mark.slow),
    ]


def _told(runs: list[tuple[str, str]]) -> list[tuple[str, list[str], list[str]]]:
    """Return for each recording, and what its parser is told: the dialect, the imports by making it and by reading."""
    command = [sys.executable, "-c", _PROGRAM, json.dumps(runs)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own
    return [tuple(json.loads(line)) for line in run.stdout.splitlines()]


@pytest.mark.parametrize("dialects", _groups())
def test_only_what_was_found_is_imported(dialects: list[str]) -> None:
    """Of a named dialect all is imported when the parser is made; one that is found needs the same.

    A lane is imported for who names its dialect, and for a stream whose first bytes look like its own.
    """
    first = {path.parent.name: str(path) for path in reversed(corpora.streams())}
    recorded = [name for name in dialects if name in first]
    told = _told([(first[name], asked) for name in recorded for asked in (name, "auto")])
    assert len(told) == 2 * len(recorded) > 0

    for dialect, by_name, by_itself in zip(recorded, told[::2], told[1::2], strict=True):
        named, by_making, nothing = by_name
        found, no_more, by_reading = by_itself
        assert (dialect, [], []) == (named, nothing, no_more)
        asked, read = ({one for one in each if ".lanes." not in one} for each in (by_making, by_reading))
        assert (found, asked) == (dialect, read)
        assert any(module.startswith("wholecall.dialects.") for module in by_making)
