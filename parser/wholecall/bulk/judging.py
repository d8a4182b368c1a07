"""Texts of arguments that did not come from a stream, as a column: each gets the verdict of `parse_arguments`."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from wholecall import Limits, Policy, parse_arguments
from wholecall.bulk.calls import text_of
from wholecall.bulk.columns import columns, grouped
from wholecall.bulk.inputs import TEXT, reader
from wholecall.bulk.schema import JUDGED
from wholecall.bulk.shape import TableT, checked, like, parts

__all__ = ["judge_batch"]
_private = True


def judge_batch(
    batch: TableT,
    arguments: str = "arguments",
    *,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> TableT:
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
    read = reader(checked(batch).schema, arguments, TEXT)
    texts = (text for part in parts(batch) for text in read(part.column(arguments)))
    rows = (_row(text, policy, limits) for text in texts)
    made = (columns(list(JUDGED), group) for group in grouped(rows, _size))
    return like(batch, (pa.RecordBatch.from_arrays(arrays, schema=JUDGED) for arrays in made), JUDGED)


def _size(row: dict[str, Any]) -> int:
    return len(row["arguments"] or "")  # everything else is a word or a sentence


def _row(text: str | None, policy: Policy, limits: Limits) -> dict[str, Any]:
    """Return the row of a text."""
    verdict = None if text is None else parse_arguments(text, policy=policy, limits=limits)
    if text is None or verdict is None:
        return {
            "status": None,
            "reason": None,
            "flags": (),
            "edits": (),
            "detail": None,
            "arguments": None,
            "lossy": False,
        }
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
