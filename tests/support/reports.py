"""Tables of recordings, as `wholecall scan` and engines write them, made one recording at a time.

`python -m tests.support.reports` rewrites the report of the sample: `tests/golden/report.txt`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.hygiene.source_tree import PROJECT
from wholecall.bulk import report
from wholecall.bulk.columns import assembled, flat
from wholecall.bulk.rows import Judging, Known, Row, troubled
from wholecall.bulk.streams import row_of
from wholecall.cli.report.text import text_of
from wholecall.recordings import Recording, read

# Rows of recordings that there are.


def rows_of(*paths: str | Path) -> list[Row]:
    """Return the row of each recording at some paths, under the names that a scan of them gives."""
    return [_row(recording, Path(path)) for path in paths for recording in read(path)]


def _row(recording: Recording, root: Path) -> Row:
    file, number, n = recording.name.partition("#")
    source = Path(file).relative_to(root if root.is_dir() else root.parent).as_posix()
    known = Known(
        f"{source}{number}{n}",
        source,
        provider=recording.provider,
        dialect=recording.dialect,
        form=recording.form,
        name=recording.name,
    )
    return row_of(recording.chunks, known, Judging())


# Rows of answers that are made for a test.


def call(name: str, arguments: str) -> dict[str, Any]:
    """Return a delta of Chat Completions with a whole call."""
    return {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": name, "arguments": arguments}}]}


def answer(
    id: str,
    *deltas: dict[str, Any],
    provider: str | None = None,
    model: str = "m",
    finish: str | None = "tool_calls",
    seconds: float | None = None,
    tokens: int | None = None,
) -> Row:
    """Return the row of a response of Chat Completions.

    Args:
        id: the id of the recording.
        deltas: its deltas, each a chunk.
        provider: the provider that answered.
        model: the model that answered.
        finish: the provider's finish reason; None cuts it off.
        seconds: the time between two chunks, None without times.
        tokens: the provider's token counts.
    """
    choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    if finish is not None:
        choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    chunks: list[dict[str, Any]] = [
        {"object": "chat.completion.chunk", "model": model, "choices": [one]} for one in choices
    ]
    if tokens is not None:
        chunks[-1]["usage"] = {"prompt_tokens": 10 * tokens, "completion_tokens": tokens}
    texts = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
    timed = [(None if seconds is None else (n + 1) * seconds, text) for n, text in enumerate(texts)]
    return row_of(timed, Known(id, id.partition("#")[0], provider=provider, form="raw"), Judging())


def sample() -> list[Row]:
    """Return rows that have something for each section of a report."""
    text = {"content": "Hello"}
    rows = [
        answer(
            f"a/{n:02}.sse",
            text,
            call("ring", '{"bell": 3}'),
            provider="harbour",
            seconds=0.25,
            tokens=20 + n,
        )
        for n in range(40)
    ]
    rows += [
        answer(
            f"b/{n:02}.jsonl#{n}",
            call("hoist", '{"flag": "la'),
            provider="quay",
            finish="length",
            model="m-2",
        )
        for n in range(3)
    ]
    rows += [
        answer(f"b/{n}.sse", call("hoist", '{"flag": 1,}'), provider="quay", model="m-2") for n in range(35)
    ]
    rows += [answer("c d.sse", call("ring", "{}"), finish=None), answer("e.sse", text, finish="stop")]
    rows += [answer("e2.sse", text, finish="stop")]  # the same bytes
    rows += [
        row_of(
            [(None, b'data: {"error": {"message": "busy"}}\n\n')],
            Known("f.sse", "f.sse", form="raw"),
            Judging(),
        )
    ]
    rows += [troubled(Known(f"g{n}.yaml", f"g{n}.yaml"), "not YAML: line 3") for n in range(2)]
    return rows


# Files.


def write_parts(folder: Path, rows: Sequence[Row], size: int = 100) -> Path:
    """Write rows as the parts of a scan, so many in each, and return the folder."""
    for table in ("calls", "recordings"):
        (folder / table).mkdir(parents=True)
    for number, start in enumerate(range(0, max(len(rows), 1), size)):
        calls, recordings = flat(rows[start : start + size])
        write_part(folder, number, calls, recordings)
    return folder


def write_part(folder: Path, number: int, calls: pa.Table, recordings: pa.Table) -> None:
    """Write one part of a scan."""
    name = f"part-{number:06}-abc.parquet"
    pq.write_table(calls, folder / "calls" / name)
    pq.write_table(recordings, folder / "recordings" / name)


def write_assembled(path: Path, rows: Sequence[Row]) -> Path:
    """Write rows as a table of an engine, and return its path."""
    pq.write_table(assembled(rows), path)
    return path


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        lines = text_of(report(write_parts(Path(made) / "out", sample())), 100, colour=False)
        (PROJECT / "tests" / "golden" / "report.txt").write_text(
            "".join(f"{line}\n" for line in lines), "utf-8"
        )
