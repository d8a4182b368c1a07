"""Law 33: a state machine that drives the parser with random fragments, against the naive model of the whole input.

The fragments go through both doors, and the parser may be replaced by one restored from its snapshot at any time.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)

from tests.support import quirky
from tests.support.examples import examples
from tests.support.model import Ended, Fragment, Outcome, expected
from tests.support.turns import (
    DONE,
    TERMINAL,
    canonical,
    chunk,
    cut_at,
    frame,
    objects,
    violations,
)
from wholecall import ToolCallParser
from wholecall.calls.output.call_events import ToolCall
from wholecall.dialects.decode import plain

_TEXTS = st.one_of(
    objects.map(lambda value: json.dumps(value, ensure_ascii=False)),
    st.sampled_from(("", "{}", "[1]", "12", '"x"')),
)
_PLACES = st.lists(st.integers(0, 100), max_size=3)
_NOISE = st.sampled_from((b": ping\n\n", b"data:\n\n", frame({"choices": []}), frame(chunk())))


def _pair(event: Any) -> tuple[str, str] | None:
    return (event.name, canonical(event.arguments)) if isinstance(event, ToolCall) else None


def _is_documented(fragments: list[Fragment]) -> bool:
    """Return whether each label is at its documented place, so that the naive model knows everything.

    Without ids, a head may also repeat the name of a call that has not ended, or the whole call.
    """
    said = [f for f in fragments if (f.id or "").strip() or (f.name or "").strip() or f.text]
    heads = [f for n, f in enumerate(said) if f.index not in {other.index for other in said[:n]}]
    rest = [f for f in said if f not in heads]
    ids = {(f.id or "").strip() not in {"", "null", "None"} for f in heads}
    if ids == {False} and not _are_whole(fragments):
        return False
    return len(ids) < 2 and all(map(_name, heads)) and not any(_name(f) or (f.id or "").strip() for f in rest)


def _are_whole(fragments: list[Fragment]) -> bool:
    """Return whether the text of every call that has one is an object."""
    texts: dict[int | None, str] = {}
    for fragment in fragments:
        texts[fragment.index] = texts.get(fragment.index, "") + (fragment.text or "")
    return all(isinstance(plain(text), dict) for text in texts.values() if text)


def _name(fragment: Fragment) -> str:
    return (fragment.name or "").strip()


class Streaming(RuleBasedStateMachine):
    """One chat stream; `calls` holds the unsent rest of each call."""

    calls: Bundle[tuple[int, tuple[str, ...]]] = Bundle("calls")

    @initialize()
    def begin(self) -> None:
        """Open a stream."""
        self.parser = ToolCallParser("chat-completions")
        self.fragments: list[Fragment] = []
        self.events: list[Any] = []
        self.finish: str | None = None
        self.ended: Ended | None = None
        self.opened = 0

    def _feed(self, data: bytes, cut: int = 0) -> None:
        cut %= len(data)
        self.events += self.parser.feed(data[:cut])
        self.events += self.parser.feed(data[cut:])

    def _send(self, fragment: Fragment, cut: int) -> None:
        self.fragments.append(fragment)
        if cut % 5 == 4:  # through the other door
            self.events += self.parser.feed_event(chunk(fragment))
        else:
            self._feed(frame(chunk(fragment)), cut)

    def _going_on(self) -> bool:
        return self.ended is None and self.finish is None

    @precondition(_going_on)
    @rule(
        target=calls,
        name=st.sampled_from(quirky.NAMES),
        identified=st.booleans(),
        text=_TEXTS,
        places=_PLACES,
        early=st.booleans(),
        cut=st.integers(0, 300),
    )
    def open(
        self, name: str, identified: bool, text: str, places: list[int], early: bool, cut: int
    ) -> tuple[int, tuple[str, ...]]:
        """A call opens, with its first piece of text or without."""
        pieces = cut_at(text, places)
        # A nested object that begins as the whole did looks like a snapshot; the model does not know them.
        assume(not any(piece.startswith(text[: text.find(piece)] or "\0") for piece in pieces[1:]))
        index, self.opened = self.opened, self.opened + 1
        first, rest = (pieces[0], pieces[1:]) if early and pieces else ("", pieces)
        self._send(Fragment(index, f"call_{index}" if identified else None, name, first), cut)
        return index, rest

    @precondition(_going_on)
    @rule(target=calls, text=_TEXTS, places=_PLACES, cut=st.integers(0, 300))
    def open_without_a_name(self, text: str, places: list[int], cut: int) -> tuple[int, tuple[str, ...]]:
        """A call opens with its id alone; the name may come later, or never.

        A call that has no id yet would take that id for its own, so all others have theirs, and no name has
        come a second time, for that may be the head of a call without an id.
        """
        identified = {f.index for f in self.fragments if (f.id or "").startswith("call_")}
        named = [f.index for f in self.fragments if f.name is not None]
        assume(len(identified) == self.opened and len(named) == len(set(named)))
        index, self.opened = self.opened, self.opened + 1
        pieces = cut_at(text, places)
        assume(not any(piece.startswith(text[: text.find(piece)] or "\0") for piece in pieces[1:]))
        self._send(Fragment(index, f"call_{index}", None, ""), cut)
        return index, pieces

    @precondition(_going_on)
    @rule(target=calls, call=consumes(calls), cut=st.integers(0, 300))
    def go_on(self, call: tuple[int, tuple[str, ...]], cut: int) -> tuple[int, tuple[str, ...]]:
        """A call's next piece of text comes."""
        index, rest = call
        self._send(Fragment(index, text=rest[0] if rest else ""), cut)
        return index, rest[1:]

    @precondition(_going_on)
    @rule(call=calls, name=st.sampled_from(quirky.NAMES), blank=st.sampled_from((None, "", " ", "null")))
    def repeat_labels(self, call: tuple[int, tuple[str, ...]], name: str, blank: str | None) -> None:
        """The name comes again, or at last; the id is blank."""
        index, _ = call
        known = [f.name for f in self.fragments if f.index == index and f.name is not None]
        self._send(Fragment(index, blank, known[0] if known else name), 0)

    @precondition(_going_on)
    @rule(call=calls)
    def identify(self, call: tuple[int, tuple[str, ...]]) -> None:
        """The id comes again, or late; not late after a repeated name, which may be another call's head."""
        index, _ = call
        mine = [f for f in self.fragments if f.index == index]
        assume(any((f.id or "").strip() for f in mine) or not any(f.name for f in mine[1:]))
        self._send(Fragment(index, f"call_{index}"), 0)

    @precondition(lambda self: self.ended is None)
    @rule(noise=_NOISE, cut=st.integers(0, 40))
    def disturb(self, noise: bytes, cut: int) -> None:
        """An event without meaning comes."""
        self._feed(noise, cut)

    @rule()
    def move(self) -> None:
        """Another parser continues from here."""
        self.parser = ToolCallParser.restore(self.parser.snapshot())

    @precondition(_going_on)
    @rule(reason=st.sampled_from(("tool_calls", "stop", "length", "content_filter")))
    def finish_turn(self, reason: str) -> None:
        """The wire gives its finish reason."""
        self.finish = reason
        self._feed(frame(chunk(finish=reason)))

    @precondition(lambda self: self.ended is None)
    @rule(how=st.sampled_from(("done", "silent", "aborted")))
    def end(self, how: Ended) -> None:
        """The stream ends, one way or another; now the model is asked."""
        self.ended = how
        if how == "done":
            self._feed(DONE)
        self.events += self.parser.abort("enough") if how == "aborted" else self.parser.close()
        self._compare(expected(self.fragments, self.finish, how))

    @precondition(lambda self: self.ended is not None)
    @rule()
    def rest(self) -> None:
        """After the end no event comes."""
        assert [] == self.parser.close()

    def _compare(self, outcomes: list[Outcome]) -> None:
        ends = {event.index: event for event in self.events if isinstance(event, TERMINAL)}
        if not _is_documented(self.fragments):
            sent = Counter((o.name, canonical(o.arguments)) for o in outcomes if o.reason is None)
            assert Counter() == Counter(map(_pair, self.events)) - sent - Counter({None: len(self.events)})
            assert [] == violations(self.events)
            return
        assert sorted(ends) == list(range(len(outcomes)))
        for index, outcome in enumerate(outcomes):
            event = ends[index]
            assert outcome.name == event.name
            assert outcome.raw == event.raw_arguments
            if outcome.reason is None:
                assert isinstance(event, ToolCall)
                assert canonical(outcome.arguments) == canonical(event.arguments)
                assert outcome.id in {None, event.id}
            else:
                assert outcome.reason == event.reason
                assert outcome.id == event.id
        assert [] == violations(self.events)

    @invariant()
    def nothing_comes_early(self) -> None:
        """Law 7: before the wire has ended the turn, no call is emitted."""
        going_on = getattr(self, "ended", "done") is None and self.finish is None
        assert not (going_on and any(isinstance(event, TERMINAL) for event in self.events))

    def teardown(self) -> None:
        """A stream that was left open ends silently."""
        if getattr(self, "ended", "done") is None:
            self.end("silent")


Streaming.TestCase.settings = examples(stateful_step_count=16)
TestStreaming = Streaming.TestCase
