"""The tool-call parsers in SGLang's own parser of a choice: every format, cut anywhere; forced calls, the plug-in.

The engine's code runs, no model does: `pip install sglang`, on a machine without a GPU.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.engine_parsers import TIDE, Given, cases, detected, detected_whole, wrong_in_sglang
from tests.support.texts import in_pieces
from wholecall import text_formats
from wholecall.integrations import sglang

pytestmark = [
    pytest.mark.engines,
    pytest.mark.filterwarnings("ignore"),
]  # the engine warns of what it imports


def begin(text_format: str, tools: list[dict[str, Any]], tool_choice: Any = None) -> Any:
    """Return SGLang's parser of a choice with ours in it."""
    from sglang.srt.entrypoints.openai.protocol import Tool  # noqa: PLC0415 - where the engine is
    from sglang.srt.function_call.function_call_parser import FunctionCallParser  # noqa: PLC0415 - where the engine is

    options = {} if tool_choice is None else {"tool_choice": tool_choice}
    return FunctionCallParser([Tool(**tool) for tool in tools], f"wholecall_{text_format}", **options)


@pytest.fixture(autouse=True, scope="module")
def _registered() -> None:
    """Register as SGLang's loader of plug-ins does."""
    from sglang.srt.function_call.function_call_parser import FunctionCallParser  # noqa: PLC0415 - where the engine is

    sglang.register()
    assert {f"wholecall_{name}" for name in text_formats()} <= FunctionCallParser.ToolCallParserEnum.keys()


@pytest.mark.parametrize("text_format", text_formats()[1:])
def test_the_calls_are_those_of_the_whole_text(text_format: str) -> None:
    """Law 136: each text gives wholecall's calls, however it is cut, and no other text is lost."""
    assert [] == list(wrong_in_sglang(begin, [case for case in cases() if case["format"] == text_format]))


def test_forced_calls_are_whole() -> None:
    """Required calls are written under SGLang's own JSON Schema, and come whole or as content."""
    text = '[{"name": "get_tide", "parameters": {"port": "Oban"}}]'
    cut = text[:-3]
    kind, schema = begin("hermes", [TIDE], "required").get_structure_constraint("required")

    assert ("json_schema", "array") == (kind, schema["type"])
    assert [("get_tide", {"port": "Oban"})] == detected(
        begin("hermes", [TIDE], "required"), in_pieces(text, 3)
    ).calls
    assert Given("", [("get_tide", {"port": "Oban"})]) == detected_whole(
        begin("hermes", [TIDE], "required"), text
    )
    assert Given(cut, []) == detected(begin("hermes", [TIDE], "required"), in_pieces(cut, 3))
