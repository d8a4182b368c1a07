"""Laws of history: the same text, arguments and calls; and shrunk text stays JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import documents, encode
from tests.support.bodies import BODIES
from tests.support.documents import Options, depth_of, options, read, utf8
from tests.support.examples import examples
from tests.support.renderers import RENDERERS, SERVER_SIDE
from tests.support.turns import Plan, canonical, full_objects, parse, plans
from wholecall import ToolCallParser, Turn, parse_arguments
from wholecall.calls.output.call_events import ToolCall
from wholecall.history import HISTORY_FORMATS, encode_arguments, encode_calls, shrink_arguments
from wholecall.history.values import dumped

# Most of these laws run no stream, so they can try more: 20,000 examples in the long profile.
many = examples(2, long=10)
few = examples(1 / 2)

STRINGS = [name for name, format in HISTORY_FORMATS.items() if format.carries == "string"]
LENIENT = [name for name in STRINGS if not HISTORY_FORMATS[name].strict_json_arguments]
OBJECTS = [name for name, format in HISTORY_FORMATS.items() if format.carries == "object"]
JSON_LIKE = st.text(alphabet="{}[]\",:\\ \n1eaT'é😀\ud83d", max_size=40)
argument_texts = st.one_of(documents.objects, full_objects.map(json.dumps), JSON_LIKE)


# Encoding.


@many
@given(argument_texts, st.sampled_from(LENIENT), st.sampled_from(LENIENT))
def test_text_goes_round_byte_for_byte(raw: str, there: str, back: str) -> None:
    """Law 46: between string formats text comes back byte for byte, also if it is not JSON; edits are made once."""
    status = parse_arguments(raw).status
    once: Any = encode_arguments(raw, there)

    assert (once == raw) or status in ("normalised", "recovered", "empty")
    assert once == encode_arguments(once, back)


@many
@given(argument_texts, st.sampled_from(STRINGS), st.sampled_from(OBJECTS))
def test_arguments_survive_objects(raw: str, string: str, carried: str) -> None:
    """Law 46: with an object format in between, arguments are equal, and a text that is not an object stays text."""
    arguments = parse_arguments(raw).arguments
    value: Any = encode_arguments(raw, carried)
    text: Any = encode_arguments(value, string)

    if arguments is None:
        assert {"INVALID_JSON": raw} == value
    else:
        assert canonical(arguments) == canonical(value) == canonical(parse_arguments(text).arguments)


@given(argument_texts, st.sampled_from(STRINGS))
def test_strict_formats_get_objects(raw: str, name: str) -> None:
    """Law 46: a strict format gets the text of an object, for any text of the model."""
    encoded: Any = encode_arguments(raw, name, strict_json_arguments=True)
    verdict = parse_arguments(raw)

    assert isinstance(json.loads(encoded.encode()), dict)
    assert (encoded == raw) or verdict.status != "exact"


def _again(turn: Turn, format: str) -> Turn:
    """Return the turn as it reads when it was sent back and comes once more, as one body."""
    body = BODIES[format](encode_calls(turn, format).messages)
    parser = ToolCallParser(format)
    parser.feed(encode.compact(body).encode())
    parser.close()
    return parser.turn


def _calls(turn: Turn) -> list[tuple[str, str]]:
    return [(call.name, canonical(call.arguments)) for call in turn.calls]


@few
@given(plans(), st.sampled_from(sorted(RENDERERS.keys() - SERVER_SIDE)))
def test_calls_survive_any_journey(plan: Plan, dialect: str) -> None:
    """Law 46: a turn of any dialect, sent back in any format and read again, has equal calls."""
    calls = [encode.Call(f"call_{n}", plan.names[n], plan.raw(n)) for n in range(len(plan))]
    parser = ToolCallParser()
    parser.feed(RENDERERS[dialect](encode.Turn(calls), encode.every(40)))
    parser.close()
    expected = [(name, arguments) for _, name, arguments in plan.sent()]

    for format in BODIES:
        assert expected == _calls(_again(parser.turn, format)), format


@few
@given(plans(), st.sampled_from(sorted(BODIES)), st.sampled_from(sorted(BODIES)))
def test_calls_survive_two_journeys(plan: Plan, there: str, back: str) -> None:
    """Law 46: over two formats arguments stay equal; over two that carry text, so does the text."""
    calls = [encode.Call(f"call_{n}", plan.names[n], plan.raw(n)) for n in range(len(plan))]
    parser = ToolCallParser()
    parser.feed(encode.render_chat(encode.Turn(calls)))
    parser.close()
    found = _again(_again(parser.turn, there), back)

    assert _calls(parser.turn) == _calls(found)
    if {there, back} <= set(STRINGS):
        assert [call.raw_arguments for call in found.calls] == [plan.raw(n) for n in range(len(plan))]


# Shrinking.


def _same(before: Any, after: Any, marker: str, protect: tuple[str, ...], *, arrays: bool) -> bool:
    """Return whether only unprotected strings differ, and (where arrays may be cut) middles of arrays."""
    if type(before) is not type(after):
        return arrays and after == marker
    if isinstance(before, documents._Object):
        return len(before) == len(after) and all(
            key == other
            and _same(value, new, marker, protect, arrays=arrays and key not in protect)
            and (key not in protect or value == new)
            for (key, value), (other, new) in zip(before, after, strict=True)
        )
    if isinstance(before, list):
        if len(before) != len(after):
            return arrays and marker in after
        return all(
            _same(one, other, marker, protect, arrays=arrays)
            for one, other in zip(before, after, strict=True)
        )
    if isinstance(before, str):
        return before == after or marker in after
    return bool(before == after)


@many
@given(documents.documents, options())
def test_shrunk_text_is_the_same_json(text: str, chosen: Options) -> None:
    """Law 26: valid stays valid; keys, numbers, protected values and the shape of the text stay as they were."""
    found = shrink_arguments(text, **chosen)

    assert found.valid
    assert depth_of(text) == depth_of(found.text)
    assert _same(read(text), read(found.text), chosen["marker"], chosen["protect"], arrays=False)


@many
@given(documents.documents, st.one_of(options(), options(budget=True)))
def test_shrinking_never_lengthens(text: str, chosen: Options) -> None:
    """Law 26: changed messages are shorter in characters and in bytes; unchanged ones are the same objects."""
    found = shrink_arguments(text, **chosen)

    if found.changed:
        assert len(found.text) < len(text)
        assert utf8(found.text) < utf8(text)
        assert found.elided > 0
    else:
        assert found.text is text
        assert found.elided == 0


@many
@given(documents.documents, st.one_of(options(), options(budget=True)))
def test_shrinking_twice_is_shrinking_once(text: str, chosen: Options) -> None:
    """Law 26: shrunk text cannot be shrunk further."""
    once = shrink_arguments(text, **chosen)
    twice = shrink_arguments(once.text, **chosen)

    assert (once.text, False, once.fits) == (twice.text, twice.changed, twice.fits)


@many
@given(documents.documents, options(budget=True))
def test_budgets_are_kept_or_missed_openly(text: str, chosen: Options) -> None:
    """Law 26: under a budget the text is still JSON with its keys outside of cut arrays, and `fits` is the truth."""
    found = shrink_arguments(text, **chosen)

    assert (utf8(found.text) <= chosen["max_bytes"]) == found.fits
    assert _same(read(text), read(found.text), chosen["marker"], chosen["protect"], arrays=True)


@many
@given(documents.objects, st.one_of(options(), options(budget=True)))
def test_dicts_shrink_like_their_text(text: str, chosen: Options) -> None:
    """Law 26: an object shrinks as its compact text does, stays an object, and is not changed itself."""
    try:
        value = json.loads(text)
        compact = dumped(value)
    except ValueError:  # a number that Python cannot hold
        return
    before = canonical(value)
    found, reference = shrink_arguments(value, **chosen), shrink_arguments(compact, **chosen)

    assert canonical(json.loads(reference.text)) == canonical(found.text)
    assert (reference.changed, reference.elided, reference.fits) == (found.changed, found.elided, found.fits)
    assert before == canonical(value)
    assert (found.text is value) == (not found.changed)


@many
@given(st.one_of(JSON_LIKE, st.text(max_size=30)), options())
def test_what_is_no_json_stays(text: str, chosen: Options) -> None:
    """Law 26: `valid` agrees with a strict reader, and text that is not JSON comes back unchanged."""
    found = shrink_arguments(text, **chosen)

    assert _is_json(text) == found.valid
    assert found.valid or (found.text is text and not found.changed)


def _is_json(text: str) -> bool:
    def refuse(word: str) -> Any:
        raise ValueError(word)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


@given(plans(of=full_objects))
def test_shrunk_calls_are_read_as_before(plan: Plan) -> None:
    """Law 26: a call whose arguments were shrunk is still a call: history with it poisons no later turn."""
    raw = plan.raw(0)
    text = shrink_arguments(raw, max_leaf=3, threshold=0).text
    events = parse([encode.render_chat(encode.Turn([encode.Call("c", "f", text)]))])

    assert ["exact"] == [event.status for event in events if isinstance(event, ToolCall)]


@pytest.mark.parametrize("depth", [3000, 30_000])
@pytest.mark.parametrize("inner", ['"' + "y" * 1000 + '"', '{"a":"' + "y" * 1000 + '"}', "1e400"])
def test_depth_is_no_danger(depth: int, inner: str) -> None:
    """Law 26: no depth is too deep for shrinking."""
    text = "[" * depth + inner + "]" * depth
    found = shrink_arguments(text)
    shorter = inner.replace("y" * 1000, "y" * 200 + "...[truncated]")

    assert (True, "[" * depth + shorter + "]" * depth) == (found.valid, found.text)
