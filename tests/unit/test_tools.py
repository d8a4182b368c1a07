"""Calls held against the tools that the model was given: forms, names, misfits, coercion."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import functools
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pydantic
import pytest

from tests.support.together import together
from tests.support.tools import FORMS, SCHEMA, AsDataclass, AsModel, AsStruct, book_berth
from wholecall import (
    Event,
    Limits,
    Policy,
    ServerToolCall,
    Tool,
    ToolCall,
    ToolCallDropped,
    ToolCallParser,
    Tools,
    parse_arguments,
)
from wholecall.calls.arguments.verdict import Edit

FIT = '{"port": "Brest", "nights": 2, "options": {"side": "port"}}'
MISFIT = '{"port": "Brest", "nights": "two", "options": {"side": "port"}}'
NESTED = r'{"port": "Brest", "nights": "2", "options": "{\"side\": \"port\"}"}'
SECRET = "rm -rf /tmp/secret"
COERCE = Policy(coerce="schema")

forms = together("form", list(FORMS))


def chunk(**delta: Any) -> dict[str, Any]:
    """Return a chunk of a chat stream."""
    return {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}


def entry(name: str | None = None, arguments: str = "", index: int = 0, **more: Any) -> dict[str, Any]:
    """Return an entry of `tool_calls`."""
    function = {"name": name, "arguments": arguments} if name is not None else {"arguments": arguments}
    return {"index": index, "function": function, **more}


FINISH = {
    "id": "c",
    "object": "chat.completion.chunk",
    "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}],
}


def run(tools: Any, *entries: dict[str, Any], policy: Policy = Policy()) -> list[Event[Any]]:  # noqa: B008
    """Return the events of a chat stream of these entries of `tool_calls`."""
    parser = ToolCallParser(tools=tools, policy=policy)
    chunks = [chunk(tool_calls=[one]) for one in entries]
    return [event for one in (*chunks, FINISH) for event in parser.feed_event(one)] + parser.close()


def outcome(tools: Any, name: str, arguments: str, policy: Policy = Policy()) -> Any:  # noqa: B008
    """Return the one terminal event of a stream with this one call."""
    events = run(tools, entry(name, arguments, id="call_1"), policy=policy)
    (end,) = [event for event in events if isinstance(event, (ToolCall, ToolCallDropped))]
    return end


def plain(value: Any) -> Any:
    """Return builtins for a value of any form."""
    return value.model_dump() if isinstance(value, pydantic.BaseModel) else msgspec.to_builtins(value)


# --- every form ---------------------------------------------------------------------------------------------


@forms
def test_a_fitting_call_comes_out_with_its_value(form: str) -> None:
    """Arguments that fit are output unchanged, and `value` holds them as the form's own type."""
    call = outcome(FORMS[form](), "book_berth", FIT)

    assert "exact" == call.status
    assert {"port": "Brest", "nights": 2, "options": {"side": "port"}} == call.arguments
    assert call.arguments == plain(call.value)


@forms
def test_a_misfit_is_dropped(form: str) -> None:
    """Arguments of another type than the tool takes drop the call, and say where, without their text."""
    dropped = outcome(FORMS[form](), "book_berth", MISFIT)

    assert "schema" == dropped.reason
    assert MISFIT == dropped.raw_arguments
    assert "at $" in dropped.detail
    assert "two" not in dropped.detail


@forms
def test_a_missing_member_is_a_misfit(form: str) -> None:
    """A required member that is missing drops the call, an explicit empty object too."""
    tools = FORMS[form]()

    assert "schema" == outcome(tools, "book_berth", '{"port": "Brest", "nights": 2}').reason
    assert "schema" == outcome(tools, "book_berth", "{}").reason


@forms
def test_an_unknown_tool_is_dropped(form: str) -> None:
    """A call of a tool that was not given to the model is never redirected to another one."""
    dropped = outcome(FORMS[form](), "book_bert", FIT)

    assert ("unknown_tool", "book_bert") == (dropped.reason, dropped.name)


@forms
def test_empty_arguments_follow_the_tool(form: str) -> None:
    """No arguments at all are fine for a tool that requires none, and are dropped for any other."""
    tools = FORMS[form]()

    assert ("empty", {}) == (
        outcome(tools, "list_berths", "").status,
        outcome(tools, "list_berths", "").arguments,
    )
    assert "empty_arguments" == outcome(tools, "book_berth", "").reason


@forms
def test_nested_text_is_decoded_only_if_the_policy_says_so(form: str) -> None:
    """A string in place of an object or a number is a misfit; with coercion it is read, and listed."""
    tools = FORMS[form]()
    call = outcome(tools, "book_berth", NESTED, COERCE)

    assert "schema" == outcome(tools, "book_berth", NESTED).reason
    assert {"port": "Brest", "nights": 2, "options": {"side": "port"}} == call.arguments
    assert "normalised" == call.status
    edits = (Edit("numeric_string", NESTED.index('"2"')), Edit("nested_json", NESTED.index('"{')))
    assert edits == call.edits


# --- values ----------------------------------------------------------------------------------------


def test_values_are_of_the_type_that_was_given() -> None:
    """A type gives an object of it, a function its keyword arguments, a schema the arguments themselves."""
    given = {"struct": AsStruct, "dataclass": AsDataclass, "model": AsModel, "json-schema": dict}
    values = {form: outcome(FORMS[form](), "book_berth", FIT).value for form in given}

    assert given == {form: type(value) for form, value in values.items()}
    assert "Brest: 2 nights, port" == book_berth(**outcome([book_berth], "book_berth", FIT).value)


def test_without_tools_the_value_is_the_arguments() -> None:
    """Nothing is known of the tool then, and `value` equals `arguments`."""
    call = outcome(None, "anything", FIT)

    assert call.value is call.arguments


def test_the_log_line_of_a_typed_call_is_that_of_an_untyped_one() -> None:
    """`to_json` shows the arguments once, whatever object they became."""
    typed, untyped = outcome({"book_berth": AsModel}, "book_berth", FIT), outcome(None, "book_berth", FIT)

    assert untyped.to_json() == typed.to_json()
    assert untyped == msgspec.json.decode(typed.to_json(), type=ToolCall)


def test_a_function_gets_what_the_call_gave() -> None:
    """Parameters with a default are left to the function; `**more` takes whatever comes, untouched."""

    def tide(port: str, day: dt.date | None = None, *, unit: str = "m", **more: Any) -> Any:
        return port, day, unit, more

    value = outcome([tide], "tide", '{"port": "Brest", "day": "2026-11-22", "x": [1]}').value

    assert {"port": "Brest", "day": dt.date(2026, 11, 22), "x": [1]} == value
    assert ("Brest", dt.date(2026, 11, 22), "m", {"x": [1]}) == tide(**value)


def test_a_function_without_more_takes_no_more() -> None:
    """A member that no parameter takes is a misfit: the call could not be made."""
    more = FIT[:-1] + ', "x": 1}'

    assert "schema" == outcome([book_berth], "book_berth", more).reason


def test_models_inside_other_types_are_checked() -> None:
    """A pydantic model as a function's parameter is validated by pydantic."""

    def book(berth: AsModel) -> None:
        """Book."""

    assert isinstance(outcome([book], "book", f'{{"berth": {FIT}}}').value["berth"], AsModel)
    assert "schema" == outcome([book], "book", f'{{"berth": {MISFIT}}}').reason


class Side(enum.Enum):
    """A side of a boat."""

    PORT = "port"


class Stay(msgspec.Struct):
    """Types that JSON does not have."""

    day: dt.date
    side: Side
    prices: dict[int, float]


def test_text_becomes_what_json_has_no_type_for() -> None:
    """Dates and enums are text in JSON, and keys are always: they are read, not coerced."""
    call = outcome({"stay": Stay}, "stay", '{"day": "2026-11-22", "side": "port", "prices": {"1": 2}}')

    assert Stay(dt.date(2026, 11, 22), Side.PORT, {1: 2.0}) == call.value
    assert ("exact", ()) == (call.status, call.edits)


# --- names --------------------------------------------------------------------------------------------------


def test_the_policy_may_flag_unknown_tools() -> None:
    """`unknown_tool="flag"` lets the call out unchecked, and says so."""
    call = outcome({"book_berth": AsStruct}, "other", MISFIT, Policy(unknown_tool="flag"))

    assert ("unknown_tool",) == call.flags
    assert call.value is call.arguments


def test_what_cannot_be_read_is_no_unknown_tool() -> None:
    """The text's own fault outranks the name, as the name outranks the schema."""
    assert "truncated" == outcome({"book_berth": AsStruct}, "other", '{"port": "Bre').reason


@pytest.mark.parametrize(
    "name",
    ["functions.book_berth", "tools.book_berth", "default_api:book_berth", "book_berth:0", "Book_Berth"],
)
def test_spellings_of_a_name(name: str) -> None:
    """Case, a known prefix or a counter is normalised only if the policy says so, from the first event on."""
    tools = {"book_berth": AsStruct}
    events = run(tools, entry(name, FIT, id="a"), policy=Policy(tool_names="normalised"))

    assert "unknown_tool" == outcome(tools, name, FIT).reason
    assert ["book_berth"] * 2 == [event.name for event in events if hasattr(event, "name")]


def test_a_spelling_of_two_names_is_neither() -> None:
    """A name that could be two tools' is unknown; the exact name always counts."""
    tools = {"Berth": SCHEMA, "berth": SCHEMA}
    normalised = Policy(tool_names="normalised")

    assert "unknown_tool" == outcome(tools, "BERTH", FIT, normalised).reason
    assert "Berth" == outcome(tools, "Berth", FIT, normalised).name


def test_a_name_in_pieces_that_repeat() -> None:
    """Equal pieces are a repeat: a tool whose name is one word twice is not found by its pieces."""
    pieces = (entry("bora", id="a"), entry("bora"), entry(None, "{}"))
    names = {
        given: [event.name for event in run({given: dict[str, Any]}, *pieces) if isinstance(event, ToolCall)]
        for given in ("borabora", "bora")
    }

    assert {"borabora": [], "bora": ["bora"]} == names


def test_two_known_names_under_one_index_are_two_calls() -> None:
    """Without tools the second name may be a piece of the first, so nothing is believed; known names settle it."""
    two = (entry("list_berths"), entry("list_tides"))
    tools = {"list_berths": dict[str, Any], "list_tides": dict[str, Any]}
    joined = [event for event in run(None, *two) if isinstance(event, ToolCall)]
    apart = [event for event in run(tools, *two) if isinstance(event, ToolCall)]

    assert [] == [call.name for call in joined]
    assert ["list_berths", "list_tides"] == [call.name for call in apart]


def test_two_known_names_under_one_id_are_two_calls() -> None:
    """Two tools' names under one id are two calls: a server that gives all calls one id means that."""
    two = (entry("list_berths", id="a"), entry("list_tides", id="a"), entry(None, "{}", id="a"))
    tools = {"list_berths": dict[str, Any], "list_tides": dict[str, Any]}
    ends = [event for event in run(tools, *two) if isinstance(event, (ToolCall, ToolCallDropped))]

    assert ["list_berths", "list_tides"] == [getattr(event, "reason", event.name) for event in ends]


def test_noise_after_a_known_name_is_no_piece() -> None:
    """Text after a known name makes another known name of it, or else a doubt that drops both."""
    tools = {"tide": dict[str, Any], "tide_table": dict[str, Any]}

    def named(*pieces: str) -> str | None:
        events = run(tools, *(entry(piece, id="a") for piece in pieces), entry(None, "{}"))
        return next((event.name for event in events if isinstance(event, ToolCall)), None)

    assert [None, "tide_table", "tide_table"] == [
        named("tide", "?!"),
        named("tide", "_table"),
        named("tide", "tide_table"),
    ]


def test_custom_calls_are_known_by_name() -> None:
    """Free-text calls have no schema, but a tool that was not given to the model is unknown all the same."""
    custom = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "patch", "input": "text"}}
    known = run([{"type": "custom", "custom": {"name": "patch"}}], custom)
    unknown = run([{"type": "custom", "custom": {"name": "other"}}], custom)

    assert ["custom_tool_call"] == [e.__struct_config__.tag for e in known if hasattr(e, "input")]
    assert ["unknown_tool"] == [e.reason for e in unknown if isinstance(e, ToolCallDropped)]


def test_what_the_provider_executes_is_not_checked() -> None:
    """A server's own call is not a call of the tool of that name that you gave; nor is it unknown."""
    block = {"type": "server_tool_use", "id": "s", "name": "book_berth", "input": {}}
    message = {"type": "message", "role": "assistant", "content": [block], "stop_reason": "end_turn"}
    parser = ToolCallParser(tools={"book_berth": AsStruct})
    events = [*parser.feed_event(message), *parser.close()]

    assert ["book_berth"] == [event.name for event in events if isinstance(event, ServerToolCall)]


# --- details hold no arguments ------------------------------------------------------------------------------


class Fussy(msgspec.Struct, forbid_unknown_fields=True):
    """A Struct with many ways not to fit."""

    word: Literal["a", "b"] = "a"
    count: Annotated[int, msgspec.Meta(ge=1)] = 1
    short: Annotated[str, msgspec.Meta(max_length=3)] = ""
    day: dt.date | None = None
    prices: dict[str, int] = {}
    own: str = ""

    def __post_init__(self) -> None:
        if self.own:
            raise ValueError(self.own)


class FussyModel(pydantic.BaseModel):
    """A model whose own validator quotes its input."""

    own: str = ""
    prices: dict[str, int] = {}

    @pydantic.field_validator("own")
    @classmethod
    def _check(cls, own: str) -> str:
        raise ValueError(own)


class Broken(pydantic.BaseModel):
    """A model whose validator fails in a way that pydantic does not catch."""

    own: str

    @pydantic.field_validator("own")
    @classmethod
    def _check(cls, own: str) -> str:
        raise KeyError(own)


FUSSY_SCHEMA = {
    "properties": {"word": {"enum": ["a"]}, "prices": {"additionalProperties": {"type": "integer"}}},
    "additionalProperties": False,
}


@together(
    ("form", "arguments", "detail"),
    [
        (Fussy, {"word": SECRET}, "at $.word: none of the values that the type allows"),
        (Fussy, {"count": 0}, "at $.count: Expected `int` >= 1"),
        (Fussy, {"short": SECRET}, "at $.short: Expected `str` of length <= 3"),
        (Fussy, {"day": SECRET}, "at $.day: Invalid RFC3339 encoded date"),
        (Fussy, {SECRET: 1}, "at $: a field that the type does not know"),
        (Fussy, {"prices": {SECRET: SECRET}}, "at $.prices[...]: Expected `int`, got `str`"),
        (Fussy, {"own": SECRET}, "the type's own check raised ValueError"),
        (FussyModel, {"own": SECRET}, "at $.own: value_error"),
        (
            FussyModel,
            {"prices": {SECRET: SECRET}},
            "at $.prices[...]: Input should be a valid integer",
        ),
        (
            FussyModel,
            {"prices": {SECRET: 1.5}, "own": 7},
            "at $.own: Input should be a valid string; at $.prices[...]: Input should be a valid integer",
        ),
        (Broken, {"own": SECRET}, "the type's own check raised KeyError"),
        (FUSSY_SCHEMA, {"word": SECRET}, "at $.word: it breaks the rule `enum`"),
        (FUSSY_SCHEMA, {SECRET: 1}, "at $: it breaks the rule `additionalProperties`"),
        (FUSSY_SCHEMA, {"prices": {SECRET: SECRET}}, "at $.prices[...]: it is not of type `integer`"),
        ({"required": ["port"]}, {}, "at $: the required member `port` is missing"),
    ],
)
def test_details_tell_the_rule_and_hold_no_arguments(form: Any, arguments: Any, detail: str) -> None:
    """The detail names the tool's declarations; keys and values of the arguments are never in it."""
    verdict = parse_arguments(msgspec.json.encode(arguments).decode(), tool=form)

    assert ("schema", detail) == (verdict.reason, verdict.detail)


# --- coercion -----------------------------------------------------------------------------------------------


class Loose(msgspec.Struct):
    """Places where a string may replace another value."""

    n: int | None = None
    x: float | None = None
    text: str = ""
    either: int | str = 0
    items: list[int] = []
    table: dict[str, int] = {}
    flag: bool = False


@together(
    ("raw", "arguments"),
    [
        ('{"n": "-12"}', {"n": -12}),
        ('{"x": "1.5e3"}', {"x": 1500.0}),
        ('{"items": "[1, 2]"}', {"items": [1, 2]}),
        ('{"items": ["1", 2, "3"]}', {"items": [1, 2, 3]}),
        ('{"table": {"a": "1", "b": "2"}}', {"table": {"a": 1, "b": 2}}),
        (r'{"items": "[\"1\"]"}', {"items": [1]}),
        ('{"text": "12", "n": "1"}', {"text": "12", "n": 1}),
        ('{"either": "12"}', {"either": "12"}),
    ],
)
@together("form", ["type", "schema"])
def test_what_coercion_reads(raw: str, arguments: Any, form: str) -> None:
    """Only a string where none fits is read, as strict JSON of the type that fits there."""
    tool = Loose if form == "type" else msgspec.json.schema(Loose)

    assert arguments == parse_arguments(raw, tool=tool, policy=COERCE).arguments


@together(
    "raw",
    [
        '{"n": "1.5"}',
        '{"n": "1.0"}',
        '{"n": " 1"}',
        '{"n": "0x1"}',
        '{"n": "01"}',
        '{"n": ""}',
        '{"x": "NaN"}',
        '{"x": "1e999"}',
        '{"items": "[1,"}',
        '{"items": "[1,]"}',
        '{"items": "{}"}',
        '{"flag": "true"}',
        '{"items": "null"}',
    ],
)
@together("form", ["type", "schema"])
def test_what_coercion_does_not_read(raw: str, form: str) -> None:
    """Other spellings, defects, booleans and null are not guessed: the call is dropped as a misfit."""
    tool = Loose if form == "type" else msgspec.json.schema(Loose)

    assert "schema" == parse_arguments(raw, tool=tool, policy=COERCE).reason


def test_coercion_is_bounded() -> None:
    """More strings than `Limits.max_edits` allows are not coerced: the call is dropped."""
    raw = msgspec.json.encode({"items": ["1"] * 65}).decode()
    fits = msgspec.json.encode({"items": ["1"] * 64}).decode()

    assert "exact" != parse_arguments(fits, tool=Loose, policy=COERCE).status != "dropped"
    assert "schema" == parse_arguments(raw, tool=Loose, policy=COERCE).reason


@pytest.mark.parametrize(
    ("raw", "offset"),
    [
        ('{"n": "1"}', 6),
        ('x = {"n": "1"}', 10),
        ("{'text': 'n', 'n': '1',}", 19),
        ('{"text": "{\\"n\\": \\"0\\"}", n: "1"}', 30),
        ('{"table": {"n": 0}, "items": [], "n": "1"}', 38),
    ],
)
def test_edits_say_where_the_string_stood(raw: str, offset: int) -> None:
    """The offset of a coercion points at the string in the raw text, also in text that was recovered."""
    edits = parse_arguments(raw, tool=Loose, policy=COERCE).edits

    assert [offset] == [edit.offset for edit in edits if edit.kind == "numeric_string"]
    assert raw[offset:].startswith(('"1"', "'1'"))


def test_safe_integers_are_made_after_the_check() -> None:
    """The tool sees the number; only numbers that a JavaScript consumer reads become text."""
    raw = '{"n": 9007199254740993}'
    verdict = parse_arguments(raw, tool=Loose, policy=Policy(json_safe_ints=True))

    assert ({"n": "9007199254740993"}, 9007199254740993) == (
        verdict.arguments,
        verdict.value and verdict.value.n,
    )


# --- callers' mistakes --------------------------------------------------------------------------------------


class ArrayLike(msgspec.Struct, array_like=True):
    """A Struct that is an array in JSON."""

    a: int


class Plain:
    """A class that nothing can check."""


class Unresolved(msgspec.Struct):
    """A Struct with an annotation that leads nowhere."""

    a: Nowhere  # type: ignore[name-defined]  # noqa: F821


class Unchecked(msgspec.Struct):
    """A Struct with a member that nothing can check."""

    a: Plain


def test_what_nothing_can_check_does_not_fit() -> None:
    """A member of a type that neither msgspec nor pydantic knows is a misfit: nothing raises, nothing is let through."""
    dropped = outcome({"unchecked": Unchecked}, "unchecked", '{"a": 1}')

    assert ("schema", "the type's own check raised TypeError") == (dropped.reason, dropped.detail)


def by_position(a: int, /) -> None:
    """Take by position."""


def unresolved(a: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Refer to nothing."""


@together(
    ("tools", "error", "says"),
    [
        ("book_berth", TypeError, "a sequence or a mapping"),
        (42, TypeError, "a sequence or a mapping"),
        ([42], TypeError, "describes no tool"),
        ([SCHEMA], TypeError, "has no name"),
        ([{"type": "function", "function": {"parameters": SCHEMA}}], TypeError, "has no name"),
        ({"type": "function", "function": {"name": "x"}}, TypeError, "describes no tool"),
        ([pydantic.TypeAdapter(int)], TypeError, "use a mapping"),
        ([functools.partial(book_berth, port="Brest")], TypeError, "use a mapping"),
        ([ArrayLike], TypeError, "JSON object"),
        ([Plain], TypeError, "JSON object"),
        ([by_position], TypeError, "by position only"),
        ([Unresolved], TypeError, "cannot be resolved"),
        ([unresolved], TypeError, "cannot be resolved"),
        ([AsStruct, AsStruct], ValueError, "two tools are called 'AsStruct'"),
        ({"x": {"type": "objekt"}}, ValueError, r"tool 'x' is not valid at \$\.type: 'objekt' names no type"),
        ({"x": {"$ref": "#/$defs/y"}}, ValueError, r"at \$\.\$ref: '#/\$defs/y' points at nothing in it"),
        ({"x": {"required": "y"}}, ValueError, r"tool 'x' is not valid at \$\.required: "),
    ],
)
def test_mistakes_raise_at_once(tools: Any, error: type[Exception], says: str) -> None:
    """A value that describes no tool raises where the parser is made, with advice."""
    with pytest.raises(error, match=says):
        ToolCallParser(tools=tools)


def test_nothing_is_fetched(tmp_path: Path) -> None:
    """A reference that leads out of the schema is not followed, also where the file is there to be read."""
    path = tmp_path / "schema.json"
    path.write_text("false", "utf-8")
    tools = Tools({"x": {"$ref": path.as_uri()}})

    assert "exact" == outcome(tools, "x", "{}").status
    assert {"x": f"at $.$ref: {path.as_uri()!r} is not part of its schema, and nothing is fetched"} == (
        tools.unchecked
    )


def test_one_tool_is_one_definition() -> None:
    """`Tool` takes a definition of one tool; several belong into `Tools`."""
    both = {"functionDeclarations": [{"name": "a"}, {"name": "b"}]}

    assert ["a", "b"] == list(Tools([both]))
    with pytest.raises(ValueError, match="2 tools"):
        Tool(both)


def test_tools_are_made_once_and_shared() -> None:
    """`Tools` and `Tool` can be handed to any number of parsers, and are equal to their source."""
    tools = Tools({"book_berth": Tool(AsStruct), "other": Tool(SCHEMA, "x")})

    assert ["book_berth", "other"] == list(Tools(tools))
    assert isinstance(outcome(tools, "book_berth", FIT).value, AsStruct)
    assert "<Tools 'book_berth', 'other'>" == repr(tools)
    assert ("x", "<Tool 'x'>") == (Tool(SCHEMA, "x").name, repr(Tool(SCHEMA, "x")))


def test_the_schema_library_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra a JSON Schema raises, and names the extra; types continue to work."""
    monkeypatch.setitem(__import__("sys").modules, "jsonschema_rs", None)

    assert Tools([AsStruct])
    with pytest.raises(ImportError, match=r"wholecall\[schema\]"):
        Tools({"book_berth": SCHEMA})


def test_deep_arguments_are_checked() -> None:
    """As deep as the limits let arguments be, the schema library follows them."""
    tree = {"properties": {"a": {"$ref": "#"}}, "type": ["object", "integer"]}
    levels = Limits().max_depth or 0
    deep = '{"a":' * levels + "1" + "}" * levels

    assert "exact" == parse_arguments(deep, tool=tree).status
    assert "schema" == parse_arguments(deep.replace("1", "true"), tool=tree).reason


def test_what_is_too_deep_for_the_library_does_not_fit() -> None:
    """Without limits the library decides how deep it looks; a value that it refuses is a misfit, and nothing raises."""
    tree = {"properties": {"a": {"$ref": "#"}}}
    deep = '{"a":' * 900 + "1" + "}" * 900
    verdict = parse_arguments(deep, tool=tree, limits=Limits.none())

    assert verdict.detail in ("", "the arguments cannot be checked: ValueError")


def test_gemini_schemas_mean_what_they_say() -> None:
    """Upper-case types, `nullable` and counts as text are Gemini's spelling of JSON Schema."""
    schema = {
        "type": "OBJECT",
        "properties": {
            "side": {"type": "STRING", "nullable": True, "enum": ["port"]},
            "items": {"type": "ARRAY", "minItems": "2", "items": {"type": "NUMBER"}},
            "any": {"anyOf": [{"type": "BOOLEAN"}, {"type": "NULL"}]},
        },
    }
    tools = [{"function_declarations": [{"name": "f", "parameters": schema}]}]
    fits = ['{"side": null, "items": [1, 2.5], "any": null}', '{"side": "port", "any": true}']
    misfits = ['{"side": "left"}', '{"items": [1]}', '{"items": ["a", "b"]}', '{"any": 1}']

    assert ["exact"] * 2 == [outcome(tools, "f", raw).status for raw in fits]
    assert ["schema"] * 4 == [outcome(tools, "f", raw).reason for raw in misfits]


@dataclasses.dataclass
class Berths:
    """A callable object."""

    def __call__(self, port: str) -> None:
        """Take a port."""


def test_callable_objects_are_functions() -> None:
    """An object with `__call__` is described by its parameters, under the name that the mapping gives it."""
    tools = {"f": Berths()}

    assert {"port": "Brest"} == outcome(tools, "f", '{"port": "Brest"}').value
    assert "schema" == outcome(tools, "f", '{"port": 1}').reason
