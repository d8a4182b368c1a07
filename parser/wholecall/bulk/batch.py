"""A batch of recordings to a batch of rows: a pure function, one row in, one row out.

Theory of operation. The caller, an engine or a loop, gets a row for each row, in their order, by one schema, so that a
count shows lost or duplicate rows. The function keeps no state, opens nothing, starts nothing, logs nothing; it can be
pickled, alone or in a `functools.partial`. Mistakes in the call raise before anything is read; the content of a row
never raises.
"""

from __future__ import annotations

from typing import Any

from wholecall import Limits, Policy, ToolCallParser
from wholecall.bulk.columns import batches
from wholecall.bulk.inputs import BODY, ID, MOMENT, TEXT, TIMES, Kind, reader, rows_in
from wholecall.bulk.rows import Judging, Known, Row, troubled
from wholecall.bulk.schema import ASSEMBLED
from wholecall.bulk.shape import TableT, checked, like, parts
from wholecall.bulk.streams import row_of

__all__ = ["assemble_batch"]
_private = True


def assemble_batch(
    batch: TableT,
    *,
    body: str = "body",
    id: str = "recording_id",
    provider: str | None = None,
    model: str | None = None,
    dialect: str | None = None,
    recorded_at: str | None = None,
    chunk_times: str | None = None,
    framing: str | None = None,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
    arguments: bool = True,
) -> TableT:
    """Return a row for each row: the content of its response, and its calls.

    ::

        out = assemble_batch(batch, body="raw", id="request_id")
        calls, recordings = calls_of(out), recordings_of(out)

    Columns are given by their names. Texts may have any type of Arrow for texts, or be a dictionary of them.

    Args:
        batch: a Table or a RecordBatch. Memory holds it and its result: 64 rows at once are a good size.
        body: the raw bytes of each response, as received: binary or text. A null is a row with `trouble`.
        id: the ids of the recordings, text or integers.
        provider: the provider that answered.
        model: the requested model; the model that the response states outranks it.
        dialect: a column of dialects' names, or a dialect for all rows; None and null detect it from the bytes.
        recorded_at: timestamps; those without a zone are in UTC.
        chunk_times: when the bytes arrived: for each row a list of structs with `offset`, an integer, where a chunk
            begins in the body, and `seconds`, a float, since the response began. Offsets rise from 0. Other lists are
            ignored, and the row has a `trouble`.
        framing: how the bytes are cut into events, as for `ToolCallParser`.
        policy: the policy for judging calls.
        limits: the limits of a body; `Limits.gateway()` for bodies of strangers.
        arguments: whether rows hold the texts of arguments.

    Returns:
        A Table for a Table, a RecordBatch for a RecordBatch, with the schema `ASSEMBLED`.

    Raises:
        ValueError: a column is missing, or there are several of its name; a RecordBatch has more text than one can hold.
        TypeError: `batch` is neither a Table nor a RecordBatch, or a column is of another type.
        UnknownDialect: the framing is unknown, or the dialect is neither a column nor a known dialect.
    """
    schema = checked(batch).schema
    names = {"body": body, "id": id, "provider": provider, "model": model, "recorded_at": recorded_at}
    names |= {"times": chunk_times}
    if dialect is not None and dialect in schema.names:
        names, dialect = names | {"dialect": dialect}, None
    ToolCallParser(dialect or "auto", framing=framing)  # refuse unknown names at once
    judging = Judging(policy, limits, framing, arguments)
    reads = {
        what: (name, reader(schema, name, _KINDS[what])) for what, name in names.items() if name is not None
    }
    rows = (_row(found, dialect, judging) for found in rows_in(parts(batch), reads))
    return like(batch, batches(rows), ASSEMBLED)


_KINDS: dict[str, Kind] = {
    "body": BODY,
    "id": ID,
    "provider": TEXT,
    "model": TEXT,
    "dialect": TEXT,
    "recorded_at": MOMENT,
    "times": TIMES,
}


def _row(found: dict[str, Any], dialect: str | None, judging: Judging) -> Row:
    """Return the row of one input row."""
    id_, body, times = found["id"], found["body"], found.get("times")
    known = Known(
        recording_id=id_ or "",
        source=id_ or "",
        provider=found.get("provider"),
        model=found.get("model"),
        dialect=found.get("dialect") or dialect,
        recorded_at=found.get("recorded_at"),
    )
    if body is None:
        return troubled(known, "its body is null")
    chunks = None if times is None else _cut(body, times)
    row = row_of([(None, body)] if chunks is None else chunks, known, judging)
    if times is not None and chunks is None:
        row.recording["trouble"] = row.recording["trouble"] or "its chunk times do not fit its body"
    if id_ is None:
        row.recording["trouble"] = row.recording["trouble"] or "it has no id"
    return row


def _cut(
    body: memoryview, times: list[dict[str, Any] | None]
) -> list[tuple[float | None, memoryview]] | None:
    """Return a body in its original chunks; None if the chunk times are impossible."""
    begins = [-1 if time is None or time["offset"] is None else time["offset"] for time in times]
    seconds = [None if time is None else time["seconds"] for time in times]
    ends = [*begins[1:], len(body)]
    if begins[:1] != [0] or any(begin >= end for begin, end in zip(begins, ends, strict=True)):
        return None
    return [(second, body[begin:end]) for second, begin, end in zip(seconds, begins, ends, strict=True)]
