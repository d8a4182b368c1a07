"""Live arguments: the shown text only grows, adds up, and is never contradicted by the finished text."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.turns import canonical, full_objects, objects
from wholecall import parse_arguments
from wholecall.calls.arguments.partial import Closed, PartialArguments, Path, Piece, StringDelta
from wholecall.calls.arguments.progress import ProgressScanner, StringWatcher
from wholecall.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Iterator

STYLES = st.sampled_from(((",", ":"), (", ", ": "), (" ,\n", "\t:  ")))
# Places, or the size of every piece.
CUTS = st.one_of(st.lists(st.integers(0, 400), max_size=12), st.integers(1, 8))
TEXTS = st.builds(
    lambda value, style, escape: json.dumps(value, ensure_ascii=escape, separators=style),
    objects,
    STYLES,
    st.booleans(),
)
TOKENS = (
    *("", " ", ",", "}", "{", "]", "[", ":", '"', "\\", "\\u", "\\ud83d", "\\ude00", "\\n", "\\d", "\\u00e9"),
    *("1", "e", "-", ".", "0", "true", "null", "NaN", "\n", "\x00", "'", "\ufeff", "\ud83d", "\ude00", "x"),
    *('"a":', '"a":1,', '"a":[1],', "{}", '{"a":1}', "\u3000", "```"),
)
EDITS = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 3), st.sampled_from(TOKENS)), max_size=3)
SOUP = st.lists(st.sampled_from(TOKENS), max_size=14).map("".join)
NOISE = st.one_of(st.binary(max_size=60).map(lambda data: data.decode("latin-1")), st.text(max_size=60))
KEPT = Policy(lone_surrogates="keep")


def damaged(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Return a text with a few characters changed."""
    for where, size, new in edits:
        place = where % (len(text) + 1)
        text = text[:place] + new + text[place + size :]
    return text


HOSTILE = st.one_of(st.builds(damaged, TEXTS, EDITS), SOUP, SOUP.map('{"a":'.__add__), NOISE)


def cut(text: str, cuts: list[int] | int) -> list[str]:
    """Cut a text at some places, where pieces may be empty, or into pieces of one size."""
    if isinstance(cuts, int):
        return [text[start : start + cuts] for start in range(0, len(text), cuts)]
    places = sorted(place % (len(text) + 1) for place in cuts)
    return [text[start:end] for start, end in pairwise([0, *places, len(text)])]


def fed(pieces: list[str]) -> tuple[ProgressScanner, list[Piece], list[PartialArguments]]:
    """Return a scanner that read the pieces, its events, and a snapshot after each piece."""
    scanner = ProgressScanner()
    told: list[Piece] = []
    shown = [scanner.snapshot()]
    for piece in pieces:
        told += scanner.feed(piece)
        shown.append(scanner.snapshot())
    return scanner, told, shown


def plain(snapshot: PartialArguments) -> dict[str, Any]:
    """Return a snapshot's value as JSON builds it."""
    return dict(snapshot.value)


def begins(one: Any, path: Path | None, other: Any) -> bool:
    """Return whether a value whose part at `path` was open is a beginning of the other.

    Only the open part may differ: a string by more text, an object or a list by more members.
    """
    if path is None:
        return canonical(one) == canonical(other)
    if isinstance(one, str) and not path:
        return isinstance(other, str) and other.startswith(one)
    if isinstance(one, dict) and isinstance(other, dict):
        keys = list(one)
        same = keys == list(other)[: len(keys)]
        return same and all(
            begins(one[key], path[1:] if path[:1] == (key,) else None, other[key]) for key in keys
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) <= len(other) and all(
            begins(item, path[1:] if path[:1] == (index,) else None, other[index])
            for index, item in enumerate(one)
        )
    return False


def goes_on(one: PartialArguments, other: Any) -> bool:
    """Return whether a snapshot is a beginning of a value: any value may follow before a value has begun."""
    nothing_yet = one.open_path is None and not one.complete
    return begins(plain(one), () if nothing_yet else one.open_path, other)


def values_of(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every value inside a value with its path, the inner ones first."""
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, member in members:
        yield from values_of(member, (*path, key))
    if path:
        yield path, value


def texts_of(told: list[Piece]) -> dict[Path, str]:
    """Return the reported text of each string."""
    texts: dict[Path, str] = {}
    for piece in told:
        if isinstance(piece, StringDelta):
            texts[piece.path] = texts.get(piece.path, "") + piece.text
    return texts


def closings(told: list[Piece]) -> list[tuple[Path, str]]:
    """Return the closed paths, in order."""
    return [(piece.path, canonical(piece.value)) for piece in told if isinstance(piece, Closed)]


def known(snapshot: PartialArguments) -> tuple[Any, ...]:
    """Return the content of a snapshot."""
    state = (snapshot.complete, snapshot.stopped, snapshot.resets)
    return canonical(plain(snapshot)), snapshot.closed, snapshot.open_path, state


@given(TEXTS, CUTS)
def test_previews_only_grow(text: str, cuts: list[int] | int) -> None:
    """Law 6: each state is a beginning of the next, and the last one is the strict value."""
    scanner, _, shown = fed(cut(text, cuts))

    for one, other in pairwise(shown):
        assert goes_on(one, plain(other)), (one, other)
        assert one.closed == other.closed[: len(one.closed)]
    assert canonical(json.loads(text)) == canonical(plain(shown[-1]))
    assert list(json.loads(text)) == list(shown[-1].closed)
    assert (True, False, None) == (scanner.complete, scanner.stopped, scanner.open_path)


@given(TEXTS)
def test_nothing_is_invented_at_any_cut(text: str) -> None:
    """Law 6: wherever the text is cut, the shown value is a beginning of the final value, and never complete."""
    final = json.loads(text)
    _, _, shown = fed(list(text))

    for place, snapshot in enumerate(shown):
        assert goes_on(snapshot, final), text[:place]
        assert snapshot.complete == (place == len(text))


@given(HOSTILE, CUTS)
@example('{"a":"x\\ud83d', []).via("half a pair at the end")
@example('{"a":1,"a":1,"b":"x"}', 1)
@example('{"a":{"b":"x"},"a":{"b":"x"},"b":2}', 1)
@example('{"a":1,"a":1.0,"b":2}', [9])
def test_hostile_previews_only_grow(text: str, cuts: list[int] | int) -> None:
    """Law 6: for any text, no state takes anything back, and none claims more than the verdict will."""
    scanner, _, shown = fed(cut(text, cuts))
    verdict = parse_arguments(text, policy=KEPT)

    for one, other in pairwise(shown):
        assert goes_on(one, plain(other)), (one, other)
        assert not (one.stopped and known(one) != known(other))
    if verdict.status == "exact" and not any("\ud800" <= character <= "\udfff" for character in text):
        assert (canonical(verdict.arguments), True) == (canonical(plain(shown[-1])), scanner.complete)
    elif not text.lstrip(" \t\r\n").startswith("\ufeff"):
        assert verdict.status == "exact" or not scanner.complete


@given(TEXTS, CUTS)
def test_previews_add_up(text: str, cuts: list[int] | int) -> None:
    """Law 36: every value is reported closed exactly once, inner values first; its text adds up to the string."""
    final = json.loads(text)
    _, told, _ = fed(cut(text, cuts))
    strings = {path: value for path, value in values_of(final) if isinstance(value, str) and value}

    assert [(path, canonical(value)) for path, value in values_of(final)] == closings(told)
    assert strings == texts_of(told)
    assert all(piece.text for piece in told if isinstance(piece, StringDelta))


@given(HOSTILE, CUTS)
def test_hostile_previews_add_up(text: str, cuts: list[int] | int) -> None:
    """Law 36: for any text, no path closes twice, and the reported values are the shown values."""
    _, told, shown = fed(cut(text, cuts))
    last = shown[-1]
    closed = closings(told)
    texts = texts_of(told)
    values = dict(values_of(plain(last)))

    assert len(dict(closed)) == len(closed)
    assert {path: canonical(values[path]) for path, _ in closed} == dict(closed)
    assert {path: value for path, value in values.items() if isinstance(value, str) and value} == texts
    assert set(values) - set(dict(closed)) <= {(last.open_path or ())[:n] for n in range(1, 200)}


@given(HOSTILE, CUTS)
def test_previews_do_not_depend_on_the_cut(text: str, cuts: list[int] | int) -> None:
    """Law 37: the state after a text is the same for every way of cutting it."""
    whole, cut_up, single = fed([text]), fed(cut(text, cuts)), fed(list(text))

    for other in (cut_up, single):
        assert known(whole[2][-1]) == known(other[2][-1])
        assert closings(whole[1]) == closings(other[1])
        assert texts_of(whole[1]) == texts_of(other[1])


@given(HOSTILE, SOUP, CUTS)
def test_a_reset_begins_anew(text: str, before: str, cuts: list[int] | int) -> None:
    """Law 37: after a reset the former text does not count, only its existence."""
    scanner = ProgressScanner()
    scanner.feed(before)
    told = scanner.reset()
    for piece in cut(text, cuts):
        told += scanner.feed(piece)
    _, expected, shown = fed([text])

    assert (*known(shown[-1])[:3], (*known(shown[-1])[3][:2], 1)) == known(scanner.snapshot())
    assert (closings(expected), texts_of(expected)) == (closings(told), texts_of(told))


@given(full_objects, STYLES, st.booleans(), CUTS, st.randoms(use_true_random=False))
def test_a_watcher_tells_its_string(
    value: dict[str, Any], style: tuple[str, str], escape: bool, cuts: list[int] | int, rng: Any
) -> None:
    """Law 36: a watcher reports the text of its one string, and of no other value."""
    text = json.dumps(value, ensure_ascii=escape, separators=style)
    path, watched = rng.choice(list(values_of(value)))
    watcher = StringWatcher(path)
    told = [watcher.feed(piece) for piece in cut(text, cuts)]

    assert (watched if isinstance(watched, str) else "") == "".join(told)
    assert (isinstance(watched, str), True, False) == (watcher.closed, watcher.complete, watcher.stopped)


@given(HOSTILE, CUTS, st.sampled_from((("a",), ("b",), ("a", "a"), ("a", 0), ("a", 1, "a"))))
def test_hostile_watching(text: str, cuts: list[int], path: Path) -> None:
    """Law 37: a watcher reports the scanner's values of that path, also for a text that it cannot follow."""
    scanner, told, _ = fed([text])
    watcher, single = StringWatcher(path), StringWatcher(path)
    watched = "".join(watcher.feed(piece) for piece in cut(text, cuts))

    assert watched == "".join(single.feed(character) for character in text)
    assert watched.startswith(texts_of(told).get(path, ""))
    if not scanner.stopped:
        assert texts_of(told).get(path, "") == watched
