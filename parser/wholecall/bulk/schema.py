"""The tables of recordings: their columns and types.

Theory of operation. Two flat tables are stored on disk: `CALLS` has a row for each terminal event, `RECORDINGS` one for
each recording, also for unreadable recordings. A batch function returns `ASSEMBLED`: a row for each input row, with the
calls of the recording in a list. Types are those that every engine reads: plain strings, numbers, UTC timestamps and
lists of strings, all of which may be null to Arrow; docs/bulk.md lists the columns that never are. Nested arguments
would be unified over a column (`{}` would become `{"path": null}`), so they are JSON text. `JUDGED` is the table of
texts of arguments that did not come in a stream.

New columns come last and keep the version; another meaning or type is a new version.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from wholecall import __version__

_private = True

VERSION = 1

_WORDS = pa.list_(pa.string())

_CALL_COLUMNS = [
    pa.field("turn", pa.int32()),
    pa.field("choice", pa.int32()),
    pa.field("index", pa.int32()),
    pa.field("outcome", pa.string()),  # call, dropped, cancelled
    pa.field("kind", pa.string()),
    pa.field("call_id", pa.string()),
    pa.field("name", pa.string()),
    pa.field("namespace", pa.string()),
    pa.field("arguments", pa.string()),
    pa.field("raw_arguments", pa.string()),
    pa.field("status", pa.string()),
    pa.field("reason", pa.string()),
    pa.field("flags", _WORDS),
    pa.field("edits", _WORDS),
    pa.field("detail", pa.string()),
    pa.field("n_arguments_bytes", pa.int64()),
    pa.field("started_s", pa.float64()),
    pa.field("ended_s", pa.float64()),
    pa.field("lossy", pa.bool_()),
    pa.field("answered", pa.bool_()),  # of messages that were assembled already: whether a result follows
]
_RECORDING_COLUMNS = [
    pa.field("recording_id", pa.string()),
    pa.field("source", pa.string()),
    pa.field("source_index", pa.int64()),
    pa.field("content_hash", pa.string()),
    pa.field("provider", pa.string()),
    pa.field("model", pa.string()),
    pa.field("dialect", pa.string()),
    pa.field("response_id", pa.string()),
    pa.field("form", pa.string()),
    pa.field("status_code", pa.int32()),
    pa.field("recorded_at", pa.timestamp("us", tz="UTC")),
    pa.field("bytes", pa.int64()),
    pa.field("chunks", pa.int64()),
    pa.field("turns", pa.int32()),
    pa.field("n_calls", pa.int32()),
    pa.field("n_dropped", pa.int32()),
    pa.field("n_cancelled", pa.int32()),
    pa.field("n_server", pa.int32()),
    pa.field("finish", pa.string()),
    pa.field("provider_finish", pa.string()),
    pa.field("faults", _WORDS),
    pa.field("anomalies", _WORDS),
    pa.field("input_tokens", pa.int64()),
    pa.field("output_tokens", pa.int64()),
    pa.field("usage", pa.string()),
    pa.field("first_text_s", pa.float64()),
    pa.field("first_call_s", pa.float64()),
    pa.field("last_s", pa.float64()),
    pa.field("trouble", pa.string()),
    pa.field("lossy", pa.bool_()),
]


def _schema(table: str, fields: Sequence[pa.Field]) -> pa.Schema:
    said = {"wholecall.table": table, "wholecall.schema": str(VERSION), "wholecall.version": __version__}
    return pa.schema(fields, metadata=said)


CALLS = _schema("calls", [_RECORDING_COLUMNS[0], *_CALL_COLUMNS])
RECORDINGS = _schema("recordings", _RECORDING_COLUMNS)
ASSEMBLED = _schema(
    "assembled",
    [*_RECORDING_COLUMNS, pa.field("calls", pa.list_(pa.struct(_CALL_COLUMNS)))],
)
JUDGED = _schema(
    "judged",
    [
        pa.field("status", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("flags", _WORDS),
        pa.field("edits", _WORDS),
        pa.field("detail", pa.string()),
        pa.field("arguments", pa.string()),
        pa.field("lossy", pa.bool_()),
    ],
)
