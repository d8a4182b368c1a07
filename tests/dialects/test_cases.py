"""The cases of `tests/dialects/cases`: frame in, deltas out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.dialect_cases import FOLDER, Case, read, translated, written
from tests.support.together import together

FILES = sorted(FOLDER.glob("*.txt"))
CASES = [(path.stem, case) for path in FILES for case in read(path.stem, path.read_text("utf-8"))]


@together(("dialect", "case"), CASES, ids=[f"{name}: {case.title}" for name, case in CASES])
def test_a_stream_gives_just_these_deltas(dialect: str, case: Case) -> None:
    """Each frame of a case gives exactly the deltas below it, and the end of the stream those below `<`."""
    assert case.streams == [translated(dialect, stream) for stream in case.streams]


@pytest.mark.slow
@together("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_written_as_it_is_read(path: Path) -> None:
    """Written again, a file is the same: no line of it goes unread."""
    text = path.read_text("utf-8")

    assert text == written(path.stem, read(path.stem, text))
