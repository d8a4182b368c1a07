"""Choices of chat completions, and who speaks in them: every small world of openings and of answers that follow others."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tests.support.together import together
from wholecall import ToolCall, ToolCallParser

JSON = dict[str, Any]
Frame = tuple[int, str, JSON]  # a choice, its content (role, head, piece, talk, end), the chunk's choice
Found = tuple[tuple[int, str, str], ...]

TEXTS = {"go": ("", '{"x":', "1}"), "to": ("", "{}"), "bare": ("",)}


def _role(choice: int) -> Frame:
    return choice, "role", {"index": choice, "delta": {"role": "assistant", "content": None}}


def _calls(choice: int, *names: str, ids: str = "") -> list[Frame]:
    told: list[Frame] = []
    for index, name in enumerate(names):
        for n, text in enumerate(TEXTS[name]):
            head = {"id": f"call_{ids}{choice}{name}"} if n == 0 else {}
            function = {"arguments": text, **({"name": name} if n == 0 else {})}
            call = {"index": index, **head, "function": function}
            what = "piece" if n else "head"
            told.append((choice, what, {"index": choice, "delta": {"tool_calls": [call]}}))
    return told


def _answer(choice: int, said: tuple[str, ...], ids: str = "") -> list[Frame]:
    """All of a choice: it is opened, calls or only talks, and ends."""
    talk: Frame = (choice, "talk", {"index": choice, "delta": {"content": "Hi"}})
    reason = "tool_calls" if said else "stop"
    end: Frame = (choice, "end", {"index": choice, "delta": {}, "finish_reason": reason})
    return [_role(choice), *(_calls(choice, *said, ids=ids) if said else [talk]), end]


def _in_turns(rows: list[list[Frame]]) -> list[Frame]:
    longest = max(map(len, rows))
    return [row[n] for n in range(longest) for row in rows if n < len(row)]


def _sent(said: tuple[tuple[str, ...], ...], order: str, ids: str = "") -> list[Frame]:
    """A conforming answer of some choices: one after the other, or all at once."""
    rows = [_answer(choice, names, ids) for choice, names in enumerate(said)]
    return _in_turns(rows) if order == "turns" else [frame for row in rows for frame in row]


def _chunks(frames: list[Frame], ids: str) -> list[JSON]:
    """The chunks, with the answer's id, an id per choice, an id per chunk, or none."""
    label = {"one": "c", "choice": "c{0}", "each": "c{1}", "none": None}.get(ids, ids)
    return [
        {**({"id": label.format(choice, n)} if label else {}), "choices": [{"finish_reason": None, **said}]}
        for n, (choice, _, said) in enumerate(frames)
    ]


def _found(chunks: list[JSON], within: str = "") -> Found:
    """The events of chunks, unchanged, or as the results of a chain of modules."""
    parser: ToolCallParser[Any] = ToolCallParser("sap-orchestration" if within else "chat-completions")
    frames = [{within: chunk} if within else chunk for chunk in chunks]
    events = [event for frame in frames for event in parser.feed_event(frame)] + parser.close()
    calls = [event for event in events if isinstance(event, ToolCall)]
    return tuple(sorted((call.choice, call.name, call.raw_arguments or "{}") for call in calls))


def _meant(said: tuple[tuple[str, ...], ...]) -> Found:
    calls = [(choice, name) for choice, names in enumerate(said) for name in names]
    return tuple(sorted((choice, name, "".join(TEXTS[name]) or "{}") for choice, name in calls))


SAID: list[tuple[tuple[str, ...], ...]] = [
    (("go",),),
    (("go", "bare"),),
    (("go",), ()),
    ((), ("bare",)),
    (("go",), ("to",)),
    (("bare", "go"), ("to",)),
    (("to",), (), ("go",)),
]
IDS = ("one", "choice", "each", "none")
ORDERS = ("row", "turns")


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("said", "order", "ids"), list(product(SAID, ORDERS, IDS)))
def test_who_speaks_ends_no_answer(said: tuple[tuple[str, ...], ...], order: str, ids: str) -> None:
    """Law 99: a choice may be opened late, and its role may be repeated before its reason: no call is lost by it."""
    frames = _sent(said, order)
    ends = {choice: n for n, (choice, what, _) in enumerate(frames) if what == "end"}
    wrong = []
    for choice, end in ends.items():
        for at in range(end + 1):
            told = [*frames[:at], _role(choice), *frames[at:]]
            if {_meant(said)} != {_found(_chunks(told, ids)), _found(_chunks(told, ids), "final_result")}:
                wrong.append((choice, at))

    assert _meant(said) == _found(_chunks(frames, ids))
    assert wrong == []


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("said", [said for said in SAID if all(said)])
def test_a_call_needs_no_role_before_it(said: tuple[tuple[str, ...], ...], ids: str) -> None:
    """Law 99: no choice is opened, and each chunk may have an id of its own: further calls begin no other answer."""
    frames = [frame for frame in _sent(said, "row") if frame[1] != "role"]

    assert _meant(said) == _found(_chunks(frames, ids))


@together(("said", "order"), list(product(SAID, ORDERS)), one_in=2)
@together("other", [(("to",),), ((),), (("to", "go"), ())])
@together("change", ["another id", "the same id"])
def test_another_answer_ends_what_was_open(
    said: tuple[tuple[str, ...], ...], order: str, other: tuple[tuple[str, ...], ...], change: str
) -> None:
    """Law 99: an answer breaks off, and another follows, under its id or at used indices: no call of the first is
    emitted whose choice had no reason yet.
    """
    frames = _sent(said, order)
    next_id = "d" if change == "another id" else "c"
    follows = _sent(other, order, "again_")
    wrong: list[tuple[int, Found]] = []
    for at in range(2, len(frames) + 1):
        over = {choice for choice, what, _ in frames[:at] if what == "end"}
        begun = {choice for choice, _, _ in frames[:at]}
        stable = all(sum(choice == one for choice, _, _ in frames[:at]) > 1 for one in begun)
        used = {choice for choice, what, _ in frames[:at] if what == "head"}
        shows = stable if change == "another id" else bool(other[0]) and (0 in used or 0 in over)
        if not shows:
            continue  # the two answers cannot be distinguished
        first = [call for call in _meant(said) if call[0] in over]
        came = _found([*_chunks(frames[:at], "c"), *_chunks(follows, next_id)])
        if came != tuple(sorted([*first, *_meant(other)])):
            wrong.append((at, came))

    assert wrong == []


@pytest.mark.parametrize("said", [(("bare",),), (("go", "bare"),)])
def test_a_call_without_text_is_not_ended_by_what_may_be_another_answer(
    said: tuple[tuple[str, ...], ...],
) -> None:
    """Law 99: where a role is repeated, and then only a reason comes that promises no calls, no call is empty."""
    frames = _answer(0, said[0])
    stop: Frame = (0, "end", {"index": 0, "delta": {}, "finish_reason": "stop"})
    talk: Frame = (0, "talk", {"index": 0, "delta": {"content": "Hi"}})

    for rest in ([stop], [talk, stop]):
        came = _found(_chunks([*frames[:-1], _role(0), *rest], "one"))
        assert [name for _, name, _ in came if name == "bare"] == []
