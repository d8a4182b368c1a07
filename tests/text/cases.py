"""Cases of calls in text from a case folder: how each is read, the expected calls, and how many of them match.

Each line of the file is the result of some project's parser for a text. A case of the kind `assertion` is the statement
of that project's test; `partial` states only names or some arguments; `observed` and `stream` are its parser's results
while a test passed, whole and in pieces: they are there to compare with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import msgspec

from tests.text.corrected import CORRECTED
from wholecall.calls.arguments.equal import same_value
from wholecall.text.formats import AUTO, FORMATS
from wholecall.text.records import Block, Format

Kind = Literal["assertion", "partial", "observed", "stream"]
Call = tuple[str, Any]  # a name, and arguments that were decoded

KINDS: Final[Mapping[str, Kind]] = {
    "assertion": "assertion",
    "assertion_partial": "partial",
    "observed_in_passing_test": "observed",
    "observed_stream_in_passing_test": "stream",
}


class Row(NamedTuple):
    """Cases that are counted together: which of our formats reads which spelling, and (right, all) to reach by kind."""

    group: str
    formats: Mapping[str, str]
    least: Mapping[Kind, tuple[int, int]]


def _row(group: str, formats: str, *least: tuple[int, int] | None) -> Row:
    """Return a row; `formats` lists spellings of the cases, each `SPELLING` or `SPELLING=FORMAT` of ours."""
    pairs = (word.partition("=") for word in formats.split())
    kinds = zip(KINDS.values(), least, strict=True)
    return Row(
        group,
        {spelling: ours or spelling for spelling, _, ours in pairs},
        {kind: figures for kind, figures in kinds if figures},
    )


ROWS: Final = (
    _row("hermes", "hermes hermes_plus=hermes", (17, 19), (5, 5), (94, 104), (3, 3)),
    _row("qwen_xml", "qwen_xml granite_thinking=qwen_xml", (47, 47), (19, 21), (123, 185), (47, 53)),
    _row("harmony", "harmony", (9, 9), None, (42, 42), None),
    _row(
        "deepseek",
        "deepseek_v3=deepseek deepseek_v31=deepseek cogito(deepseek_v3)=deepseek",
        *((9, 9), (5, 5), (107, 110), None),
    ),
    _row(
        "dsml",
        "deepseek_v32=dsml deepseek_v4=dsml deepseek_v41=dsml deepseek_dsml_any=dsml",
        *((22, 22), (1, 1), (32, 42), (26, 29)),
    ),
    _row("kimi_k2", "kimi_k2", (15, 16), (7, 7), (17, 19), (17, 31)),
    _row("kimi_k3", "kimi_k3", (9, 9), None, (8, 8), (1, 1)),
    _row("glm", "glm45=glm glm47=glm ling3=glm", (31, 31), (10, 10), (25, 32), (8, 8)),
    _row("mistral", "mistral_args=mistral mistral_json=mistral", (14, 14), (7, 7), (21, 22), None),
    _row("llama3_json", "llama3_json", (3, 3), (11, 11), (31, 35), None),
    _row(
        "llama_pythonic",
        "llama4_pythonic=llama_pythonic pythonic=llama_pythonic",
        *((11, 11), (10, 11), (3, 3), (3, 3)),
    ),
    _row("lfm2", "lfm2", (33, 36), None, (57, 64), (5, 5)),
    _row("olmo3", "olmo3", (8, 8), None, (22, 22), (1, 1)),
    _row("gemma4", "gemma4", (25, 25), None, (69, 80), (14, 15)),
    _row("functiongemma", "functiongemma", None, None, (23, 23), None),
    _row("minimax_m2", "minimax_m2", (4, 4), (14, 16), (24, 34), (20, 28)),
    _row("minimax_m3", "minimax_m3", (18, 19), None, (3, 3), (5, 11)),
    _row("muse", "muse muse_atem=muse", (7, 7), None, (114, 131), (2, 3)),
    _row("cohere", "cohere cohere_r_plus=cohere", (13, 15), (16, 16), (15, 15), None),
    _row("minicpm5", "minicpm5", (7, 7), None, (42, 66), (2, 2)),
    _row("seed_oss", "seed_oss", (6, 6), None, (7, 8), (10, 13)),
    _row("gigachat3", "gigachat3", (15, 15), None, (1, 1), (2, 2)),
    _row("xlam", "xlam", (6, 6), None, (32, 32), (3, 3)),
    _row(
        "lists",
        "jamba hunyuan_a13b=jamba apriel nemotron_v2 ernie45",
        *((18, 18), None, (3, 3), (3, 3)),
    ),
    _row("granite", "granite3=granite granite_20b_fc=granite", (2, 2), None, (37, 39), (1, 1)),
    _row("neighbours", "hunyuan_v3 poolside_v1=poolside plamo3 beam", None, None, (102, 120), (9, 9)),
    _row(
        "functionary",
        "functionary_v31=functionary functionary_v32=functionary phi4_mini=functools firefunction=functools",
        *((6, 6), None, (16, 17), None),
    ),
    _row(
        "small",
        "step3 longcat inkling internlm2 apertus dots k2_horizon",
        *((2, 3), (9, 9), (48, 56), (25, 26)),
    ),
    _row("weak", "generic_json=generic ui_tars=react auto_any=auto", (3, 3), (6, 8), (25, 31), None),
)
GROUPS: Final = {spelling: row for row in ROWS for spelling in row.formats}


class Wanted(NamedTuple):
    """An expected call; None for a name or arguments that the case does not state."""

    name: str | None
    arguments: Mapping[str, Any] | None
    some: bool = False  # whether there may be further arguments


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One text, how it is read, and the expected calls.

    Attributes:
        group: the row of the table in which it is counted.
        format: the name of the format that reads it.
        ended: how its text ended.
        prompt: the end of the prompt that the text continues.
        tools: the JSON Schemas of the declared tools by name, None for one without; None if none are declared.
        calls: the calls in order.
        content: the visible text, None if the case does not state it.
        reasoning: the reasoning, None if the case does not state it.
    """

    id: str
    group: str
    format: str
    kind: Kind
    text: str
    ended: Literal["clean", "length"]
    prompt: str
    tools: Mapping[str, Any] | None
    calls: tuple[Wanted, ...]
    content: str | None
    reasoning: str | None

    @property
    def is_stream(self) -> bool:
        """Return whether it is a parser's result for the text in pieces."""
        return self.kind == "stream"


class Tally(NamedTuple):
    """The number of cases, of cases with the right calls, and of cases with the right calls and content."""

    cases: int
    calls: int
    both: int


def read_cases(path: Path) -> Iterator[Case]:
    """Yield the cases of a file."""
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            yield _case(json.loads(line))


def _case(record: Mapping[str, Any]) -> Case:
    row = GROUPS[record["format"]]
    name = row.formats[record["format"]]
    stated = record.get("expect") or {"calls": [], "content": None}  # a parser that raises gives no call
    expected = {**stated, **CORRECTED.get(record["id"], {})}
    text = record["input"]
    reasoning = expected.get("reasoning")
    return Case(
        id=record["id"],
        group=row.group,
        format=name,
        kind=KINDS[record["expectation"]],
        text=text,
        ended="clean" if record["complete"] else "length",
        prompt=_prompt(record["format"], FORMATS.get(name, AUTO), text, reasoning),
        tools=_tools(record["tools"], stated, text),
        calls=_wanted(expected),
        content=(expected["content"] or "") if "content" in expected and "expect" in record else None,
        reasoning=reasoning,
    )


# --- The expected calls -----------------------------------------------------------------------------------


def _wanted(expected: Mapping[str, Any]) -> tuple[Wanted, ...]:
    if "calls" in expected:
        return tuple(Wanted(call["name"], call["arguments"]) for call in expected["calls"])
    names = expected["names"]
    first = expected.get("arguments_subset")
    return tuple(Wanted(name, None if place else first, some=True) for place, name in enumerate(names))


def _is_wanted(wanted: Wanted, call: Call) -> bool:
    name, arguments = call
    if wanted.name not in {None, name}:
        return False
    if wanted.arguments is None:
        return True
    if not wanted.some:
        return same_value(wanted.arguments, arguments)
    return isinstance(arguments, dict) and all(
        key in arguments and same_value(value, arguments[key]) for key, value in wanted.arguments.items()
    )


def same_calls(case: Case, calls: Sequence[Call]) -> bool:
    """Return whether these are the calls of the case, in order; 1 and 1.0 are one number."""
    return len(case.calls) == len(calls) and all(map(_is_wanted, case.calls, calls))


def same_content(case: Case, content: str) -> bool:
    """Return whether this is the visible text of the case, white space round it aside."""
    return case.content is None or case.content.strip() == content.strip()


def matches(case: Case, calls: Sequence[Call], content: str) -> bool:
    """Return whether calls and visible text are those of the case."""
    return same_calls(case, calls) and same_content(case, content)


def score(
    cases: Iterable[Case], read: Callable[[Case], tuple[Sequence[Call], str]]
) -> dict[tuple[str, Kind], Tally]:
    """Return by group and kind how many cases are right when they are read so."""
    tallies: dict[tuple[str, Kind], Tally] = {}
    for case in cases:
        calls, content = read(case)
        right = same_calls(case, calls)
        before = tallies.get((case.group, case.kind), Tally(0, 0, 0))
        both = right and same_content(case, content)
        tallies[case.group, case.kind] = Tally(before.cases + 1, before.calls + right, before.both + both)
    return tallies


# --- The tools ----------------------------------------------------------------------------------------------

# Ways that a name occurs in a text, for cases that state only how many calls there are.
_NAMES = re.compile(
    r"""
      "(?:tool_)?name"\s*:\s*"([^"]+)"
    | <(?:\w+:)?invoke\ name="([^"]+)"
    | <function=([^>]+)>
    | <tool_call>\s*(\w+)\s*<arg_key>
    | [\[,]\s*(\w+)\(
    """,
    re.VERBOSE,
)


def _tools(
    declared: Sequence[Mapping[str, Any]], stated: Mapping[str, Any], text: str
) -> Mapping[str, Any] | None:
    """Return the declared tools, else the names of the calls that are expected, else None."""
    if declared:
        return {tool["name"]: _schema(tool.get("parameters")) for tool in declared}
    names = stated["names"] if "names" in stated else [call["name"] for call in stated["calls"]]
    if None in names:
        names = [name for found in _NAMES.findall(text) for name in found if name]
    return dict.fromkeys(names) or None


def _schema(parameters: Mapping[str, Any] | None) -> Any:
    """Return a JSON Schema without the members that a Go program left at their zero value."""
    if parameters is None:
        return None
    return {key: value for key, value in parameters.items() if value is not None and value != ""}


# --- The prompt ---------------------------------------------------------------------------------------------


def _prompt(spelling: str, format_: Format, text: str, reasoning: str | None) -> str:
    """Return the required end of a case's prompt."""
    if spelling == "functionary_v32":
        return ">>>"
    if format_.messages is not None and text.lstrip().startswith("to="):
        return "<|start|>assistant"
    orphan = _orphan(format_, text)
    if orphan is not None:
        return orphan
    if format_.think and reasoning and reasoning.strip() and text.lstrip().startswith(reasoning.strip()):
        return format_.think[0][0]
    return ""


def _orphan(format_: Format, text: str) -> str | None:
    """Return the opener of the reasoning that a text closes without opening it, None if there is none.

    A closer that also ends something else is not evidence.
    """
    others = {closer for record in format_.calls if isinstance(record, Block) for closer in record.closes}
    found = [
        (text.index(closer), opener)
        for opener, closer in format_.think
        if closer in text and closer not in others
    ]
    if not found:
        return None
    place, opener = min(found, key=lambda item: item[0])
    closers = {closer for _, closer in format_.think if text.startswith(closer, place)}
    before = text[:place]
    return None if any(each in before for each, closer in format_.think if closer in closers) else opener
