"""SAP AI Core's orchestration service: the chunks of chat completions, each as the result of a chain of modules.

    data: {"request_id", "intermediate_results": {"templating", "llm", …}, "final_result": {…a chunk…}}
    data: {"request_id", "module_results": {…}, "orchestration_result": {…a chunk…}}        the first version
    data: {"error": {"request_id", "code", "message", "location"}}
    data: [DONE]

Only the result is the answer: the modules before it repeat it, before it was filtered or unmasked. The translator of
chat completions reads it, whole responses included; the first chunk has a blank id and model, and means nothing by it.

Covers: the orchestration service of SAP AI Core, both versions: the chunks of chat completions under `final_result`
    or `orchestration_result`; earlier output of its modules is not an answer.
Calls: told apart by as in chat completions; each ends with as in chat completions.
Source: SAP AI Core, "Orchestration", streaming responses, and SAP Cloud SDK for AI (2026).
"""

from __future__ import annotations

from typing import Any

import msgspec

from wholecall.deltas import Delta
from wholecall.dialects import decode, translator
from wholecall.dialects.openai.chat.translator import ChatTranslator
from wholecall.dialects.unread import with_unread
from wholecall.framing.frame import Frame


class _Wrapper(msgspec.Struct, gc=False):
    final_result: msgspec.Raw = decode.NO_TEXT
    orchestration_result: msgspec.Raw = decode.NO_TEXT
    error: Any = None


_DECODER = msgspec.json.Decoder(_Wrapper)


class SapTranslator(translator.Translator):
    """Results of one chain to the deltas of the chunks in them."""

    DERIVED = frozenset({"_inner"})

    def __init__(self) -> None:
        self._inner = ChatTranslator()

    @property
    def wrapped(self) -> translator.Translator:
        """The translator of the chunks."""
        return self._inner

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one result."""
        return [delta for one in _results(frame) for delta in self._inner.translate(one)]

    def told(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one result, and its effect on the stream."""
        results = _results(frame)
        said = [delta for one in results for delta in self._inner.told(one)]
        return said if results else with_unread(said, frame)

    def translate_all(self, frames: list[Frame]) -> list[Delta]:
        """Return the deltas of results in a row; the inner translator sees their chunks in a row, too."""
        said: list[Delta] = []
        row: list[Frame] = []
        for frame in frames:
            results = _results(frame)
            row += results
            if not results and (unread := with_unread([], frame)):
                said += self._inner.translate_all(row) + unread
                row = []
        return said + self._inner.translate_all(row)

    def close(self) -> list[Delta]:
        """Return the inner dialect's deltas for the end of the stream."""
        return self._inner.close()


def _results(frame: Frame) -> list[Frame]:
    """Return the chunks in a frame; an error, the end, and unreadable frames stay as they are."""
    found = []
    for text in decode.payloads(frame.data):
        wrapper = decode.decode(_DECODER, text)
        inner = text
        if wrapper is not None and not wrapper.error:
            inner = decode.wire_text(wrapper.final_result) or decode.wire_text(wrapper.orchestration_result)
        if inner:
            found.append(Frame(frame.event, inner, frame.id, frame.retry))
    return found
