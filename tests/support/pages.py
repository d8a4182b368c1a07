"""The pages in docs/ whose blocks are files of a project that uses the pytest plugin."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.hygiene.source_tree import CORPORA, DOCS

_FILE = re.compile(r"^```python (?P<name>\S+\.py)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
_CASSETTES = {
    "tide.sse": "chat-completions/single-call.sse",
    "answer.sse": "chat-completions/finish-without-call.sse",
    "claude.sse": "anthropic/text-and-thinking-parallel.sse",
}

# The files of docs/testing.md by name, and those among them that need SDKs.
TESTS = {match["name"]: match["code"] for match in _FILE.finditer((DOCS / "testing.md").read_text("utf-8"))}
NEED_SDKS = frozenset({"test_tide.py", "test_claude.py"})


def lay_out(project: Path, names: frozenset[str]) -> None:
    """Write some of the files into a project, and the recordings that they name."""
    (project / "cassettes").mkdir()
    for name, recording in _CASSETTES.items():
        shutil.copy(CORPORA / "recordings" / recording, project / "cassettes" / name)
    for name in names:
        (project / name).write_text(TESTS[name], "utf-8")
