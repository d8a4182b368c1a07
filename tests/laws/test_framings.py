"""Laws of dialects and framings together: they are independent, and one frame ends calls in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support import encode
from tests.support.examples import examples
from tests.support.renderers import RENDERERS
from tests.support.turns import TERMINAL, Plan, parse, plans
from wholecall import Limits, ToolCallParser
from wholecall.calls.output.events import Event
from wholecall.framing import FRAMINGS, Frame
from wholecall.framing.opening import sniff

# The names alone carry the meaning of their events.
NAMED = frozenset({"bedrock-converse", "codewhisperer", "coze", "snowflake-agents", "vercel-data"})
HOLLOW_OR_NOT = st.sampled_from(({}, {"a": 1}))


def rendered(plan: Plan, size: int, stopped: str | None = None) -> dict[str, bytes]:
    """Return the turn on every wire."""
    calls = [encode.Call(f"call_{n}", plan.names[n], plan.raw(n)) for n in range(len(plan))]
    turn = encode.Turn(calls, text="Let me see.", stopped=stopped)
    return {name: render(turn, encode.every(size)) for name, render in RENDERERS.items()}


def frames(octets: bytes) -> list[Frame]:
    """Return the frames of a stream."""
    framing = FRAMINGS[sniff(octets) or "sse"](Limits())
    return framing.feed(octets) + framing.close()


def as_sse(found: list[Frame]) -> list[bytes]:
    """Return each frame as a server-sent event, with its name if it has one."""
    return [encode.sse(frame.data, frame.event or None) for frame in found]


def ends(found: list[Event]) -> list[tuple[object, ...]]:
    """Return the end of each call: its kind, its owner, its content."""
    return [
        (type(event), event.choice, event.index, event.name, getattr(event, "arguments", None))
        for event in found
        if isinstance(event, TERMINAL)
    ]


# A plan is rendered on every wire: each example counts as many.
FEW = examples(1 / 8)


@FEW
@given(plans(least=3, most=5, of=HOLLOW_OR_NOT), st.integers(1, 30), st.sampled_from((None, "length")))
def test_calls_that_end_in_one_frame_end_in_order(plan: Plan, size: int, stopped: str | None) -> None:
    """Law 34: calls without arguments keep their place among the others where one frame ends them all."""
    for name, octets in rendered(plan, size, stopped).items():
        parser = ToolCallParser()
        steps = [parser.feed(event) for event in as_sse(frames(octets))]
        for step in [*steps, parser.close()]:
            places = [
                (event.turn, event.choice, event.index) for event in step if isinstance(event, TERMINAL)
            ]
            assert sorted(places) == places, name


@FEW
@given(plans(), st.integers(1, 30))
def test_a_dialect_is_read_in_any_framing(plan: Plan, size: int) -> None:
    """Law 35: the same events as server-sent events, as JSON lines and as a JSON array give the same calls."""
    for name, octets in rendered(plan, size).items():
        found = frames(octets)
        values = [frame.data.encode() for frame in found if not frame.data.startswith("[DONE]")]
        others = [b"".join(as_sse(found))]
        if name not in NAMED:
            others += [b"\n".join(values), b"[" + b",".join(values) + b"]"]
        expected = ends(parse([octets], "auto"))
        assert [expected] * len(others) == [ends(parse([other], "auto")) for other in others], name
