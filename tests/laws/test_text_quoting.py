"""What is only quoted is never a call: in closed reasoning, in fences, in code spans, in documents about formats."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.text.reading import ALL_WEAK, EVERY, calls, cut, literals, merged, read, soups, spelled
from tests.text.writers import WRITERS, Call
from wholecall.text.formats import FORMATS, NOT_IN_AUTO
from wholecall.text.outputs import Shown, Unread, Written
from wholecall.text.records import Block, Tag

PROJECT = Path(__file__).resolve().parents[2]
RANDOM = st.integers(0, 2**32).map(random.Random)
CALL = Call("f", {"a": "x", "b": 5})
TOOLS: dict[str, Any] = {"f": None}
# Messages have no reasoning in marks, and no prose round them.
WITH_MARKS = sorted(name for name, form in EVERY.items() if form.messages is None and name != "auto")


def quoted(name: str) -> str:
    """Return a call as the format writes it."""
    return WRITERS[name].write([CALL])


@pytest.mark.parametrize("name", WITH_MARKS)
@pytest.mark.parametrize("format_", ["own", "auto"])
@pytest.mark.parametrize(
    "form",
    ["<think>I say {} now.</think>Well.", "See\n```\n{}\n```\nWell.", "See\n```python\n{}\n```\nWell."],
)
def test_what_is_quoted_is_no_call(name: str, format_: str, form: str) -> None:
    """Law 83: a call in closed reasoning or in a fence never comes out, nor as a drop."""
    text = form.format(quoted(name))
    outputs = read(name if format_ == "own" else "auto", list(text), tools=TOOLS, weak=ALL_WEAK)

    assert not [output for output in outputs if isinstance(output, (Written, Unread))]
    assert text == spelled(outputs)


@pytest.mark.parametrize("name", WITH_MARKS)
@pytest.mark.parametrize("format_", ["own", "auto"])
@pytest.mark.parametrize("ticks", ["`", "``"])
def test_a_code_span_holds_no_call(name: str, format_: str, ticks: str) -> None:
    """Law 83: a call in a code span is text, all of it."""
    call = re.sub(r"\s*\n\s*", " ", quoted(name)).replace("`", "'")
    text = f"Write {ticks}{call}{ticks} to call."
    outputs = merged(read(name if format_ == "own" else "auto", list(text), tools=TOOLS, weak=ALL_WEAK))

    assert [Shown(text)] == outputs


@examples(2, long=10)
@given(soups(), RANDOM)
def test_nothing_in_a_fence_or_in_closed_reasoning_is_a_call(
    soup: tuple[str, str], rng: random.Random
) -> None:
    """Law 83: whatever stands in a fence, or in reasoning that closes, is no call."""
    name, text = soup
    fenced = f"See\n```\n{text.replace('`', '')}\n```\nWell."

    assert [Shown(fenced)] == merged(read(name, cut(fenced, rng), tools=TOOLS))
    form = EVERY[name]
    for opens, closes in form.think if form.messages is None else ():
        if any(literal in text for literal in (*(end for _, end in form.think), *form.imply)):
            continue
        reasoned = f"{opens}{text}{closes}Well."
        assert [] == calls(read(name, cut(reasoned, rng), tools=TOOLS, weak=frozenset()))


# --- Documents ------------------------------------------------------------------------------------------------


def described() -> Iterator[str]:
    """Yield lines that describe every format in code spans and fences, as documents do."""
    for name, form in EVERY.items():
        yield f"\n## {name}\n"
        for literal in literals(form):
            shown = literal.strip("\n")
            yield f"- The marker `{shown}` stands there, ``{shown}`` too, and `{shown}NAME` may follow it."
        for record in form.calls:
            ends = record.closes if isinstance(record, (Block, Tag)) else ()
            yield "| " + " | ".join(f"`{opener}…{end}`" for opener in record.opens for end in ends[:1]) + " |"
        if name in WRITERS:
            yield f"\n```\n{quoted(name)}\n```\n\n~~~text\nnothing\n~~~\n\n````md\n{quoted(name)}\n````"


def documents() -> dict[str, str]:
    """Return Markdown that tells of formats: a document made from them, and the pages of the project."""
    pages = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
    return {"made": "\n".join(described()), **{page.name: page.read_text("utf-8") for page in pages}}


DOCUMENTS = documents()


@pytest.mark.parametrize("page", sorted(DOCUMENTS))
@pytest.mark.parametrize("size", [7, 10_000_000])
def test_documents_pass_unchanged(page: str, size: int) -> None:
    """Law 88: Markdown about formats comes out as it is, with every word of it declared and all weak shapes on."""
    text = DOCUMENTS[page]
    words = dict.fromkeys(re.findall(r"\w[\w.\-]*", text))
    pieces = [text[at : at + size] for at in range(0, len(text), size)]

    assert [Shown(text)] == merged(read("auto", pieces, tools=words, weak=ALL_WEAK))


@pytest.mark.parametrize("name", sorted(set(FORMATS) - NOT_IN_AUTO - {"muse"}))
@examples(1 / 2, long=1)
@given(st.data(), RANDOM)
def test_the_union_reads_what_a_format_reads(name: str, data: st.DataObject, rng: random.Random) -> None:
    """Law 86: `auto` finds at least the calls of a format that is part of it, in texts of that format alone."""
    words = [
        "f",
        "a",
        " ",
        "\n",
        '{"name": "f", "arguments": {}}',
        "f(a=1)",
        *literals(FORMATS[name]),
        quoted(name),
    ]
    text = "".join(data.draw(st.lists(st.sampled_from(words), max_size=12)))
    if any(opener[0].isalpha() and opener in text for opener in FORMATS[name].openers()):
        return
    found = calls(read(name, cut(text, rng), weak=frozenset()))
    union = calls(read("auto", [text], weak=frozenset()))

    assert not [call for call in found if found.count(call) > union.count(call)]
