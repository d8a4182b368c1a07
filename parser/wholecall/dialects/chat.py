"""OpenAI Chat Completions (`POST /v1/chat/completions`, `stream: true`) and all who claim to speak it.

    data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function",
           "function":{"name":"now","arguments":""}}]},"finish_reason":null}]}
    data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}
    data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
    data: [DONE]

A call has no end of its own: the choice's finish reason and `[DONE]` are all there is. Labels are passed on as
they are and bound later, because every one of them lies somewhere. The common chunk is read by a narrow view;
whatever that refuses is read again by the wide one. A message beside or instead of the deltas restates calls
(quirks 40, 90); a frame of the Responses dialect inside the stream is translated as such (quirk 89).
Source: OpenAI API reference, "Chat streaming", and the SDK types and recorded streams of compatible servers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wholecall.deltas import (
    HYDRATION,
    INVALID_INDEX,
    OBJECT,
    CallWhole,
    Delta,
    Finish,
    Fragment,
    Labelled,
    ReasoningFragment,
    Run,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.chat_views import (
    NARROW,
    WIDE,
    ChoiceView,
    Chunk,
    DeltaView,
    NarrowCall,
    NarrowChoice,
    ToolCallView,
    argument_text,
    unknown_fields,
)
from wholecall.dialects.decode import UNREADABLE, first_choice, is_done, plain, provider_error, read
from wholecall.dialects.labels import id_label, index_label, name_label, text_label
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.responses import ResponsesTranslator
from wholecall.dialects.restated import told_together
from wholecall.dialects.translator import Translator
from wholecall.framing.frame import Frame

__all__ = ["ChatTranslator", "detect"]

_ORACLE_FIELDS = ("apiFormat", "finishReason", "toolCalls")

_LEGACY_INDEX = "function_call"  # the one anonymous call of a choice (quirk 83)
_narrow = NARROW.decode


def detect(payload: Mapping[str, Any], _event: str) -> bool:
    """A chunk with choices, one that says what it is, or Oracle's flat form."""
    if first_choice(payload):
        return True
    if str(payload.get("object", "")).startswith("chat.completion") and payload.get("choices") != []:
        return True
    if "candidates" in payload:
        return False
    message = payload.get("message")
    flat = isinstance(message, dict) and "toolCalls" in message
    return flat or any(field in payload for field in _ORACLE_FIELDS)


class ChatTranslator(Translator):
    """Frames of one chat stream to deltas."""

    def __init__(self) -> None:
        self._opened = False
        self._guest = ResponsesTranslator(guest=True)
        self._told: set[tuple[int, str]] = set()  # what came in deltas: a message only repeats it

    def translate(self, frame: Frame) -> list[Delta]:
        """Say what one frame says."""
        return self.translate_all([frame])

    def translate_all(self, frames: list[Frame]) -> list[Delta]:
        """Say what frames in a row say; pieces of one call that nothing interrupts are one `Run`."""
        deltas: list[Delta] = []
        for frame in frames:
            if not self._opened or frame.event == "error":
                deltas += self._wide(frame)
                continue
            try:
                chunk = _narrow(frame.data)
            except UNREADABLE:
                deltas += self._wide(frame)
                continue
            for choice in chunk.choices:
                self._narrow_choice(deltas, choice)
        return deltas

    def _narrow_choice(self, deltas: list[Delta], choice: NarrowChoice) -> None:
        delta = choice.delta
        if delta is not None:
            if delta.reasoning_content or delta.reasoning:
                self._speak(deltas, choice.index, delta)
            elif delta.content:  # the same, for the most common speech
                self._told.add((choice.index, "text"))
                deltas.append(TextFragment(choice.index, delta.content))
            if delta.tool_calls:
                _narrow_calls(deltas, choice.index, delta.tool_calls)
        if choice.finish_reason:
            self._finish(deltas, choice.index, choice.finish_reason)

    # Any chunk.

    def _wide(self, frame: Frame) -> list[Delta]:
        if is_done(frame.data):
            return [TurnEnded()]
        if not frame.data:
            return []
        views, texts, deltas = read(WIDE, frame)
        for chunk, text in zip(views, texts, strict=True):
            self._chunk(deltas, chunk, Frame(frame.event, text))
        return deltas

    def _chunk(self, deltas: list[Delta], chunk: Chunk, frame: Frame) -> None:
        if chunk.choices is None and type(chunk.type) is str and chunk.type.startswith("response."):
            deltas += self._guest.translate(frame)
            return
        fault = _error_of(chunk, frame)
        if fault is not None:
            deltas.append(fault)
            return
        choices = chunk.choices or _flat_choice(chunk)
        if not self._opened and choices:
            self._opened = True
            model = text_label(chunk.model) or text_label(chunk.model_id)
            deltas.append(TurnOpened(None, id_label(chunk.id), model))
        payload = plain(frame.data) if any(map(_has_calls, choices)) else None
        for position, choice in enumerate(choices):
            self._choice(deltas, choice, _member(payload, "choices", position))
        self._usages(deltas, chunk, choices)
        if chunk.object == "chat.completion" and choices:
            deltas.append(TurnEnded())

    def _choice(self, deltas: list[Delta], choice: ChoiceView, payload: Any) -> None:
        number = max(index_label(choice.index) or 0, 0)
        if choice.delta is not None:
            self._speak(deltas, number, choice.delta)
            self._calls(deltas, number, choice.delta, _member(payload, "delta"))
        if choice.message is not None and not _mirrors(choice.message, choice.delta):
            self._message(deltas, number, choice.message, _member(payload, "message"))
        self._finish(deltas, number, choice.finish_reason)

    def _speak(self, deltas: list[Delta], choice: int, view: Any) -> None:
        """Say what a delta says besides calls, and remember that it was said."""
        said = _speech(choice, view)
        self._told.update((choice, _kind(delta)) for delta in said)
        deltas += said

    def _calls(self, deltas: list[Delta], choice: int, delta: DeltaView, payload: Any) -> None:
        for position, call in enumerate(_listed(delta)):
            extra = unknown_fields(_member(payload, "tool_calls", position))
            deltas.append(_labelled(choice, call, extra))
        legacy = delta.function_call
        if legacy is not None:
            text, whole = argument_text(legacy)
            rank = OBJECT if whole else 0
            name = name_label(legacy.name)
            deltas.append(Labelled(choice, _LEGACY_INDEX, None, name, text, rank=rank))
        deltas += _executed(choice, delta)

    def _message(self, deltas: list[Delta], choice: int, message: DeltaView, payload: Any) -> None:
        """A message restates: it fills what the deltas left out, and adds what they never had (quirk 40)."""
        deltas += [delta for delta in _speech(choice, message) if (choice, _kind(delta)) not in self._told]
        deltas += told_together(
            [
                _restated(choice, position, call, unknown_fields(_member(payload, "tool_calls", position)))
                for position, call in enumerate(_listed(message))
            ]
        )
        deltas += _executed(choice, message)
        legacy = message.function_call
        if legacy is not None and name_label(legacy.name):
            text, _ = argument_text(legacy)
            deltas.append(
                CallWhole(choice, _LEGACY_INDEX, None, None, name_label(legacy.name), text, HYDRATION)
            )

    def _finish(self, deltas: list[Delta], choice: int, raw: object) -> None:
        known = turn_reason(raw)
        if known is None:
            return
        if known[0] == "error":
            detail = f"the choice finished with {known[1]!r}"
            deltas.append(WireFault("provider_error", detail, fatal=True))
        else:
            deltas.append(Finish(choice, *known))

    def _usages(self, deltas: list[Delta], chunk: Chunk, choices: list[ChoiceView]) -> None:
        """Token counts stand in odd places (quirk 88)."""
        usages = (chunk.usage, _member(chunk.x_groq, "usage"), *(choice.usage for choice in choices))
        deltas.extend(UsageSeen(usage) for usage in usages if isinstance(usage, dict) and usage)


def _executed(choice: int, view: DeltaView) -> list[Delta]:
    """Say which tools the server ran by itself."""
    deltas: list[Delta] = []
    for position, tool in enumerate(view.executed_tools or ()):
        text, _ = argument_text(tool)
        index = f"executed_tools/{index_label(tool.index) or position}"
        deltas.append(Labelled(choice, index, None, name_label(tool.type), text, "server", OBJECT))
    return deltas


def _narrow_calls(deltas: list[Delta], choice: int, calls: list[NarrowCall]) -> None:
    """Tell fragments that have an index and text and nothing else from all others."""
    for call in calls:
        function, index = call.function, call.index
        if index is not None and index < 0:
            index = INVALID_INDEX
        if function is None:
            deltas.append(Labelled(choice, index, id_label(call.id), None))
        elif call.id or function.name or index is None or index < 0 or not function.arguments:
            name, text = name_label(function.name), function.arguments or ""
            deltas.append(Labelled(choice, index, id_label(call.id), name, text))
        else:
            last = deltas[-1] if deltas else None
            if type(last) is Run and last.of.index == index and last.of.choice == choice:
                last.texts.append(function.arguments)
            else:
                deltas.append(Run(Fragment(choice, index, ""), [function.arguments]))


def _error_of(chunk: Chunk, frame: Frame) -> WireFault | None:
    """Return the error that the chunk reports, unless its `error` is empty decoration (quirk 52)."""
    refused = _member(chunk.x_groq, "error")
    if refused:
        return provider_error(refused)
    if not chunk.error:
        return provider_error(plain(frame.data)) if frame.event == "error" else None
    choices = chunk.choices or []
    speaks = any(choice.delta is not None and _says_something(choice.delta) for choice in choices)
    finished = any(choice.finish_reason == "error" for choice in choices)
    return provider_error(chunk.error) if finished or not speaks else None


def _says_something(view: DeltaView) -> bool:
    return bool(view.content or _listed(view))


def _labelled(choice: int, call: ToolCallView, extra: dict[str, Any] | None) -> Labelled:
    index, id = index_label(call.index), id_label(call.id)
    custom = call.custom
    text = argument_text(custom)[0]
    name = name_label(custom.name) if custom is not None else None
    if call.type == "custom" or name or text:
        return Labelled(choice, index, id, name, text, "custom", extra=extra)
    text, whole = argument_text(call.function, call)
    return Labelled(choice, index, id, _name_of(call), text, rank=OBJECT if whole else 0, extra=extra)


def _restated(choice: int, position: int, call: ToolCallView, extra: dict[str, Any] | None) -> CallWhole:
    told = _labelled(choice, call, extra)
    kind, text = told.kind, told.text
    return CallWhole(choice, position, None, told.id, told.name, text, HYDRATION, kind, extra=extra)


def _name_of(call: ToolCallView) -> str | None:
    function = call.function
    return (name_label(function.name) if function is not None else None) or name_label(call.name)


def _listed(delta: DeltaView) -> list[ToolCallView]:
    """Return the tool calls of a delta; old servers send one object instead of a list (quirk 39)."""
    calls = delta.tool_calls or delta.toolCalls
    if calls is None:
        return []
    return calls if isinstance(calls, list) else [calls]


def _mirrors(message: DeltaView, delta: DeltaView | None) -> bool:
    """Whether the message only shows the delta of the same chunk once more, as some SDKs type it (quirk 40)."""
    return delta is not None and bool(_listed(message)) and bool(_listed(delta))


def _has_calls(choice: ChoiceView) -> bool:
    return any(bool(view is not None and _listed(view)) for view in (choice.delta, choice.message))


def _flat_choice(chunk: Chunk) -> list[ChoiceView]:
    """Return Oracle's flat chunk as a choice; its last frame repeats everything with a chat history."""
    if chunk.message is None and chunk.finishReason is None and not (chunk.toolCalls or chunk.text):
        return []
    view = chunk.message or DeltaView(content=chunk.text, toolCalls=chunk.toolCalls)
    if chunk.chatHistory:
        view = DeltaView()
    return [ChoiceView(index=chunk.index, delta=view, finish_reason=chunk.finishReason)]


def _speech(choice: int, view: Any) -> list[Delta]:
    """Reasoning, then content; some servers send the reasoning in two fields (quirk 85)."""
    thought = text_label(view.reasoning_content) or text_label(view.reasoning)
    deltas: list[Delta] = [ReasoningFragment(choice, thought)] if thought is not None else []
    if isinstance(view, DeltaView):
        deltas += _reasoning_details(choice, view.reasoning_details)
    if type(view.content) is list:
        deltas += _parts(choice, view.content)
    elif text := text_label(view.content):
        deltas.append(TextFragment(choice, text))
    if isinstance(view, DeltaView) and (text := text_label(view.refusal)):
        deltas.append(TextFragment(choice, text))
    return deltas


def _kind(delta: Delta) -> str:
    """Return what a message would repeat: text, reasoning, or what belongs to reasoning."""
    if isinstance(delta, ReasoningFragment):
        return "reasoning" if delta.text else f"reasoning/{delta.block}"
    return "text"


def _parts(choice: int, parts: list[Any]) -> list[Delta]:
    """Content as a list of parts: text, and thinking, which is a list of parts itself (quirk 95)."""
    deltas: list[Delta] = []
    for part in parts:
        if text := text_label(_member(part, "text")):
            deltas.append(TextFragment(choice, text))
        thoughts = _member(part, "thinking")
        texts = [text_label(_member(thought, "text")) for thought in _list(thoughts)]
        deltas += [ReasoningFragment(choice, text) for text in texts if text]
    return deltas


def _reasoning_details(choice: int, details: Any) -> list[Delta]:
    """What has to be sent back: encrypted reasoning and signatures; the text came already."""
    deltas: list[Delta] = []
    for detail in _list(details):
        data, signature = text_label(_member(detail, "data")), text_label(_member(detail, "signature"))
        if data or signature:
            id = id_label(_member(detail, "id"))
            deltas.append(ReasoningFragment(choice, "", f"detail/{id}", id, signature, data))
    return deltas


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _member(value: Any, *path: str | int) -> Any:
    """Return what lies at the path of keys and positions, None where something is missing."""
    for key in path:
        if isinstance(value, dict) and isinstance(key, str):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        elif not (isinstance(value, dict) and key == 0):  # one object instead of a list (quirk 39)
            return None
    return value
