"""One conversation to one row: messages that were assembled already, in any store's format, and their calls.

Theory of operation. Messages, and the results that answer each call, are read as for a repair of the transcript
(`wholecall.history`). The text of each call is judged by `parse_arguments`, and its row is made like that of a stream
event. Where arguments were kept as an object, the model's text is gone, and how it was read is unknown: such a call has
no status.

A session that breaks off in a line keeps the calls before it. Nothing here knows of Arrow, and the content of a
conversation never raises.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from itertools import chain
from typing import Any, overload

import msgspec

import wholecall
from wholecall.bulk import rows
from wholecall.calls.output.usage import tokens_of
from wholecall.history.indexed import IndexedTranscript
from wholecall.history.shapes.table import view_of
from wholecall.history.stored import Stored, stored_answers
from wholecall.recordings.finding import Place
from wholecall.recordings.transcripts import messages_in, opened_transcript

_private = True

_NO_LIST = "it holds no list of messages, each an object"
_NO_JSON = "its messages are no JSON"
_UNKNOWN = (
    "none of its messages is of a known kind; a table of conversations needs the column that holds them"
)
Path = tuple[str, ...]
# Where messages, session entries, steps and their wrappers state the model, the time and the usage.
_MODELS: tuple[Path, ...] = (
    ("message", "model"),
    ("payload", "model"),
    ("agent", "model_name"),
    ("model_name",),
    ("model",),
)
_USAGES: tuple[Path, ...] = (("message", "usage"), ("metrics",), ("usage",))


def row_of_messages(found: Any, known: rows.Known, judging: rows.Judging) -> rows.Row:
    """Return the row of a conversation: a list of messages, or an object that holds one.

    Args:
        found: the bytes of a JSON text, or a JSON value; a text says why it cannot be read; None means no conversation.
        known: known facts about the recording.
        judging: the settings for judging calls.
    """
    if found is None or isinstance(found, str):
        return rows.troubled(known, found or "its messages are null")
    if isinstance(found, (bytes, memoryview)):
        return _row_of_text(bytes(found), known, judging)
    return rows.guarded(known, lambda: _row_of_value(found, known, judging))


def _row_of_text(data: bytes, known: rows.Known, judging: rows.Judging) -> rows.Row:
    limit = judging.limits.max_stream_bytes
    if limit is not None and len(data) > limit:
        return rows.troubled(known, f"it has more than {limit:,} bytes")
    value: Any = None
    with suppress(ValueError, RecursionError):
        value = json.loads(data, parse_constant=_refuse)
    if value is None:
        return rows.troubled(known, _NO_JSON)
    return rows.guarded(known, lambda: _row_of_value(value, known, judging, data))


def row_of_session(place: Place, known: rows.Known, judging: rows.Judging) -> rows.Row:
    """Return the row of a transcript file; memory holds no more than a line of it.

    Args:
        place: where the file is; it may be compressed.
        known: known facts about the recording.
        judging: the settings for judging calls.
        opens: a function that opens it; None where it is on a disk.
    """

    def read() -> rows.Row:
        with opened_transcript(place, records=True) as transcript:
            size = sum(map(len, transcript.same()))
            found = _hash(transcript.same(), judging)
            about = [] if transcript.body is None else [transcript.body]
            return _row(transcript.messages, about, known, judging, size, found)

    try:
        return rows.guarded(known, read)
    except wholecall.BadRecording as error:
        return rows.troubled(known, str(error).removeprefix(f"{place.path}: "))


def _refuse(_: str) -> Any:
    raise ValueError("a word that JSON does not have")


def _hash(pieces: Iterable[bytes], judging: rows.Judging) -> str | None:
    if not judging.hashed:
        return None
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()[:32]


def _row_of_value(
    value: Any, known: rows.Known, judging: rows.Judging, data: bytes | None = None
) -> rows.Row:
    """Return the row of a JSON value; without an original text, its bytes are those of its compact JSON."""
    messages = messages_in(value)
    if messages is None:
        return rows.troubled(known, _NO_LIST)
    if data is None:
        data = rows.as_json(value).encode("utf-8", "surrogatepass")
    about = [value] if isinstance(value, dict) else []
    return _row(messages, about, known, judging, len(data), _hash([data], judging))


class _Begun(Sequence[Any]):
    """The first of some messages, read only on request."""

    def __init__(self, messages: Sequence[Any], n: int) -> None:
        self._messages, self._n = messages, n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(self._n))]
        if not 0 <= index < self._n:
            raise IndexError(index)
        return self._messages[index]


def _row(
    messages: Sequence[Any],
    about: Sequence[Mapping[str, Any]],
    known: rows.Known,
    judging: rows.Judging,
    size: int,
    found: str | None,
) -> rows.Row:
    """Return the row of messages, or of those before the first that cannot be read.

    Args:
        messages: each a dict; taking one may raise `BadRecording`.
        about: the object around them.
        known: known facts about the recording.
        judging: the settings for judging calls.
        size: their size in bytes.
        found: a hash of them.
    """
    recording = rows.unread(known) | {"bytes": size, "chunks": 1, "content_hash": found}
    try:
        calls = _read(messages, about, recording, judging)
    except wholecall.BadRecording as error:
        recording["trouble"] = str(error).removeprefix(f"{known.name}: ")
        calls = _read(_Begun(messages, _n_readable(messages)), about, recording, judging)
    rows.sum_up(recording, calls)
    return rows.Row(recording, calls)


def _n_readable(messages: Sequence[Any]) -> int:
    number = 0
    with suppress(wholecall.BadRecording):
        while number < len(messages):
            messages[number]
            number += 1
    return number


def _read(
    messages: Sequence[Any],
    about: Sequence[Mapping[str, Any]],
    recording: dict[str, Any],
    judging: rows.Judging,
) -> list[dict[str, Any]]:
    """Return the rows of all calls, and write the messages' facts into the row of the recording."""
    view = view_of(messages)
    try:
        indexed = IndexedTranscript(messages, view)
    except TypeError as error:  # a block that is not a call; it names types alone
        recording["trouble"] = str(error).partition(";")[0]
        return []
    if len(messages) == 0 or _is_strange(indexed):
        recording["trouble"] = recording["trouble"] or (_UNKNOWN if len(messages) else None)
        return []
    recording["form"] = view.name
    calls: list[dict[str, Any]] = []
    usages: list[Mapping[str, Any]] = []
    n_characters = 0
    for turn, answer in enumerate(stored_answers(indexed)):
        for stored in answer.calls:
            call = _call(turn, stored, judging)
            calls.append(call)
            n_characters = rows.grown(n_characters, call)
        usages += _usage_of(messages[answer.last])
        recording["turns"] = turn + 1
        recording["finish"], recording["provider_finish"] = answer.reason, answer.provider_reason
    _note_usage(usages, recording)
    _note_origin(chain(about, messages), recording)
    return calls


def _is_strange(indexed: IndexedTranscript) -> bool:
    """Return whether no message shows its kind."""
    return all(line.side == "other" for line in indexed.lines) and not any(
        map(indexed.view.is_own, indexed.messages)
    )


# --- one call --------------------------------------------------------------------------------------------


def _call(turn: int, stored: Stored, judging: rows.Judging) -> dict[str, Any]:
    """Return the row of a call, made like that of the equivalent event."""
    event = _event(turn, stored, judging)
    row = rows.CALL_OF[type(event)](event, judging)
    row["answered"] = stored.answered
    if not stored.is_own:
        row["status"] = None
    return row


def _event(turn: int, stored: Stored, judging: rows.Judging) -> Any:
    if stored.reason is not None:
        return _drop(turn, stored, stored.reason)
    place = (turn, 0, stored.index, stored.id or "")
    flags: tuple[Any, ...] = () if stored.id else ("id_generated",)
    name = stored.name or ""
    if stored.kind == "custom":
        return wholecall.CustomToolCall(*place, name, stored.text, stored.namespace, flags)
    verdict = wholecall.parse_arguments(
        stored.text, ended=stored.ended, policy=judging.policy, limits=judging.limits
    )
    value = verdict.arguments
    if value is None:
        return _drop(turn, stored, verdict.reason, verdict.detail)
    flags = (*verdict.flags, *flags)
    if stored.kind == "builtin":
        builtin: Any = name  # one of the call kinds: the name is made of the item's type
        return wholecall.BuiltinToolCall(*place, builtin, value, flags)
    if stored.kind == "server":
        return wholecall.ServerToolCall(*place, name, value, stored.text, flags)
    status: Any = verdict.status
    return wholecall.ToolCall(
        *place, name, value, stored.text, status, stored.namespace, verdict.edits, flags
    )


def _drop(turn: int, stored: Stored, reason: Any, detail: str = "") -> wholecall.ToolCallDropped:
    return wholecall.ToolCallDropped(
        turn, 0, stored.index, stored.id, stored.name, stored.kind, stored.text, reason, detail
    )


# --- facts in addition to the calls ----------------------------------------------------------------------


def _at(value: Any, path: Path) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _usage_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = (_at(message, path) for path in _USAGES)
    return [usage for usage in found if isinstance(usage, Mapping)][:1]


def _note_usage(usages: Sequence[Mapping[str, Any]], recording: dict[str, Any]) -> None:
    """Write the usage of the answers: the usage of the last one, and the tokens of all."""
    if usages:
        tokens = zip(*map(tokens_of, usages), strict=True)
        recording["input_tokens"], recording["output_tokens"] = map(rows.summed, tokens)
        recording["usage"] = rows.as_json(usages[-1])


def _note_origin(said: Iterable[Mapping[str, Any]], recording: dict[str, Any]) -> None:
    """Write the model that is named last, and the first time that is stated."""
    for one in said:
        models = (_at(one, path) for path in _MODELS)
        model = next((found for found in models if isinstance(found, str) and found), None)
        recording["model"] = model or recording["model"]
        if recording["recorded_at"] is None:
            recording["recorded_at"] = _moment(one.get("timestamp"))


def _moment(text: Any) -> datetime | None:
    """Return the time in a text in RFC 3339 format; a time without a zone is in UTC."""
    if not isinstance(text, str):
        return None
    try:
        found = msgspec.convert(text, datetime)
    except msgspec.ValidationError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)
