"""Law 20: a state machine that moves one stream between parsers, back to old snapshots too, against a replay.

The model is a full replay: for each query a new parser repeats all actions of the parser under test from the beginning.
After any moves, both must have emitted the same events and must have the same state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, precondition, rule

from tests.laws.test_resume import PARSERS
from tests.support import encode
from tests.support.examples import examples
from tests.support.model import Fragment
from tests.support.renderers import RENDERERS
from tests.support.turns import Plan, chunk, plans
from wholecall import StreamClosed, ToolCallParser

_DOES: dict[str, Callable[[ToolCallParser[Any], Any], list[Any]]] = {
    "feed": lambda parser, data: parser.feed(data),
    "feed_event": lambda parser, payload: parser.feed_event(payload),
    "forget": lambda parser, _: parser.forget() or [],
    "abort": lambda parser, reason: parser.abort(reason),
    "close": lambda parser, _: parser.close(),
}
_ENDS = ("abort", "close")
_PAYLOADS: tuple[Any, ...] = (
    chunk(Fragment(0, "call_0", "go", '{"a"')),
    chunk(Fragment(0, text=":1}")),
    chunk(finish="tool_calls"),
    {"error": {"message": "overloaded"}},
    [],
    "no JSON",
)
_NOISE = (b"", b"\n", b": ping\n\n", b"\xff", b"data: \xe2\x82", b"data: [DONE]\n\n", b"{", b"\x00\x00")


class Place(NamedTuple):
    """The state of a stream: its parser's actions and events so far, and the number of bytes that it has read."""

    done: tuple[tuple[str, Any], ...] = ()
    said: tuple[Any, ...] = ()
    read: int = 0

    @property
    def over(self) -> bool:
        """Whether the stream was closed or aborted."""
        return any(what in _ENDS for what, _ in self.done)


class Moving(RuleBasedStateMachine):
    """One stream of any dialect, with any bytes and payloads."""

    kept: Bundle[tuple[bytes, Place]] = Bundle("kept")

    @initialize(
        plan=plans(),
        size=st.integers(1, 30),
        dialect=st.sampled_from(sorted(RENDERERS)),
        how=st.sampled_from(sorted(PARSERS)),
    )
    def begin(self, plan: Plan, size: int, dialect: str, how: str) -> None:
        """Create a stream, and a parser that has read none of it."""
        calls = [encode.Call(f"call_{n}", plan.names[n], plan.raw(n)) for n in range(len(plan))]
        self.stream = RENDERERS[dialect](encode.Turn(calls), encode.every(size))
        self.options = PARSERS[how]
        self.parser: ToolCallParser[Any] = self._without_lane()
        self.place = Place()

    def _without_lane(self) -> ToolCallParser[Any]:
        """Return a parser that is the machine from the beginning: one that takes over has the same in other rows."""
        parser: ToolCallParser[Any] = ToolCallParser(**self.options)
        parser._may_begin_in = ""
        return parser

    def _do(self, what: str, given: Any = None) -> None:
        said = _DOES[what](self.parser, given)
        done, before, read = self.place
        self.place = Place((*done, (what, given)), (*before, *said), read)

    def _open(self) -> bool:
        return not self.place.over

    @precondition(_open)
    @rule(share=st.floats(0, 1))
    def feed(self, share: float) -> None:
        """The next bytes of the stream come."""
        start = self.place.read
        end = start + round(share * (len(self.stream) - start))
        self._do("feed", self.stream[start:end])
        self.place = self.place._replace(read=end)

    @precondition(_open)
    @rule(data=st.sampled_from(_NOISE))
    def disturb(self, data: bytes) -> None:
        """Bytes come that were never sent."""
        self._do("feed", data)

    @precondition(_open)
    @rule(payload=st.sampled_from(_PAYLOADS))
    def feed_event(self, payload: Any) -> None:
        """A decoded payload comes through the other door."""
        self._do("feed_event", payload)

    @rule()
    def forget(self) -> None:
        """The text so far is forgotten."""
        self._do("forget")

    @rule(what=st.sampled_from(_ENDS))
    def end(self, what: str) -> None:
        """The stream ends, perhaps once more."""
        self._do(what, "enough" if what == "abort" else None)

    @precondition(lambda self: self.place.over)
    @rule()
    def come_late(self) -> None:
        """No input is accepted after the end."""
        with pytest.raises(StreamClosed):
            self.parser.feed(b"data: {}\n\n")
        with pytest.raises(StreamClosed):
            self.parser.feed_event({})

    @rule(target=kept)
    def snapshot(self) -> tuple[bytes, Place]:
        """The parser is written down, and stays as it is."""
        return self.parser.snapshot(), self.place

    @rule(kept=kept)
    def restore(self, kept: tuple[bytes, Place]) -> None:
        """Another parser continues from a snapshot, the last or an older one."""
        snapshot, self.place = kept
        self.parser = ToolCallParser.restore(snapshot)
        self.agree()

    @rule()
    def agree(self) -> None:
        """A parser with the same actions from the beginning has the same events and the same state."""
        again = self._without_lane()
        for other in (ToolCallParser[Any](**self.options), again):
            said = [event for what, given in self.place.done for event in _DOES[what](other, given)]
            assert [*self.place.said] == said
            assert self.parser.turns == other.turns
        assert self.parser.snapshot() == again.snapshot()

    def teardown(self) -> None:
        """In the end both are asked once more."""
        if hasattr(self, "place"):
            self.end("close")
            self.agree()


Moving.TestCase.settings = examples(stateful_step_count=20)
TestMoving = Moving.TestCase
