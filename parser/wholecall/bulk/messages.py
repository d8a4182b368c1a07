"""A batch of conversations to a batch of rows: like `assemble_batch`, for messages that were assembled already."""

from __future__ import annotations

from typing import Any

from wholecall import Limits, Policy
from wholecall.bulk.calls import Judging
from wholecall.bulk.columns import batches
from wholecall.bulk.conversations import row_of_messages
from wholecall.bulk.inputs import ID, MOMENT, TEXT, Kind, reader, rows_in
from wholecall.bulk.nested import MESSAGES
from wholecall.bulk.rows import Known, Row
from wholecall.bulk.schema import ASSEMBLED
from wholecall.bulk.shape import TableT, checked, like, parts

__all__ = ["assemble_messages"]
_private = True


def assemble_messages(
    batch: TableT,
    *,
    messages: str = "messages",
    id: str = "recording_id",
    provider: str | None = None,
    model: str | None = None,
    recorded_at: str | None = None,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
    arguments: bool = True,
) -> TableT:
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
    schema = checked(batch).schema
    names = {"messages": messages, "id": id, "provider": provider, "model": model, "recorded_at": recorded_at}
    reads = {
        what: (name, reader(schema, name, _KINDS[what])) for what, name in names.items() if name is not None
    }
    judging = Judging(policy, limits, None, arguments)
    rows = (_row(found, judging) for found in rows_in(parts(batch), reads))
    return like(batch, batches(rows), ASSEMBLED)


_KINDS: dict[str, Kind] = {
    "messages": MESSAGES,
    "id": ID,
    "provider": TEXT,
    "model": TEXT,
    "recorded_at": MOMENT,
}


def _row(found: dict[str, Any], judging: Judging) -> Row:
    """Return the row of one input row."""
    id_ = found["id"]
    known = Known(
        recording_id=id_ or "",
        source=id_ or "",
        provider=found.get("provider"),
        model=found.get("model"),
        recorded_at=found.get("recorded_at"),
    )
    row = row_of_messages(found["messages"], known, judging)
    if id_ is None:
        row.recording["trouble"] = row.recording["trouble"] or "it has no id"
    return row
