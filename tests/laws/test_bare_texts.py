"""JSON texts without a stream: shown as far as they go, never closed, and complete when they are."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hypothesis import example, given
from hypothesis import strategies as st

from tests.laws.test_progress import CUTS, HOSTILE, KEPT, SOUP, STYLES, TEXTS, begins, cut
from tests.support.turns import canonical, values
from wholecall import (
    Limits,
    PartialJson,
    PartialJsonParser,
    json_state,
    parse_arguments,
    parse_output,
    partial_json,
)
from wholecall.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

# Values of any type, in any spelling that `json.dumps` has.
ANY = st.builds(
    lambda value, style, escape: json.dumps(value, ensure_ascii=escape, separators=style),
    values,
    STYLES,
    st.booleans(),
)
SPACED = st.builds(
    "".join,
    st.tuples(st.sampled_from(("", "\ufeff", " \n", " \ufeff\t")), ANY, st.sampled_from(("", "\r\n"))),
)
SCALARS = st.text("-+.0123eEtrufalsn ", max_size=8)
WILD = st.one_of(HOSTILE, SCALARS, SCALARS.map("[".__add__), SOUP.map("[".__add__), SPACED)
SPACE = " \t\r\n"


def grown(pieces: list[str]) -> list[PartialJson]:
    """Return the state before the text, after each of its pieces, and at its end."""
    parser = PartialJsonParser()
    return [parser.feed(""), *map(parser.feed, pieces), parser.close()]


def plain(partial: PartialJson) -> Any:
    """Return a partial value as JSON builds it."""
    value = partial.value
    return (
        list(value)
        if isinstance(value, tuple)
        else dict(value)
        if not isinstance(value, (str, int, float, type(None)))
        else value
    )


def goes_on(one: PartialJson, other: Any) -> bool:
    """Return whether a partial value is a beginning of a value."""
    nothing_yet = plain(one) is None and one.state != "complete"
    return nothing_yet or begins(plain(one), one.open_path, other)


def known(partial: PartialJson) -> tuple[Any, ...]:
    """Return the content of a partial value."""
    return (
        canonical(plain(partial)),
        partial.closed,
        partial.open_path,
        partial.state,
        partial.reason,
        partial.offset,
    )


def unmarked(text: str) -> str:
    """Return a text without the byte order mark that may come before its value."""
    rest = text.lstrip(SPACE)
    return rest[1:] if rest.startswith("\ufeff") else text


def is_json(text: str) -> bool:
    """Return whether the standard library reads a text, by the grammar alone."""
    try:
        json.loads(unmarked(text), parse_constant=lambda name: int(f"no {name}"))
    except ValueError:
        return False
    return True


def completions(text: str) -> Iterator[str]:
    """Yield a text with its possible completions: of the token at its end, and then of the open brackets."""
    closers, inside, escaped = "", False, False
    for character in text:
        if inside:
            inside = escaped or character != '"'
            escaped = not escaped and character == "\\"
        elif character in "{[":
            closers = "]}"[character == "{"] + closers
        elif character in "}]":
            closers = closers[1:]
        else:
            inside = character == '"'
    strings = ('"', *(f'{rest}"' for rest in ("n", "0", "00", "000", "0000")))
    others = ("", "0", "e", "ue", "rue", "l", "ll", "ull", "se", "lse", "alse", '"k"')
    for rest in strings if inside else others:
        for member in ("", ":0"):
            yield text + rest + member + closers


@given(SPACED, CUTS)
def test_values_only_grow(text: str, cuts: list[int] | int) -> None:
    """Law 128: each partial value is a beginning of the next value, and the last is the text's value."""
    final = json.loads(unmarked(text))
    partials = grown(cut(text, cuts))

    for one, other in pairwise(partials):
        assert goes_on(one, plain(other)), (one, other)
        assert goes_on(one, final)
    assert ("complete", None, None) == (partials[-1].state, partials[-1].reason, partials[-1].offset)
    assert canonical(final) == canonical(plain(partials[-1]))


@given(SPACED)
def test_complete_is_not_said_too_early_or_too_late(text: str) -> None:
    """Law 128: at every cut a text is complete if it is JSON without a possible continuation, else incomplete."""
    *partials, last = grown(list(text))

    for end, partial in enumerate(partials):
        ends = not text[:end].endswith(tuple("0123456789els")) or text[end - 1 :].startswith(tuple(SPACE))
        whole = is_json(text[:end]) and ends
        assert ("complete" if whole else "incomplete") == partial.state, text[:end]
    assert last.state == "complete"


@given(WILD, CUTS)
@example('{"a":1,"a":2,"b":"x"}', 1)
@example("[1.e5]", [3]).via("no digit after the point")
@example("[-]", [2]).via("a minus alone")
@example("nullx", 1)
@example('{"a":"\\ud83d\\ude0', [12])
@example("[1e999, 2]", 1)
def test_whatever_comes_nothing_is_taken_back(text: str, cuts: list[int] | int) -> None:
    """Law 128: for any text, shown values stay, and an invalid text stays as it is."""
    partials = grown(cut(text, cuts))

    for one, other in pairwise(partials):
        assert goes_on(one, plain(other)), (one, other)
        assert one.state != "invalid" or known(one) == known(other)


@given(WILD, CUTS)
def test_what_is_known_does_not_depend_on_the_cut(text: str, cuts: list[int] | int) -> None:
    """Law 128: value, state, reason and offset are those of the text, however it came."""
    whole = partial_json(text)

    for pieces in (cut(text, cuts), list(text)):
        assert known(whole) == known(grown(pieces)[-1])
    assert whole.state == json_state(text)


@given(WILD)
@example('{"a":1,"a":1.0}')
@example("1e999")
@example('"\\ud83d"').via("half of a pair is JSON")
@example("\ufeff\ufeff1")
def test_complete_is_what_the_strict_reading_reads(text: str) -> None:
    """Law 128: a text is complete where it is read strictly as an answer of any type, and it is the same value."""
    partial = partial_json(text)
    read = parse_output(unmarked(text), "json", policy=KEPT)

    if read.type != "output":
        assert partial.state != "complete" or not unmarked(text).strip()
        assert partial.reason in {None, "invalid_json", read.reason}
        return
    assert (read.status == "exact") == (partial.state == "complete")
    if read.status == "exact" and text.isascii():  # adjacent halves of a pair are one character in this test
        assert canonical(read.decoded) == canonical(plain(partial))


@given(WILD)
@example("[01")
@example("[1.e5]")
@example("[1e+]")
@example("-")
@example('{"a":tru')
@example('"\\u12')
@example('{"\\')
def test_incomplete_can_be_completed(text: str) -> None:
    """Law 128: a text is incomplete if more text makes it JSON; no continuation repairs the one character at fault."""
    partial = partial_json(text)

    if partial.state == "incomplete":
        assert any(map(is_json, completions(text)))
    elif partial.reason == "invalid_json":
        assert partial.offset is not None
        assert not any(map(is_json, completions(text[: partial.offset + 1])))
        assert json_state(text[: partial.offset]) != "invalid"


@given(TEXTS)
def test_a_cut_text_is_no_arguments(text: str) -> None:
    """Law 128: cut arguments are never executable; the shown value is not a dict, and names no arguments."""
    for end in range(1, len(text)):
        partial = partial_json(text[:end])
        assert parse_arguments(text[:end]).arguments is None
        assert ("incomplete", False) == (partial.state, isinstance(partial.value, dict))
        assert not hasattr(partial, "arguments")


@given(st.one_of(ANY, HOSTILE), CUTS, st.integers(0, 40))
@example('"\u00e9\u00e9"', 1, 4)
def test_the_limit_is_at_one_place(text: str, cuts: list[int] | int, most: int) -> None:
    """Law 128: text beyond the limit of bytes is not read, however it came, and the rest is as before."""
    limits = Limits(max_arguments_bytes=most)
    parser = PartialJsonParser(limits=limits)
    for piece in cut(text, cuts):
        parser.feed(piece)
    last = parser.close()

    assert known(last) == known(partial_json(text, limits=limits))
    assert last.state == json_state(text, limits=limits)
    if last.reason == "arguments_too_large":
        assert last.offset is not None
        fits = text[: last.offset]
        assert (
            len(fits.encode("utf-8", "surrogatepass"))
            <= most
            < len(text[: last.offset + 1].encode("utf-8", "surrogatepass"))
        )
        assert canonical(plain(grown([fits])[-2])) == canonical(plain(last))


@given(WILD)
@example('{"a":1,}')
@example("")
@example('{"a":"x')
@example('["\\ud83d')
def test_the_command_writes_what_the_functions_return(text: str) -> None:
    """Law 128: `wholecall args` writes the arguments of `parse_arguments` and nothing else, and `--partial` the value so far."""
    text = text.encode("utf-8", "replace").decode()
    verdict, partial = parse_arguments(text), partial_json(text)
    nothing = plain(partial) is None and not partial.complete

    assert run([], text) == ((1, []) if verdict.arguments is None else (0, [canonical(verdict.arguments)]))
    assert run(["--partial"], text) == (
        int(not partial.complete),
        [] if nothing else [canonical(plain(partial))],
    )


def run(options: list[str], text: str) -> tuple[int, list[str]]:
    """Return the exit code of `wholecall args`, and the values that it wrote."""
    out = io.StringIO()
    with TemporaryDirectory() as folder, redirect_stdout(out), redirect_stderr(io.StringIO()):
        file = Path(folder) / "text"
        file.write_bytes(text.encode())
        code = main(["args", *options, str(file)])
    return code, [canonical(json.loads(line)) for line in out.getvalue().split("\n") if line]
