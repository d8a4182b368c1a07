"""Marks: the tests by which a frame is decisive for a dialect, as data.

Theory of operation. A dialect has rows of marks (`wholecall.dialects.detect`). A row maps paths to tests, and a frame is
decisive for the dialect if all tests of one row hold. The row

    {"type": {"message_stop", "content_block_*"}, "message.timestamp": UNSAID}

holds for an event whose type is one of these words (`*` is any ending), and whose message gives no time. A path names
members, `choices[0].text`; `a|b` is any of several paths, `<name>` the event's name, `<frame>` the frame itself. A path
that leads nowhere passes only negative tests. The rows of a dialect become the source of one function, when the first
frame is asked about; most programs never need more than two or three. The row above becomes

    if isinstance(at := payload.get('type'), str) and (at in {'message_stop'} or begins(at, ('content_block_',))):
     if not (isinstance(at := payload.get('message'), dict) and (at.get('timestamp') is not None)):
      return True
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import groupby, pairwise
from typing import Any, Final, NamedTuple, Union

Detect = Callable[[Mapping[str, Any], str], bool]  # is given the decoded object and the event's name

NAME: Final = "<name>"
FRAME: Final = "<frame>"


class Mark(NamedTuple):
    """A test of the value at a path, as source; a negative one holds where the source does not."""

    source: str  # an expression of `{value}`, or of the `{object}` that may have it under `{key}`
    negative: bool = False
    function: Callable[[Any], bool] | None = None  # is called by the source


Test = Union[Mark, str, AbstractSet[str]]  # a word, or several of which one may be there
Row = Mapping[str, Test]
Rows = tuple[Row, ...]

TEXT: Final = Mark("isinstance({value}, str)")
OBJECT: Final = Mark("isinstance({value}, dict)")
LIST: Final = Mark("isinstance({value}, list)")
TRUTH: Final = Mark("isinstance({value}, bool)")
FILLED: Final = Mark("isinstance(at := {value}, dict) and at")
EMPTY: Final = Mark("{value} == []")
NULL: Final = Mark("{key} in {object} and {value} is None")
SAID: Final = Mark("{value} is not None")
UNSAID: Final = SAID._replace(negative=True)
HERE: Final = Mark("{key} in {object}")  # null included
ABSENT: Final = HERE._replace(negative=True)

# The usual framing of a dialect comes first.
SSE: Final = ("sse", "jsonl")
LINES: Final = ("jsonl", "sse")
BINARY: Final = ("eventstream", "jsonl", "sse")
AGENT: Final = ("jsonl", "sse", "jsonarray")
SERVER: Final = ("sse", "jsonl", "jsonarray")


class Entry(NamedTuple):
    """A dialect of the table: its translator, its framings, and its marks.

    Attributes:
        translator: its class, by the path below `wholecall.dialects`; imported when the first stream starts.
        framings: the framings in which it comes, by their names.
        rows: its marks, of which one row makes a frame decisive.
        weak: members that other dialects may have as well.
        besides: members that its frames have, and that no row asks for.
    """

    translator: str
    framings: tuple[str, ...]
    rows: Rows
    weak: str = ""
    besides: str = ""


def no(test: Test) -> Mark:
    """Return the test that holds where this one does not."""
    return mark_of(test)._replace(negative=True)


def holds(function: Callable[[Any], bool]) -> Mark:
    """Return the test that is a function, for the few that would read worse as data."""
    return Mark(f"{function.__name__}({{value}})", function=function)


def mark_of(test: Test) -> Mark:
    """Return the mark that a test is, which a row may write as one word or as several."""
    if isinstance(test, Mark):
        return test
    words = {test} if isinstance(test, str) else test
    begun = tuple(sorted(word[:-1] for word in words if word.endswith("*")))
    whole = sorted(word for word in words if not word.endswith("*"))
    if len(whole) == len(words) == 1:
        return Mark(f"{{value}} == {whole[0]!r}")
    ways = ["at in {{" + str(whole)[1:-1] + "}}"] * bool(whole) + [f"begins(at, {begun})"] * bool(begun)
    return Mark(f"isinstance(at := {{value}}, str) and ({' or '.join(ways)})")


def decisive(rows: Rows) -> Detect:
    """Return the function that tells whether one of these rows holds for a frame; its first call compiles it."""
    return partial(_asked, rows, [])


def _asked(rows: Rows, made: list[Detect], payload: Mapping[str, Any], event: str) -> bool:
    if not made:
        names: dict[str, Any] = {"begins": _begins}
        exec(compile(source_of(rows, names), "<marks>", "exec"), names)  # noqa: S102 - made of our own tables
        made.append(names["detect"])
    return made[0](payload, event)


def _begins(word: str, beginnings: tuple[str, ...]) -> bool:
    return word.startswith(beginnings) and word not in beginnings


def source_of(rows: Rows, names: dict[str, Any]) -> str:
    """Return the source of the function for some rows, and add the functions that it calls to the names."""
    block = _block([list(row.items()) for row in rows], " ", names)
    return "\n".join(["def detect(payload, event):", *block, " return False"])


def _block(rows: list[list[tuple[str, Test]]], indent: str, names: dict[str, Any]) -> Iterator[str]:
    """Yield the lines for rows; neighbours that begin with the same test share it."""
    for first, together in groupby(rows, lambda row: row[0] if row else None):
        if first is None:
            yield f"{indent}return True"
        else:
            path, test = first
            yield f"{indent}if {_condition(path, test, names)}:"
            yield from _block([row[1:] for row in together], f"{indent} ", names)


def _condition(path: str, test: Test, names: dict[str, Any]) -> str:
    mark = mark_of(test)
    if mark.function is not None:
        names[mark.function.__name__] = mark.function
    found = " or ".join(_way(way, mark) for way in path.split("|"))
    return f"not ({found})" if mark.negative else found


def _way(path: str, mark: Mark) -> str:
    """Return the expression for one path, whose every step is taken from a value of the right type."""
    if path in (NAME, FRAME):
        return mark.source.format(value="event" if path == NAME else "payload")
    steps = [int(step) if step.lstrip("-").isdigit() else step for step in re.findall(r"[^.\[\]]+", path)]
    at, guards = "payload", []
    for step, following in pairwise(steps):
        kind = "dict)" if isinstance(following, str) else "list) and at"
        guards.append(f"isinstance(at := {_taken(at, step)}, {kind}")
        at = "at"
    found = mark.source.format(value=_taken(at, steps[-1]), key=repr(steps[-1]), object=at)
    return " and ".join([*guards, f"({found})"])


def _taken(at: str, step: str | int) -> str:
    return f"{at}.get({step!r})" if isinstance(step, str) else f"{at}[{step}]"
