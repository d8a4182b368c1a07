"""The claim: reading calls in text costs little compared with the text, and is linear for any text.

Plain text is measured against the floor of any reader: take a piece, look for one marker, build the event.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.claims import Claim, Comparison, Contender, Growth, Ratio
from benchmarks.texts import KIB, prose
from wholecall import Limits
from wholecall.calls.arguments.lexical import Scan
from wholecall.text.engine import TextEngine
from wholecall.text.formats import AUTO
from wholecall.text.outputs import Output, Shown, Written
from wholecall.text.rules import rules_of
from wholecall.text.tools import Declared

_PIECES = 20_000
_LARGE_BUDGET = 0.7
_SPLIT = 4  # characters of a piece
_RULES = rules_of(AUTO, frozenset())


class _Text(NamedTuple):
    """A text to be read in pieces, after a beginning that is read first."""

    text: str
    size: int
    begun: str = ""


def _plain(size: int) -> Callable[[int], _Text]:
    return lambda part: _Text(prose(random.Random(1), _PIECES // part * size), size)


def _engine() -> TextEngine:
    return TextEngine(_RULES, Declared(None), Limits())


def _read(subject: _Text) -> list[Output]:
    """Read all pieces; return the last outputs."""
    engine = _engine()
    engine.feed(f"x{subject.begun}")
    feed, text, size = engine.feed, subject.text, subject.size
    out: list[Output] = []
    for at in range(0, len(text), size):
        out = feed(text[at : at + size])
    return out


def _floor(subject: _Text) -> list[Output]:
    text, size = subject.text, subject.size
    out: list[Output] = []
    for at in range(0, len(text), size):
        piece = text[at : at + size]
        if piece.find("<") < 0:
            out = [Shown(piece)]
    return out


def _shows_the_end(subject: _Text, out: Sequence[Output]) -> bool:
    return bool(out) and isinstance(out[-1], Shown) and subject.text.endswith(out[-1].text)


def _against_floor(size: int, budget: float) -> Comparison:
    contenders = {
        "wholecall": Contender(_read, _shows_the_end),
        "the floor": Contender(_floor, _shows_the_end),
    }
    what = f"text in pieces of {size} characters"
    return Comparison(what, _plain(size), contenders, (Ratio("wholecall", "the floor", budget),))


_INSIDE = {
    "a JSON string": '<tool_call>{"name":"f","arguments":{"a":"',
    "a raw value": "<tool_call><function=f>\n<parameter=a>\n",
    "a pair": "<tool_call>f<arg_key>a</arg_key><arg_value>",
    "a string of Python": "<|tool_call_start|>[f(a='",
    "elements": ']<]minimax[>[<invoke name="f">',
}


def _against_plain(what: str, make: Callable[[_Text], _Text]) -> Comparison:
    """Compare pieces of some text with as many plain pieces."""

    def subject(part: int) -> tuple[_Text, _Text]:
        plain = _plain(_SPLIT)(part)
        return make(plain), plain

    contenders = {
        what: Contender(lambda pair: _read(pair[0]), lambda _, out: not out or isinstance(out[-1], Shown)),
        "plain text": Contender(lambda pair: _read(pair[1]), lambda pair, out: _shows_the_end(pair[1], out)),
    }
    return Comparison("pieces of 4 characters", subject, contenders, (Ratio(what, "plain text", 8),))


def _html(plain: _Text) -> _Text:
    unit = "<p>alder <b>basin</b> cedar <i>d</i> "
    return _Text(unit * (len(plain.text) // len(unit)), _SPLIT)


def _within(begun: str) -> Callable[[_Text], _Text]:
    return lambda plain: _Text(plain.text, plain.size, begun)


def _body(part: int) -> str:
    items = [{"a": number, "b": "x y"} for number in range(3000 // part)]
    value = {"text": prose(random.Random(1), 200 * KIB // part), "items": items}
    return json.dumps({"name": "f", "arguments": value})


def _call(body: str) -> list[Output]:
    return _engine().feed(f"<tool_call>{body}</tool_call>")


def _scanned(body: str) -> bool:
    scan = Scan()
    scan.feed(body)
    return scan.complete


_JSON = Comparison(
    "a JSON body in one piece",
    _body,
    {
        "wholecall": Contender(_call, lambda _, out: isinstance(out[-1], Written)),
        "the scan of its brackets": Contender(_scanned, lambda _, complete: bool(complete)),
    },
    (Ratio("wholecall", "the scan of its brackets", 5),),
)

# Parts that hostile texts repeat.
_MORE: dict[str, tuple[int, Callable[[int], str]]] = {
    "openers": (2000, lambda n: "<tool_call>" * n),
    "closers in a value": (1000, lambda n: "<tool_call><function=f>\n<parameter=a>" + "</parameter>x" * n),
    "open brackets": (4000, lambda n: "<tool_call>" + '{"a":[' * n),
    "fences": (4000, lambda n: "```\n" * n),
    "parameters": (
        600,
        lambda n: "<tool_call><function=f>" + "".join(f"<parameter=a{i}>1</parameter>" for i in range(n)),
    ),
    "headers": (1000, lambda n: "<|start|>assistant<|channel|>" * n),
    "white space": (8000, lambda n: "<tool_call>" + "\n " * n),
    "calls in reasoning": (1000, lambda n: "<think>" + "<tool_call>{}" * n),
}


def _growth(what: str) -> Growth:
    n, make = _MORE[what]

    def read(text: str) -> list[Output]:
        engine = _engine()
        for at in range(0, len(text), 7):
            engine.feed(text[at : at + 7])
        return engine.close("length")

    contender = Contender(read, lambda _, out: not any(isinstance(output, Written) for output in out))
    return Growth(f"{what} in text", make, n, len, contender)


_LARGE = Comparison(
    "a large piece of plain text",
    lambda part: prose(random.Random(1), 800 * KIB // part),
    {
        "wholecall": Contender(
            lambda text: _engine().feed(text), lambda text, out: isinstance(out[-1], Shown) and bool(text)
        ),
        "a search for brackets and lines": Contender(
            lambda text: len(re.findall(r"[<\[{`]|\n", text)), lambda text, n: n >= text.count("\n")
        ),
    },
    (Ratio("wholecall", "a search for brackets and lines", _LARGE_BUDGET),),
)

CLAIMS: list[Claim] = [
    _against_floor(4, 3),
    _against_floor(64, 5),
    *(_against_plain(f"inside {what}", _within(begun)) for what, begun in _INSIDE.items()),
    _against_plain("HTML", _html),
    _JSON,
    _LARGE,
    *map(_growth, _MORE),
]


def test_text(race: Callable[[], Any]) -> None:
    """Every contender reads its text right."""
    race()
