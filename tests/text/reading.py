"""Helpers to read a text: an engine of a format, its output in a form that no split changes, and soups of markers."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from hypothesis import strategies as st

from wholecall.calls.tools.tool import Tools
from wholecall.limits import Limits
from wholecall.text.engine import TextEngine
from wholecall.text.formats import AUTO, FORMATS
from wholecall.text.options import InFence, InReasoning
from wholecall.text.outputs import Markup, Output, Shown, Unread, Written
from wholecall.text.records import Block, Body, Format, Nested, Params, Tag, Weak
from wholecall.text.rules import rules_of
from wholecall.text.source import Ended
from wholecall.text.tools import Declared

EVERY: Final[Mapping[str, Format]] = {**FORMATS, AUTO.name: AUTO}
ALL_WEAK: Final[frozenset[Weak]] = frozenset(
    {"json", "python", "calls", "fenced", "relaxed", "action", "react"}
)
TOOLS: Final[Mapping[str, Any]] = {
    "f": {"type": "object", "properties": {"a": {"type": "string"}}},
    "get.weather": None,
    "g": None,
}


def begun(
    name: str,
    *,
    tools: Mapping[str, Any] | None = None,
    weak: frozenset[Weak] | None = None,
    prompt: str = "",
    window: int = 4096,
    limits: Limits | None = None,
    in_reasoning: InReasoning = "unclosed",
    in_fence: InFence = "text",
) -> TextEngine:
    """Return a new engine of a format; of `auto` no weak shape counts unless asked for."""
    form = EVERY[name]
    shapes = frozenset(form.weak if tools is not None else ()) if weak is None else weak
    declared = Declared(None if tools is None else cast("Tools[Any]", Schemas(tools)))
    rules, bounds = rules_of(form, shapes), limits or Limits()
    engine = TextEngine(rules, declared, bounds, prompt=prompt, in_reasoning=in_reasoning, in_fence=in_fence)
    engine.source.window = window
    return engine


class Schemas(dict[str, Any]):
    """Tools as the engine asks for them: peers' schemas that `Tools` refuses are among them."""

    def schema_of(self, name: str) -> Any:
        """Return the schema of a tool."""
        return self[name]


def read(name: str, pieces: Iterable[str], ended: Ended = "clean", **options: Any) -> list[Output]:
    """Return an engine's events for a text in pieces."""
    engine = begun(name, **options)
    return [output for piece in pieces for output in engine.feed(piece)] + engine.close(ended)


def merged(outputs: Iterable[Output]) -> list[Output]:
    """Return outputs with neighbours of one kind joined, unless they are calls or drops."""
    found: list[Output] = []
    for output in outputs:
        last = found[-1] if found else None
        if isinstance(output, Shown) and isinstance(last, Shown) and last.reasoning == output.reasoning:
            found[-1] = Shown(last.text + output.text, output.reasoning)
        elif isinstance(output, Markup) and isinstance(last, Markup):
            found[-1] = Markup(last.text + output.text, last.dangling or output.dangling)
        else:
            found.append(output)
    return found


def spelled(outputs: Iterable[Output]) -> str:
    """Return the text of which these outputs are the spans."""
    return "".join(
        output.source if isinstance(output, (Written, Unread)) else output.text for output in outputs
    )


def calls(outputs: Iterable[Output]) -> list[tuple[str, str]]:
    """Return name and argument text of the calls."""
    return [(output.name, output.arguments) for output in outputs if isinstance(output, Written)]


def visible(outputs: Iterable[Output]) -> str:
    """Return the text that is shown to the user."""
    return "".join(output.text for output in outputs if isinstance(output, Shown) and not output.reasoning)


def cut(text: str, rng: random.Random) -> list[str]:
    """Return a text in random pieces, short ones more often."""
    pieces: list[str] = []
    at = 0
    while at < len(text):
        size = rng.choice((1, 1, 2, 3, 7, 20, 90))
        pieces.append(text[at : at + size])
        at += size
    return pieces


# --- Soups ---------------------------------------------------------------------------------------------------


def _of_params(params: Params | None) -> list[str]:
    if params is None:
        return []
    pair = (params.key_closes, params.value_opens, params.type_opens, params.type_closes)
    return [*params.opens, *params.closes, *pair, params.gt]


def literals(form: Format) -> list[str]:
    """Return every literal of a format."""
    found = [*form.noise, *form.imply, *(literal for pair in form.think for literal in pair)]
    for record in form.calls:
        found += [*record.opens, *record.closes]
        if isinstance(record, Block):
            found += [*record.seps, *record.skip_prefix, record.id_sep, *_of_params(record.pairs)]
            found += [*record.lead, *record.tails]
        elif isinstance(record, Body):
            found.append(record.gt)
        elif isinstance(record, Tag):
            found += [record.gt, *_of_params(record.params)]
        elif isinstance(record, Nested):
            found.append(record.token)
    if form.messages is not None:
        ends = [form.messages.body, *form.messages.starts, *form.messages.ends]
        found += [*ends, *_of_params(form.messages.params)]
    return sorted({literal for literal in found if literal})


_WORDS: Final[Sequence[str]] = (
    *("f", "g", "get.weather", "functions.f:0", "a", "x", "5", '"', "'", "`", "``", "```", "```json\n", "\\"),
    *(" ", "\n", "\n\n", "  ", "\t", "{", "}", "[", "]", "(", ")", ",", ":", ";", "=", "<", ">", "|", "/"),
    *('{"name": "f", "arguments": {"a": "x"}}', '[{"name": "g"}]', '{"a": 1}', "f(a=1)", "[f(a='x')]"),
    *('{"name": "f", "arguments": {"a": "</tool_call>"', "<f>", "f>", '"f">', '"a">', "</", "<|", "a b", "é"),
    *(" to=functions.f", " to=g ", "analysis", "commentary", "json", "call:f{", "call:f{a:1}", "Action: f\n"),
    *("Action Input:", "Observation", "I see.", "<think>", "</think>", "<tool_call>", "</tool_call>"),
    *("<function=f>", "<parameter=a>", "</parameter>", "</function>", "<![CDATA[", "]]>", 'name="f"', "\r\n"),
)


@st.composite
def soups(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a format's name, and a text of its markers and of words that matter, broken here and there."""
    name = draw(st.sampled_from(sorted(EVERY)))
    others = draw(st.sampled_from(sorted(EVERY)))
    words = st.one_of(
        st.sampled_from(_WORDS), st.sampled_from(literals(EVERY[name]) or ["{"]),
        st.sampled_from(literals(EVERY[name]) or ["{"]), st.sampled_from(literals(EVERY[others]) or ["{"]),
    )  # fmt: skip
    parts = draw(st.lists(words, max_size=18))
    cuts = draw(st.lists(st.integers(0, 200), max_size=2))
    text = "".join(parts)
    for place in cuts:
        text = text[:place] + text[place + 1 :]
    return name, text
