"""Recovery: token-level edits with one reading, each listed; everything else is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.together import together
from wholecall import parse_arguments
from wholecall.calls.arguments.recovery import Fault, Recovered, peel, recover
from wholecall.calls.arguments.verdict import Edit, Verdict
from wholecall.policy import Policy

RECOVERED: list[tuple[str, dict[str, Any], list[tuple[Any, int]]]] = [
    ('{"a":1,}', {"a": 1}, [("trailing_comma", 6)]),
    ('{"a":[1,2 , ]}', {"a": [1, 2]}, [("trailing_comma", 10)]),
    (
        '{"a":[1,,2],,}',
        {"a": [1, 2]},
        [("trailing_comma", 8), ("trailing_comma", 11), ("trailing_comma", 12)],
    ),
    ('{"a":1 // it\'s\n,"b":2}', {"a": 1, "b": 2}, [("comment", 7)]),
    ('{"a":1 # "b": 3\n}', {"a": 1}, [("comment", 7)]),
    ('{/* } */"u":"http://x/#y"}', {"u": "http://x/#y"}, [("comment", 1)]),
    ('/* c */ {"a":1} // d', {"a": 1}, [("comment", 0), ("comment", 16)]),
    (
        '{"a":True,"b":[False,None]}',
        {"a": True, "b": [False, None]},
        [("python_literal", at) for at in (5, 15, 21)],
    ),
    ("{'a':'say \"hi\"'}", {"a": 'say "hi"'}, [("single_quotes", 1), ("single_quotes", 5)]),
    ("{'a':'it\\'s'}", {"a": "it's"}, [("single_quotes", 1), ("single_quotes", 5)]),
    ("{\"a\":''}", {"a": ""}, [("single_quotes", 5)]),
    ("{a:1,$b_2:2}", {"a": 1, "$b_2": 2}, [("unquoted_key", 1), ("unquoted_key", 5)]),
    ('{"a":"x\ny\tz"}', {"a": "x\ny\tz"}, [("control_char", 7)]),
    ('{"a":"\x01\\n"}', {"a": "\x01\n"}, [("control_char", 6)]),
    ('{"re":"\\d+\\."}', {"re": "\\d+\\."}, [("invalid_escape", 7)]),
    ('{"u":"\\u12"}', {"u": "\\u12"}, [("invalid_escape", 6)]),
    ('{"p":"C:\\\\Users\\docs \\"x\\""}', {"p": 'C:\\Users\\docs "x"'}, [("invalid_escape", 15)]),
    ('{"a":1}}]', {"a": 1}, [("trailing_text", 7)]),
    ('{"a":1};', {"a": 1}, [("trailing_text", 7)]),
    ('{"a":1} that is all', {"a": 1}, [("trailing_text", 8)]),
    ('functions.read:0{"a":1}', {"a": 1}, [("leading_text", 0)]),
    ('use {x}: {"a":1}', {"a": 1}, [("leading_text", 0)]),
    ('call({"a":1})', {"a": 1}, [("leading_text", 0), ("trailing_text", 12)]),
    ("{\u201ca\u201d:\u2018it\u2019}", {"a": "it"}, [("smart_quotes", 1), ("smart_quotes", 5)]),
    ('{"a":\u00a01}', {"a": 1}, [("whitespace", 5)]),
    ('```json\n{"a":1,}\n```', {"a": 1}, [("code_fence", 0), ("trailing_comma", 14)]),
    (
        "\ufeff{a:1}}</s>",
        {"a": 1},
        [("bom", 0), ("unquoted_key", 2), ("trailing_text", 6), ("special_token", 7)],
    ),
    (
        '{"s":"True, \u201cx\u201d // # \'y\' ,}",}',
        {"s": "True, \u201cx\u201d // # 'y' ,}"},
        [("trailing_comma", 28)],
    ),
]


@together(("raw", "value", "edits"), RECOVERED)
def test_one_reading_is_recovered(raw: str, value: dict[str, Any], edits: list[tuple[Any, int]]) -> None:
    """Each listed defect has its one reading, and each edit its place in the raw text."""
    assert Verdict("recovered", value, tuple(Edit(*edit) for edit in edits)) == parse_arguments(raw)


@together("raw", [case[0] for case in RECOVERED])
def test_the_policy_can_rule_recovery_out(raw: str) -> None:
    """Without recovery a text with defects is dropped."""
    assert parse_arguments(raw, policy=Policy(recovery="none")).reason == "invalid_json"


REFUSED = {
    "invalid_json": [
        *('{"a":"x" "b":1}', '{"a" 1}', '{"a"}', '{"a":}', '{"a":,"b":1}', '{,"a":1}', '{"a":[,1]}', "{,}"),
        *('{"a":1]', '{"a":[1}}', '{"a":NaN}', '{"a":undefined}', '{"a":TRUE}', '{"a":foo}', '{"a":-}'),
        *('{"a":+1}', '{"a":.5}', '{"a":0x10}', '{"a":01}', '{"a":1.}', '{"a":1_0}', '{"a":\u0661}'),
        *(
            '{"a":1,...}',
            "{...}",
            '{"a":[1,...]}',
            '{"a":(1,2)}',
            '{"a":`x`}',
            '{"a":"""x"""}',
            '{"a":"b" "c"}',
        ),
        *("{'a':'it's'}", "{'a':'rock 'n' roll'}", "{'a':b'x'}", "{\u2018a\u2019:\u2018it\u2019s\u2019}"),
        *(
            "{u:http://x/y}",
            "{1:2}",
            "{a-b:1}",
            '{"cmd":"echo "hi" && ls"}',
            '{"a":"x, "b":true}',
            '{\\"a\\":1}',
        ),
        *('{{"a":1}}', '{a: foo} {"b":1}', '{"a"=1}', '{"a":1;"b":2}', "{\u201da\u201d:1}"),
        *("{x}: {'a':1}", "{ 'k'y,}': {\"a\":1} }", "x { 'k'y,}: {\"a\":1}"),
    ],
    "ambiguous": [
        *(
            '{"p":"C:\\Users\\new"}',
            '{"s":"\\d\\u0041"}',
            '{"s":"\\u12\\t"}',
            '{"s":"it\\\'s"}',
            '{"s":"\\x41"}',
        ),
        *(
            '{"s":"\\u{41}"}',
            '{"s":"\\0"}',
            '{"s":"a\\\nb"}',
            "{'s':'\\x41'}",
            "{'s':'\\a'}",
            "{true:1}",
            "{None:1}",
        ),
        *(
            'say "hi": {"a":1}',
            'x] {"a":1}',
            '} {"a":1}',
            '{"a":1} "x"',
            '{"a":1}""',
            '{"a":1} x}',
            '{"a":1} []',
        ),
        *('// {"a":1}', '/* {"a":1} */', '{"a":1} // "b"', '{\u201ca\u201d:\u201csay "hi"\u201d}'),
        *("{\u201ca\u201cb\u201d:1}", '\'{"a":"\\\\n"}\'', '{"s":"\\d\\\u201d"}'),
        *("'k': {'a':1}}", 'k: {"a":1}]', 'x {"a":1}}', "x] {'a':1}"),
    ],
    "truncated": [
        *(
            '{"a":"x',
            '{"a":1',
            '{"a":',
            '{"a"',
            '{"a',
            "{",
            '{"a":1,',
            '{"a":fal',
            '{"a":-',
            '{"a":[1',
            '{"a":"\\',
        ),
        *(
            "{'a':'x",
            "{a:True",
            '{"a": "x" // "b": 1}',
            '{"a":1 /*',
            '{"a":{"b":1}',
            "{\u201ca",
            '{"a":1,}{"b":',
        ),
    ],
    "multiple_objects": [
        '{"a":1,}{"b":2}',
        '{"a":1} and {"b":2}',
        'use {x:1} and {"y":2}',
        '{"a":1},\n{"a":1}',
    ],
    "duplicate_key": ['{"a":1,"a":2,}', "{a:1,'a':2}"],
    "lone_surrogate": ['{"s":"\\ud800",}', '{"s":"\ud800",}'],
    "number_out_of_range": ['{"n":1e400,}'],
    "number_too_long": ['{"n":' + "9" * 4301 + ",}"],
    "nesting_too_deep": ["{'\"':" + "[" * 128 + "]" * 128 + "}"],
    "unparseable": ["use {x}, please", "x " + "{x} " * 70 + '{"a":1}'],
}


@together(("raw", "reason"), [(raw, reason) for reason, texts in REFUSED.items() for raw in texts])
def test_everything_else_is_refused(raw: str, reason: str) -> None:
    """A text without a reading, or with more than one, is dropped with the reason that fits it."""
    assert reason == parse_arguments(raw).reason


def test_a_recovered_text_takes_the_strict_checks() -> None:
    """Flags of strict decoding are raised for recovered texts as well."""
    assert parse_arguments('{"a":1,"a":1,}').flags == ("duplicate_key",)
    assert parse_arguments('{"s":"a\x00b"}').flags == ("nul_in_string",)


@pytest.mark.parametrize("text", ['{"a":1,"b":2}', '{"b":"x"}', '{"a":"2"}', '{"a":true}', '{"a":1,"c":[]}'])
def test_the_post_condition_stops_a_wrong_recovery(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If recovery ever invented, lost or changed a leaf, the call would be dropped."""
    raw = "{a:2}"
    monkeypatch.setattr(
        "wholecall.calls.arguments.ladder.recover", lambda _: Recovered(text, [], 0, len(raw))
    )
    assert parse_arguments(raw).reason == "ambiguous"


def test_peel_stops_after_some_tokens() -> None:
    """A flood of special tokens is not an envelope."""
    start, end, edits = peel("{}" + "</s>" * 1000)
    assert (start, end < 4002, len(edits) < 20) == (0, True, True)


def test_recover_reports_where_the_fault_is() -> None:
    """A fault names its reason and the token that has no place."""
    assert Fault("invalid_json", 4, 7) == recover('{"a"foo}')
