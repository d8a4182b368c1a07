"""Which of two calls a chat fragment belongs to: streams in which more than one could claim it, and what decides."""

from __future__ import annotations

import pytest

from tests.support.bound import A, B, Got, at, bound, lost, stray, whole
from tests.support.words import events_of
from wholecall.deltas import INVALID_INDEX, Delta, Finish, Fragment
from wholecall.events import ToolCallDropped
from wholecall.limits import Limits

STOP = Finish(0, "stop", "stop")
TAKEN_BACK = Finish(0, "stop", None, drops=True)
# Of a call whose text came on another index (quirk 5), and the head of a second call on its own index.
HEADS = [at(0, "", "c", "f"), at(1, A), at(0, "", "d", "g")]


def generated(number: int, name: str, text: str) -> Got:
    """Return a call whose id we made."""
    return Got(f"call_0_0_{number}", name, text, "id_generated")


def cut(id: str | None, name: str, text: str) -> Got:
    """Return a call whose text has no end."""
    return Got(id, name, text, "dropped: truncated")


def doubtful(id: str | None, name: str, text: str = "") -> Got:
    """Return a call that may not be what it seems."""
    return Got(id, name, text, "dropped: ambiguous")


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param(
            [at(0, '{"a"', "c", "f"), at(1, '{"b"', "c", "g"), at(0, ":1}", "c"), at(1, ":2}", "c")],
            [Got("c", "f", A), Got("c#2", "g", B, "duplicate_id")],
            id="of two calls with one id, the one at the index",
        ),
        pytest.param(
            [at(0, A, "c", "f"), at(1, '{"b"', "c", "g"), at(0, ":2}", "c")],
            [Got("c", "f", A), Got("c#2", "g", B, "duplicate_id index_churn")],
            id="of two calls with one id, the one that can go on",
        ),
        pytest.param(
            [at(0, A, "c", "f"), at(1, B, "c", "g"), at(0, " ", "c")],
            [Got("c", "f", A + " "), Got("c#2", "g", B, "duplicate_id")],
            id="of two whole calls with one id, the one at the index",
        ),
        pytest.param(
            [
                *(at(0, A, "c", "f"), at(0, '{"b"', "c", "f"), at(1, '{"a"', "c", "g")),
                *(at(0, ":2}", "c"), at(1, ":1}", "c")),
            ],
            [Got("c", "f", A), Got("c#2", "f", B, "duplicate_id"), Got("c#3", "g", A, "duplicate_id")],
            id="of three calls with one id, the one at the index that can go on",
        ),
        *(
            pytest.param(
                [at(0, head, "c", "f "), at(3, tail, "c", " f")],
                [Got("c", "f", A, "index_churn")],
                id=f"blanks round the name are no other name of a known id, {when} its text",
            )
            for head, tail, when in (("", A, "before"), ('{"a"', ":1}", "amidst"))
        ),
        pytest.param(
            [at(0, '{"a"', "c"), at(3, ":1}", "c", "f")],
            [Got("c", "f", A, "index_churn")],
            id="the name of a known id may come late, at another index",
        ),
        pytest.param(
            [at(0, A, "c", "f"), at(0, "}", "d")],
            [Got("c", "f", A + "}", "id_churn")],
            id="a new id without a start is a changed id",
        ),
        pytest.param(
            [whole(0, A, "c", "f"), whole(0, "1", "d")],
            [Got("c", "f", A), stray("1", "d")],
            id="a whole value under a new id is another call's, whatever it is",
        ),
        pytest.param(
            [whole(0, '"x"', "c", "f"), whole(0, '"y"', "c", "f")],
            [Got("c", "f", f'"{text}"', "dropped: not_an_object") for text in "xy"],
            id="a whole value with its name is another call, whatever it is",
        ),
        pytest.param(
            [at(0, '{"a":1', "c", "f"), whole(0, A, "d", "f")],
            [cut("c", "f", '{"a":1'), doubtful("d", "f", A)],
            id="an object is no snapshot of fragments",
        ),
        pytest.param(
            [at(0, "null", "c", "f\n"), at(0, A, None, " f")],
            [Got("c", "f", A, "placeholder")],
            id="blanks round the name are no other name",
        ),
        pytest.param(
            [at(0, "", "c", "f "), at(0, A, "d", "fetch")],
            [Got("c", "fetch", A, "id_churn")],
            id="blanks behind a name do not keep it from being extended",
        ),
        pytest.param(
            [at(0, " "), at(0, "", None, "f")],
            [generated(0, "f", " ")],
            id="a blank may begin a call's text",
        ),
    ],
)
def test_ids_and_names(deltas: list[Delta], calls: list[Got]) -> None:
    """What an id or a name says, where a second call or a second spelling is in play."""
    assert calls == bound(*deltas)


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param(
            [at(0, '{"a"', "c", "f"), at(0, B, "d", "g"), at(0, ":1}")],
            [Got("c", "f", A), Got("d", "g", B)],
            id="the call that can go on, if the latest cannot",
        ),
        pytest.param(
            [at(0, '{"a"', "c", "f"), at(0, '{"b"', "d", "g"), at(0, A, "e", "h"), at(0, ":2}")],
            [cut("c", "f", '{"a"'), Got("d", "g", B), Got("e", "h", A)],
            id="the latest of those that can go on",
        ),
        pytest.param(
            [HEADS[0], at(1, '{"a"'), HEADS[2], at(1, ":1}")],
            [Got("c", "f", A, "index_churn"), Got("d", "g", "")],
            id="the call of the index, if it can go on",
        ),
        pytest.param(
            [HEADS[0], at(1, '{"a":'), HEADS[2], at(1, '{"x":1}}')],
            [Got("c", "f", '{"a":{"x":1}}', "index_churn"), Got("d", "g", "")],
            id="the call of the index, if it can go on with an object",
        ),
        pytest.param(
            [HEADS[0], at(1, '{"a":'), at(1, '{"a":1'), HEADS[2], at(1, "}")],
            [Got("c", "f", A, "index_churn snapshots"), Got("d", "g", "")],
            id="the call of the index, if it can go on in one of two readings",
        ),
        pytest.param(
            [*HEADS[:2], at(0, "{}", "d", "g"), at(1, B)],
            [Got("c", "f", A, "index_churn"), Got("d", "g", B, "placeholder")],
            id="the latest, if that holds a placeholder",
        ),
        pytest.param(
            [*HEADS[:2], at(0, B, "d", "g"), at(1, "}")],
            [Got("c", "f", A + "}", "index_churn"), Got("d", "g", B)],
            id="the whole call of the index, if the latest is whole too",
        ),
        pytest.param(
            [*HEADS[:2], at(0, '{"b"', "d", "g"), at(1, '{"x":1}')],
            [Got("c", "f", A + '{"x":1}', "dropped: multiple_objects"), lost("d", "g", '{"b"')],
            id="nobody's, if the latest may be missing a piece",
        ),
        pytest.param(
            [*HEADS, at(1, "}"), at(1, " ")],
            [Got("c", "f", A + "} ", "index_churn"), lost("d", "g", "")],
            id="no start, which may be what the latest is missing, for good",
        ),
        pytest.param(
            [*HEADS, at(2, "", "d"), at(1, B)],
            [Got("c", "f", A + B, "dropped: multiple_objects"), doubtful("d", "g")],
            id="not the latest's, if that has an index of its own too",
        ),
        pytest.param(
            [at(0, "{}", "c", "f"), at(1, A)],
            [lost("c", "f", "{}"), stray(A)],
            id="nobody's, at a free index, if a placeholder could be filled by it",
        ),
        pytest.param(
            [at(0, "{}", "c", "f", "custom"), at(1, A)],
            [lost("c", "f", "{}"), stray(A)],
            id="nobody's, at a free index, if free text could go on with it",
        ),
        pytest.param(
            [at(0, '{"a"', "c", "f"), at(1, B, "d", "g"), at(7, B)],
            [lost("c", "f", '{"a"'), Got("d", "g", B), stray(B)],
            id="no repeat, while another call can go on",
        ),
        pytest.param(
            [at(0, A, "c", "f"), at(1, B, "d", "g"), at(7, B)],
            [Got("c", "f", A), Got("d", "g", B, "repeated")],
            id="a repeat of the latest call, if none can go on",
        ),
        pytest.param(
            [at(None, A, "c", "f"), at(None, B, "d", "g"), at(None, A, "e", "h"), at(None, " ")],
            [Got("c", "f", A), Got("d", "g", B), Got("e", "h", A + " ")],
            id="the latest of whole calls",
        ),
    ],
)
def test_text_without_id_and_name(deltas: list[Delta], calls: list[Got]) -> None:
    """Whose the last text is."""
    assert calls == bound(*deltas)


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param(
            [at(0, '{"a"', "c", "f"), at(INVALID_INDEX, B, None, "g")],
            [cut("c", "f", '{"a"'), generated(1, "g", B)],
            id="an invalid index",
        ),
        pytest.param(
            [at(0, A, "c", "f"), STOP, Fragment(0, INVALID_INDEX, B), at(None, "", None, "g")],
            [Got("c", "f", A), generated(1, "g", B)],
            id="text at an invalid index, when all calls before it have ended",
        ),
        pytest.param(
            [at(0, "{}", "c", "f"), TAKEN_BACK, at(1, A), at(1, "", None, "g")],
            [Got("c", "f", "{}", "dropped: aborted"), generated(1, "g", A)],
            id="text at a free index, when the placeholder before it was taken back",
        ),
        pytest.param(
            [at(0, '{"a"', "c", "f"), at(1, B), at(1, "", None, "g")],
            [lost("c", "f", '{"a"'), lost(None, "g", B)],
            id="text that another call could have claimed",
        ),
        pytest.param(
            [at(0, "{}", None, "f"), at(None, "", None, "f")],
            [generated(0, "f", "{}"), generated(1, "f", "")],
            id="a second head behind a placeholder",
        ),
        pytest.param(
            [whole(0, "{}", "c", "f"), at(0, A, None, "g")],
            [Got("c", "f", "{}"), generated(1, "g", A)],
            id="another name behind an empty object",
        ),
        pytest.param(
            [at(0, "", "c", "f"), TAKEN_BACK, at(0, A, None, "g")],
            [Got("c", "f", "", "dropped: aborted"), generated(1, "g", A)],
            id="another name behind a call that was taken back",
        ),
        pytest.param(
            [at(0, A, "c", "f"), STOP, Fragment(0, INVALID_INDEX, " "), at(0, B), at(0, "", None, "g")],
            [Got("c", "f", A), stray(" " + B), doubtful(None, "g")],
            id="a name at an index that several calls went by",
        ),
        pytest.param(
            [at(0, A, "d"), at(1, "", None, "g"), at(0, "", None, "f")],
            [Got("d", "f", A), generated(1, "g", "")],
            id="a late name, before the head of the next call",
        ),
        pytest.param(
            [at(0, "", None, "f"), TAKEN_BACK, at(1, A, "d"), at(1, "", None, "g")],
            [Got(None, "f", "", "dropped: aborted"), Got("d", "g", A)],
            id="a late name, when the call that lacked text was taken back",
        ),
        pytest.param(
            [at(0, " "), at(1, B, "c", "g"), at(1, A, "d"), at(1, "", None, "h")],
            [stray(" "), Got("c", "g", B), Got("d", "h", A)],
            id="a late name, when the call that lacks text has no name",
        ),
        pytest.param(
            [at(None, '{"a"', "c", "f"), at(None, B, "d"), at(None, "", None, "f"), at(None, ":1}", "c")],
            [Got("c", "f", A), stray(B, "d")],
            id="a name alone repeats that of the call that can go on",
        ),
        pytest.param(
            [at(None, A, "c"), at(None, B, None, "f")],
            [stray(A, "c"), generated(1, "f", B)],
            id="a name with text is no late name",
        ),
        pytest.param(
            [at(None, A, "c"), at(None, " ", None, "f")],
            [stray(A, "c"), doubtful(None, "f", " ")],
            id="a name with a blank is no late name",
        ),
        pytest.param(
            [at(None, A, "c"), at(None, B, "d"), at(None, "", None, "f")],
            [stray(A, "c"), Got("d", "f", B)],
            id="a late name is the latest call's",
        ),
        *(
            pytest.param(
                [at(None, head, "c", "f "), at(None, tail, None, " f")],
                [Got("c", "f", A)],
                id=f"blanks round a name are no other name, {when} the text",
            )
            for head, tail, when in (("", A, "before"), ('{"a"', ":1}", "amidst"))
        ),
    ],
)
def test_names_without_id(deltas: list[Delta], calls: list[Got]) -> None:
    """Which call a name means that comes without an id, and what it makes of text that nobody had claimed."""
    assert calls == bound(*deltas)


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param(
            [at(0, '{"a"', "c", "f"), at(INVALID_INDEX, B, "d", "f")],
            [cut("c", "f", '{"a"'), doubtful("d", "f", B)],
            id="at an invalid index",
        ),
        pytest.param(
            [at(7, '{"a"', "c", "f"), at(0, B, "d", "f")],
            [cut("c", "f", '{"a"'), Got("d", "f", B)],
            id="not at another index",
        ),
        pytest.param(
            [
                at(None, '{"a"', "c", "f"),
                at(None, '{"b"', "d", "f"),
                at(None, A, "e", "f"),
                at(None, ":1}", "c"),
            ],
            [Got("c", "f", A), cut("d", "f", '{"b"'), doubtful("e", "f", A)],
            id="inside the latest",
        ),
        pytest.param(
            [at(0, '{"a":1,"a":2}', "c", "f"), at(0, B, "d", "f")],
            [Got("c", "f", '{"a":1,"a":2}', "dropped: duplicate_key"), Got("d", "f", B)],
            id="not inside a whole one",
        ),
    ],
)
def test_inside_a_namesake(deltas: list[Delta], calls: list[Got]) -> None:
    """A call that opens inside an unfinished one of its name shares its fate."""
    assert calls == bound(*deltas)


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param(
            [at(0, "", "c", "f"), at(1, A, "c"), at(1, "", "c", "g"), at(0, A, "c", "f")],
            [Got("c", "f", A, "index_churn repeated"), Got("c#2", "g", "", "duplicate_id")],
            id="its name says whose it is",
        ),
        pytest.param(
            [
                at(0, "", "c", "f"),
                at(1, A, "c"),
                at(1, '{"b"', "c", "g"),
                at(5, "", "e", "h"),
                at(0, A, "c"),
                at(1, ":2}", "c"),
            ],
            [Got("c", "f", A, "index_churn repeated"), Got("c#2", "g", B, "duplicate_id"), Got("e", "h", "")],
            id="the other call has begun",
        ),
    ],
)
def test_a_repeat_that_leaves_no_doubt(deltas: list[Delta], calls: list[Got]) -> None:
    """Where all calls have one id, a repeat is no other call's text if anything tells whose it is."""
    assert calls == bound(*deltas)


@pytest.mark.parametrize(
    ("first", "second", "tools", "calls"),
    [
        ("f", "g", ["f", "g"], [Got("c", "f", ""), generated(1, "g", A)]),
        ("f ", " g", ["f", "g"], [Got("c", "f", ""), generated(1, "g", A)]),
        ("get_", "tide", ["get_", "tide", "get_tide"], [doubtful("c", "get_", A)]),
        ("x", "g", ["f", "g"], [Got("c", "g", A)]),
        ("f", "x", ["f", "g"], [Got("c", "f", A)]),
    ],
    ids=["two tools", "two tools, with blanks", "two tools, or one", "noise before", "noise behind"],
)
def test_known_names_tell_two_calls_from_a_name_in_pieces(
    first: str, second: str, tools: list[str], calls: list[Got]
) -> None:
    """Where tools are known, a second tool's name opens a second call, unless the two may be one name (quirk 16)."""
    assert calls == bound(at(0, "", "c", first), at(0, A, None, second), tools=tools)


def test_text_behind_the_limit_of_calls() -> None:
    """Text without name or index may be that of the calls beyond the limit, and is told with them."""
    one = Limits(max_calls=1)
    tail = bound(at(0, A, "c", "f"), at(None, B, "d", "g"), at(None, "x"), limits=one)
    adopted = bound(at(0, '{"a"', None, "f"), at(1, B, "d", "g"), at(2, ":1}", "e"), limits=one)

    assert [A, B + "x"] == [call.text for call in tail]
    assert ['{"a"', B + ":1}"] == [call.text for call in adopted]


def test_a_doubtful_name_says_why() -> None:
    """A call whose late name proves nothing says so to people."""
    late = [at(0, "", None, "f"), at(1, B, "c", "g"), at(1, A, "d"), at(1, "", None, "h"), STOP]

    details = {
        event.name: event.detail
        for events in events_of(*late)
        for event in events
        if isinstance(event, ToolCallDropped)
    }
    assert "its text may be an earlier call's, which has a name and no text" == details["h"]
