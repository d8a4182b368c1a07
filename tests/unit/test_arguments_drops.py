"""Verdicts: each reason with its sentence, each edit at its place, and the check after recovery."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.together import together
from wholecall import parse_arguments
from wholecall.calls.arguments.ladder import read_arguments
from wholecall.calls.arguments.recovery import Recovered
from wholecall.calls.arguments.verdict import Edit, Verdict
from wholecall.calls.tools.tool import Tool
from wholecall.limits import Limits
from wholecall.policy import Policy

NO_END = "the text ends before its object does"
FAULTY = "the text has a fault that leaves no single reading"


@together(
    ("raw", "options", "reason", "detail"),
    [
        ('{"a"', {}, "truncated", f"{NO_END}; see character 4"),
        ('{"a":1', {"ended": "length"}, "truncated", NO_END),
        ('{"a":"aaaaaaaa', {"limits": Limits(max_recovery_bytes=8)}, "truncated", NO_END),
        (
            '{"a":1}',
            {"ended": "open"},
            "unterminated",
            "the stream ended without saying that the call is over",
        ),
        ("path=/x", {}, "unparseable", "the text holds no JSON object; see character 0"),
        ('{"a":foo}', {}, "invalid_json", f"{FAULTY}; see character 5"),
        ('\u00a0{"a":foo}', {}, "invalid_json", f"{FAULTY}; see character 6"),
        ('{"a":"aaaa",}', {"limits": Limits(max_recovery_bytes=8)}, "invalid_json", FAULTY),
        ('{"s":"\\x41"}', {}, "ambiguous", "the text has several readings; see character 5"),
        ('{"a":1}{"a":2}', {}, "multiple_objects", "the text holds several objects"),
        ('{"a":1,}{"a":2}', {}, "multiple_objects", "the text holds several objects; see character 8"),
        ('{"a":1}{"n":NaN}', {}, "multiple_objects", "the text holds several objects; see character 7"),
        ("[1]", {}, "not_an_object", "the text is JSON but no object"),
        ('"1"', {}, "not_an_object", "the text is JSON but no object"),
        ("null</s>", {}, "not_an_object", "the text is JSON but no object"),
        ("```null```", {}, "unparseable", "the text holds no JSON object; see character 7"),
        ('{"a":1,"a":2}', {}, "duplicate_key", "a key occurs twice with different values"),
        ('{"a":1,"a":2,}', {}, "duplicate_key", "a key occurs twice with different values"),
        ('{"s":"\\ud800"}', {}, "lone_surrogate", "a string holds half of a surrogate pair"),
        (
            "[" * 200,
            {},
            "nesting_too_deep",
            "objects and arrays are nested deeper than Limits.max_depth",
        ),
        (
            '{"n":1234}',
            {"limits": Limits(max_number_chars=3)},
            "number_too_long",
            "a number has more characters than Limits.max_number_chars",
        ),
        ('{"n":1e999}', {}, "number_out_of_range", "a number is too large for a float"),
        ('{"n":1e999,}', {}, "number_out_of_range", "a number is too large for a float"),
        ('"{\\"n\\":1e999}"', {}, "number_out_of_range", "a number is too large for a float"),
        ('{"a":1}{"n":1e999}', {}, "number_out_of_range", "a number is too large for a float"),
        (
            '{"a":"12"}',
            {"limits": Limits(max_arguments_bytes=9)},
            "arguments_too_large",
            "the text has more bytes than Limits.max_arguments_bytes",
        ),
        (
            '{"a":1,}',
            {"policy": Policy(recovery="none")},
            "invalid_json",
            "the text needs recovery, which the policy rules out",
        ),
        (
            '{"a":[1,,,,2]}',
            {"limits": Limits(max_edits=2)},
            "invalid_json",
            "the text needs more edits than Limits.max_edits",
        ),
    ],
)
def test_each_reason_has_its_sentence(raw: str, options: dict[str, Any], reason: str, detail: str) -> None:
    """A drop gives its reason as a word for programs and a sentence for people, and nothing else."""
    expected = Verdict("dropped", reason=reason, detail=detail)  # type: ignore[arg-type]

    assert expected == parse_arguments(raw, **options)


@together("ended", ["length", "open"])
@together(
    ("raw", "limits", "reason"),
    [
        ('{"n":1234}', Limits(max_number_chars=3), "number_too_long"),
        ('{"a":[[]]}', Limits(max_depth=2), "nesting_too_deep"),
        ('{"a":"12"}', Limits(max_arguments_bytes=9), "arguments_too_large"),
        ('{"n":1e999}', Limits(), "number_out_of_range"),
    ],
)
def test_every_limit_outranks_the_end(raw: str, limits: Limits, reason: str, ended: Any) -> None:
    """A breached limit stays the reason, however the call ended, if the call may be emitted at all."""
    policy = Policy(require_terminal=False)

    assert reason == parse_arguments(raw, ended=ended, policy=policy, limits=limits).reason


def test_a_call_ends_cleanly_unless_told_otherwise() -> None:
    """Without a word about its end a text counts as ended by the provider."""
    assert parse_arguments("{}", ended="clean") == parse_arguments("{}")


@together(
    ("raw", "status", "arguments", "edits"),
    [
        ("{}{}", "normalised", {}, [("duplicate_object", 2)]),
        ("{}{}{}", "normalised", {}, [("duplicate_object", 2), ("duplicate_object", 4)]),
        ('{}{}{"a":1}', "normalised", {"a": 1}, [("placeholder", 0), ("placeholder", 2)]),
        (
            '{"a":1}{"a":1}{"a":1}',
            "normalised",
            {"a": 1},
            [("duplicate_object", 7), ("duplicate_object", 14)],
        ),
        (
            '\u00a0{}{"a":1}</s>',
            "normalised",
            {"a": 1},
            [("whitespace", 0), ("placeholder", 1), ("special_token", 10)],
        ),
        ("\u00a0{a:1}", "recovered", {"a": 1}, [("whitespace", 0), ("unquoted_key", 2)]),
        ("{a:1}</s>", "recovered", {"a": 1}, [("unquoted_key", 1), ("special_token", 5)]),
        ('"{}"', "normalised", {}, [("double_encoded", 0)]),
        (
            '\u00a0"{}"</s>',
            "normalised",
            {},
            [("whitespace", 0), ("double_encoded", 1), ("special_token", 5)],
        ),
        ("\ufeffnull\u00a0", "empty", {}, []),
    ],
)
def test_edits_stand_where_they_were_made(
    raw: str, status: Any, arguments: dict[str, Any], edits: list[tuple[Any, int]]
) -> None:
    """Edits of the envelope and of the object are one list, in order of their places in the raw text."""
    assert Verdict(status, arguments, tuple(Edit(*edit) for edit in edits)) == parse_arguments(raw)


@pytest.mark.parametrize(("allowed", "status"), [(2, "normalised"), (1, "dropped"), (None, "normalised")])
def test_objects_in_a_row_are_edits_too(allowed: int | None, status: str) -> None:
    """Where more objects follow than `max_edits` allows, they are not distinguished."""
    assert status == parse_arguments("{}{}", limits=Limits(max_edits=allowed)).status


def test_without_a_limit_any_number_of_edits_passes() -> None:
    """`max_edits=None` is not a limit."""
    raw = '{"a":[1' + ",," * 200 + "2]}"

    assert "recovered" == parse_arguments(raw, limits=Limits(max_edits=None)).status


def test_what_a_verdict_shows_of_itself() -> None:
    """The size of the arguments, never the arguments."""
    shown = [repr(Verdict("exact", {"a": 1})), repr(Verdict("dropped", reason="schema", detail="x"))]

    assert [
        "Verdict(status='exact', arguments=<1>, edits=(), flags=(), reason=None, detail='')",
        "Verdict(status='dropped', arguments=None, edits=(), flags=(), reason='schema', detail='x')",
    ] == shown


# Tools.

TEXT = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


@together("tool", [TEXT, Tool(TEXT, "f")], ids=["a description", "a tool"])
@together(
    ("raw", "reason"),
    [('{"a":"x"}', None), ('{"a":1}', "schema"), ("", "empty_arguments"), ("x", "unparseable")],
)
def test_arguments_are_held_against_their_tool(tool: Any, raw: str, reason: str | None) -> None:
    """A readable object has to fit the tool, whether it is described on the spot or made before."""
    verdict = parse_arguments(raw, tool=tool)

    assert (reason, {"a": "x"} if reason is None else None) == (verdict.reason, verdict.arguments)


def test_safe_integers_beside_a_tool() -> None:
    """Integers are checked as integers, and become strings for JavaScript after that."""
    tool = {"type": "object", "properties": {"n": {"type": "integer"}}}
    policy = Policy(json_safe_ints=True)
    found = parse_arguments('{"n":9007199254740993}', tool=tool, policy=policy)

    assert {"n": "9007199254740993"} == found.arguments
    assert {"n": 2**53 + 1} == read_arguments('{"n":9007199254740993}', "clean", policy, Limits()).arguments


def test_safe_integers_at_every_depth() -> None:
    """Objects in arrays and arrays in objects are looked into; 2**53 - 1 is the last integer that stays."""
    raw = (
        '{"a":[[9007199254740992]],"b":{"c":[9007199254740991,{"d":9007199254740993}]},"e":-9007199254740991}'
    )
    expected = {
        "a": [["9007199254740992"]],
        "b": {"c": [9007199254740991, {"d": "9007199254740993"}]},
        "e": -9007199254740991,
    }

    assert expected == parse_arguments(raw, policy=Policy(json_safe_ints=True)).arguments


# The check after recovery.


@pytest.mark.parametrize(
    ("raw", "text", "span"),
    [
        ("{a:2}", '{"a":2}', None),
        ("{'a':'x'}", '{"a":"x"}', None),
        ('{a:"2"}', '{"a":"2"}', None),
        ("{a:true,b:false,c:null}", '{"a":true,"b":false,"c":null}', None),
        ("{a:True,b:False,c:None}", '{"a":true,"b":false,"c":null}', None),
        ('{true:"true"}', '{"true":"true"}', None),
        ("{a:1.50}", '{"a":1.50}', None),
        ("{\u201ca\u201d:\u2018it\u2019}", '{"a":"it"}', None),
        ('x y {"a":[1,{}],}', '{"a":[1,{}]}', (4, 17)),
        ('{"a":1,} y "z"', '{"a":1}', (0, 8)),
    ],
)
def test_a_faithful_recovery_passes(
    raw: str, text: str, span: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where keys and leaves are the tokens of the text, in their order, the recovered object is emitted."""
    monkeypatch.setattr(
        "wholecall.calls.arguments.ladder.recover", lambda _: Recovered(text, [], *(span or (0, len(raw))))
    )

    assert "recovered" == parse_arguments(raw).status


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("{a:2}", '{"a":3}'),
        ("{a:2}", '{"a":"2"}'),
        ('{a:"2"}', '{"a":2}'),
        ("{a:2}", '{"b":2}'),
        ("{a:2}", '{"a":2,"b":2}'),
        ("{a:2,b:2}", '{"a":2}'),
        ("{a:1,b:2}", '{"b":2,"a":1}'),
        ("{a:1,b:2}", '{"a":2,"b":1}'),
        ('{a:"x"}', '{"a":"y"}'),
        ("{a:1}", '{"a":1.0}'),
        ("{a:1}", '{"a":true}'),
        ("{a:true}", '{"a":1}'),
        ("{a:true}", '{"a":false}'),
        ("{a:true}", '{"a":"true"}'),
        ('{a:"true"}', '{"a":true}'),
        ("{a:null}", '{"a":false}'),
        ("{a:foo}", '{"a":null}'),
        ("{a:foo}", '{"a":"foo"}'),
        ("{a:[]}", '{"a":[null]}'),
        ("{a:{b:1}}", '{"a":{"c":1}}'),
    ],
)
def test_an_unfaithful_recovery_is_dropped(raw: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If recovery ever invented, lost, moved or changed anything, the call would be dropped."""
    monkeypatch.setattr(
        "wholecall.calls.arguments.ladder.recover", lambda _: Recovered(text, [], 0, len(raw))
    )

    expected = Verdict(
        "dropped", reason="ambiguous", detail="the recovered object holds what the text does not"
    )
    assert expected == parse_arguments(raw)
