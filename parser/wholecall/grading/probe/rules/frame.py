"""Rules of the transport and the framing: types, lines, events, terminators."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from wholecall.grading.probe.reading.model import UNSET
from wholecall.grading.probe.rules import rule
from wholecall.grading.probe.sight import Sight, is_field

_BOM = b"\xef\xbb\xbf"
_SSE = "text/event-stream"
_ENDS = {
    "chat-completions": frozenset[str](),
    "responses": frozenset({"response.completed", "response.incomplete", "response.failed", "error"}),
    "anthropic": frozenset({"message_stop", "error"}),
    "gemini": frozenset[str](),
}


def _content_type(sight: Sight) -> rule.Hits:
    if not sight.body:
        return None
    kind = sight.exchange.content_type
    is_right = kind == _SSE if sight.is_sse else kind == "application/json" or kind.endswith("+json")
    return [] if is_right else [rule.Hit(0, "no content type" if not kind else "")]


def _stream_ignored(sight: Sight) -> rule.Hits:
    if not sight.exchange.is_streamed or not sight.body or sight.is_error:
        return None
    return [] if sight.is_sse else [rule.Hit()]


def _stream_unasked(sight: Sight) -> rule.Hits:
    if sight.exchange.is_streamed or not sight.body:
        return None
    return [rule.Hit()] if sight.is_sse else []


def _empty(sight: Sight) -> rule.Hits:
    is_empty = b"data" not in sight.body if sight.is_sse else not sight.body.strip()
    return [rule.Hit()] if is_empty else []


def _utf8(sight: Sight) -> rule.Hits:
    if not sight.body:
        return None
    try:
        sight.body.decode()
    except UnicodeDecodeError as error:
        before = sight.body[: error.start].replace(b"\r\n", b"\n")
        return [rule.Hit(before.count(b"\n\n") + 1 if sight.is_sse else 0)]
    return []


def _bom(sight: Sight) -> rule.Hits:
    return [rule.Hit()] if sight.body.startswith(_BOM) else []


def _bom_inside(sight: Sight) -> rule.Hits:
    if not sight.is_sse:
        return [rule.Hit()] if sight.body.startswith(_BOM) else []
    return [rule.Hit()] if any(line.startswith(_BOM) for line in sight.lines[1:]) else []


def _line_ends(sight: Sight) -> rule.Hits:
    if not sight.ends:
        return None
    return (
        [rule.Hit(0, "only CR")]
        if sight.ends == frozenset({b"\r"})
        else [rule.Hit(0, "mixed")]
        if len(sight.ends) > 1
        else []
    )


def _grammar(sight: Sight) -> rule.Hits:
    if not sight.is_sse:
        return None
    lines = [sight.lines[0].removeprefix(_BOM), *sight.lines[1:]]
    return [rule.Hit()] if not all(is_field(line.removeprefix(_BOM)) for line in lines) else []


def _rest(sight: Sight) -> list[bytes] | None:
    """Return the lines after the last blank line that belong to an event; None where there is no stream."""
    if not sight.lines:
        return None
    rest = sight.lines[-2:] if sight.lines[-1] == b"" else sight.lines[-1:]
    return [line for line in rest if line and not line.startswith(b":")]


def _is_done(line: bytes) -> bool:
    return line.removeprefix(b"data:").strip() == b"[DONE]"


def _last_event(sight: Sight) -> rule.Hits:
    rest = _rest(sight)
    if rest is None:
        return None
    return [rule.Hit(len(sight.frames))] if rest and not any(map(_is_done, rest)) else []


def _done_unterminated(sight: Sight) -> rule.Hits:
    rest = _rest(sight)
    if rest is None:
        return None
    return [rule.Hit(len(sight.frames))] if any(map(_is_done, rest)) else []


def _json(sight: Sight) -> rule.Hits:
    if not sight.is_sse:
        return None if not sight.body.strip() else [] if sight.whole is not UNSET else [rule.Hit()]
    return _unread(sight) if sight.frames else None


def _unread(sight: Sight) -> Iterator[rule.Hit]:
    for frame in sight.frames:
        if not frame.is_done and not isinstance(frame.value, dict):
            yield rule.Hit(frame.number, "several events in one" if "\n" in frame.data else "")


def _event_name(sight: Sight) -> rule.Hits:
    typed = [frame for frame in sight.frames if isinstance(frame.value, dict) and "type" in frame.value]
    return (
        [rule.Hit(frame.number) for frame in typed if frame.event != frame.value["type"]] if typed else None
    )


def _done_missing(sight: Sight) -> rule.Hits:
    if not sight.frames or sight.answer is None or sight.is_error:
        return None
    is_there = any(frame.is_done for frame in sight.frames) or any(map(_is_done, _rest(sight) or []))
    return [] if is_there else [rule.Hit(len(sight.frames))]


def _ended_at(sight: Sight) -> int | None:
    """Return the number of the frame that ends a stream."""
    ends = _ENDS[sight.wire]
    for frame in sight.frames:
        kind = frame.value.get("type") if isinstance(frame.value, dict) else None
        if frame.is_done if not ends else isinstance(kind, str) and kind in ends:
            return frame.number
    return None


def _stop_missing(sight: Sight) -> rule.Hits:
    if not sight.frames:
        return None
    return [rule.Hit(len(sight.frames))] if _ended_at(sight) is None else []


def _after_end(sight: Sight) -> rule.Hits:
    end = _ended_at(sight)
    if end is None:
        return None
    return [
        rule.Hit(frame.number) for frame in sight.frames[end:] if not frame.is_done or not _ENDS[sight.wire]
    ]


def _foreign_done(sight: Sight) -> rule.Hits:
    if not sight.frames:
        return None
    return [rule.Hit(frame.number) for frame in sight.frames if frame.is_done]


def _second_answer(sight: Sight) -> rule.Hits:
    if sight.answer is None or not sight.answer.ids or not sight.frames:
        return None
    if sight.wire == "anthropic":
        return [rule.Hit(label.frame) for label in sight.answer.ids[1:]]
    texts = [label for label in sight.answer.ids if isinstance(label.value, str) and label.value]
    return [rule.Hit(label.frame) for label in texts if label.value != texts[0].value][:1]


def _sequence(sight: Sight) -> rule.Hits:
    numbers = sight.answer.sequence if sight.answer and sight.frames else []
    if not numbers:
        return None
    return [rule.Hit(label.frame) for at, label in enumerate(numbers) if label.value != at][:1]


def _repeated(sight: Sight) -> rule.Hits:
    events = [frame for frame in sight.frames if isinstance(frame.value, dict)]
    if not events or sight.wire != "responses":
        return None
    pairs = pairwise(events)
    return [rule.Hit(after.number) for before, after in pairs if before.data == after.data]


RULES = (
    rule.Rule(
        id="frame.content-type",
        severity="major",
        source=rule.HTTP,
        check=_content_type,
        says="The content type is not that of the body: text/event-stream for a stream, application/json else.",
    ),
    rule.Rule(
        id="frame.stream-ignored",
        severity="major",
        source=rule.EVENTS,
        check=_stream_ignored,
        quirks=(90,),
        says="A stream was asked for, and one JSON body came.",
    ),
    rule.Rule(
        id="frame.stream-unasked",
        severity="major",
        source=rule.EVENTS,
        check=_stream_unasked,
        says="No stream was asked for, and one came.",
    ),
    rule.Rule(
        id="frame.empty",
        severity="major",
        source=rule.HTTP,
        check=_empty,
        says="The status is 200, and the body holds nothing.",
    ),
    rule.Rule(
        id="frame.utf8",
        severity="major",
        source=rule.JSON,
        check=_utf8,
        quirks=(35,),
        says="Bytes of the answer are not UTF-8.",
    ),
    rule.Rule(
        id="frame.bom",
        severity="note",
        source=rule.JSON,
        check=_bom,
        quirks=(55,),
        says="A byte order mark begins the answer.",
    ),
    rule.Rule(
        id="frame.bom-inside",
        severity="major",
        source=rule.EVENTS,
        check=_bom_inside,
        quirks=(55,),
        says="A byte order mark begins a JSON body, or a line after the first one: standard readers lose the line.",
    ),
    rule.Rule(
        id="frame.line-ends",
        severity="minor",
        source=rule.EVENTS,
        check=_line_ends,
        quirks=(55,),
        says="The line ends of one stream differ, or are all CR: allowed, and many readers split wrongly.",
    ),
    rule.Rule(
        id="frame.grammar",
        severity="major",
        source=rule.EVENTS,
        check=_grammar,
        quirks=(55, 123),
        says="Lines are no fields of an event stream: standard readers skip them.",
    ),
    rule.Rule(
        id="frame.last-event",
        severity="major",
        source=rule.EVENTS,
        check=_last_event,
        quirks=(55,),
        says="The last event has no blank line after it: standard readers discard it.",
    ),
    rule.Rule(
        id="frame.done-unterminated",
        severity="minor",
        source=rule.EVENTS,
        check=_done_unterminated,
        quirks=(55,),
        wires=rule.CHAT_ONLY,
        says="[DONE] has no blank line after it: standard readers discard it, and wait for the end.",
    ),
    rule.Rule(
        id="frame.json",
        severity="major",
        source=rule.JSON,
        check=_json,
        quirks=(55, 123),
        says="The body, or the data of an event, is not one JSON object.",
    ),
    rule.Rule(
        id="frame.event-name",
        severity="major",
        source=rule.ANTHROPIC,
        check=_event_name,
        quirks=(118,),
        wires=rule.BLOCKS,
        says="The name of an event is not the type in its data: SDKs choose by the name.",
    ),
    rule.Rule(
        id="frame.done-missing",
        severity="minor",
        source=rule.CHAT_STREAM,
        check=_done_missing,
        quirks=(51,),
        wires=rule.CHAT_ONLY,
        says="The stream ends without [DONE].",
    ),
    rule.Rule(
        id="frame.stop-missing",
        severity="major",
        source=rule.RESPONSES,
        check=_stop_missing,
        quirks=(51, 77),
        wires=rule.BLOCKS,
        says="The stream ends without its last event (message_stop, response.completed and the like).",
    ),
    rule.Rule(
        id="frame.after-end",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_after_end,
        quirks=(44, 51),
        wires=rule.PIECES,
        says="Events follow the end of the stream: clients that stop there lose them.",
    ),
    rule.Rule(
        id="frame.foreign-done",
        severity="note",
        source=rule.ANTHROPIC,
        check=_foreign_done,
        wires=rule.NAMELESS,
        says="[DONE] is no event of this wire.",
    ),
    rule.Rule(
        id="frame.second-answer",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_second_answer,
        quirks=(14, 77),
        says="A second answer begins in the stream, or the id of the answer changes in it.",
    ),
    rule.Rule(
        id="frame.sequence",
        severity="minor",
        source=rule.RESPONSES,
        check=_sequence,
        quirks=(91,),
        wires=rule.RESPONSES_ONLY,
        says="The sequence numbers do not count from 0 by one.",
    ),
    rule.Rule(
        id="frame.repeated",
        severity="major",
        source=rule.RESPONSES,
        check=_repeated,
        quirks=(91,),
        wires=rule.RESPONSES_ONLY,
        says="An event comes twice.",
    ),
)
