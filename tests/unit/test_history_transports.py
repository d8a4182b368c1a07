"""The table of transports, and the mistakes possible with a custom transport."""

from __future__ import annotations

from typing import Any

import pytest

from wholecall.dialects import table
from wholecall.errors import UnknownDialect
from wholecall.history import TRANSPORTS, Transport, encode_arguments, transport_named

PROFILES = {"kimi", "minimax", "mistral", "stepfun"}  # ways of speaking chat completions, not dialects

TELEMETRY = {"otel"}  # a target without answers


def test_transports_are_named_like_dialects() -> None:
    """A transport goes by the name of a dialect; profiles of chat completions and telemetry are the exceptions."""
    dialects = {dialect.name for dialect in table.DIALECTS}

    assert TRANSPORTS.keys() - dialects == PROFILES | TELEMETRY
    assert {name: TRANSPORTS[name].name for name in TRANSPORTS} == {name: name for name in TRANSPORTS}


@pytest.mark.parametrize(
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
def test_what_transports_take(name: str, carries: Any, strict: bool, ids: Any) -> None:
    """Each API has separate rules for the container of arguments, strictness and ids."""
    assert Transport(name, carries, strict, "INVALID_JSON", ids) == transport_named(name)


@pytest.mark.parametrize("name", TRANSPORTS)
def test_the_container_is_the_transports(name: str) -> None:
    """Text goes where text is carried and an object where an object is: the wrong container is a 400."""
    expected = str if TRANSPORTS[name].carries == "string" else dict

    for arguments in ("{}", '{"a":1}', '{"a":1,}', '{"a', "[1]", "", {"a": [1]}):
        assert expected is type(encode_arguments(arguments, name))


def test_a_transport_is_its_own_answer() -> None:
    """A described transport is not looked up."""
    own = Transport("a server of mine", "object", wrapper="raw", ids="mistral9")

    assert own is transport_named(own)
    assert {"raw": "[1]"} == encode_arguments("[1]", own)


def test_an_unknown_name() -> None:
    """An unknown name gives advice."""
    with pytest.raises(
        UnknownDialect,
        match=r"'chatt'; describe it as Transport\(.*did you mean .chat-completions.. Use one of: ag-ui, ",
    ):
        transport_named("chatt")


def test_no_transport_at_all() -> None:
    """A value that is not a name is a mistake of another kind."""
    nothing: Any = None
    with pytest.raises(TypeError, match="a name or a Transport, not NoneType"):
        transport_named(nothing)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"carries": "text"}, "'text' is not one of string, object"),
        ({"ids": "uuid"}, "'uuid' is not one of any, openai40, "),
        ({"wrapper": ""}, "cannot be empty"),
    ],
)
def test_a_transport_that_cannot_be(fields: dict[str, Any], message: str) -> None:
    """An unknown word is refused where it is given, not in the middle of a conversation."""
    with pytest.raises(ValueError, match=message):
        Transport(**{"name": "mine", "carries": "string", **fields})
