"""The table of formats, and the mistakes possible with a custom format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.events import turn
from tests.support.together import together
from wholecall.calls.output.turns import Turn
from wholecall.dialects import table
from wholecall.errors import UnknownDialect
from wholecall.history import (
    HISTORY_FORMATS,
    Conversation,
    HistoryFormat,
    encode_arguments,
    encode_calls,
    encode_results,
    format_named,
)

PROFILES = {"kimi", "minimax", "mistral", "stepfun"}  # ways of speaking chat completions, not dialects

OLD: dict[str, Any] = {"transport": "gemini"}
TELEMETRY = {"otel"}  # a target without answers


def test_formats_are_named_like_dialects() -> None:
    """A format goes by the name of a dialect; profiles of chat completions and telemetry are the exceptions."""
    dialects = {dialect.name for dialect in table.DIALECTS}

    assert HISTORY_FORMATS.keys() - dialects == PROFILES | TELEMETRY
    assert {name: HISTORY_FORMATS[name].name for name in HISTORY_FORMATS} == {
        name: name for name in HISTORY_FORMATS
    }


@together(
    ("name", "carries", "strict", "ids"),
    [
        ("chat-completions", "string", False, "openai40"),
        ("responses", "string", False, "responses"),
        ("cohere-v2", "string", False, "any"),
        ("mistral", "string", False, "mistral9"),
        ("mistral-conversations", "string", False, "mistral9"),
        ("kimi", "string", False, "kimi"),
        ("minimax", "string", True, "openai40"),
        ("stepfun", "string", True, "openai40"),
        ("anthropic", "object", False, "anthropic"),
        ("gemini", "object", False, "any"),
        ("bedrock-converse", "object", False, "anthropic"),
        ("ollama", "object", False, "any"),
        ("langchain", "object", False, "any"),
        ("ag-ui", "string", False, "any"),
        ("vercel-ui", "object", False, "any"),
        ("otel", "object", False, "any"),
    ],
)
def test_what_formats_take(name: str, carries: Any, strict: bool, ids: Any) -> None:
    """Each API has separate rules for the container of arguments, strictness and ids."""
    assert HistoryFormat(name, carries, strict, "INVALID_JSON", ids) == format_named(name)


@together("name", HISTORY_FORMATS)
def test_the_container_is_the_formats(name: str) -> None:
    """Text goes where text is carried and an object where an object is: the wrong container is a 400."""
    expected = str if HISTORY_FORMATS[name].carries == "string" else dict

    for arguments in ("{}", '{"a":1}', '{"a":1,}', '{"a', "[1]", "", {"a": [1]}):
        assert expected is type(encode_arguments(arguments, name))


def test_a_format_is_its_own_answer() -> None:
    """A described format is not looked up."""
    own = HistoryFormat("a server of mine", "object", wrapper="raw", ids="mistral9")

    assert own is format_named(own)
    assert {"raw": "[1]"} == encode_arguments("[1]", own)


def test_an_unknown_name() -> None:
    """An unknown name gives advice."""
    with pytest.raises(
        UnknownDialect,
        match=r"'chatt'; describe it as HistoryFormat\(.*did you mean .chat-completions.. Use one of: ag-ui, ",
    ):
        format_named("chatt")


def test_no_format_at_all() -> None:
    """A value that is not a name is a mistake of another kind."""
    nothing: Any = None
    with pytest.raises(TypeError, match="a name or a HistoryFormat, not NoneType"):
        format_named(nothing)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"carries": "text"}, "'text' is not one of string, object"),
        ({"ids": "uuid"}, "'uuid' is not one of any, openai40, "),
        ({"wrapper": ""}, "cannot be empty"),
    ],
)
def test_a_format_that_cannot_be(fields: dict[str, Any], message: str) -> None:
    """An unknown word is refused where it is given, not in the middle of a conversation."""
    with pytest.raises(ValueError, match=message):
        HistoryFormat(**{"name": "mine", "carries": "string", **fields})


def test_the_former_argument_warns() -> None:
    """`transport=` is `format=`: it still works, in every function that takes a format, and warns with the new name."""
    said = turn("Aye.")
    mine = [{"role": "user", "content": "Tide?"}]
    former: list[tuple[str, Callable[[], object], object]] = [
        ("encode_arguments", lambda: encode_arguments("{}", **OLD), {}),
        ("encode_calls", lambda: _messages(said, **OLD), _messages(said, format="gemini")),
        ("encode_results", lambda: encode_results(said, {}, **OLD), []),
        ("Conversation", lambda: Conversation(**OLD), Conversation("gemini")),
        ("Conversation.after", lambda: Conversation.after(mine, **OLD).format, "gemini"),
    ]
    for place, call, expected in former:
        with pytest.warns(
            DeprecationWarning, match=rf"^the argument transport= of {place} is now called format=$"
        ):
            assert expected == call()


def _messages(said: Turn, **options: Any) -> list[Any]:
    return encode_calls(said, **options).messages


def test_the_former_attribute_warns() -> None:
    """`Conversation.transport` is `Conversation.format`."""
    with pytest.warns(DeprecationWarning, match=r"^Conversation\.transport is now called format$"):
        assert Conversation("gemini").transport == "gemini"


def test_an_argument_is_given_once() -> None:
    """Both names at once are a caller's mistake, like an argument that is given twice."""
    with pytest.raises(TypeError, match="transport"):
        Conversation(format="gemini", **OLD)
