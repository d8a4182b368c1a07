"""The row of one recording: its metadata, its content, and the counts over its calls.

Theory of operation. A row is a dictionary by column, next to the rows of its calls; `streams` fills it from the events
of a stream, `conversations` from messages. Nothing here knows of Arrow. Reading is *guarded*: a fault of ours costs its
row, and the trouble states only the type of an exception.
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
SURROGATE = re.compile("[\ud800-\udfff]")  # half a surrogate pair: not valid UTF-8, and not text to Arrow
_MOST_INT64 = 2**63 - 1


class Known(msgspec.Struct, frozen=True):
    """The known facts about a recording in addition to its bytes.

    Attributes:
        recording_id: its name in every table.
        source: its file or table, never an absolute path.
        source_index: its number in its source.
        provider: the provider that answered.
        model: the requested model; the model that the response states outranks it.
        dialect: the name of the wire format; None, or an unknown name, detects it from the bytes.
        form: the format of its file.
        status_code: the HTTP status.
        recorded_at: the time of recording; without a zone in UTC.
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
    """The result of one recording.

    Attributes:
        recording: its values by column of `RECORDINGS`.
        calls: the values of each of its calls by column of `CALLS`, without `recording_id`; by turn, choice and index.
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
    """Return the row that a function reads; any failure becomes the trouble of a row without calls."""
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
        known: the known facts about it.
        trouble: why; without any text of the input.
    """
    return Row(unread(known) | {"trouble": trouble}, [])


def unread(known: Known) -> dict[str, Any]:
    """Return the row of a recording before it is read."""
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
    """Write the summary of the calls into the row of a recording."""
    if SURROGATE.search(recording["recording_id"]):  # which is in the rows of the calls, too
        for call in calls:
            call["lossy"] = True
    outcomes = [call["outcome"] for call in calls]
    recording["n_dropped"] = outcomes.count("dropped")
    recording["n_calls"] = len(calls) - recording["n_dropped"]
    recording["n_cancelled"] = outcomes.count("cancelled")
    recording["n_server"] = sum(call["kind"] == "server" and call["outcome"] != "dropped" for call in calls)


def summed(counts: Iterable[int | None]) -> int | None:
    """Return the sum of the known values, None if there are none, or if no column holds it."""
    known = [count for count in counts if count is not None]
    return sum(known) if known and sum(known) <= _MOST_INT64 else None
