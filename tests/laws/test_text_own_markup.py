"""A format's own markup is argument text only where no other reading exists: slips of a model, and honest values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.together import together
from tests.text.reading import calls, read
from tests.text.slips import CALL, Slip, forms, outermost, slips
from tests.text.writers import WRITERS, Call, schema_of
from wholecall import ToolCall, read_text
from wholecall.text.formats import FORMATS, NOT_IN_AUTO
from wholecall.text.outputs import Unread
from wholecall.text.records import Block, Params, Tag
from wholecall.text.rules import Rules

TOOLS: list[Any] = [{"name": CALL.name, "parameters": schema_of(dict(CALL.arguments))}]
ARGUMENTS = dict(CALL.arguments)
NOT_THERE = NOT_IN_AUTO | {"muse", "granite_pythonic", "generic", "react"}
SAMPLE = 17  # one of this many slips is also read in pieces, and cut


def is_told_rightly(call: ToolCall, slip: Slip, ends: frozenset[str]) -> bool:
    """Return whether a call is as meant, or its text before an end that a slip inserted, perhaps with a line end."""
    if slip.put in ends and call.arguments == {"cmd": "ls"}:
        return True
    values = ARGUMENTS
    if "closer_missing" in {edit.kind for edit in call.edits}:
        return {key: str(value).strip() for key, value in call.arguments.items()} == values
    return (call.name, call.arguments) == (CALL.name, values)


@pytest.mark.sampled(119)
@pytest.mark.parametrize("name", sorted(WRITERS))
@pytest.mark.parametrize("tools", [TOOLS, None], ids=["typed", "untyped"])
def test_a_slip_is_a_drop_or_the_call_that_was_meant(name: str, tools: Any) -> None:
    """Law 102: one slip after the first value never gives a call with another value, named and in `auto`."""
    form, wrong = FORMATS[name], []
    for written in forms(name):
        ends = outermost(form, written)
        for slip in slips(form, written):
            for format_ in [name] if name in NOT_THERE else [name, "auto"]:
                told = read_text(slip.text, format_, tools=tools).calls
                wrong += [
                    (slip.what, format_, call.arguments)
                    for call in told
                    if not is_told_rightly(call, slip, ends)
                ]

    assert [] == wrong


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", sorted(WRITERS))
def test_no_cut_of_a_slip_gives_another_call(name: str) -> None:
    """Law 102: in pieces of any size it gives the same, and where it breaks off no call that the whole does not give."""
    form = FORMATS[name]
    sample = [slip for written in forms(name) for slip in slips(form, written)][::SAMPLE]
    for slip in sample:
        whole = read(name, [slip.text], weak=frozenset())
        for size in (1, 7):
            pieces = [slip.text[at : at + size] for at in range(0, len(slip.text), size)]
            assert calls(whole) == calls(read(name, pieces, weak=frozenset())), (slip, size)
        for end in range(len(slip.text) - 1, 0, -3):
            found = calls(read(name, [slip.text[:end]], "length", weak=frozenset()))
            assert calls(whole)[: len(found)] == found, (slip, end)


# --- Honest values --------------------------------------------------------------------------------------------


def raw_values(name: str) -> tuple[Params, tuple[str, ...]] | None:
    """Return the parameters of a format whose values are raw, and the end mark of its calls."""
    form = FORMATS[name]
    for record in form.calls:
        if isinstance(record, Tag):
            return record.params, record.closes
        if isinstance(record, Block) and record.pairs is not None and WRITERS[name].raw:
            return record.pairs, record.closes
    messages = form.messages
    return (messages.params, messages.ends) if messages is not None and messages.params is not None else None


def head_of(params: Params, key: str) -> str:
    """Return the head of a parameter as the format writes it."""
    opener = params.opens[0]
    if params.key == "pair":
        return f"{opener}{key}{params.key_closes}{params.value_opens}"
    return f'{opener}"{key}">' if params.key == "attr" else f"{opener}{key}>"


def honest(params: Params, closes: tuple[str, ...]) -> Iterator[str]:
    """Yield values that hold markup of the format as models write it: in a line, or in separate elements."""
    closer, end = params.closes[0], closes[0]
    element = closer.replace("/", "", 1)
    for marker in (closer, end):
        yield f"A value ends with {marker} here, mostly."
        yield f"one line\nand {marker} in the next, with text"
        yield f'echo "{marker}" > notes.md'
        yield f"grep -n '{marker}' *.xml | head"
        yield f"`{marker}`: that is it"
        yield f"<p>Write <code>{marker} so</code></p>"
    yield f"first {closer} and then {end}, as they say"
    yield f"{element}1{closer}"
    yield f"<items>\n{element}\n  1\n{closer}\n{element}2{closer}\n</items>"
    yield f"see {head_of(params, 'fake')} for details"
    yield f"has {head_of(params, 'fake')} and {closer} both"
    yield "<div>\n<b>no markup of ours</b></div>"
    yield "<html><body><br></body></html>\n"
    yield json.dumps([f"a {closer}", f"{closer}\n", end])


RAW = {name: found for name in sorted(WRITERS) if (found := raw_values(name))}
SPECIAL = {
    name: kind for name, kind in RAW.items() if any(map(Rules.has_bar, (kind[0].closes[0], kind[1][0])))
}


@together("name", sorted(RAW.keys() - SPECIAL.keys()))
def test_markup_in_an_honest_value_is_the_value(name: str) -> None:
    """Law 103: markup in a sentence, a command, a list of JSON or elements of the value's own is text of the value."""
    for value in honest(*RAW[name]):
        call = Call("write_file", {"text": value, "path": "a.md"})
        text = WRITERS[name].before + WRITERS[name].write([call])
        tools = {call.name: schema_of(dict(call.arguments))}
        for format_ in [name] if name in NOT_THERE else [name, "auto"]:
            outputs = read(format_, [text], tools=tools)

            assert [(call.name, call.arguments)] == [(n, json.loads(a)) for n, a in calls(outputs)], value
            assert [] == [output for output in outputs if isinstance(output, Unread)]


@pytest.mark.parametrize("name", sorted(SPECIAL))
def test_a_token_of_the_vocabulary_is_no_value(name: str) -> None:
    """Law 102: a marker of the format that is a single token drops the call, anywhere in a raw value."""
    params, closes = RAW[name]
    for marker in filter(Rules.has_bar, (params.closes[0], closes[0], params.opens[0])):
        call = Call("write_file", {"text": f"it writes {marker} here, mostly", "path": "a.md"})
        text = WRITERS[name].before + WRITERS[name].write([call])
        outputs = read(name, [text], tools={call.name: schema_of(dict(call.arguments))})

        assert [] == calls(outputs)
        assert ["ambiguous"] == [output.reason for output in outputs if isinstance(output, Unread)]
