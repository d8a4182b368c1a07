"""Silence is not emptiness: a call without text is emitted only where the wire shows that it ended.

The calls of `tests/models` have every set of end marks that servers are known for; here every dialect's call is cut
after its head, and events follow that do not end it: ends of other dialects, and the end of an answer without calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.damage.ways import marks_for
from tests.fuzz.mutate import events_of
from tests.support.encode import Call, Turn, every
from tests.support.renderers import RENDERERS
from tests.support.together import together
from wholecall import EXECUTABLE, ToolCallParser
from wholecall.calls.output.call_events import ToolCallDropped

TEXT = "QUAYSIDE"
CALLED = Turn(calls=(Call("call_1", "dredge", f'{{"at":"{TEXT}"}}'),))
SPOKEN = Turn(text="Aye.")
# Their calls have no separate ends, or Gemini's no other reason: servers also send `stop` for calls.
WITHOUT_ENDS = frozenset(
    {
        *("chat-completions", "bedrock-invoke-chat-completions", "sap-orchestration"),
        *("dashscope", "dashscope, restating", "gemini, with streamed arguments"),
    }
)


def _dialect(renderer: str) -> str:
    return renderer.partition(",")[0]


def _head(renderer: str) -> list[bytes]:
    """Return the frames of a call before the first frame of its text; none where they come together."""
    frames = events_of(RENDERERS[renderer](CALLED, every(1000)))
    n = next((n for n, frame in enumerate(frames) if TEXT.encode() in frame), 0)
    return frames[:n]


def _ends(renderer: str) -> Iterator[tuple[str, bytes]]:
    """Yield events that end no call of a dialect."""
    head = b"".join(_head(renderer))
    yield "nothing", b""
    yield from marks_for(_dialect(renderer), head)
    if renderer not in WITHOUT_ENDS:
        frames = events_of(RENDERERS[renderer](SPOKEN, every(1000)))
        yield "the end of an answer without calls", frames[-1]


def _told(data: bytes) -> list[Any]:
    parser = ToolCallParser()
    return [*parser.feed(data), *parser.close()]


def _is_announced(renderer: str) -> bool:
    return any(
        isinstance(event, ToolCallDropped) and event.name == "dredge"
        for event in _told(b"".join(_head(renderer)))
    )


ANNOUNCED = [renderer for renderer in RENDERERS if _is_announced(renderer)]


def test_most_dialects_announce_calls() -> None:
    """The law is not vacuous: where a call comes whole there is no silence to judge."""
    assert len(ANNOUNCED) >= 15


@together("renderer", ANNOUNCED, one_in=2)
def test_silence_before_an_end_that_is_not_its_own_is_no_call(renderer: str) -> None:
    """Law 98: neither ends of others, nor the end of an answer without calls, make a call of a head."""
    head = b"".join(_head(renderer))
    wrong = [
        what for what, end in _ends(renderer) if any(isinstance(e, EXECUTABLE) for e in _told(head + end))
    ]

    assert [] == wrong


def _came(dialect: str, *frames: dict[str, Any]) -> list[tuple[str, Any]]:
    parser: ToolCallParser[Any] = ToolCallParser(dialect)
    events = [event for frame in frames for event in parser.feed_event(frame)] + parser.close()
    said = [event for event in events if isinstance(event, (*EXECUTABLE, ToolCallDropped))]
    return [("call" if isinstance(event, EXECUTABLE) else event.reason, event.name) for event in said]


def _chunk(id: str | None, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {"id": id, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


HEAD = {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "dredge", "arguments": ""}}]}
ALLOWS = {
    **dict.fromkeys(("tool_calls", "function_call", "stop", "eos", "a_word_of_its_own"), "call"),
    **dict.fromkeys(("malformed_function_call", "pause_turn", "interrupt"), "incomplete_input"),
    **dict.fromkeys(("length", "content_filter"), "truncated"),
    "error": "aborted",
}


@together("reason", ALLOWS)
def test_a_reason_that_allows_no_calls_proves_no_call_empty(reason: str) -> None:
    """Law 98: in chat, where calls have no ends, a reason counts as an end only if calls can end so."""
    came = _came("chat-completions", _chunk("a", HEAD), _chunk("a", {}, reason))

    assert [(ALLOWS[reason], "dredge")] == came


@pytest.mark.parametrize("id", ["a", "b", None])
@pytest.mark.parametrize("first", ["a", None])
def test_a_reason_under_another_id_than_the_only_chunk(first: str | None, id: str | None) -> None:
    """Law 98: one chunk that brought a call names its answer: a reason under another id, or none, is not its own."""
    came = _came("chat-completions", _chunk(first, HEAD), _chunk(id, {}, "tool_calls"))
    is_own = first is None or id == first

    assert [("call" if is_own else "incomplete_input", "dredge")] == came


@together("status", ["completed", "in_progress", "incomplete"])
@together("is_added", [True, False])
@together("text", ["", TEXT])
def test_a_listed_item_in_progress_proves_nothing(text: str, is_added: bool, status: str) -> None:
    """Law 98: a final list ends a call without text only if it does not mark the item as unfinished."""
    item = {"type": "function_call", "id": "i", "call_id": "c1", "name": "dredge"}
    arguments = f'{{"at":"{text}"}}' if text else ""
    added = {"type": "response.output_item.added", "output_index": 0, "item": {**item, "arguments": ""}}
    listed = {**item, "arguments": arguments, "status": status}
    done = {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [listed]}}
    began = {"type": "response.created", "response": {"id": "r"}}
    goes_on = "call" if text else "incomplete_input"
    wanted = {"completed": "call", "in_progress": goes_on, "incomplete": "truncated"}[status]

    assert [(wanted, "dredge")] == _came("responses", began, *([added] if is_added else []), done)
