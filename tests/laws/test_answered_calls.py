"""Law 116: of a group of calls, those without a result leave the repairer; nothing else delays them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

import pytest

from wholecall.repairing import Repairer

KEEPALIVE = {"type": "keepalive"}
TOLD = {"added and done": (0, 1), "done": (1,), "added": (0,)}  # frames that carry a result
RESPONSE = {"id": "r1", "object": "response", "created_at": 1, "model": "m", "output": []}


def added(at: int, item: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the two events between which an item arrives."""
    return [
        {"type": f"response.output_item.{word}", "output_index": at, "item": item}
        for word in ("added", "done")
    ]


def called(at: int) -> list[dict[str, Any]]:
    """Return the events of a call."""
    item = {"type": "function_call", "id": f"fc_{at}", "call_id": f"call_{at}", "name": "get_tide"}
    begins, _ = added(at, {**item, "arguments": "", "status": "in_progress"})
    _, ends = added(at, {**item, "arguments": "{}", "status": "completed"})
    event, place = "response.function_call_arguments", {"output_index": at, "item_id": f"fc_{at}"}
    delta, whole = {"type": f"{event}.delta", **place}, {"type": f"{event}.done", **place}
    return [begins, {**delta, "delta": "{}"}, {**whole, "arguments": "{}"}, ends]


def spoken(at: int, kind: str) -> list[dict[str, Any]]:
    """Return the events of a text or a thought."""
    item: dict[str, Any] = {"type": kind, "id": f"it_{at}"}
    item |= (
        {"content": [], "role": "assistant", "status": "completed"} if kind == "message" else {"summary": []}
    )
    event = "output_text" if kind == "message" else "reasoning_text"
    place = {"output_index": at, "item_id": f"it_{at}", "content_index": 0}
    begins, ends = added(at, item)
    return [begins, {"type": f"response.{event}.delta", **place, "delta": "Well."}, ends]


def of_server(at: int) -> list[dict[str, Any]]:
    """Return the events of an item that does not concern the client."""
    return added(at, {"type": "web_search_call", "id": f"ws_{at}", "status": "completed"})


BEHIND = {
    "the end": [],
    "a text": spoken(9, "message"),
    "a thought": spoken(9, "reasoning"),
    "a search": of_server(9),
}


def frames(events: Sequence[dict[str, Any]]) -> list[bytes]:
    """Return a response of these events, numbered."""
    every = [
        {"type": "response.created", "response": {**RESPONSE, "status": "in_progress"}},
        *events,
        {"type": "response.completed", "response": {**RESPONSE, "status": "completed"}},
    ]
    return [
        b"event: %b\ndata: %b\n\n"
        % (one["type"].encode(), json.dumps({**one, "sequence_number": n}).encode())
        for n, one in enumerate(every)
    ]


def groups() -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield how many calls there are, and which of them are answered, in each order."""
    for n in (1, 2, 3):
        for k in range(n + 1):
            yield from ((n, answers) for answers in permutations(range(n), k))


def results(n: int, answers: Sequence[int], places: Sequence[int]) -> list[dict[str, Any]]:
    """Return the events of results."""
    told: list[dict[str, Any]] = []
    for at, call in enumerate(answers, n):
        result = {"type": "function_call_output", "id": f"o{at}", "call_id": f"call_{call}", "output": "up"}
        both = added(at, result)
        told += [both[place] for place in places]
    return told


def told_items(data: bytes) -> list[str]:
    """Return the label of each item that a stream adds."""
    payloads = (json.loads(line[6:]) for line in data.splitlines() if line.startswith(b"data: "))
    items = [one["item"] for one in payloads if one["type"] == "response.output_item.added"]
    return [item.get("call_id") or item["id"] for item in items]


@pytest.mark.sampled(11)
@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("places", TOLD)
@pytest.mark.parametrize("pause", [(), (KEEPALIVE,)])
def test_answered_calls_go_nowhere(places: str, behind: str, pause: tuple[dict[str, Any], ...]) -> None:
    """Answered calls of a group, in any order, are not passed on; the others leave with the later frames."""
    for n, answers in groups():
        calls = [event for at in range(n) for event in called(at)]
        group = frames([*calls, *pause, *results(n, answers, TOLD[places]), *BEHIND[behind]])
        n_before = 1 + len(calls) + len(pause) + len(answers) * len(TOLD[places])
        repairer = Repairer()
        out = [repairer.feed(frame) for frame in group]
        left = [f"call_{at}" for at in range(n) if at not in answers]
        rest = told_items(b"".join(group[n_before:]))

        assert [] == told_items(b"".join(out[:n_before])), (n, answers)
        assert left == told_items(out[n_before])[: len(left)], (n, answers)
        assert [*left, *rest] == told_items(b"".join(out)), (n, answers)
        assert b"call_output" not in b"".join(out), (n, answers)


def test_groups_one_after_the_other() -> None:
    """A call after a result, and a result after that, belong to the group; a call after a text begins another group."""
    first = [*called(0), *results(1, (0,), (0, 1)), *called(2), *called(3), *results(4, (3,), (1,))]
    second = [*called(6), *called(7), *results(8, (6,), (0, 1))]
    whole = b"".join(frames([*first, *spoken(5, "message"), *second]))
    repairer = Repairer()
    out = repairer.feed(whole) + repairer.close()

    assert ["call_2", "it_5", "call_7"] == told_items(out)


def test_a_result_of_another_call_passes() -> None:
    """A result whose call is not in the stream does not concern its calls: it passes, and the call leaves."""
    foreign = {"type": "function_call_output", "id": "o1", "call_id": "call_of_old", "output": "up"}
    whole = b"".join(frames([*called(0), *added(1, foreign)]))
    repairer = Repairer()
    out = repairer.feed(whole) + repairer.close()

    assert ["call_0", "call_of_old"] == told_items(out)


def test_a_group_without_results_passes_whole() -> None:
    """Any number of consecutive calls leave byte for byte, with the frame after the last call."""
    *calls, end = frames([event for at in range(20) for event in called(at)])
    repairer = Repairer()
    out = [repairer.feed(frame) for frame in calls]

    assert calls[0] == b"".join(out)
    assert repairer.feed(end).startswith(b"".join(calls[1:]))
