from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.together import together
from wholecall.calls.arguments.equal import spelled_alike
from wholecall.text.relaxed_values import DELIMITERS, NotRelaxed, relaxed_object

TEXTS = st.text() | st.lists(st.sampled_from(['"', "<|", "|>", "{", "}", ",", ":", "\\", "a b", "\n"])).map(
    "".join
)
TEXTS = TEXTS.filter(lambda text: not any(delimiter in text for delimiter in DELIMITERS))
BARE = st.text("abc xyz_-.$é01", min_size=1).filter(lambda key: key == key.strip())
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(BARE, inner, max_size=4)
)
OBJECTS = st.dictionaries(BARE, VALUES, max_size=5)


def relaxed(value: Any, quotes: str) -> str:
    """Write a value as Gemma does; `quotes` are a delimiter, or the quotes of JSON."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{relaxed(inner, quotes)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(relaxed(inner, quotes) for inner in value) + "]"
    if isinstance(value, str) and quotes != '"':
        return quotes + value + quotes
    return json.dumps(value)


def reason_of(text: str, most: int | None = 128) -> str | None:
    """Return why a text is not an object, None if it is one."""
    try:
        relaxed_object(text, max_depth=most)
    except NotRelaxed as fault:
        return fault.reason
    return None


@together(
    ("text", "value"),
    [
        ("{}", {}),
        (" { } \n", {}),
        ('{city:<|"|>London<|"|>}', {"city": "London"}),
        ("{city:<escape>London<escape>,unit:<escape><escape>}", {"city": "London", "unit": ""}),
        ('{q:<|"|>say "hi", {a:1}, C:\\x\n<|"|>}', {"q": 'say "hi", {a:1}, C:\\x\n'}),
        ('{q:"say \\"hi\\" \\u00e4",r:"a\nb"}', {"q": 'say "hi" ä', "r": "a\nb"}),
        ("{a:42,b:-7,c:3.14,d:1.5e10}", {"a": 42, "b": -7, "c": 3.14, "d": 15000000000.0}),
        ("{a:true,b:false,c:null}", {"a": True, "b": False, "c": None}),
        ("{a:[],b:{},c:[1,[{d:null}]],}", {"a": [], "b": {}, "c": [1, [{"d": None}]]}),
        ("{ first key : 1 ,\n second.key-2 : [ 2 , 3 ] }", {"first key": 1, "second.key-2": [2, 3]}),
        ('{"a b":1,<|"|>c:{d<|"|>:2,<escape>e<escape>:3,"":4}', {"a b": 1, "c:{d": 2, "e": 3, "": 4}),
        ("{n:12345678901234567890123}", {"n": 12345678901234567890123}),
        ("{refs:['ds_1', 'a, b'],'c':'',d:it's so}", {"refs": ["ds_1", "a, b"], "c": "", "d": "it's so"}),
        ('{a:<|"|>x<|"|>,a:<|"|>x<|"|>}', {"a": "x"}),
    ],
)
def test_an_object_is_read_as_gemma_writes_it(text: str, value: object) -> None:
    """Bare and quoted keys, strings in markers without escapes, JSON's strings, numbers and words, lists, objects."""
    assert spelled_alike(value, relaxed_object(text, max_depth=128))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{expression:432+1}", {"expression": "432+1"}),
        ("{city: New York ,unit:c}", {"city": "New York", "unit": "c"}),
        ("{path:src/a.txt,limit:5,all:true}", {"path": "src/a.txt", "limit": 5, "all": True}),
        ("{url:https://a.b/c?d=e:f,path:C:\\x}", {"url": "https://a.b/c?d=e:f", "path": "C:\\x"}),
        ("{note:see https://a.b at 10:30}", {"note": "see https://a.b at 10:30"}),
        ("{place:a[0],tags:[x y,<escape>z, z<escape>]}", {"place": "a[0]", "tags": ["x y", "z, z"]}),
        (
            "{zip:00501,price:+5,flag:True,it:it's}",
            {"zip": "00501", "price": "+5", "flag": "True", "it": "it's"},
        ),
    ],
)
def test_a_string_may_stand_without_quotes(text: str, value: object) -> None:
    """It reaches to the comma or the closing bracket, white space at its ends left out; numbers and words stay such."""
    assert spelled_alike(value, relaxed_object(text, max_depth=128))


@together(
    "text",
    [
        *(
            "",
            " ",
            "1",
            "[]",
            "a:1",
            "{",
            "{a",
            "{a:",
            "{a:1",
            "{a:[1}",
            "{a:1]",
            "{a:1}}",
            "{a:1} x",
            "{}{}",
        ),
        *("{a}", "{a:}", "{:1}", "{,}", "{a:1,,b:2}", "{a:1,b}", "{a::}{", '{"a"}', "{[a]:1}", "{a,b:1}"),
        *('{x:<|"|>a}', "{x:<escape>a}", '{x:"a}', '{x:"a" b}', '{x:<|"|>a<|"|>b<|"|>}', '{x:"\\q"}'),
        *('{x:a "b"}', "{x:a<escape>b<escape>}", "{x:if (a) { b }}", "{x:[a[0]]}", "{x:Paris, France}"),
        *("{x:'it's here'}", "{x:'a'b}", '{x:<|"a}', "{x:a<escape}", "{x<y:1}", '{x<|"|>:1}'),
        *("{x:Paris unit:c}", "{a:1 b:2}", "{a:x\nb:y}", '{x:"\\ud800"}', '{x:<|"|>\ud800<|"|>}'),
    ],
)
def test_what_is_not_one_object_is_refused(text: str) -> None:
    """Open text is not closed, and text that may be two strings or two members is none."""
    assert "unparseable" == reason_of(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{a:1,a:2}", "duplicate_key"),
        ("{a:x,a:y}", "duplicate_key"),
        ("{b:{a:1,a:true}}", "duplicate_key"),
        ("{a:[[1]]}", "nesting_too_deep"),
        ("{a:{b:{", "nesting_too_deep"),
        ("{a:1e309}", "number_out_of_range"),
        ("{a:" + "9" * 4302 + "}", "number_out_of_range"),
    ],
)
def test_a_breach_of_a_bound_has_its_reason(text: str, reason: str) -> None:
    """A key with two values, depth beyond the bound, and a number that Python cannot hold."""
    assert reason == reason_of(text, most=2)


@given(OBJECTS, st.sampled_from([*DELIMITERS, '"']))
def test_an_object_comes_back(value: dict[str, Any], quotes: str) -> None:
    """A random object is read as it was written, in each of the quotes."""
    assert spelled_alike(value, relaxed_object(relaxed(value, quotes), max_depth=None))


@given(OBJECTS)
def test_json_is_read_as_well(value: dict[str, Any]) -> None:
    """An object in JSON's own spelling is one of these."""
    assert spelled_alike(value, relaxed_object(json.dumps(value, indent=1), max_depth=None))


@given(
    st.lists(st.sampled_from([*DELIMITERS, *'{}[],:"\\', "a", " ", "1", "true", "\ud800", "\n"])).map("".join)
)
def test_nothing_but_a_refusal_is_raised(text: str) -> None:
    """Any text is an object, or refused with one of four reasons."""
    reasons = {None, "unparseable", "duplicate_key", "nesting_too_deep", "number_out_of_range"}

    assert reasons >= {reason_of("{" + text + "}"), reason_of(text)}


MANY = 30_000
HOSTILE = [
    piece * MANY
    for piece in ("{", "[", "}", "{a:", '"', "<escape>", '<|"|>', "a:1,", "a:b,", ",", ":", "\\", " ", "a", "a ", " a", "0", "<", "[a,")
]  # fmt: skip


@pytest.mark.sampled(11)
@pytest.mark.parametrize("opening", ["", "{", "{a:", "{a:[", '{a:"', '{a:<|"|>', "{a:b "])
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_read_or_refused(opening: str, text: str) -> None:
    """Brackets, quotes, markers and members without end are read in one pass, with any bound on depth."""
    reasons = {"unparseable", "nesting_too_deep", "number_out_of_range", "duplicate_key"}

    assert reasons >= {reason_of(opening + text, most) for most in (128, None)}
