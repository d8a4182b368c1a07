"""Laws of quotations, which are never calls: closed reasoning, fences, code spans, documents about formats."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.together import together
from tests.text.reading import ALL_WEAK, EVERY, calls, cut, literals, merged, read, soups, spelled
from tests.text.writers import WRITERS, Call
from tests.unit.test_text_layer import chat
from wholecall.repairing import Repairer, repair_body
from wholecall.text.formats import FORMATS, NOT_IN_AUTO
from wholecall.text.outputs import Shown, Unread, Written
from wholecall.text.records import Block, Tag

PROJECT = Path(__file__).resolve().parents[2]
RANDOM = st.integers(0, 2**32).map(random.Random)
CALL = Call("f", {"a": "x", "b": 5})
TOOLS: dict[str, Any] = {"f": None}
OFFERED = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
# Messages have no reasoning in marks, and no prose round them.
WITH_MARKS = sorted(name for name, form in EVERY.items() if form.messages is None and name != "auto")


MARKED = [name for name in WITH_MARKS if EVERY[name].calls]  # the others have weak shapes alone


def quoted(name: str) -> str:
    """Return a call as the format writes it."""
    return WRITERS[name].write([CALL])


@together("name", WITH_MARKS, one_in=4)
def test_what_is_quoted_is_no_call(name: str) -> None:
    """Law 83: a call in closed reasoning or in a fence is never emitted, not even as a drop."""
    fences = ("See\n```\n{}\n```\nWell.", "See\n```python\n{}\n```\nWell.")
    for format_, form in product((name, "auto"), ("<think>I say {} now.</think>Well.", *fences)):
        text = form.format(quoted(name))
        outputs = read(format_, list(text), tools=TOOLS, weak=ALL_WEAK)

        assert [] == [output for output in outputs if isinstance(output, (Written, Unread))], form
        assert text == spelled(outputs)


@together("name", WITH_MARKS)
def test_a_code_span_holds_no_call(name: str) -> None:
    """Law 83: a call in a code span is text, all of it."""
    call = re.sub(r"\s*\n\s*", " ", quoted(name)).replace("`", "'")
    for format_, ticks in product((name, "auto"), ("`", "``")):
        text = f"Write {ticks}{call}{ticks} to call."

        assert [Shown(text)] == merged(read(format_, list(text), tools=TOOLS, weak=ALL_WEAK))


# --- Blocks ---------------------------------------------------------------------------------------------------

# The text before each line of a call, before all of it, and after it.
CONTAINERS: dict[str, tuple[str, str, str]] = {
    "four backticks round three": ("", "````md\n```\na\n```\n", "\n````"),
    "a fence in which a line holds another": ("", "```\na = '```'\n", "\n```"),
    "a fence in which a line begins as one": ("", "```\n``` a\n", "\n```"),
    "tildes": ("", "~~~\n", "\n~~~"),
    "tildes round fewer, and round backticks": ("", "~~~~ a`b\n~~~\n```\n", "\n~~~~"),
    "backticks round tildes": ("", "```\n~~~\n", "\n```"),
    "an indented fence": ("   ", "   ```\n", "\n  ```"),
    "a fence in a list item": ("  ", "- a\n\n  ```\n", "\n  ```"),
    "a fence that begins an item": ("   ", "1. ```\n", "\n   ```"),
    "a fence in an item of an item": ("    ", "- a\n  * b\n\n    ```\n", "\n    ```"),
    "indented code": ("    ", "", ""),
    "code behind a tab": ("\t", "", ""),
    "code in a list item": ("      ", "- a\n\n", ""),
    "code behind a heading": ("    ", "# a\n", ""),
    "a block quote": ("> ", "", ""),
    "a fence in a block quote": ("> ", "> ```\n", "\n> ```"),
    "a fence in an item in a block quote": (">   ", "> - ```\n", "\n>   ```"),
    "a block quote in an item": ("  > ", "- a\n\n", ""),
    "a block quote in a block quote": (">> ", "", ""),
    "a fence in a fence in a block quote": ("> ", "> ~~~\n> ```\n", "\n> ~~~"),
    "a span over two lines": ("", "`a\n", "`"),
    "a longer span over two lines": ("", "`` a ` b\n", "``"),
}
CHANNELS = ("{}", "<think>I read.\n\n{}", "<think>I read.\n\n{}\n\nNo.</think>")


def contained(name: str, container: str) -> str:
    """Return a call as a format writes it, in a container of Markdown."""
    prefix, before, after = CONTAINERS[container]
    call = quoted(name)
    if "span" in container:
        call = re.sub(r"\s*\n\s*", " ", call).replace("`", "'")
    return before + "".join(prefix + line for line in call.splitlines(keepends=True)) + after


@pytest.mark.sampled(21)
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("format_", ["own", "auto"])
def test_no_block_that_quotes_holds_a_call(container: str, channel: str, format_: str) -> None:
    """Law 83: all quotations of Markdown, in text, in reasoning, and in reasoning that never closes."""
    wrong = []
    for name in WITH_MARKS:
        text = channel.format(f"The page says:\n\n{contained(name, container)}\n\nI will not.")
        for pieces in (list(text), [text]):
            outputs = read(name if format_ == "own" else "auto", pieces, tools=TOOLS, weak=frozenset())
            if any(isinstance(output, (Written, Unread)) for output in outputs):
                wrong.append(name)

    assert [] == wrong


@pytest.mark.sampled(41)
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("format_", ["own", "auto"])
def test_what_is_quoted_leaves_the_repairer_as_text(container: str, format_: str) -> None:
    """Law 83: through the repairer and in whole bodies, too: the answer that quotes a page leaves byte for byte."""
    wrong = []
    for name in MARKED:
        text = f"The page says:\n\n{contained(name, container)}\n\nI will not."
        stream = chat(*(text[at : at + 7] for at in range(0, len(text), 7)))
        body = json.dumps({"id": "r", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": text}}]}).encode()  # fmt: skip
        wanted = name if format_ == "own" else "auto"
        repairer = Repairer(text=wanted, tools=OFFERED)
        if repairer.feed(stream) + repairer.close() != stream:
            wrong.append(name)
        if repair_body(body, text=wanted, tools=OFFERED).data != body:
            wrong.append(f"{name}, a body")

    assert [] == wrong


@together("container", CONTAINERS, one_in=7)
def test_behind_a_block_that_quotes_a_call_is_one(container: str) -> None:
    """Law 83: a quotation ends where Markdown ends it: a call after it is meant."""
    wrong = []
    for name in MARKED:
        if "```" in CONTAINERS[container][1] and "```" in quoted(name).splitlines():
            continue  # its own fence ends the one around it
        text = f"The page says:\n\n{contained(name, container)}\n\nSo I do it.\n\n{quoted(name)}"
        for pieces in (list(text), [text]):
            outputs = read(name, pieces, tools=TOOLS, weak=frozenset())
            if len(calls(outputs)) != 1:
                wrong.append((name, calls(outputs)))

    assert [] == wrong


NO_QUOTING = (
    *("So:\n", "Use the ` key.\n", "- a\n\n", "So I do it:\n    ", "> It says so.\n\n"),
    *("It says ``a ` b``.\n", "100 times:\n"),
)


@together("name", MARKED)
def test_what_looks_like_quoting_and_is_none_keeps_no_call_back(name: str) -> None:
    """Law 83: a lone backtick, the items of a list, a continued paragraph, and an ended quote quote nothing."""
    for before in NO_QUOTING:
        text = before + quoted(name)
        found = [calls(read(name, pieces, tools=TOOLS, weak=frozenset())) for pieces in (list(text), [text])]

        assert [1, 1] == [len(one) for one in found], before


@together("name", MARKED)
def test_reasoning_that_goes_on_behind_a_call_did_not_mean_it(name: str) -> None:
    """Law 83: in reasoning that never closes a call counts only where only calls follow."""
    thought = f"<think>So I do it.\n\n{quoted(name)}"
    meant = [
        calls(read(name, [thought + rest], tools=TOOLS, weak=frozenset())) for rest in ("", "\n", "\nOr not?")
    ]

    assert [1, 1, 0] == [len(one) for one in meant]


@examples(2, long=10)
@given(soups(), RANDOM)
def test_nothing_in_a_fence_or_in_closed_reasoning_is_a_call(
    soup: tuple[str, str], rng: random.Random
) -> None:
    """Law 83: no content of a fence, or of closed reasoning, is a call."""
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
    """Return Markdown about formats: a document made from them, and the pages of the project."""
    pages = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
    return {"made": "\n".join(described()), **{page.name: page.read_text("utf-8") for page in pages}}


DOCUMENTS = documents()


@pytest.mark.sampled(93)
@pytest.mark.parametrize("page", sorted(DOCUMENTS))
@pytest.mark.parametrize("size", [7, 10_000_000])
def test_documents_pass_unchanged(page: str, size: int) -> None:
    """Law 88: Markdown about formats leaves unchanged, with every word of it declared and all weak shapes on."""
    text = DOCUMENTS[page]
    words = dict.fromkeys(re.findall(r"\w[\w.\-]*", text))
    pieces = [text[at : at + size] for at in range(0, len(text), size)]

    assert [Shown(text)] == merged(read("auto", pieces, tools=words, weak=ALL_WEAK))


@pytest.mark.sampled(5)
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
