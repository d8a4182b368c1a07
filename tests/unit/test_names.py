"""One table of names: a dialect's aliases are known wherever a dialect, a format or a shape is named."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.together import together
from wholecall import ToolCallParser, Tools, UnknownDialect
from wholecall.calls.output.results import Answer, tool_result
from wholecall.calls.tools.described import SHAPES
from wholecall.dialects.table import DIALECTS, named
from wholecall.encoders import encoder
from wholecall.errors import ALIASES, meant
from wholecall.history import HISTORY_FORMATS, Conversation, HistoryFormat, encode_calls, encode_results
from wholecall.history.formats import format_named
from wholecall.repairing.encoders.table import ENCODERS
from wholecall.types import Kind

DIALECT_NAMES = frozenset(dialect.name for dialect in DIALECTS)
SAMPLE = Tools({"tide": {"type": "object", "properties": {"port": {"type": "string"}}}})
NO_JSON_SCHEMA = {"cohere-v1", "bedrock-invoke-cohere-v1", "xai-grpc", "vercel-ui", "vercel-data"}
FUNCTION: Kind = "function"


@together("alias", ALIASES)
def test_an_alias_is_known_wherever_its_name_is(alias: str) -> None:
    """Dialects, formats, encoders, shapes of tools and results take an alias where they have its meaning."""
    name = ALIASES[alias]
    answer = Answer("c", "f", "4 m", FUNCTION)
    known = format_named(alias).name

    assert name == named(alias).name == ToolCallParser(alias).dialect
    assert (alias if alias in HISTORY_FORMATS else name) == known
    assert name not in SHAPES or SAMPLE.definitions(name) == SAMPLE.definitions(alias)
    assert name not in ENCODERS or type(encoder(name)) is type(encoder(alias))
    assert name == "vercel-ui" or tool_result(name, answer) == tool_result(alias, answer)


def test_the_page_names_all_aliases() -> None:
    """The page of dialects lists the known words."""
    (said,) = re.findall(
        r"^Common names of a dialect .*$", Path("docs/dialects.md").read_text(), re.MULTILINE
    )

    assert [] == [f"`{alias}`" for alias in ALIASES if f"`{alias}`" not in said]


@together("name", sorted(DIALECT_NAMES))
def test_capitals_and_underscores_do_not_matter(name: str) -> None:
    """A name in capitals, or with `_` for `-`, is the name."""
    assert name == named(name.upper()).name == named(name.replace("-", "_")).name


@together("name", sorted(HISTORY_FORMATS.keys() - NO_JSON_SCHEMA))
def test_what_a_conversation_takes_writes_tools_too(name: str) -> None:
    """Every format whose requests list tools with a JSON Schema has the shape of that list, which reads back."""
    listed = SAMPLE.definitions(name)

    assert ["tide"] == [*Tools(listed)]
    assert SAMPLE.schema_of("tide") == Tools(listed).schema_of("tide")


@pytest.mark.parametrize("name", sorted(NO_JSON_SCHEMA))
def test_a_format_without_json_schemas_says_what_there_is(name: str) -> None:
    """Where a request takes no JSON Schema there is no shape of tools, and the message lists the others."""
    with pytest.raises(UnknownDialect, match=r"of tools; .*chat-completions"):
        SAMPLE.definitions(name)

    assert name not in SHAPES


def test_a_loop_may_use_one_word_throughout() -> None:
    """The parser, the conversation and the definitions take the same word, and so does a custom format."""
    made: list[Any] = []
    for word in ("openai", "chat", "chat-completions"):
        parser = ToolCallParser(word)
        parser.feed_event({"choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop"}]})
        parser.close()
        own = HistoryFormat(word, "string")
        messages = Conversation(word).add(parser.turn)
        assert messages == encode_calls(parser.turn, own).messages
        assert [] == encode_results(parser.turn, {}, own)
        made.append((messages, SAMPLE.definitions(word)))

    assert [made[0]] * 3 == made


def test_a_word_means_nothing_where_its_name_is_not() -> None:
    """An alias is one only in a table that has its name; the table's own names come first."""
    assert [None, "claude", "anthropic"] == [
        meant("claude", {"gemini"}),
        meant("claude", {"claude", "anthropic"}),
        meant("Claude", {"anthropic"}),
    ]
