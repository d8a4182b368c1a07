"""Ollama's own chat (`POST /api/chat`) and text completion (`POST /api/generate`): one JSON object per line.

    {"model", "message": {role, content, thinking?, tool_calls?}, "done": false}
    {"model", "response": "Hi", "thinking"?, "done": false}
    {"model", "message": {role, content: ""}, "done": true, "done_reason", "eval_count", …}

A call is whole in its line, `{id?, function: {index?, name, arguments: OBJECT}}`; a line may hold several, the last
line too (quirk 86), and so may a whole response. The index only shows whether a line repeats a call: it need not be
unique, and old servers send no id. The reason stays `stop` although calls were made (quirk 43). Source: Ollama API.
"""

from __future__ import annotations

from typing import Any, Union

import msgspec

from wholecall.deltas import ITEM_DONE, CallWhole, Delta
from wholecall.dialects import report
from wholecall.dialects.labels import id_label, index_label, name_label
from wholecall.dialects.openai.chat_views import ToolCallView, argument_text
from wholecall.dialects.translator import EventView, TurnTranslator
from wholecall.dialects.whole_calls import WholeCalls
from wholecall.framing.frame import Frame

__all__ = ["OllamaTranslator"]


class _Message(msgspec.Struct, gc=False):
    content: Any = None
    thinking: Any = None
    tool_calls: Union[list[ToolCallView], None] = None


class _Line(EventView, gc=False):
    message: Union[_Message, None] = None
    response: Any = None
    thinking: Any = None
    model: Any = None
    done: Any = None
    done_reason: Any = None
    prompt_eval_count: Any = None
    eval_count: Any = None


class OllamaTranslator(TurnTranslator):
    """Lines of one stream to deltas; it counts calls, because only their order distinguishes them."""

    decoder = msgspec.json.Decoder(_Line)
    DONE_ENDS = True
    _calls: WholeCalls

    def _clear(self) -> None:
        self._calls = WholeCalls()

    def close(self) -> list[Delta]:
        """Report that the calls are over: each of them came whole."""
        return self._calls.end()

    def _other(self, line: _Line, frame: Frame, kind: str) -> list[Delta]:
        if line.done is line.message is line.response is line.thinking is None:
            return super()._other(line, frame, kind)
        message = line.message or _Message(line.response, line.thinking)
        said = report.thought(message.thinking) + report.text(message.content)
        opened = self._opened(None, line.model, repeats=not (said or message.tool_calls))
        if message.tool_calls:
            self._calls.next_frame()
        called = [delta for call in message.tool_calls or () for delta in self._call(call)]
        return opened + said + called + (self._last(line) if line.done is True else [])

    def _call(self, call: ToolCallView) -> list[Delta]:
        function, (text, _) = call.function or call, argument_text(call.function, call)
        return self._whole(call.id, function.name, text, function.index)

    def _whole(self, id_: object, name: object, text: str, index: object) -> list[Delta]:
        whole = CallWhole(0, None, None, id_label(id_), name_label(name), text, ITEM_DONE)
        return self._calls.add(whole, index_label(index))

    def _last(self, line: _Line) -> list[Delta]:
        usage = report.counts(line, "prompt_eval_count", "eval_count")
        return usage + self._calls.ended(report.finish(line.done_reason)) + self._end()
