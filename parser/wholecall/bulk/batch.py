"""The batch functions: a table to a table, one row in, one row out.

Theory of operation. The caller, an engine or a loop, gets a row for each row, in their order, by one schema, so that a
count shows lost or duplicate rows. The functions keep no state, open nothing, start nothing, log nothing; they can be
pickled, alone or in a `functools.partial`. Mistakes in the call raise before anything is read; the content of a row
never raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from wholecall import Limits, Policy, ToolCallParser, parse_arguments
from wholecall.bulk import column_values, columns, conversations, streams
from wholecall.bulk.rows import Judging, Known, Row, text_of, troubled
from wholecall.bulk.schema import ASSEMBLED, JUDGED

_private = True

_KINDS: dict[str, column_values.Kind] = {
    "body": column_values.BODY,
    "messages": column_values.MESSAGES,
    "id": column_values.ID,
    "provider": column_values.TEXT,
    "model": column_values.TEXT,
    "dialect": column_values.TEXT,
    "recorded_at": column_values.MOMENT,
    "times": column_values.TIMES,
}


def assemble_batch(
    batch: columns.TableT,
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
) -> columns.TableT:
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
    schema = columns.checked(batch).schema
    names = {"body": body, "id": id, "provider": provider, "model": model, "recorded_at": recorded_at}
    names |= {"times": chunk_times}
    if dialect is not None and dialect in schema.names:
        names, dialect = names | {"dialect": dialect}, None
    ToolCallParser(dialect or "auto", framing=framing)  # refuse unknown names at once
    judging = Judging(policy, limits, framing, arguments)
    rows = (_row_of_body(found, dialect, judging) for found in _found_in(batch, names))
    return columns.like(batch, columns.batches(rows), ASSEMBLED)


def _found_in(batch: columns.TableT, names: dict[str, str | None]) -> Iterator[dict[str, Any]]:
    """Return the values of each row by role; the columns are checked at once."""
    reads = {
        role: (name, column_values.reader(batch.schema, name, _KINDS[role]))
        for role, name in names.items()
        if name is not None
    }
    return column_values.rows_in(columns.parts(batch), reads)


def _known(found: dict[str, Any], dialect: str | None = None) -> Known:
    return Known(
        recording_id=found["id"] or "",
        source=found["id"] or "",
        provider=found.get("provider"),
        model=found.get("model"),
        dialect=found.get("dialect") or dialect,
        recorded_at=found.get("recorded_at"),
    )


def _row_of_body(found: dict[str, Any], dialect: str | None, judging: Judging) -> Row:
    body, times, known = found["body"], found.get("times"), _known(found, dialect)
    if body is None:
        return troubled(known, "its body is null")
    chunks = None if times is None else _cut(body, times)
    row = streams.row_of([(None, body)] if chunks is None else chunks, known, judging)
    if times is not None and chunks is None:
        row.recording["trouble"] = row.recording["trouble"] or "its chunk times do not fit its body"
    if found["id"] is None:
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


def assemble_messages(
    batch: columns.TableT,
    *,
    messages: str = "messages",
    id: str = "recording_id",
    provider: str | None = None,
    model: str | None = None,
    recorded_at: str | None = None,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
    arguments: bool = True,
) -> columns.TableT:
    """Return a row for each row: the content of its conversation, and its calls.

    ::

        out = assemble_messages(batch, messages="conversation", id="session")
        unanswered = calls_of(out).filter(~pc.field("answered"))

    Columns are given by their names. Texts may have any type of Arrow for texts, or be a dictionary of them.

    Args:
        batch: a Table or a RecordBatch. Memory holds it and its result: 64 rows at once are a good size.
        messages: the conversations: texts of JSON, or lists of structs, each a list of messages or an object that holds
            one (a request, a trajectory). Each row shows by itself its kind of messages, which is its `form`. A null is
            a row with `trouble`.
        id: the ids of the conversations, text or integers.
        provider: the provider that answered.
        model: the requested model; the model that the messages state outranks it.
        recorded_at: timestamps; those without a zone are in UTC. Without one, the first time that the messages state.
        policy: the policy for judging calls.
        limits: the limits of arguments; `max_stream_bytes` applies to a text of JSON.
        arguments: whether rows hold the texts of arguments.

    Returns:
        A Table for a Table, a RecordBatch for a RecordBatch, with the schema `ASSEMBLED`. `answered` says of each call
        whether a result follows. Calls whose arguments were kept as an object have no `status`: their text was
        serialized anew. Null members of structs count as missing.

    Raises:
        ValueError: a column is missing, or there are several of its name; a RecordBatch has more text than one can hold.
        TypeError: `batch` is neither a Table nor a RecordBatch, or a column is of another type.
    """
    columns.checked(batch)
    names = {"messages": messages, "id": id, "provider": provider, "model": model, "recorded_at": recorded_at}
    judging = Judging(policy, limits, None, arguments)
    rows = (_row_of_conversation(found, judging) for found in _found_in(batch, names))
    return columns.like(batch, columns.batches(rows), ASSEMBLED)


def _row_of_conversation(found: dict[str, Any], judging: Judging) -> Row:
    row = conversations.row_of_messages(found["messages"], _known(found), judging)
    if found["id"] is None:
        row.recording["trouble"] = row.recording["trouble"] or "it has no id"
    return row


def judge_batch(
    batch: columns.TableT,
    arguments: str = "arguments",
    *,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> columns.TableT:
    """Return a row for each row: the verdict of `parse_arguments` on a text of arguments.

    ::

        judged = judge_batch(batch, arguments="tool_arguments")
        whole = batch.filter(pc.not_equal(judged["status"], "dropped"))

    Args:
        batch: a Table or a RecordBatch.
        arguments: the name of the column that holds the texts: of any type of Arrow for texts, or a dictionary of them.
        policy: the policy for judging them.
        limits: the limits of the texts.

    Returns:
        A Table for a Table, a RecordBatch for a RecordBatch, with the schema `JUDGED`: `arguments` is the text of an
        object, null where the `status` is `dropped`. The row of a null is null, and its lists are empty.

    Raises:
        ValueError: the column is missing, or there are several of its name; a RecordBatch has more text than one can hold.
        TypeError: `batch` is neither a Table nor a RecordBatch, or the column does not hold text.
    """
    read = column_values.reader(columns.checked(batch).schema, arguments, column_values.TEXT)
    texts = (text for part in columns.parts(batch) for text in read(part.column(arguments)))
    rows = (_row_of_text(text, policy, limits) for text in texts)
    made = (columns.columns(list(JUDGED), group) for group in columns.grouped(rows, _text_size))
    return columns.like(batch, (pa.RecordBatch.from_arrays(arrays, schema=JUDGED) for arrays in made), JUDGED)


def _text_size(row: dict[str, Any]) -> int:
    return len(row["arguments"] or "")  # everything else is a word or a sentence


def _row_of_text(text: str | None, policy: Policy, limits: Limits) -> dict[str, Any]:
    """Return the row of a text."""
    if text is None:
        nothing = dict.fromkeys(("status", "reason", "detail", "arguments"))
        return nothing | {"flags": (), "edits": (), "lossy": False}
    verdict = parse_arguments(text, policy=policy, limits=limits)
    value = verdict.arguments
    return {
        "status": verdict.status,
        "reason": verdict.reason,
        "flags": verdict.flags,
        "edits": tuple(edit.kind for edit in verdict.edits),
        "detail": verdict.detail or None,
        "arguments": None if value is None else text_of(value, text, verdict.status, policy),
        "lossy": False,
    }
