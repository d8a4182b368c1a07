r"""Cases of dialects as data: the frames of a stream, and below each frame the deltas that it gives.

A file of `tests/dialects/cases` is named for its dialect and holds one case after the other:

    # The end of a call is not the last word.
    > {"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"c1","function":{"name":"f"}}}}}
    CallSeen(0, 0, None, 'c1', 'f', begins=True)
    > {"type":"tool-call-end","index":0}
    CallClosed(0, 0, None, final=False)

A case may have several streams, divided by `--`. A frame is named `message` if its dialect usually comes as server-sent
events, and has no name otherwise; another name is before the bracket (`ping> {}`, `''> {}`). A text that is not one line
of ASCII is a literal of Python (`>> 'a\nb'`). Deltas are written as Python makes them; those after `<` come at the end of
the stream. `python -m tests.support.dialect_cases NAME` writes the deltas anew, which `git diff` then shows.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from wholecall import deltas as kinds
from wholecall.deltas import Delta
from wholecall.dialects.table import named
from wholecall.framing.frame import Frame

FOLDER = Path(__file__).parents[1] / "dialects" / "cases"
_FRAME = re.compile(r"([^\s>(]*)>(>?) (.*)")


@dataclass
class Stream:
    """The frames of one stream, each with its deltas, and the deltas of its end."""

    steps: list[tuple[Frame, list[Delta]]] = field(default_factory=list)
    last: list[Delta] = field(default_factory=list)


@dataclass
class Case:
    """Streams that show something, which the title says in one sentence."""

    title: str
    streams: list[Stream] = field(default_factory=list)


def usual_name(dialect: str) -> str:
    """Return the name of frames in the usual framing of a dialect."""
    return "message" if named(dialect).framings[0] == "sse" else ""


def read(dialect: str, text: str) -> list[Case]:
    """Return the cases of a dialect's file."""
    cases: list[Case] = []
    usual = usual_name(dialect)
    found: list[Delta] = []
    for line in text.split("\n"):
        framed = _FRAME.fullmatch(line)
        if line.startswith("# "):
            cases.append(Case(line[2:], [Stream()]))
        elif line == "--":
            cases[-1].streams.append(Stream())
        elif framed is not None:
            event, literal, data = framed.groups()
            found = []
            frame = Frame(
                {"": usual, "''": ""}.get(event, event), ast.literal_eval(data) if literal else data
            )
            cases[-1].streams[-1].steps.append((frame, found))
        elif line == "<":
            found = cases[-1].streams[-1].last
        elif line:
            found.append(_delta(line))
    return cases


def _delta(line: str) -> Delta:
    """Return the delta that a line writes: a call of its class with literals."""
    call = ast.parse(line, mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    positional = [_value(argument) for argument in call.args]
    made: Delta = getattr(kinds, call.func.id)(
        *positional, **{k.arg: _value(k.value) for k in call.keywords if k.arg}
    )
    return made


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call):
        inner = [_value(argument) for argument in node.args]
        assert isinstance(node.func, ast.Name)
        return frozenset(*inner) if node.func.id == "frozenset" else _delta(ast.unparse(node))
    if isinstance(node, (ast.List, ast.Tuple)):
        made = [_value(element) for element in node.elts]
        return made if isinstance(node, ast.List) else tuple(made)
    return ast.literal_eval(node)


def written(dialect: str, cases: list[Case]) -> str:
    """Return the text of a dialect's file."""
    usual = usual_name(dialect)
    texts = ("\n--\n".join("\n".join(_lines(stream, usual)) for stream in case.streams) for case in cases)
    return "\n".join(f"# {case.title}\n{text}\n" for case, text in zip(cases, texts, strict=True))


def _lines(stream: Stream, usual: str) -> Iterator[str]:
    for frame, found in stream.steps:
        event = "" if frame.event == usual else frame.event or "''"
        plain = frame.data.isascii() and frame.data.isprintable()
        yield f"{event}> {frame.data}" if plain else f"{event}>> {frame.data!a}"
        yield from map(_source, found)
    if stream.last:
        yield "<"
        yield from map(_source, stream.last)


def _source(value: Any) -> str:
    """Return a delta as Python would make it, without fields that have their defaults."""
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(_source, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    if isinstance(value, frozenset):
        return f"frozenset({sorted(value)!a})" if value else "frozenset()"
    if not isinstance(value, msgspec.Struct):
        return ascii(value)
    fields = msgspec.structs.fields(value)
    said = [(each.name, getattr(value, each.name), each.required) for each in fields]
    kept = [
        (name, inner, required)
        for (name, inner, required), each in zip(said, fields, strict=True)
        if required
        or inner != (each.default_factory() if each.default is msgspec.NODEFAULT else each.default)
    ]
    parts = [_source(inner) if required else f"{name}={_source(inner)}" for name, inner, required in kept]
    return f"{type(value).__name__}({', '.join(parts)})"


def translated(dialect: str, stream: Stream) -> Stream:
    """Return the stream with the deltas that the dialect gives."""
    translator = named(dialect).start()
    steps = [(frame, translator.told(frame)) for frame, _ in stream.steps]
    return Stream(steps, translator.close())


def rewrite(name: str) -> None:
    """Write the deltas of a dialect's cases anew."""
    path = FOLDER / f"{name}.txt"
    cases = read(name, path.read_text("utf-8"))
    for case in cases:
        case.streams = [translated(name, stream) for stream in case.streams]
    path.write_text(written(name, cases), "utf-8")


if __name__ == "__main__":
    for each in sys.argv[1:]:
        rewrite(each)
