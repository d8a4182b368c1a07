"""DashScope's own protocol (Alibaba Model Studio, `…/text-generation/generation`), not its OpenAI-compatible one.

    id:1
    event:result
    :HTTP_STATUS/200
    data:{"output":{"choices":[{"message":{role, content, reasoning_content?, tool_calls?},
          "finish_reason":"null"}]},"usage":{…},"request_id":"r1"}

The reason is the word null until the last frame, and nothing follows that one. `tool_calls` are those of chat
completions, with index, id and function. Old models answer with `output.text` and `output.finish_reason`. An
error is `{code, message, request_id}` in an event `error`. A whole body has the shape of a frame.

Without `incremental_output` every frame restates all text so far, and no frame names the mode. The texts show it: the
second text of a channel begins with the first one in the one mode and, but for an accident in its first letters, never
in the other (quirk 24). For arguments the assembler finds it out.

Covers: DashScope's own protocol (Alibaba Model Studio), in increments or with the whole text each time; the text of
    old models.
Calls: told apart by index and id; each ends with the finish reason.
Source: Model Studio API reference, "DashScope", and the records of its Python SDK.
"""

from __future__ import annotations

from typing import Any, ClassVar, Union

import msgspec

from wholecall.deltas import INVALID_INDEX, Delta, ReasoningFragment, TextFragment
from wholecall.dialects import at, decode, labels, reasons, report, translator
from wholecall.dialects.hidden_text import Pieces
from wholecall.dialects.openai.chat.chunks import ChoiceView, DeltaView, labelled, listed, speech
from wholecall.framing.frame import Frame


class _Output(msgspec.Struct, gc=False):
    choices: Union[list[ChoiceView], None] = None
    text: Any = None
    finish_reason: Any = None


class _Frame(translator.EventView, gc=False):
    output: Union[_Output, None] = None
    request_id: Any = None
    usage: Any = None
    code: Any = None


class DashScopeTranslator(translator.TurnTranslator):
    """Frames of one stream to deltas; it remembers the text, as long as the stream may restate it."""

    decoder = msgspec.json.Decoder(_Frame)
    PIECES: ClassVar[Pieces] = dict.fromkeys(
        ('"tool_calls":', '"function":'),
        "|".join(
            f"output.choices{of}{way}"
            for of in (".message.tool_calls:", ":message.tool_calls.")
            for way in at.CHAT_PIECES
        ),
    )

    _restates: bool | None
    _texts: dict[tuple[int, bool], str]
    _doubted: dict[tuple[int, bool], int]

    def _clear(self) -> None:
        self._restates = None  # no text has shown the mode yet
        self._texts = {}
        self._doubted = {}  # the number of times that a text came again: a restatement, or the same word

    def _other(self, view: _Frame, frame: Frame, kind: str) -> list[Delta]:
        choices = _choices(view.output or _Output())
        if not choices and (frame.event == "error" or labels.text_label(view.code)):
            return report.error(decode.plain(frame.data))
        if view.output is view.usage is None:
            return super()._other(view, frame, kind)
        deltas = self._opened(labels.id_label(view.request_id)) if choices else []
        for position, choice in enumerate(choices):
            deltas += self._choice(position, choice)
        return deltas + report.usage(view.usage)

    def _choice(self, position: int, choice: ChoiceView) -> list[Delta]:
        index = labels.index_label(choice.index)
        number = position if index in (None, INVALID_INDEX) else labels.choice_label(choice.index)
        message = choice.message or choice.delta or DeltaView()
        calls = [labelled(number, call, None) for call in listed(message)]
        return [*self._said(number, message), *calls, *report.finish(choice.finish_reason, number)]

    def _said(self, number: int, message: DeltaView) -> list[Delta]:
        """Return the new speech of one frame."""
        deltas: list[Delta] = []
        for of in (ReasoningFragment, TextFragment):
            text = "".join(delta.text for delta in speech(number, message) if isinstance(delta, of))
            if text and (rest := self._rest((number, of is TextFragment), text)):
                deltas.append(of(number, rest))
        return deltas

    def _rest(self, channel: tuple[int, bool], text: str) -> str:
        before = self._texts.get(channel, "")
        if self._restates is False or not text.startswith(before):
            self._restates = False
            return before * self._doubted.pop(channel, 0) + text
        self._texts[channel] = text
        if before == text and self._restates is None:
            self._doubted[channel] = self._doubted.get(channel, 0) + 1
        elif before:
            self._restates = True
            self._doubted.clear()
        return text[len(before) :]


def _choices(output: _Output) -> list[ChoiceView]:
    """Return the choices; the answer of an old model is one."""
    says = labels.text_label(output.text) or reasons.turn_reason(output.finish_reason)
    alone = ChoiceView(message=DeltaView(content=output.text), finish_reason=output.finish_reason)
    return output.choices or ([alone] if says else [])
