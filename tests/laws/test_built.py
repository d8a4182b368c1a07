"""Laws of arguments built from pieces: the result looks whole, so only the wire can end it."""

from __future__ import annotations

import json

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.encode import Call, every, sse
from tests.support.encode_gemini import frame, streamed_frames
from tests.support.turns import Plan, canonical, full_objects, parse, plans, violations
from wholecall import Policy
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped

LAX = Policy(require_terminal=False)


def frames(plan: Plan, size: int) -> list[bytes]:
    """Return the frames of the plan's first call, streamed: its start, its pieces, its end."""
    payloads = streamed_frames(Call("call_0", plan.names[0], plan.raw(0)), every(size))
    assume(len(payloads) > 2)  # an empty container inside is sent whole
    return [sse(payload) for payload in payloads]


@given(plans(most=1, of=full_objects), st.integers(1, 9), st.data())
def test_no_execution_before_the_end(plan: Plan, size: int, data: st.DataObject) -> None:
    """Law 7: a prefix without the end of the call gives no call, under any policy, and keeps the text so far."""
    octets = b"".join(frames(plan, size)[:-1])
    place = data.draw(st.integers(0, len(octets)))
    cut = sse(frame(reason="MAX_TOKENS"))

    for found in (
        parse([octets[:place]], "gemini"),
        parse([octets[:place]], "gemini", policy=LAX),
        parse([octets, cut], "gemini", policy=LAX),
    ):
        assert [] == violations(found)
        assert not any(isinstance(event, ToolCall) for event in found)
        for event in found:
            assert not isinstance(event, ToolCallDropped) or _is_no_json(event.raw_arguments)


def _is_no_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return True
    return False


@given(plans(most=1, of=full_objects), st.integers(1, 9), st.data())
def test_a_lost_piece_is_a_hole(plan: Plan, size: int, data: st.DataObject) -> None:
    """Law 31: a frame that cannot be read is never read over, even if the wire ends the call."""
    sent = frames(plan, size)
    place = data.draw(st.integers(1, len(sent) - 2))
    damaged = sent[place][: data.draw(st.integers(len(b'data: {"'), len(sent[place]) - 4))] + b"\n\n"
    found = parse([*sent[:place], damaged, *sent[place + 1 :]], "gemini")
    (drop,) = [event for event in found if isinstance(event, ToolCallDropped)]

    assert "incomplete_input" == drop.reason
    assert not any(isinstance(event, ToolCall) for event in found)


@given(plans(most=1, of=full_objects), st.integers(1, 9))
def test_what_is_built_is_what_was_sent(plan: Plan, size: int) -> None:
    """Law 27: for any keys and values, the pieces give the object, and its text is complete."""
    (call,) = [event for event in parse(frames(plan, size), "gemini") if isinstance(event, ToolCall)]

    assert canonical(plan.arguments[0]) == canonical(call.arguments)
    assert call.arguments == json.loads(call.raw_arguments)
