"""DashScope's own protocol (Alibaba Model Studio, `…/text-generation/generation`), not its OpenAI-compatible one.

    id:1
    event:result
    :HTTP_STATUS/200
    data:{"output":{"choices":[{"message":{role, content, reasoning_content?, tool_calls?},
          "finish_reason":"null"}]},"usage":{…},"request_id":"r1"}

The reason is the word null until the last frame, and nothing follows that one. `tool_calls` are those of chat
completions, with index, id and function. Old models answer with `output.text` and `output.finish_reason`. An
error is `{code, message, request_id}` in an event `error`. A whole body has the shape of a frame.

Without `incremental_output` every frame restates all that was said so far, and no frame says which of the two
modes it is. The texts tell: the second text of a channel begins with the first one in the one mode and, but for
an accident in its first letters, never in the other (quirk 24). For arguments the assembler finds it out.

Source: Model Studio API reference, "DashScope", and the records of its Python SDK.
"""

from __future__ import annotations

from typing import Any, Union

import msgspec

from wholecall.deltas import (
    INVALID_INDEX,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    TextFragment,
    TurnOpened,
    UsageSeen,
)
from wholecall.dialects.decode import is_noise, plain, provider_error
from wholecall.dialects.labels import choice_label, id_label, index_label, text_label
from wholecall.dialects.openai.chat_calls import labelled, listed, speech
from wholecall.dialects.openai.chat_views import ChoiceView, DeltaView
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame

__all__ = ["DashScopeTranslator"]


class _Output(msgspec.Struct, gc=False):
    choices: Union[list[ChoiceView], None] = None
    text: Any = None
    finish_reason: Any = None


class _Frame(msgspec.Struct, gc=False):
    output: Union[_Output, None] = None
    request_id: Any = None
    usage: Any = None
    code: Any = None
    error: Any = None
    type: Any = None


class DashScopeTranslator(ViewTranslator):
    """Frames of one stream to deltas."""

    decoder = msgspec.json.Decoder(_Frame)

    _key: str | None
    _open: bool
    _spoken: _Spoken

    def __init__(self) -> None:
        self._key = None
        self._open = False
        self._spoken = _Spoken()

    def _take(self, view: _Frame, frame: Frame) -> list[Delta]:
        if view.error:
            return [provider_error(view.error)]
        output = view.output
        choices = _choices(output) if output is not None else []
        if not choices and (frame.event == "error" or text_label(view.code)):
            return [provider_error(plain(frame.data))]
        usage: list[Delta] = [UsageSeen(view.usage)] if isinstance(view.usage, dict) else []
        if output is None and not usage:
            return [] if is_noise(frame) or view.type == "ping" else [Noted(0, "unknown_events")]
        deltas = self._begin(view) if choices else []
        for position, choice in enumerate(choices):
            deltas += self._choice(position, choice)
        return deltas + usage

    def _begin(self, view: _Frame) -> list[Delta]:
        key, again = id_label(view.request_id), self._open
        if again and (key is None or self._key in (None, key)):
            return []
        self._open, self._key, self._spoken = True, key, _Spoken()
        return [TurnOpened(key, key, restart=again)]  # one request after the other on a connection

    def _choice(self, position: int, choice: ChoiceView) -> list[Delta]:
        index = index_label(choice.index)
        number = position if index in (None, INVALID_INDEX) else choice_label(choice.index)
        message = choice.message or choice.delta or DeltaView()
        deltas = self._spoken.news(number, speech(number, message))
        deltas += [labelled(number, call, None) for call in listed(message)]
        known = turn_reason(choice.finish_reason)
        return deltas if known is None else [*deltas, Finish(number, *known)]


def _choices(output: _Output) -> list[ChoiceView]:
    """Return the choices; the answer of an old model is one."""
    if output.choices:
        return output.choices
    if text_label(output.text) is None and turn_reason(output.finish_reason) is None:
        return []
    return [ChoiceView(message=DeltaView(content=output.text), finish_reason=output.finish_reason)]


class _Spoken:
    """What was said so far, as long as the stream may restate it."""

    _restates: bool | None
    _told: dict[tuple[int, bool], str]
    _doubted: dict[tuple[int, bool], tuple[str, int]]

    def __init__(self) -> None:
        self._restates = None  # None: there was no text yet that could tell
        self._told = {}
        self._doubted = {}  # texts that came so many times more: a restatement, or the same word again

    def news(self, choice: int, said: list[Delta]) -> list[Delta]:
        """Return what of the speech of one frame was not said before."""
        thoughts = "".join(delta.text for delta in said if isinstance(delta, ReasoningFragment))
        text = "".join(delta.text for delta in said if isinstance(delta, TextFragment))
        deltas: list[Delta] = []
        if thoughts and (rest := self._rest((choice, True), thoughts)):
            deltas.append(ReasoningFragment(choice, rest))
        if text and (rest := self._rest((choice, False), text)):
            deltas.append(TextFragment(choice, rest))
        return deltas

    def _rest(self, channel: tuple[int, bool], text: str) -> str:
        if self._restates is False:
            return self._told_in_doubt(channel) + text
        before = self._told.get(channel, "")
        if not text.startswith(before):
            self._restates = False
            self._told.clear()
            return self._told_in_doubt(channel) + text
        self._told[channel] = text
        if before == text and self._restates is None:
            self._doubted[channel] = text, self._doubted.get(channel, (text, 0))[1] + 1
        elif before:
            self._restates = True
            self._doubted.clear()
        return text[len(before) :]

    def _told_in_doubt(self, channel: tuple[int, bool]) -> str:
        text, times = self._doubted.pop(channel, ("", 0))
        return text * times
