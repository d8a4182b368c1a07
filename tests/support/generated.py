"""Tables of recordings, as many as are wanted: turns of every dialect, each with its own id, and odd rows among them.

Nothing here is random: the same numbers give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.support.encode import Call, Turn, every
from tests.support.renderers import RENDERERS

_RENDERERS = tuple(RENDERERS.values())
_ARGUMENTS = (
    "{}",
    '{"path": "a.txt", "n": 1}',
    '{"n": 12345678901234567890123, "path": null, "of": {"deep": [{}, {"a": []}]}}',
    '{"n": "twelve", "other": 1.50}',
    '{"text": "Høvik, \\u2192 \\ud83d\\ude00, \\"quoted\\"\\n"}',
)  # values that columns would unify: no members, members of other types, integers of more than 64 bits
_TURNS = 7  # of which one is text only, and one is cut

POISON: dict[str, bytes | None] = {
    "null": None,
    "empty": b"",
    "noise": bytes(range(256)) * 40,
    "zeros": b"\x00" * 5000,
    "page": b"<html><head><title>502 Bad Gateway</title></head></html>",
    "deep": b'data: {"choices":[' + b"[" * 10_000 + b"]" * 10_000 + b"]}\n\n",
    "half-a-pair": b'data: {"id":"\\ud800","model":"\\udfff","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,'
    b'"id":"\\ud800","type":"function","function":{"name":"\\ud800","arguments":"{\\"a\\": \\"\\ud800\\"}"}}]},'
    b'"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n',
    "long-number": b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function",'
    b'"function":{"name":"f","arguments":"{\\"n\\": '
    + b"9" * 400
    + b'}"}}]},"finish_reason":"tool_calls"}]}\n\n',
    "no-UTF-8": b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c\xff","type":"function",'
    b'"function":{"name":"f\xfe","arguments":"{\\"n\\": \\"\xc3\\"}"}}]},"finish_reason":"tool_calls"}]}\n\n',
}
"""Bodies that are no good streams, by what they are: words of ids."""


def recordings(count: int, *, poisoned: bool = True) -> pa.Table:
    """Return a table of recordings, `request_id` and `raw`; a poisoned one has the rows of `POISON` in its middle."""
    rows = [(f"r{number:06d}", _body(number)) for number in range(count)]
    if poisoned:
        rows[count // 2 : count // 2] = [(f"poison-{what}", body) for what, body in POISON.items()]
    ids, bodies = zip(*rows, strict=True)
    return pa.table({"request_id": pa.array(ids, pa.string()), "raw": pa.array(bodies, pa.binary())})


def write(table: pa.Table, folder: Path, *, files: int = 8) -> None:
    """Write a table as Parquet, in files of several row groups."""
    folder.mkdir()
    size = -(-table.num_rows // files)
    for number, part in enumerate(_cut(table, size)):
        pq.write_table(
            part, folder / f"{number:03d}.parquet", row_group_size=-(-size // 3), compression="zstd"
        )


def _cut(table: pa.Table, size: int) -> Iterator[pa.Table]:
    for start in range(0, table.num_rows, size):
        yield table.slice(start, size)


def _body(number: int) -> bytes:
    """Return the bytes of a recording: a dialect in turn, up to three calls, some of them cut."""
    render = _RENDERERS[number % len(_RENDERERS)]
    kind = number // len(_RENDERERS) % _TURNS
    calls = [
        Call(f"call_{number}_{place}", f"tool_{place}", _ARGUMENTS[(number + place) % len(_ARGUMENTS)])
        for place in range(kind % 4)
    ]
    body = render(Turn(calls, text=f"Row {number}.", id=f"turn-{number}"), every(5))
    return body[: len(body) * 3 // 4] if kind == _TURNS - 1 else body
