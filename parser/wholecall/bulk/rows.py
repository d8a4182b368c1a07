"""The row of one recording: what is known of it beside what it says, and what is counted over its calls.

Theory of operation. A row is a dictionary by column, and the rows of its calls beside it; `streams` fills it from the
events of a stream, `conversations` from messages. Nothing here knows of Arrow. Reading is *guarded*: a fault of ours
costs its row, and says no more than the type of an exception.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from wholecall.bulk.calls import MOST_INT32, Judging
from wholecall.bulk.faults import is_ours

__all__ = [
    "MOST_CHARACTERS",
    "SURROGATE",
    "Judging",
    "Known",
    "Row",
    "grown",
    "guarded",
    "sum_up",
    "summed",
    "troubled",
    "unread",
]
_private = True

MOST_CHARACTERS = 2**28  # of all texts of a row: of four bytes each they still fit into one column of Arrow
SURROGATE = re.compile("[\ud800-\udfff]")  # a half one: no UTF-8, and no text to Arrow
_MOST_INT64 = 2**63 - 1


class Known(msgspec.Struct, frozen=True):
    """What is known of a recording beside its bytes.

    Attributes:
        recording_id: what it is called in every table.
        source: what it was found in, never an absolute path.
        source_index: which recording of its source it is.
        provider: who answered.
        model: the model that was asked; what the response says outranks it.
        dialect: the name of the wire format; None, or a name that is not known, leaves it to the bytes.
        form: the format that it was read from.
        status_code: the HTTP status.
        recorded_at: when it was recorded; without a zone in UTC.
        name: its `Recording.name`: messages about it begin with this, which the row leaves out.
    """

    recording_id: str
    source: str
    source_index: int = 0
    provider: str | None = None
    model: str | None = None
    dialect: str | None = None
    form: str | None = None
    status_code: int | None = None
    recorded_at: datetime | None = None
    name: str | None = None


class Row(msgspec.Struct):
    """What became of one recording.

    Attributes:
        recording: its values by column of `RECORDINGS`.
        calls: those of each of its calls by column of `CALLS`, without `recording_id`; by turn, choice and index.
    """

    recording: dict[str, Any]
    calls: list[dict[str, Any]]

    def __repr__(self) -> str:
        return f"Row(recording_id={self.recording['recording_id']!r}, calls=<{len(self.calls)}>)"


class _TooLarge(Exception):
    """The texts of a recording do not fit into a row."""


def grown(n_characters: int, call: Mapping[str, Any]) -> int:
    """Return how many characters the calls of a row have with one more call; too many end the row (see `guarded`)."""
    n_characters += len(call["arguments"] or "") + len(call["raw_arguments"] or "")
    if n_characters > MOST_CHARACTERS:
        raise _TooLarge
    return n_characters


def guarded(known: Known, read: Callable[[], Row]) -> Row:
    """Return the row that is read; whatever goes wrong is the trouble of a row without calls."""
    try:
        return read()
    except _TooLarge:
        return troubled(known, f"its calls have more than {MOST_CHARACTERS:,} characters")
    except Exception as error:
        if not is_ours(error):
            raise
        return troubled(known, f"internal: {type(error).__name__}")


def troubled(known: Known, trouble: str) -> Row:
    """Return the row of a recording that could not be read.

    Args:
        known: what is known of it.
        trouble: why; without any text of the input.
    """
    return Row(unread(known) | {"trouble": trouble}, [])


def unread(known: Known) -> dict[str, Any]:
    """Return what the row of a recording holds before it is read."""
    status = known.status_code
    return {
        "recording_id": known.recording_id,
        "source": known.source,
        "source_index": known.source_index,
        "content_hash": None,
        "provider": known.provider,
        "model": known.model,
        "dialect": None,
        "response_id": None,
        "form": known.form,
        "status_code": status if status is not None and abs(status) <= MOST_INT32 else None,
        "recorded_at": known.recorded_at,
        "bytes": 0,
        "chunks": 0,
        "turns": 0,
        "n_calls": 0,
        "n_dropped": 0,
        "n_cancelled": 0,
        "n_server": 0,
        "finish": None,
        "provider_finish": None,
        "faults": [],
        "anomalies": [],
        "input_tokens": None,
        "output_tokens": None,
        "usage": None,
        "first_text_s": None,
        "first_call_s": None,
        "last_s": None,
        "trouble": None,
        "lossy": False,
    }


def sum_up(recording: dict[str, Any], calls: Sequence[dict[str, Any]]) -> None:
    """Write into the row of a recording what its calls say."""
    if SURROGATE.search(recording["recording_id"]):  # which stands in the rows of the calls, too
        for call in calls:
            call["lossy"] = True
    outcomes = [call["outcome"] for call in calls]
    recording["n_dropped"] = outcomes.count("dropped")
    recording["n_calls"] = len(calls) - recording["n_dropped"]
    recording["n_cancelled"] = outcomes.count("cancelled")
    recording["n_server"] = sum(call["kind"] == "server" and call["outcome"] != "dropped" for call in calls)


def summed(counts: Iterable[int | None]) -> int | None:
    """Return the sum of what is known, None if nothing is, or if no column holds it."""
    known = [count for count in counts if count is not None]
    return sum(known) if known and sum(known) <= _MOST_INT64 else None
