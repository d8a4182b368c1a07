"""Law 129 for calls side by side: pieces that take turns give the machine's events, however their labels are."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import Any

import pytest

from benchmarks.workloads import cut
from tests.laws.test_lanes import asks, differing, leaves, read_dicts
from tests.support import lanes, share
from tests.support.together import together
from wholecall import Limits, ToolCallParser

Kind = tuple[str, dict[str, Any]]
CREATED: Kind = ("response.created", {"response": {"id": "r1", "model": "m", "status": "in_progress"}})
TEXTS = (['{"a"', ":1}"], ['{"b":{', '"c":2}}'], ["{", '"d": "e{', '{f"}'], ['{"g":[{', "}]}"])


def function(index: int, text: str, status: str) -> dict[str, Any]:
    """Return the item of a call, whose labels its index makes."""
    labels = {"id": f"fc_{index}", "call_id": f"call_{index}", "name": "fg"[index % 2]}
    return {"type": "function_call", **labels, "arguments": text, "status": status}


def call(index: int, pieces: Sequence[str]) -> list[Kind]:
    """Return the events of a call."""
    text, where = "".join(pieces), {"item_id": f"fc_{index}", "output_index": index}
    return [
        ("response.output_item.added", {"output_index": index, "item": function(index, "", "in_progress")}),
        *(("response.function_call_arguments.delta", {**where, "delta": piece}) for piece in pieces),
        ("response.function_call_arguments.done", {**where, "arguments": text}),
        ("response.output_item.done", {"output_index": index, "item": function(index, text, "completed")}),
    ]


def completed(*items: Any) -> Kind:
    """Return the last event of a response, which lists its items."""
    return (
        "response.completed",
        {"response": {"id": "r1", "model": "m", "status": "completed", "output": [*items]}},
    )


def events_of(kinds: Iterable[Kind]) -> list[bytes]:
    """Return the events, numbered, as reads."""
    return lanes.numbered([*kinds])


def whole(order: Iterable[Kind]) -> list[Kind]:
    """Return a response whose items come in these events."""
    kinds = [*order]
    items = [members["item"] for kind, members in kinds if kind == "response.output_item.done"]
    return [CREATED, *kinds, completed(*sorted(items, key=lambda item: item["id"]))]


def orders(first: Sequence[Kind], second: Sequence[Kind]) -> Iterator[list[Kind]]:
    """Yield the events of two calls in every order that keeps that of each."""
    n = len(first) + len(second)
    for places in combinations(range(n), len(first)):
        left = [iter(second), iter(first)]
        yield [next(left[place in places]) for place in range(n)]


def in_turn(n: int, seed: int) -> list[Kind]:
    """Return a response with calls side by side, in an order by chance."""
    return whole(lanes.in_turn(random.Random(seed), [call(index, TEXTS[index]) for index in range(n)]))


def ways(reads: list[bytes]) -> list[list[bytes]]:
    """Return a stream in reads of an event, of several events, of parts of them after the first, and of all."""
    threes = [b"".join(reads[n : n + 3]) for n in range(0, len(reads), 3)]
    return [reads, threes, [reads[0], *cut(b"".join(reads[1:]), 53)], [b"".join(reads)]]


def read_in_any_way(kinds: Iterable[Kind]) -> list[Any]:
    """Return the ways to read a stream in which lane and machine differ."""
    return differing(ways(events_of(kinds)))


@share.in_parts(5)
def test_every_order_of_two_calls(part: share.Part) -> None:
    """Law 129: the events of two calls in every order give the same in any reads; the lane reads them to the end."""
    first, second = (call(index, TEXTS[index]) for index in range(2))
    for order in part.of([*orders(first, second)], "two calls"):
        kinds = whole(order)
        begins_in_order = kinds[1] == first[0]

        assert [] == read_in_any_way(kinds)
        assert begins_in_order == (not leaves(events_of(kinds))), order


@share.in_parts(5)
def test_calls_that_are_cut(part: share.Part) -> None:
    """Law 129: of two to four calls, ended after each event, and after half of the next."""
    for seed in part.of(range(30), "cut"):
        reads = events_of(in_turn(2 + seed % 3, seed))
        cuts = ([*reads[:n], rest] for n in range(1, len(reads)) for rest in (b"", reads[n][:99]))
        assert [] == differing(cuts), seed


@share.in_parts(31)
@pytest.mark.parametrize("renumbered", [False, True])
def test_events_that_are_lost_late_or_twice(renumbered: bool, part: share.Part) -> None:
    """Law 129: of any event that is lost, comes twice, or changes places with the next or a later one."""
    for seed in part.of(range(10), f"damaged {renumbered}"):
        kinds = in_turn(2 + seed % 3, seed)
        events: list[Any] = [*kinds] if renumbered else events_of(kinds)
        for n, m in product(range(1, len(events)), range(1, len(events))):
            if abs(m - n) in (1, 4):
                left = [*events[:n], *events[n + 1 :]]
                damaged = (left, [*left[:m], events[n], *left[m:]], [*events[:m], events[n], *events[m:]])
                streams = [events_of(each) if renumbered else each for each in damaged]
                assert [] == differing([*streams, *([b"".join(reads)] for reads in streams)]), (seed, n, m)


Change = Callable[[list[Kind], random.Random], list[Kind]]


def relabelled(member: str, of: Callable[[Any], Any], rate: float, *names: str) -> Change:
    """Return a change of a label in some of the events of these names."""

    def change(kinds: list[Kind], rng: random.Random) -> list[Kind]:
        for kind, members in kinds:
            if kind.endswith(names) and rng.random() < rate:
                holder = members if member in members else members["item"]
                holder[member] = of(holder[member])
        return kinds

    return change


def swapped(name: str) -> Change:
    """Return the change that the labels of the first two events of a name change places."""

    def change(kinds: list[Kind], _rng: random.Random) -> list[Kind]:
        first, second = [members for kind, members in kinds if kind.endswith(name)][:2]
        for label in ("item_id", "output_index"):
            if label in first:
                first[label], second[label] = second[label], first[label]
        return kinds

    return change


def listed(of: Callable[[list[Any]], list[Any]]) -> Change:
    """Return a change of the final list."""

    def change(kinds: list[Kind], _rng: random.Random) -> list[Kind]:
        response = kinds[-1][1]["response"]
        response["output"] = of(response["output"])
        return kinds

    return change


def inserted(kind: str, **members: Any) -> Change:
    """Return the change that one more event comes somewhere."""

    def change(kinds: list[Kind], rng: random.Random) -> list[Kind]:
        at = rng.randrange(1, len(kinds))
        return [*kinds[:at], (f"response.{kind}", members), *kinds[at:]]

    return change


_DELTA, _ADDED, _TOLD, _DONE = "arguments.delta", "item.added", "arguments.done", "item.done"
_ALL = (_DELTA, _ADDED, _TOLD, _DONE)
_MESSAGE = {"type": "message", "id": "msg", "role": "assistant", "content": []}
_REASONING = {"type": "reasoning", "id": "rs", "summary": []}
CHANGES: dict[str, Change] = {
    "nothing": lambda kinds, _: kinds,
    "an index": relabelled("output_index", lambda n: 1 - n, 0.2, _DELTA),
    "an index of no call": relabelled("output_index", lambda n: n + 9, 0.2, _DELTA),
    "no index": relabelled("output_index", lambda _: None, 0.2, *_ALL),
    "an id": relabelled("item_id", lambda _: "fc_0", 0.2, _DELTA),
    "an id of no call": relabelled("item_id", lambda id: f"{id}x", 0.2, _DELTA),
    "other ids after the start": relabelled("item_id", lambda id: f"{id}x", 1, _DELTA, _TOLD),
    "no id": relabelled("item_id", lambda _: None, 0.2, _DELTA, _TOLD),
    "an id that is a number": relabelled("item_id", lambda _: 7, 0.2, _DELTA),
    "an index that is a text": relabelled("output_index", str, 0.3, *_ALL),
    "one id of all items": relabelled("id", lambda _: "fc", 1, _ADDED, _DONE),
    "one id of items and pieces": lambda kinds, rng: relabelled("item_id", lambda _: "fc", 1, _DELTA, _TOLD)(
        CHANGES["one id of all items"](kinds, rng), rng
    ),
    "one id of all calls": relabelled("call_id", lambda _: "call", 1, _ADDED, _DONE),
    "one index": relabelled("output_index", lambda _: 0, 1, *_ALL),
    "indices from one": relabelled("output_index", lambda n: n + 1, 1, *_ALL),
    "another name": relabelled("name", lambda _: "h", 0.3, _DONE),
    "another text": relabelled("arguments", lambda _: "{}", 0.3, _TOLD, _DONE),
    "text at the start": relabelled("arguments", lambda _: '{"a"', 0.3, _ADDED),
    "done events swapped": swapped(_DONE),
    "told events swapped": swapped(_TOLD),
    "starts swapped": swapped(_ADDED),
    "no told events": lambda kinds, _: [each for each in kinds if not each[0].endswith(_TOLD)],
    "no done items": lambda kinds, _: [each for each in kinds if not each[0].endswith(_DONE)],
    "another order of the list": listed(lambda items: items[::-1]),
    "a shorter list": listed(lambda items: items[1:]),
    "no list": listed(lambda _: []),
    "a doubled list": listed(lambda items: items + items),
    "a message": inserted("output_item.added", output_index=9, item=_MESSAGE),
    "the next message": inserted("output_item.added", output_index=1, item=_MESSAGE),
    "reasoning": inserted("output_item.added", output_index=1, item=_REASONING),
    "text": inserted("output_text.delta", item_id="msg", output_index=1, content_index=0, delta="t"),
    "an empty piece": inserted("function_call_arguments.delta", item_id="fc_0", output_index=0, delta=""),
    "an object again": inserted(
        "function_call_arguments.delta", item_id="fc_1", output_index=1, delta='{"b":{"c":2}}'
    ),
    "a quiet event": inserted("content_part.added", item_id="msg", output_index=9, part={}),
    "in progress": inserted("in_progress", response={"id": "r1", "status": "in_progress"}),
}


@share.in_parts(55, rest_in=13)
@together("change", CHANGES)
def test_odd_labels(change: str, part: share.Part) -> None:
    """Law 129: of labels that lack, contradict each other or change, and of further events between the pieces."""
    for seed in part.of(range(60), f"odd labels, {change}"):
        rng = random.Random(seed)
        kinds = CHANGES[change](copy.deepcopy(in_turn(2 + seed % 3, seed)), rng)
        assert [] == read_in_any_way(kinds), seed
        payloads = [
            {"type": kind, "sequence_number": n, **members} for n, (kind, members) in enumerate(kinds)
        ]
        assert read_dicts(payloads, lane=False) == read_dicts(payloads, lane=True), seed


def test_conforming_calls_stay() -> None:
    """Calls that take turns as their labels say, in reads of any size, are the lane's; with quiet events between."""
    for change in ("nothing", "no told events", "no list", "a quiet event"):
        for seed in range(20):
            kinds = CHANGES[change](copy.deepcopy(in_turn(2 + seed % 3, seed)), random.Random(seed))
            assert not any(map(leaves, ways(events_of(kinds)))), (change, seed)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("question", asks())
def test_a_question_between_two_pieces(question: str) -> None:
    """Law 129: for any query to a parser between two events of calls side by side."""
    ask = asks()[question]
    reads = events_of(in_turn(3, 5))
    for at in range(len(reads)):
        found = [asked(reads, at, ask, question, lane=lane) for lane in (False, True)]
        assert found[0] == found[1], at


def asked(
    reads: list[bytes], at: int, ask: Callable[[ToolCallParser[Any]], Any], question: str, *, lane: bool
) -> Any:
    """Return the events of a stream with a query before one of its reads, the answer, and the turns."""
    parser = ToolCallParser[Any]()
    parser._may_begin_in = parser._may_begin_in if lane else ""
    before = [parser.feed(read) for read in reads[:at]]
    answer = ask(parser)
    is_over = question in ("abort", "fail")
    after = [] if is_over else [parser.feed(read) for read in reads[at:]]
    return before, answer, after, parser.close(), parser.turns


@together("size", [200, 9_000, 70_000])
def test_long_calls(size: int) -> None:
    """Law 129: of calls with many pieces, some of which begin with a brace, up to the most that a lane takes."""
    rng = random.Random(size)
    text = '{"a": "' + "".join(rng.choice(["{", "} ", "word ", "{x"]) for _ in range(size // 4)) + '"}'
    step = max(size // 300, 3)
    pieces = [text[n : n + step] for n in range(0, len(text), step)]
    kinds = whole(lanes.in_turn(rng, [call(0, pieces), call(1, pieces), call(2, TEXTS[0])]))
    streams = [events_of(kinds), cut(b"".join(events_of(kinds)), 1460), events_of(kinds[:-5])]

    assert [] == differing(streams)
    assert (size > 60_000) == leaves(streams[0])


@together("most", [1, 2, 3])
def test_calls_up_to_a_limit(most: int) -> None:
    """Law 129: near a limit of calls that are open side by side."""
    streams = ways(events_of(in_turn(3, most)))

    assert [] == differing(streams, limits=Limits(max_calls=most))
