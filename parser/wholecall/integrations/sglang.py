"""Tool-call parsers for SGLang: every text format of wholecall as `--tool-call-parser wholecall_<format>`.

Installed beside SGLang, wholecall is found by its entry point.

Theory of operation. SGLang makes one detector for each choice of an answer. Pieces of the text come to
`parse_streaming_increment`, which returns content at once; `finish`, the last call of SGLang, returns the calls. A whole
answer is read the same way by `detect_and_parse`. Forced calls (`tool_choice` required, or a tool's name) are written as
the JSON of SGLang's grammar; a detector of their own reads them here, where SGLang asks for one (from 0.5.21 on).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from wholecall.integrations import engine_text

__all__ = ["register"]

_BASE = "sglang.srt.function_call.base_format_detector"
_TYPES = "sglang.srt.function_call.core_types"
_SCHEMAS = "sglang.srt.function_call.utils"
_TABLE = "sglang.srt.function_call.function_call_parser"

if TYPE_CHECKING:

    class _Base:
        """The part of SGLang's `BaseFormatDetector` that is used here."""

else:
    _Base = object


def register() -> None:
    """Make the parsers known to SGLang by their names; its entry point in the group `sglang.srt.plugins`.

    Raises:
        ImportError: SGLang is not installed, is too old, or the extra `schema` is missing. SGLang logs it and goes on
            without these parsers.
    """
    base = importlib.import_module(_BASE).BaseFormatDetector
    if not hasattr(base, "finish"):
        raise ImportError(
            "this SGLang never tells a tool-call parser that a text ended; wholecall needs a later one"
        )
    engine_text.require_schemas()
    types = importlib.import_module(_TYPES)
    table = importlib.import_module(_TABLE).FunctionCallParser.ToolCallParserEnum
    for name, text_format in engine_text.parser_names().items():
        members = {
            "__module__": __name__,
            "text_format": text_format,
            "item_type": types.ToolCallItem,
            "result_type": types.StreamingParseResult,
        }
        table[name] = type(name, (_WholeCalls, base), members)


class _WholeCalls(_Base):
    """Reads the text of one choice; mixed with SGLang's `BaseFormatDetector`, and a format added, it is a detector."""

    text_format: str
    item_type: Any
    result_type: Any

    def __init__(self) -> None:
        super().__init__()
        self._text: engine_text.EngineText | None = None
        self._forced: engine_text.Forced | None = None

    def get_required_tool_parser(self, tool_choice: Any) -> Any:
        """Return the detector for calls that a choice of tools forces, None if it forces none."""
        if tool_choice is None or (isinstance(tool_choice, str) and tool_choice != "required"):
            return None
        detector = type(self)()
        detector._forced = engine_text.Forced()  # noqa: SLF001 - one of ours; the JSON names the tool
        return detector

    def get_json_schema_constraint(
        self, tools: Any, tool_choice: Any, parallel_tool_calls: bool = True
    ) -> Any:
        """Return SGLang's own JSON Schema of forced calls: a list of them."""
        made = importlib.import_module(_SCHEMAS).get_json_schema_constraint
        return made(tools, tool_choice, parallel_tool_calls=parallel_tool_calls)

    def has_tool_call(self, text: str) -> bool:
        """Return whether anything in the text can begin a call."""
        return engine_text.may_hold_calls(self.text_format, text, is_forced=self._forced is not None)

    def detect_and_parse(self, text: str, tools: Any) -> Any:
        """Return content and calls of a whole answer."""
        reading = self._new_text(tools)
        content = reading.feed(text)
        return self._result(reading.close(clean=False), content)

    def parse_streaming_increment(self, new_text: str, tools: Any) -> Any:
        """Return the content that is certain by the next piece of an answer."""
        if self._text is None:
            self._text = self._new_text(tools)
        return self.result_type(normal_text=self._text.feed(new_text))

    def finish(self, tools: Any) -> Any:
        """Return the rest of the content, and the calls."""
        del tools
        text, self._text = self._text, None
        return self.result_type() if text is None else self._result(text.close(clean=False))

    def supports_structural_tag(self) -> bool:
        """Return that SGLang's own JSON is the form of forced calls."""
        return False

    def structure_info(self) -> Any:
        """Refuse, as the interface asks of parsers without a structural tag.

        Raises:
            TypeError: always; SGLang asks `supports_structural_tag` first.
        """
        raise TypeError("parsers of wholecall have no structural tag: ask supports_structural_tag first")

    def build_ebnf(self, tools: Any) -> str:
        """Refuse; older versions have this in their interface, for parsers with a grammar.

        Raises:
            TypeError: always.
        """
        raise TypeError("parsers of wholecall have no grammar: SGLang's own schema is that of forced calls")

    def _new_text(self, tools: Any) -> engine_text.EngineText:
        return engine_text.EngineText(self.text_format, engine_text.known_tools(tools or ()), self._forced)

    def _result(self, rest: engine_text.Parsed, content: str = "") -> Any:
        calls = [
            self.item_type(tool_index=index, name=call.name, parameters=call.arguments)
            for index, call in enumerate(rest.calls)
        ]
        return self.result_type(normal_text=content + rest.content, calls=calls)
