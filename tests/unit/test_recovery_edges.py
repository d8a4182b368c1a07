"""Recovery at its edges: the place of each fault, wrappers that peel off, text allowed around an object, word by
word.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.together import together
from wholecall import parse_arguments
from wholecall.calls.arguments.recovery import SPECIAL_TOKENS, Fault, Recovered, peel, recover
from wholecall.calls.arguments.verdict import Edit

# Texts, and the position of the misplaced token.
FAULTS: dict[str, list[tuple[str, int, int]]] = {
    "truncated": [
        *(("[1,2", 4, 4), ("[", 1, 1), ('"abc', 0, 4), ("x{", 2, 2), ("x {a", 4, 4), ("{x", 2, 2)),
        *((text, 0, len(text)) for text in ("t", "tr", "tru", "f", "fa", "fal", "fals", "n", "nu", "nul")),
        *((text, 0, len(text)) for text in ("-", "1e", "1e+", "2.", "-3.", "1.5e", "10E-")),
        *(("a {b} {c", 8, 8), ("a {b", 4, 4), ('x {"a":1', 8, 8), ("x {'y'", 6, 6), ('{"a":1', 6, 6)),
        *(("{'a':1} {'b'", 8, 12), ('{"a":1,}{', 8, 9), ('{"a":1,} x {"b"', 9, 15), ('{"a":1} // {x', 8, 13)),
        *(('x {it\'s} {"a":1}', 5, 16), ('x {\u201ca} {"a":1}', 3, 14), ('x {\u2018a} {"a":1}', 3, 14)),
        *(('{"a":fal', 5, 8), ('{"a', 1, 3), ("{", 1, 1), ('{"a":"\\', 5, 7), ('{"a":{"b":1}', 12, 12)),
    ],
    "invalid_json": [
        *(("[1 2]", 3, 4), ('"a" {"b":1}', 0, 3), ('"a"x', 0, 3), ("12", 0, 2), ('x {[} {"a":1}', 3, 4)),
        *(
            (text, 0, len(text))
            for text in ("+1", ".5", "-.5", "+.5", "0x10", "01", "NaN", "-Infinity", "+NaN")
        ),
        *(("True", 0, 4), ("False", 0, 5), ("{x} {}", 2, 3), ('x {a:b} {"a":1}', 5, 6), ("{a} x {b}", 2, 3)),
        *(('{"a"foo}', 4, 7), ("{,}", 1, 2), ('{"a":[,]}', 6, 7), ('{"a":00,}', 5, 7), ('{"a":1e,}', 5, 7)),
        *(("{1a:1}", 1, 3), ("{a-b:1}", 1, 4), ('{"a":1]', 6, 7), ('{"a":[1}}', 7, 8)),
    ],
    "ambiguous": [
        *((f"{{{word}:1}}", 1, 1 + len(word)) for word in ("true", "false", "null", "True", "False", "None")),
        *((f"{{{word}:1}}", 1, 1 + len(word)) for word in ("NaN", "Infinity", "undefined")),
        *(("x] {", 0, 3), ('say "x" {', 0, 8), ("} {", 0, 2)),
        *(('x {a} } {"a":1}', 5, 8), ('{"a":1}"', 7, 8), ('{"a":1}] x', 7, 10), ('{"a":1} /* ] */', 8, 15)),
        *(('// x {"a":1}', 0, 12), ('/* {"a":1,} */', 0, 14), ('x {"a":1} }', 9, 11), ('{"a":1} []', 8, 10)),
        *(('{"s":"\\d\\u0041"', 5, 15), ("{true", 1, 5)),  # at the end of the text it has two readings still
        *(('x \'{"a":"\\n",}', 3, 14), ('```x `{"a":"\\n",}', 6, 17)),
        *(('`{"a":"\\n",}', 1, 12), ("'{'a':'\\\\'}", 1, 11), ('\' {"a":"\\n",}', 2, 13)),
    ],
    "multiple_objects": [('{"a":1,} x {b c}', 9, 16), ('{"a":1}{"b":2}', 7, 14), ("{'a':1},{}", 7, 10)],
    "not_an_object": [("[1,]", 0, 4), ("[1,] x", 0, 4), ('[{"a":1},]', 0, 10)],
    "unparseable": [
        *((text, 0, len(text)) for text in ("", "?", "x", "path=/x", "use x}", "a {b} c")),
        *((text, 0, len(text)) for text in ("True x", "Falsey", "Infinityx", "xTrue", "a1", "trues")),
    ],
}


@together(
    ("reason", "text", "start", "end"),
    [(reason, *fault) for reason, faults in FAULTS.items() for fault in faults],
)
def test_where_the_fault_is(reason: Any, text: str, start: int, end: int) -> None:
    """Each fault has its reason, and names the token that has no place, or all that might be more."""
    assert Fault(reason, start, end) == recover(text)


@together(
    ("text", "strict", "edits", "span"),
    [
        ("{Nan:1}", '{"Nan":1}', [("unquoted_key", 1)], (0, 7)),
        ("{$:1,a$b:2}", '{"$":1,"a$b":2}', [("unquoted_key", 1), ("unquoted_key", 5)], (0, 11)),
        ("{'a\"b':1}", '{"a\\"b":1}', [("single_quotes", 1)], (0, 9)),
        ('{"a":-0}', '{"a":-0}', [], (0, 8)),
        ('{"a":1.5E+3,}', '{"a":1.5E+3}', [("trailing_comma", 11)], (0, 13)),
        ('{"a":-0.1e-2,"b":1e5}', '{"a":-0.1e-2,"b":1e5}', [], (0, 21)),
        ('{"a":null,"b":true,"c":false}', '{"a":null,"b":true,"c":false}', [], (0, 29)),
        (
            '{"a":[None,False,True]}',
            '{"a":[null,false,true]}',
            [("python_literal", 6), ("python_literal", 11), ("python_literal", 17)],
            (0, 23),
        ),
        ('{"a":[[],{},],}', '{"a":[[],{}]}', [("trailing_comma", 11), ("trailing_comma", 13)], (0, 15)),
        ('{"a":{"b":1,},"c":2}', '{"a":{"b":1},"c":2}', [("trailing_comma", 11)], (0, 20)),
        ('{"a":1,,"b":2}', '{"a":1,"b":2}', [("trailing_comma", 7)], (0, 14)),
        ('{"a" :\u00a01 /* x */}', '{"a":1}', [("whitespace", 6), ("comment", 9)], (0, 17)),
        ('x {y} {"a":1}', '{"a":1}', [("leading_text", 0)], (6, 13)),
        ('x {a}{"a":1}', '{"a":1}', [("leading_text", 0)], (5, 12)),
        ('x {a{b}c} {"a":1}', '{"a":1}', [("leading_text", 0)], (10, 17)),
        ('/* x */ {"a":1,}', '{"a":1}', [("comment", 0), ("trailing_comma", 14)], (8, 16)),
        ('/* c */ x {"a":1}', '{"a":1}', [("comment", 0), ("leading_text", 8)], (10, 17)),
        ('\u00a0x {"a":1}', '{"a":1}', [("whitespace", 0), ("leading_text", 1)], (3, 10)),
        ('{"a":1} // x', '{"a":1}', [("comment", 8)], (0, 7)),
        ('{"a":1} // x\n y', '{"a":1}', [("comment", 8), ("trailing_text", 14)], (0, 7)),
        ('{"a":1}]} ]', '{"a":1}', [("trailing_text", 7)], (0, 7)),
        ("{}x", "{}", [("trailing_text", 2)], (0, 2)),
        ('```{"a":"\\n",}', '{"a":"\\n"}', [("leading_text", 0), ("trailing_comma", 12)], (3, 14)),
        ("it's {a:1}", '{"a":1}', [("leading_text", 0), ("unquoted_key", 6)], (5, 10)),
        ("so: `{a:1}", '{"a":1}', [("leading_text", 0), ("unquoted_key", 6)], (5, 10)),
        ("C:\\x '{a:1}", '{"a":1}', [("leading_text", 0), ("unquoted_key", 7)], (6, 11)),
        (
            "x '{a:1}' \\n",
            '{"a":1}',
            [("leading_text", 0), ("unquoted_key", 4), ("trailing_text", 8)],
            (3, 8),
        ),
        ('so ```{"a":"\\n",}', '{"a":"\\n"}', [("leading_text", 0), ("trailing_comma", 15)], (6, 17)),
        ('\'x\' to {"a":"\\n",}', '{"a":"\\n"}', [("leading_text", 0), ("trailing_comma", 16)], (7, 18)),
        ('/* x */{"a":1,}', '{"a":1}', [("comment", 0), ("trailing_comma", 13)], (7, 15)),
    ],
)
def test_what_is_recovered(
    text: str, strict: str, edits: list[tuple[Any, int]], span: tuple[int, int]
) -> None:
    """The strict text, every edit at its place, and where the object is in its text."""
    assert Recovered(strict, [Edit(*edit) for edit in edits], *span) == recover(text)


@pytest.mark.parametrize(("groups", "found"), [(63, True), (64, False)])
def test_brace_groups_before_an_object(groups: int, found: bool) -> None:
    """The object may be after 63 invalid groups, not after more."""
    assert found is isinstance(recover("x " + "{x} " * groups + '{"a":1}'), Recovered)


# The envelope.


@together(
    ("raw", "span", "edits"),
    [
        ("{}", (0, 2), []),
        ("", (0, 0), []),
        ("  ", (2, 2), []),
        (" \t{}\r\n", (2, 4), []),
        ("\ufeff {} ", (2, 4), [("bom", 0)]),
        ("\u00a0{}\u200b \ufeff", (1, 3), [("whitespace", 0), ("bom", 5), ("whitespace", 3)]),
        ("\u00a0\ufeff\u00a0", (3, 3), [("bom", 1), ("whitespace", 0)]),
        ("```json\n{}\n```", (8, 10), [("code_fence", 0)]),
        (" ```c++ {}```", (8, 10), [("code_fence", 1)]),
        ("```x```", (4, 4), [("code_fence", 0)]),
        ("``````", (3, 3), [("code_fence", 0)]),
        ("`````", (0, 5), []),
        ("```json{}", (0, 9), []),
        ("{}```", (0, 5), []),
        ("```\n```\n{}\n```\n```", (4, 14), [("code_fence", 0)]),
        ("```\n\u00a0{}\ufeff\n```", (5, 7), [("code_fence", 0), ("whitespace", 4), ("bom", 7)]),
        ("{} </s> \u00a0<|im_end|>", (0, 2), [("special_token", 9), ("whitespace", 8), ("special_token", 3)]),
        ("```\n{}</s>\n```</s>", (4, 6), [("special_token", 14), ("code_fence", 0), ("special_token", 6)]),
        ("</s>", (0, 0), [("special_token", 0)]),
    ],
)
def test_what_peels_off(raw: str, span: tuple[int, int], edits: list[tuple[Any, int]]) -> None:
    """The position of the text within its envelope, and every edit at its place; one code fence at most."""
    assert (*span, [Edit(*edit) for edit in edits]) == peel(raw)


def test_how_many_tokens_peel_off() -> None:
    """Nine tokens are an envelope; of more, the inner ones stay."""
    assert [(2, 9), (6, 9)] == [
        (end, len(edits)) for _, end, edits in (peel("{}" + "</s>" * n) for n in (9, 10))
    ]


LEFT_BEHIND = """<|im_end|> <|endoftext|> <|end_of_text|> </s> <|call|> <|end|> <|return|> <|eot_id|> <|eom_id|>
<|eot|> <|python_end|> <|tool_call_end|> <|tool_calls_section_end|> <\uff5ctool\u2581call\u2581end\uff5c>
<\uff5ctool\u2581calls\u2581end\uff5c> <\uff5cend\u2581of\u2581sentence\uff5c> <end_of_turn> <|END_ACTION|> <|tool_call|>
<|/tool_call|> </tool_call> </tool_calls> </function> </function_call> </arguments>"""


@together("token", LEFT_BEHIND.split())
def test_special_tokens(token: str) -> None:
    """A template's leftovers after a call are not part of it."""
    verdict = parse_arguments('{"a":1}' + token)

    assert ("normalised", (Edit("special_token", 7),)) == (verdict.status, verdict.edits)


def test_there_are_no_other_special_tokens() -> None:
    """The list is closed: whatever else is after an object is text."""
    assert set(LEFT_BEHIND.split()) == set(SPECIAL_TOKENS)
