"""Tool parsers for vLLM: every text format of wholecall as `--tool-call-parser wholecall_<format>`.

Installed beside vLLM, wholecall is found by its entry point, and nothing of vLLM is imported before a parser of
wholecall is chosen. `--tool-parser-plugin` with the file `tool_parser_plugin.py` does the same where entry points are not
loaded.

Theory of operation. vLLM makes one parser for each choice of an answer. Pieces of the text come to
`extract_tool_calls_streaming`, which returns content at once; `finish_streaming`, the last call of vLLM, returns the
calls. A whole answer is read the same way. Forced calls (`tool_choice` required, or a tool's name) are read here as
well, so that they are whole, too: vLLM keeps its grammar for them.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wholecall.integrations import engine_text

__all__ = ["register"]

_BASE = "vllm.tool_parsers.abstract_tool_parser"

if TYPE_CHECKING:

    class _Base:
        """The part of vLLM's `ToolParser` that is used here."""

        model_tokenizer: Any

        def __init__(self, tokenizer: Any, tools: Any = None) -> None: ...

        def adjust_request(self, request: Any) -> Any: ...

else:
    _Base = object


def register() -> None:
    """Make the parsers known to vLLM by their names; its entry point in the group `vllm.general_plugins`.

    vLLM calls it in each of its processes, and it may be called again. An error here would keep vLLM from starting: in
    a vLLM without `vllm.tool_parsers` the log says that these parsers are missing, and all else goes on.
    """
    try:
        manager = importlib.import_module(_BASE).ToolParserManager
    except ImportError as error:
        engine_text.LOG.warning("this vLLM has no parsers of wholecall: %s", error)
        return
    for name in engine_text.parser_names():
        manager.register_lazy_module(name, __name__, name)


def __getattr__(name: str) -> Any:
    """Return the parser's class of this name, made when vLLM asks for it."""
    text_format = engine_text.parser_names().get(name)
    if text_format is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = _parser_class(name, text_format)
    return made


def _parser_class(name: str, text_format: str) -> type[Any]:
    engine = importlib.import_module(_BASE)
    if not hasattr(engine.ToolParser, "engine_based_streaming"):
        raise ImportError(
            "this vLLM never tells a tool parser that a text ended; wholecall needs 0.24 or later"
        )
    engine_text.require_schemas()
    members = {
        "__module__": __name__,
        "text_format": text_format,
        "delta_type": engine.DeltaMessage,
        "extracted_type": engine.ExtractedToolCallInformation,
    }
    return type(name, (_WholeCalls, engine.ToolParser), members)


class _WholeCalls(_Base):
    """Reads the text of one choice; mixed with vLLM's `ToolParser`, and a format added, it is a tool parser."""

    text_format: str
    delta_type: Any
    extracted_type: Any
    engine_based_streaming = True  # vLLM then calls `finish_streaming`
    supports_required_and_named = False  # vLLM then hands forced calls over, too

    def __init__(self, tokenizer: Any, tools: Any = None, **_others: Any) -> None:
        super().__init__(tokenizer, tools)
        self._given = tools
        self._text: engine_text.EngineText | None = None
        self._last: int | None = None  # the last token
        self._stops: frozenset[int] = frozenset()

    def adjust_request(self, request: Any) -> Any:
        """Return the request with vLLM's grammar for forced calls, and so that the text keeps its markers."""
        self.supports_required_and_named = True  # else there is no grammar
        try:
            request = super().adjust_request(request)
        finally:
            del self.supports_required_and_named
        if _reads_calls(request):
            request.skip_special_tokens = False
            if hasattr(request, "spaces_between_special_tokens"):
                request.spaces_between_special_tokens = (
                    False  # else the markers' own characters are torn apart
                )
        return request

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        """Return content and calls of a whole answer."""
        if not _reads_calls(request):
            return self.extracted_type(tools_called=False, tool_calls=[], content=model_output)
        text = self._new_text(request)
        content = text.feed(model_output)
        rest = text.close(clean=False)
        calls = [_call(call) for call in rest.calls]
        shown = content + rest.content
        return self.extracted_type(tools_called=bool(calls), tool_calls=calls, content=shown or None)

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> Any:
        """Return the content that is certain by the next piece of an answer, None if there is none."""
        del previous_text, current_text, previous_token_ids, current_token_ids
        if not _reads_calls(request):
            return self.delta_type(content=delta_text) if delta_text else None
        if self._text is None:
            self._text = self._new_text(request)
            self._stops = self._stop_tokens(request)
        if delta_token_ids:
            self._last = delta_token_ids[-1]
        content = self._text.feed(delta_text)
        return self.delta_type(content=content) if content else None

    def finish_streaming(self) -> Any:
        """Return the rest of the content, and the calls; None if there is neither."""
        text, self._text = self._text, None
        if text is None:
            return None
        rest = text.close(clean=self._last in self._stops)
        return self._delta(rest) if rest.content or rest.calls else None

    def _delta(self, rest: engine_text.Parsed) -> Any:
        calls = [{"index": index, **_call(call)} for index, call in enumerate(rest.calls)]
        return self.delta_type(content=rest.content or None, tool_calls=calls)

    def _new_text(self, request: Any) -> engine_text.EngineText:
        tools = engine_text.known_tools(self._given or request.tools or ())
        return engine_text.EngineText(self.text_format, tools, _forced(request.tool_choice))

    def _stop_tokens(self, request: Any) -> frozenset[int]:
        """Return the tokens with which the model ends a text."""
        ended = getattr(self.model_tokenizer, "eos_token_id", None)
        asked = getattr(request, "stop_token_ids", None) or ()
        return frozenset(asked if ended is None else (*asked, ended))


def _call(call: Any) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _reads_calls(request: Any) -> bool:
    """Return whether the answer may hold calls: there are tools, and the request lets the model call them."""
    return bool(request.tools) and request.tool_choice != "none"


def _forced(choice: Any) -> engine_text.Forced | None:
    """Return what a choice of tools forces, None if the model is free."""
    if choice == "required":
        return engine_text.Forced()
    if choice is None or isinstance(choice, str):
        return None
    name = getattr(getattr(choice, "function", choice), "name", None)
    return engine_text.Forced(name) if isinstance(name, str) else None
