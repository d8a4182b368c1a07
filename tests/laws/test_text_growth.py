"""Law 84: reading is linear in the text, for any content; steps and copied characters are counted, not seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import pytest

from tests.support import share
from tests.text.reading import ALL_WEAK, EVERY, TOOLS, begun, literals, read, spelled
from wholecall.text.formats import FORMATS
from wholecall.text.source import Source

MOST = 2.3  # work(2n) / work(n); quadratic is 4
N = 200
PIECE = 7
_PART = 4096  # characters; more than all that a reader looks ahead
_NESTED = 300  # more than the interpreter's stack takes
_STEADY = 1.25  # 1 if linear, 5/3 if quadratic

# The repeated part of a hostile text, in the format that it costs most.
MORE: dict[str, tuple[str, Callable[[int], str]]] = {
    "white space": ("auto", lambda n: " \n" * n),
    "white space behind an opener": ("hermes", lambda n: "<tool_call>" + " \n" * n + "x"),
    "white space behind closers": ("qwen_xml", lambda n: "<function=f>\n<parameter=a>" + ("</parameter>" + " " * 40) * n),
    "closers without continuation": ("qwen_xml", lambda n: "<tool_call><function=f>\n<parameter=a>" + "</parameter>x" * n),
    "honest closers": ("qwen_xml", lambda n: "<tool_call><function=f>\n<parameter=a>" + "</parameter> or so " * n + "</parameter></function></tool_call>"),
    "elements in a value": ("qwen_xml", lambda n: "<tool_call><function=f>\n<parameter=a>x" + "<parameter=a>y</parameter>x" * n + "</parameter></function></tool_call>"),
    "a tag that does not end": ("qwen_xml", lambda n: "<tool_call><function=f>\n<parameter=a>x<" + "word" * n + "</function></tool_call>"),
    "calls' closers without continuation": ("qwen_xml", lambda n: "<function=f>\n<parameter=a>" + "</function>x" * n),
    "heads in a value": ("qwen_xml", lambda n: "<tool_call><function=f>\n<parameter=a>" + "\n<parameter=" * n),
    "parameters": ("qwen_xml", lambda n: "<function=f>\n" + "".join(f"<parameter=a{i}>1</parameter>" for i in range(n))),
    "pairs": ("glm", lambda n: "<tool_call>f" + "<arg_key>a</arg_key><arg_value>1</arg_value>" * n),
    "pairs that do not follow": ("glm", lambda n: "<tool_call>f<arg_key>a</arg_key><arg_value>" + "</arg_value><arg_key>" * n),
    "closers in a body": ("cwm", lambda n: "<tool: f>\n" + "echo </tool> x\n" * n + "</tool>"),
    "openers in a body": ("cwm", lambda n: "<tool: f>\n" + "x <tool: f>\n" * n),
    "bodies in doubt": ("cwm", lambda n: "<tool: f>\nx\n</tool>\ny\n" * n),
    "leads": ("mirothinker", lambda n: "<use_mcp_tool><server_name>a</server_name>x" * n),
    "half quotes": ("hyperclovax", lambda n: '<tool_call>f\n<arg_key>a</arg_key><arg_value>"x</arg_value></tool_call>' * n),
    "weak calls by name": ("granite_pythonic", lambda n: "f(a=1)\n" * n + "x"),
    "brackets": ("hermes", lambda n: "<tool_call>" + '{"a":[' * n),
    "elements": ("hermes", lambda n: "<tool_call>[" + '{"name":"f"},' * n + "]</tool_call>"),
    "members": ("hermes", lambda n: "<tool_call>{" + "".join(f'"a{i}":1,' for i in range(n)) + "}</tool_call>"),
    "apostrophes": ("hermes", lambda n: "<tool_call>{" + "it's " * n),
    "escapes": ("hermes", lambda n: '<tool_call>{"a": "' + '\\"' * n),
    "calls of Python": ("lfm2", lambda n: "<|tool_call_start|>[" + "f(a=1), " * n + "]<|tool_call_end|>"),
    "quotes of Python": ("lfm2", lambda n: "<|tool_call_start|>[f(a=" + "'''" * n),
    "relaxed strings": ("gemma4", lambda n: "<|tool_call>call:f{" + 'a:<|"|>x<|"|>,' * n),
    "elements of elements": ("minimax_m3", lambda n: ']<]minimax[>[<invoke name="f">' + "]<]minimax[>[<a>" * n),
    "fences": ("auto", lambda n: "```\n" * n),
    "backticks": ("auto", lambda n: "a`` `" * n),
    "weak beginnings": ("auto", lambda n: '{"name": "f", "arguments": ' * n),
    "weak beginnings by line": ("auto", lambda n: '[{"name": "f"},\n' * n),
    "weak calls": ("auto", lambda n: '{"name": "f", "arguments": {}}\n' * n + "x"),
    "weak calls of Python": ("auto", lambda n: "[f(a=1)]\n" * n + "x"),
    "actions": ("auto", lambda n: "Action: f\n" * n),
    "headers": ("harmony", lambda n: "<|start|>assistant<|channel|>" * n),
    "messages": ("harmony", lambda n: "<|channel|>final<|message|>x" * n),
    "ends in a body": ("harmony", lambda n: "<|channel|>final<|message|>" + "<|end|>x" * n),
    "calls in reasoning": ("hermes", lambda n: "<think>" + "<tool_call>{}" * n),
    "reasoning": ("hermes", lambda n: "<think>x</think>" * n),
    "wrappers with noise": ("kimi_k2", lambda n: "<|tool_calls_section_begin|> x " * n),
    "owed closers": ("anthropic", lambda n: '<function_calls><invoke name="f">' * n),
    "letters": ("functools", lambda n: "func tools " * n),
}  # fmt: skip


class CountingSource(Source):
    """Counts the characters that it copies."""

    copied = 0

    def append(self, piece: str) -> None:
        """Take one more piece."""
        super().append(piece)
        self.copied += len(self.window_at_cursor()[0])

    def text(self, start: int, end: int) -> str:
        """Return the text between two places."""
        found = super().text(start, end)
        self.copied += len(found)
        return found

    def _reach(self, place: int) -> None:
        super()._reach(place)
        self.copied += len(self.window_at_cursor()[0])


class Worker:
    """Reads with an engine, and counts its steps: calls, and characters that were copied."""

    def __init__(self, name: str) -> None:
        self.name, self.engine = name, begun(name, tools=TOOLS, weak=ALL_WEAK)
        self.engine.source = self.source = CountingSource(64)
        self.calls = 0

    @property
    def steps(self) -> float:
        """All steps so far."""
        return self.calls + self.source.copied / 16

    @contextmanager
    def _counted(self) -> Iterator[None]:
        def count(_frame: Any, event: str, _arg: Any) -> None:
            self.calls += event in {"call", "c_call"}

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            yield
        finally:
            sys.setprofile(before)

    def feed(self, text: str, size: int) -> None:
        """Read a text in pieces."""
        with self._counted():
            for at in range(0, len(text), size):
                self.engine.feed(text[at : at + size])

    def close(self) -> None:
        """Read the end."""
        with self._counted():
            self.engine.close("clean")

    def closing(self) -> float:
        """Return the steps that the end would take now."""
        other = Worker(self.name)
        other.engine.restore(self.engine.saved())
        before = other.steps
        other.close()
        return other.steps - before


def work(name: str, text: str, size: int) -> float:
    """Return the steps that it takes to read a text in pieces."""
    worker = Worker(name)
    worker.feed(text, size)
    worker.close()
    return worker.steps


@pytest.mark.sampled(33)
@pytest.mark.parametrize("what", MORE)
@pytest.mark.parametrize("size", [PIECE, 10**9])
def test_reading_is_linear(what: str, size: int) -> None:
    """A hostile text of twice the length is about twice the work."""
    name, make = MORE[what]
    work(name, make(N), size)  # so that expressions are compiled

    assert MOST > work(name, make(2 * N), size) / work(name, make(N), size)


def growth(name: str, unit: str, size: int) -> float:
    """Return how much more the third part of a long text costs than the second; the first has the bounded costs.

    A part costs what it takes to read it, and the difference that it makes to the cost of the end.
    """
    text = unit * max(_PART // len(unit), 1)
    worker, costs = Worker(name), list[float]()
    for _ in range(3):
        worker.feed(text, size)
        worker.closing()  # so that expressions are compiled
        costs.append(worker.steps + worker.closing())
    first, second, third = costs
    return (third - second) / (second - first)


def own() -> dict[str, list[str]]:
    """Return by format the markers that no format before it has."""
    seen = set[str]()
    found: dict[str, list[str]] = {}
    for name in FORMATS:
        found[name] = [literal for literal in literals(EVERY[name]) if literal not in seen]
        seen.update(found[name])
    return found


OWN = own()


@pytest.mark.slow
@pytest.mark.parametrize("name", share.every(7, list(FORMATS), "markers without end"))
def test_markers_without_end_are_linear(name: str) -> None:
    """The same for every marker of every format, repeated, alone and with words after it."""
    for literal in share.every(2, OWN[name], name):
        for unit in (literal, f"{literal}f\n", f"\n{literal} {{"):
            assert growth(name, unit, PIECE) < _STEADY, unit


@pytest.mark.sampled(15)
@pytest.mark.parametrize("name", FORMATS)
def test_the_markers_of_a_format_are_linear_together(name: str) -> None:
    """The markers of a format, one after the other, over and over, cost in proportion to their number."""
    assert growth(name, "f\n".join(OWN[name] or ["{"]), PIECE) < _STEADY


@pytest.mark.sampled(31)
@pytest.mark.parametrize("name", [name for name, format_ in EVERY.items() if format_.think])
def test_reasoning_that_begins_in_reasoning_is_read(name: str) -> None:
    """Reasoning that never closes, and holds a call's opener before more reasoning, over and over, is read to its end."""
    for opener, record in product(dict(EVERY[name].think), EVERY[name].calls):
        text = f"{opener}f\n{record.opens[0]}" * _NESTED
        assert text == spelled(read(name, [text], tools=TOOLS))


@pytest.mark.parametrize(("name", "unit"), [("kimi_k3", "<|open|>call "), ("harmony", "<|channel|>")])
def test_what_is_looked_for_far_ahead_is_linear(name: str, unit: str) -> None:
    """Heads and headers that do not end are given up after a bounded part of the text, again and again."""
    assert growth(name, unit, PIECE) < _STEADY
