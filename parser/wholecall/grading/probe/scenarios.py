"""The scenarios of the probe as data: what is asked, with which tools, which answer is asked for, and its costs.

Theory of operation. A scenario has variants, requests of one purpose; each is asked plain and streamed, and the tries
go round the variants, so that each variant is asked at least once. Few prompts serve many rules: a rule is judged on
every answer to which it applies. A variant may need an earlier answer (`follows`): its calls, to be answered, or its
length, for a limit that cuts off the last token. Levels include the ones before them.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from wholecall.grading.probe import offered
from wholecall.grading.probe.exchange import Asked, AskedCall

Level = Literal["quick", "standard", "full"]
LEVELS: tuple[Level, ...] = ("quick", "standard", "full")
TRIES: dict[Level, int] = {"quick": 3, "standard": 5, "full": 5}  # unless one says otherwise
_ENOUGH = 512  # tokens of an answer with a short call
Follows = Literal["calls", "length"]


class PastCall(msgspec.Struct, frozen=True):
    """A call of an earlier turn: its id, name, and arguments as text; any text, also one that is no JSON.

    A blank id is left out where the wire has it free; `signature` is what the wire wants back with the call.
    """

    id: str
    name: str
    arguments: str
    signature: str = ""


class PastResult(msgspec.Struct, frozen=True):
    """A result in the history: the id of its call, its text, whether it is an error, and the tool where it has no id."""

    id: str
    text: str
    is_error: bool = False
    name: str = ""


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """One request of a scenario, apart from any wire.

    Attributes:
        name: its name within the scenario; empty where there is only one.
        prompt: the user's message.
        tools: the offered tools.
        asked: the answer that is asked for.
        limit: the most tokens of the answer.
        choice: `auto`, `required`, `none`, or a tool's name; None leaves it out.
        parallel: whether parallel calls are allowed; None leaves it out.
        strict: whether the tools are marked as strict.
        usage: whether a stream is asked for its usage.
        calls: the calls of an earlier turn, in the history after the prompt.
        results: the results after them, in this order.
        follows: of the answer to the scenario's `base` it needs the calls, or the length; None if it stands alone.
        base: the scenario whose answer it needs.
        streams_only: whether it makes sense for streams alone.
        hangs_up: whether the probe leaves in the middle of the answer, and asks again.
        level: the level from which it is asked.
    """

    prompt: str
    asked: Asked
    name: str = ""
    tools: tuple[offered.OfferedTool, ...] = (offered.ECHO,)
    limit: int = _ENOUGH
    choice: str | None = None
    parallel: bool | None = None
    strict: bool = False
    usage: bool = False
    calls: tuple[PastCall, ...] = ()
    results: tuple[PastResult, ...] = ()
    follows: Follows | None = None
    base: str = ""
    streams_only: bool = False
    hangs_up: bool = False
    level: Level = "quick"


class Scenario(msgspec.Struct, frozen=True):
    """A purpose, and the requests that serve it.

    Attributes:
        id: its name.
        level: the level from which it is asked.
        about: its purpose in a few words.
        variants: its requests.
    """

    id: str
    level: Level
    about: str
    variants: tuple[Variant, ...]


def scenarios_at(level: Level, only: Iterable[str] = ()) -> tuple[Scenario, ...]:
    """Return the scenarios of a level and those below it, with their variants of these levels.

    Args:
        level: the level.
        only: patterns of ids, such as `cut` or `t*`, or of ids with a variant, `choice/strict`; none takes all.

    Returns:
        The scenarios that are left, in order. A scenario whose answer another one needs stays.
    """
    reach = LEVELS.index(level)
    within = [
        msgspec.structs.replace(scenario, variants=variants)
        for scenario in SCENARIOS
        if LEVELS.index(scenario.level) <= reach
        and (variants := tuple(one for one in scenario.variants if LEVELS.index(one.level) <= reach))
    ]
    patterns = tuple(only)
    if not patterns:
        return tuple(within)
    chosen = {scenario.id: _chosen(scenario, patterns) for scenario in within}
    needed = {one.base for variants in chosen.values() for one in variants if one.follows}
    return tuple(
        msgspec.structs.replace(scenario, variants=chosen[scenario.id] or scenario.variants)
        for scenario in within
        if chosen[scenario.id] or scenario.id in needed
    )


def _chosen(scenario: Scenario, patterns: tuple[str, ...]) -> tuple[Variant, ...]:
    return tuple(
        variant
        for variant in scenario.variants
        for name in [{scenario.id, f"{scenario.id}/{variant.name}"}]
        if any(fnmatchcase(one, pattern) for one in name for pattern in patterns)
    )


# The prompts.


def _echo(text: str) -> AskedCall:
    return AskedCall("echo", {"text": text})


def _calls(*calls: AskedCall) -> Asked:
    return Asked(outcome="calls", calls=calls)


def _words(count: int) -> str:
    """Return a text of so many characters that does not repeat soon, without any character that JSON escapes."""
    text = " ".join(f"item {number} of the list," for number in range(1, count // 10))
    return text[: count - 1] + "."


def _exactly(text: str, name: str = "echo") -> str:
    return f"Call the tool {name} once, with exactly the text between the two lines of equals signs.\n=====\n{text}\n====="


def _variant(name: str, text: str, **more: Any) -> Variant:
    """Return a request for an echo of a text."""
    return Variant(name=name, prompt=_exactly(text), asked=_calls(_echo(text)), **more)


_TIDE = "the tide is out"
_UNICODE = "naïve café, 漢字 かな 한글, 🦊👩‍👩‍👧, \u2028 line, \"quoted\" and 'single', C:\\new\\table, a new\nline, a\ttab"
_MARKERS = {
    "closer": "before </tool_call> after",
    "harmony": "before <|call|> and <|channel|>final<|message|> after",
    "mistral": '[TOOL_CALLS][{"name": "echo", "arguments": {}}]',
    "object": '{"name": "echo", "arguments": {"text": "inner"}}',
    "fence": "```json\n{}\n```",
}
_SHORT_LIST, _LIST, _LONG_LIST = _words(600), _words(6_000), _words(60_000)
_TWO = (
    "Call the tool echo twice in this one turn, in parallel: once with the text red, once with the text blue."
)
_EVENT = {
    "title": "Low tide walk",
    "at": {"day": "2026-05-04", "hour": 7},
    "guests": [
        {"name": "Ada", "role": "host", "age": 36},
        {"name": "Bo", "role": "guest", "age": None},
    ],
}
_NESTED = (
    "Call the tool nested once with this event: the title is Low tide walk, it is at the day 2026-05-04 and the hour 7. "
    "The guests are, in this order, Ada, role host, age 36, and Bo, role guest, whose age is null. There is no note: "
    "leave it out."
)

# A history with calls whose ids are not the server's own.
_PAST = (
    PastCall("call_probe_1", "echo", '{"text":"red"}'),
    PastCall("call_probe_2", "echo", '{"text":"blue"}'),
)
_RED, _BLUE = PastResult("call_probe_1", "red"), PastResult("call_probe_2", "blue")
_FAILED = PastResult("call_probe_2", "error: the line is down", is_error=True)
_CLOSED = f"{_TWO} When both results are there, answer with the word done and call nothing more."
_TEXT = Asked(outcome="text")
_REFUSAL = Asked(outcome="refusal")


def _turn(name: str, *results: PastResult) -> Variant:
    return Variant(name=name, prompt=_CLOSED, asked=_TEXT, calls=_PAST, results=results)


def _bad(name: str, calls: tuple[PastCall, ...], *results: PastResult) -> Variant:
    return Variant(name=name, prompt=_CLOSED, asked=_REFUSAL, calls=calls, results=results)


def _cut(name: str, text: str, limit: int, level: Level = "quick") -> Variant:
    asked = Asked(outcome="cut", calls=(_echo(text),))
    return Variant(name=name, prompt=_exactly(text), asked=asked, limit=limit, level=level)


def _numbers(name: str, a: str, b: str, values: dict[str, float]) -> Variant:
    prompt = (
        f"Call the tool add once, with a = {a} and b = {b}, to the last digit, and do not add them yourself."
    )
    return Variant(name=name, prompt=prompt, tools=(offered.ADD,), asked=_calls(AskedCall("add", values)))


_ONE_OF_TWO = "Call the tool echo with the text red, and the tool echo with the text blue."
_EITHER = Asked(calls=(_echo("red"), _echo("blue")))  # one of them, whichever
SCENARIOS: tuple[Scenario, ...] = (
    Scenario("one", "quick", "one obvious call", (_variant("", _TIDE),)),
    Scenario(
        "none",
        "quick",
        "tools offered, none needed",
        (Variant(prompt="How many legs has a cat? Answer with one word. No tool is needed.", asked=_TEXT),),
    ),
    Scenario(
        "two",
        "quick",
        "two calls of one tool in a turn",
        (Variant(prompt=_TWO, asked=_calls(_echo("red"), _echo("blue"))),),
    ),
    Scenario(
        "mixed",
        "quick",
        "text, then a call",
        (
            Variant(
                prompt=f"First write one short sentence that says what you will do. Then, in the same turn: {_exactly(_TIDE)}",
                asked=_calls(_echo(_TIDE)),
            ),
        ),
    ),
    Scenario(
        "noargs",
        "quick",
        "a tool without parameters",
        (
            Variant(
                prompt="Call the tool noargs once.",
                tools=(offered.NOARGS, offered.ECHO),
                asked=_calls(AskedCall("noargs", {})),
            ),
        ),
    ),
    Scenario("unicode", "quick", "a text of many scripts, quotes, backslashes", (_variant("", _UNICODE),)),
    Scenario(
        "cut",
        "quick",
        "a token limit that falls inside the arguments",
        (
            _cut("limit-40", _SHORT_LIST, 40),
            Variant(
                name="last",
                prompt=_exactly(_TIDE),
                asked=Asked(outcome="cut", calls=(_echo(_TIDE),)),
                follows="length",
                base="one",
            ),
            _cut("limit-60", _SHORT_LIST, 60),
            _cut("limit-90", _SHORT_LIST, 90),
            _cut("limit-600", _LIST, 600, "standard"),
        ),
    ),
    Scenario(
        "usage",
        "quick",
        "the counts of tokens",
        (Variant(prompt=_exactly(_TIDE), asked=_calls(_echo(_TIDE)), usage=True),),
    ),
    Scenario(
        "markers",
        "standard",
        "texts that look like a call",
        tuple(_variant(name, text) for name, text in _MARKERS.items()),
    ),
    Scenario(
        "numbers",
        "standard",
        "numbers to the last digit",
        (
            _numbers("large", "9007199254740993", "0.1", {"a": 9007199254740993, "b": 0.1}),
            _numbers("spelling", "1e21", "-0", {"a": 1e21, "b": -0.0}),
        ),
    ),
    Scenario(
        "nested",
        "standard",
        "objects in arrays, enum, null, a member left out",
        (
            Variant(
                prompt=_NESTED, tools=(offered.NESTED,), asked=_calls(AskedCall("nested", {"event": _EVENT}))
            ),
        ),
    ),
    Scenario(
        "long",
        "standard",
        "long arguments",
        (
            _variant("6k", _LIST, limit=4_000),
            _variant("60k", _LONG_LIST, limit=40_000, level="full"),
        ),
    ),
    Scenario(
        "many",
        "standard",
        "many calls, many tools, long names",
        (
            Variant(
                name="calls",
                prompt="Call the tool echo eight times in this one turn, in parallel, with the texts 1, 2, 3, 4, 5, 6, 7, 8.",
                asked=_calls(*(_echo(str(number)) for number in range(1, 9))),
            ),
            Variant(
                name="tools",
                prompt="Call the tool tool_37 once, with the text shell.",
                tools=offered.MANY_TOOLS,
                asked=_calls(AskedCall("tool_37", {"text": "shell"})),
            ),
            Variant(
                name="names",
                prompt=_exactly(_TIDE, offered.LONG_NAME.name),
                tools=(offered.LONG_NAME,),
                asked=_calls(AskedCall(offered.LONG_NAME.name, {"text": _TIDE})),
            ),
        ),
    ),
    Scenario(
        "choice",
        "standard",
        "tool_choice, parallel calls off, strict tools",
        (
            Variant(
                name="required",
                prompt="Pick blue.",
                tools=(offered.PICK,),
                asked=_calls(AskedCall("pick", {"choice": "blue"})),
                choice="required",
            ),
            Variant(
                name="named",
                prompt=_exactly(_TIDE),
                tools=(offered.ADD, offered.ECHO),
                asked=_calls(_echo(_TIDE)),
                choice="echo",
            ),
            Variant(name="none", prompt=_exactly(_TIDE), asked=_TEXT, choice="none"),
            Variant(name="auto", prompt=_exactly(_TIDE), asked=_calls(_echo(_TIDE)), choice="auto"),
            Variant(name="parallel-off", prompt=_ONE_OF_TWO, asked=_EITHER, choice="auto", parallel=False),
            Variant(name="strict", prompt=_exactly(_TIDE), asked=_calls(_echo(_TIDE)), strict=True),
        ),
    ),
    Scenario(
        "turn",
        "standard",
        "results sent back: in order, reversed, an error, an empty one, under the server's own ids",
        (
            _turn("in-order", _RED, _BLUE),
            _turn("reversed", _BLUE, _RED),
            _turn("error", _RED, _FAILED),
            _turn("empty", _RED, PastResult("call_probe_2", "")),
            Variant(name="own-ids", prompt=_CLOSED, asked=_TEXT, follows="calls", base="two"),
        ),
    ),
    Scenario(
        "bad",
        "standard",
        "histories that are wrong: refused with 4xx",
        (
            _bad("orphan", _PAST[:1], _RED, PastResult("call_probe_9", "green")),
            _bad("missing", _PAST, _RED),
            _bad("arguments", (PastCall("call_probe_1", "echo", '{"text": '),), _RED),
        ),
    ),
    Scenario(
        "stop",
        "full",
        "the client hangs up in the middle, then asks again",
        (_variant("", _LIST, limit=4_000, streams_only=True, hangs_up=True),),
    ),
)
