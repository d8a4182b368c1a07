"""Doubles of what vLLM and SGLang publish for tool parsers, for machines without them.

They are written after the published interfaces of vLLM 0.24 to 0.33 and SGLang 0.5.20 to 0.5.23: who calls a parser's
methods, when, and with what. The engines' own code is run by `tests/serving`.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pydantic
import pytest

from tests.support.engine_parsers import Tokenizer

# vLLM.


class DeltaFunctionCall(pydantic.BaseModel):
    """A piece of a call's name and arguments."""

    name: str | None = None
    arguments: str | None = None


class DeltaToolCall(pydantic.BaseModel):
    """A piece of a call."""

    id: str | None = None
    type: str | None = None
    index: int
    function: DeltaFunctionCall | None = None


class DeltaMessage(pydantic.BaseModel):
    """A piece of an answer."""

    content: str | None = None
    reasoning: str | None = None
    tool_calls: list[DeltaToolCall] = pydantic.Field(default_factory=list)


class FunctionCall(pydantic.BaseModel):
    """Name and arguments of a call."""

    name: str
    arguments: str


class CalledTool(pydantic.BaseModel):
    """A whole call."""

    id: str = "made-by-the-engine"
    type: str = "function"
    function: FunctionCall


class ExtractedToolCallInformation(pydantic.BaseModel):
    """The calls and the content of a whole answer."""

    tools_called: bool
    tool_calls: list[CalledTool]
    content: str | None = None


class ToolParser:
    """The base of tool parsers: it adds the grammar of forced calls to requests, unless a parser reads its own form."""

    supports_required_and_named = True
    engine_based_streaming = False

    def __init__(self, tokenizer: Any, tools: Any = None) -> None:
        self.model_tokenizer = tokenizer
        self.tools = tools or []

    def adjust_request(self, request: Any) -> Any:
        """Note the grammar of forced calls in the request."""
        if request.tools and self.supports_required_and_named:
            request.grammar = (
                request.tool_choice if request.tool_choice not in ("auto", "none", None) else None
            )
        return request


class ToolParserManager:
    """The table of tool parsers; a lazy one is imported when it is asked for."""

    lazy_parsers: ClassVar[dict[str, tuple[str, str]]] = {}

    @classmethod
    def register_lazy_module(cls, name: str, module_path: str, class_name: str) -> None:
        """Note where a parser is."""
        cls.lazy_parsers[name] = (module_path, class_name)

    @classmethod
    def get_tool_parser(cls, name: str) -> Any:
        """Return a parser's class."""
        module_path, class_name = cls.lazy_parsers[name]
        made = getattr(importlib.import_module(module_path), class_name)
        assert issubclass(made, sys.modules[_VLLM].ToolParser)
        return made


class Choice:
    """The parser of one choice, which hands the text to the tool parser; there is no parser of reasoning."""

    def __init__(self, tool_parser: Any) -> None:
        self._parser = tool_parser

    def parse_delta(
        self,
        delta_text: str,
        delta_token_ids: list[int],
        request: Any,
        prompt_token_ids: list[int],
        *,
        finished: bool,
    ) -> DeltaMessage | None:
        """Hand over a piece; after the last one ask for the rest."""
        del prompt_token_ids
        found: DeltaMessage | None = self._parser.extract_tool_calls_streaming(
            "", delta_text, delta_text, [], delta_token_ids, delta_token_ids, request
        )
        if found is not None and request.tool_choice == "none":
            found.tool_calls = []
        rest = self._parser.finish_streaming() if finished and self._parser.engine_based_streaming else None
        if found is None or rest is None:
            return found or rest
        content = (found.content or "") + (rest.content or "")
        return DeltaMessage(content=content, tool_calls=[*found.tool_calls, *rest.tool_calls])

    def parse(
        self, text: str, request: Any, *, enable_auto_tools: bool
    ) -> tuple[None, str | None, list[FunctionCall]]:
        """Hand over a whole answer."""
        assert enable_auto_tools
        found = self._parser.extract_tool_calls(text, request=request)
        if request.tool_choice == "none":
            return None, found.content, []
        return None, found.content, [call.function for call in found.tool_calls]


def vllm_choice(
    text_format: str, tools: list[dict[str, Any]], tool_choice: Any = "auto"
) -> tuple[Choice, Any]:
    """Return the double of vLLM's parser of a choice, and the request."""
    made = ToolParserManager.get_tool_parser(f"wholecall_{text_format}")
    parser = made(Tokenizer(), tools)
    request = SimpleNamespace(
        tools=tools, tool_choice=tool_choice, grammar=None,
        skip_special_tokens=True, spaces_between_special_tokens=True,
    )  # fmt: skip
    return Choice(parser), parser.adjust_request(request)


# SGLang.


class ToolCallItem(pydantic.BaseModel):
    """A call, or a piece of one."""

    tool_index: int
    name: str | None = None
    parameters: str


class StreamingParseResult(pydantic.BaseModel):
    """The content and the calls of a text or a piece."""

    normal_text: str = ""
    calls: list[ToolCallItem] = []


class BaseFormatDetector:
    """The base of detectors."""

    def finish(self, tools: Any) -> StreamingParseResult:
        """Return the rest of a text."""
        del tools
        return StreamingParseResult()


class FunctionCallParser:
    """The parser of one choice, which hands the text to the detector of a name."""

    ToolCallParserEnum: ClassVar[dict[str, Any]] = {}

    def __init__(self, tools: list[Any], tool_call_parser: str, tool_choice: Any = None) -> None:
        detector = self.ToolCallParserEnum[tool_call_parser]()
        self._forced = detector.get_required_tool_parser(tool_choice)
        self.detector = self._forced or detector
        self.tools = tools

    def owns_tool_format(self) -> bool:
        """Return whether forced calls are handed to the detector."""
        return self._forced is not None or bool(self.detector.supports_structural_tag())

    def has_tool_call(self, text: str) -> bool:
        """Return whether a text may hold calls."""
        return bool(self.detector.has_tool_call(text))

    def parse_non_stream(self, text: str) -> tuple[str, list[ToolCallItem]]:
        """Return content and calls of a whole answer."""
        found = self.detector.detect_and_parse(text, self.tools)
        return found.normal_text, found.calls

    def parse_stream_chunk(self, text: str) -> tuple[str, list[ToolCallItem]]:
        """Return content and calls of a piece."""
        found = self.detector.parse_streaming_increment(text, self.tools)
        return found.normal_text, found.calls

    def parse_stream_end(self) -> tuple[str, list[ToolCallItem]]:
        """Return the rest."""
        found = self.detector.finish(self.tools)
        return found.normal_text, found.calls


def sglang_parser(
    text_format: str, tools: list[dict[str, Any]], tool_choice: Any = None
) -> FunctionCallParser:
    """Return the double of SGLang's parser of a choice."""
    return FunctionCallParser(tools, f"wholecall_{text_format}", tool_choice)


# The modules.

_VLLM = "vllm.tool_parsers.abstract_tool_parser"
_SGLANG = "sglang.srt.function_call"


def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the doubles stand in for the engines' modules, with empty tables."""
    _module(monkeypatch, _VLLM, ToolParser, ToolParserManager, DeltaMessage, ExtractedToolCallInformation)
    _module(monkeypatch, f"{_SGLANG}.base_format_detector", BaseFormatDetector)
    _module(monkeypatch, f"{_SGLANG}.core_types", ToolCallItem, StreamingParseResult)
    _module(monkeypatch, f"{_SGLANG}.function_call_parser", FunctionCallParser)
    schemas = _module(monkeypatch, f"{_SGLANG}.utils")
    schemas.get_json_schema_constraint = (  # type: ignore[attr-defined]
        lambda tools, tool_choice, parallel_tool_calls: [len(tools), tool_choice, parallel_tool_calls]
    )
    monkeypatch.setattr(ToolParserManager, "lazy_parsers", {})
    monkeypatch.setattr(FunctionCallParser, "ToolCallParserEnum", {})


def _module(monkeypatch: pytest.MonkeyPatch, name: str, *members: type) -> ModuleType:
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        part = ".".join(parts[:end])
        if part not in sys.modules:
            package = ModuleType(part)
            package.__path__ = []
            monkeypatch.setitem(sys.modules, part, package)
    module = sys.modules[name]
    for member in members:
        setattr(module, member.__name__, member)
    return module
