"""Read a delta or a message of chat completions: its calls, and all else in it.

A whole message has the same fields as a delta, so both are read here; the translator decides which of the two it is,
and whether it only repeats earlier reports.
"""

from __future__ import annotations

from typing import Any, Final
from zlib import crc32

from wholecall.deltas import (
    HYDRATION,
    OBJECT,
    BlockKept,
    CallClosed,
    CallWhole,
    Delta,
    Labelled,
    ReasoningFragment,
    TextFragment,
    TextRefused,
    WireFault,
)
from wholecall.dialects.decode import member, plain, provider_error
from wholecall.dialects.labels import id_label, index_label, name_label, text_label
from wholecall.dialects.openai.chat_views import ChoiceView, Chunk, DeltaView, ToolCallView, argument_text
from wholecall.framing.frame import Frame

__all__ = [
    "Executed",
    "content",
    "error_of",
    "flat_choice",
    "has_calls",
    "kind_of",
    "labelled",
    "listed",
    "mirrors",
    "name_of",
    "only_opens",
    "own_thought",
    "reasoning_details",
    "restated",
    "speech",
]


def labelled(choice: int, call: ToolCallView, extra: dict[str, Any] | None) -> Labelled:
    """Return one call of a delta: its labels, and its text as a fragment, a whole value or free text."""
    index, id = index_label(call.index), id_label(call.id)
    custom = call.custom
    text = argument_text(custom)[0]
    name = name_label(custom.name) if custom is not None else None
    if call.type == "custom" or name or text:
        return Labelled(choice, index, id, name, text, "custom", extra=extra)
    text, whole = argument_text(call.function, call)
    return Labelled(choice, index, id, name_of(call), text, rank=OBJECT if whole else 0, extra=extra)


def restated(choice: int, position: int, call: ToolCallView, extra: dict[str, Any] | None) -> CallWhole:
    """Return one call of a message, which restates it."""
    read = labelled(choice, call, extra)
    kind, text = read.kind, read.text
    return CallWhole(choice, position, None, read.id, read.name, text, HYDRATION, kind, extra=extra)


def name_of(call: ToolCallView) -> str | None:
    """Return the name of a call, wherever the server put it."""
    function = call.function
    return (name_label(function.name) if function is not None else None) or name_label(call.name)


def listed(delta: DeltaView) -> list[ToolCallView]:
    """Return the tool calls of a delta."""
    return delta.tool_calls or delta.toolCalls or []


def mirrors(message: DeltaView, delta: DeltaView | None) -> bool:
    """Return whether the message only repeats the delta of the same chunk, as some SDKs do (quirk 40)."""
    return delta is not None and bool(listed(message)) and bool(listed(delta))


def only_opens(delta: Any) -> bool:
    """Return whether a delta holds the role and nothing else, as the first delta of an answer does."""
    says = delta.content or delta.tool_calls or delta.reasoning_content or delta.reasoning
    return delta.role is not None and not says


def has_calls(choice: ChoiceView) -> bool:
    """Return whether a choice holds anything of a call."""
    delta, message = choice.delta, choice.message
    return (delta is not None and bool(listed(delta))) or (message is not None and bool(listed(message)))


def flat_choice(chunk: Chunk) -> list[ChoiceView]:
    """Return Oracle's flat chunk as a choice; its last frame repeats everything with a chat history."""
    if chunk.type is not None:  # an event of another dialect
        return []
    if chunk.message is None and chunk.finishReason is None and not (chunk.toolCalls or chunk.text):
        return []
    view = chunk.message or DeltaView(content=chunk.text, toolCalls=chunk.toolCalls)
    if chunk.chatHistory:
        view = DeltaView()
    return [ChoiceView(index=chunk.index, delta=view, finish_reason=chunk.finishReason)]


class Executed:
    """The tools that the server ran by itself, each reported once: it comes again with its result, and in the message.

    Their names are in `type`; those of gpt-oss have the type `function`, and a name next to it.
    """

    _labels: dict[tuple[int, str], str]
    _places: dict[tuple[int, str], int]
    _over: set[tuple[int, str]]

    def __init__(self) -> None:
        self._labels = {}  # of calls, by their choices and all their members
        self._places = {}  # the number of earlier calls at each index: some servers count anew for each request
        self._over = set()

    def report(self, choice: int, view: DeltaView) -> list[Delta]:
        """Return the deltas of such tools in a delta or a message: a call is over when its result came."""
        deltas: list[Delta] = []
        for position, tool in enumerate(view.executed_tools or ()):
            text, _ = argument_text(tool.function, tool)
            name = name_of(tool) or name_label(tool.type)
            place = f"executed_tools/{index_label(tool.index) or position}"
            key = choice, f"{place} {name} {len(text)} {crc32(text.encode(errors='surrogatepass'))}"
            label = self._labels.get(key)
            if label is None:
                label = self._labels[key] = self._place(choice, place)
                deltas.append(Labelled(choice, label, None, name, text, "server", OBJECT))
            if (choice, label) not in self._over and any(map(_says, tool.results)):
                self._over.add((choice, label))
                deltas.append(CallClosed(choice, label, None))
        return deltas

    def _place(self, choice: int, place: str) -> str:
        """Return the label of a call: that of the one before at its index, unless that is over."""
        nth = self._places.get((choice, place), 0)
        label = f"{place}/{nth}" if nth else place
        if (choice, label) in self._over:
            self._places[choice, place] = nth + 1
            label = f"{place}/{nth + 1}"
        return label


def _says(result: object) -> bool:
    """Return whether the result of a tool is there: its member may come before it."""
    return any(result.values()) if isinstance(result, dict) else bool(result)


def error_of(chunk: Chunk, frame: Frame) -> WireFault | None:
    """Return the error that the chunk reports, unless its `error` is empty decoration (quirk 52)."""
    refused = member(chunk.x_groq, "error")
    if refused:
        return provider_error(refused)
    if not chunk.error:
        return provider_error(plain(frame.data)) if frame.event == "error" else None
    choices = chunk.choices or []
    speaks = any(choice.delta is not None and _says_something(choice.delta) for choice in choices)
    finished = any(choice.finish_reason == "error" for choice in choices)
    return provider_error(chunk.error) if finished or not speaks else None


def _says_something(view: DeltaView) -> bool:
    return bool(view.content or listed(view))


def speech(choice: int, view: Any) -> list[Delta]:
    """Return reasoning, then content; some servers send the reasoning in two fields (quirk 85), or only as details."""
    deltas: list[Delta] = []
    details = _list(view.reasoning_details) if view.reasoning_details else None
    if thought := own_thought(view) or _thought_of(details):
        deltas.append(ReasoningFragment(choice, thought))
    if details:
        deltas += reasoning_details(choice, details)
    if type(view.content) is list:
        deltas += _parts(choice, view.content)
    elif text := text_label(view.content):
        deltas.append(TextFragment(choice, text))
    if text := text_label(view.refusal):
        deltas += (TextRefused(choice), TextFragment(choice, text))
    return deltas


def content(value: object) -> list[Delta]:
    """Return the deltas of content: a text, a part, or a list of parts."""
    return speech(0, DeltaView(content=value if isinstance(value, (str, list)) else [value]))


def kind_of(delta: Delta) -> str:
    """Return the kind of content that a message would repeat: text, reasoning, or details of reasoning."""
    if isinstance(delta, ReasoningFragment):
        return "reasoning" if delta.text else f"reasoning/{delta.block}"
    return "detail" if isinstance(delta, BlockKept) else "text"


def _parts(choice: int, parts: list[Any]) -> list[Delta]:
    """Return content as a list of parts: text, and thinking, itself a list of parts (quirk 95)."""
    deltas: list[Delta] = []
    for part in parts:
        if text := text_label(member(part, "text")):
            deltas.append(TextFragment(choice, text))
        thoughts = member(part, "thinking")
        texts = [text_label(member(thought, "text")) for thought in _list(thoughts)]
        deltas += [ReasoningFragment(choice, text) for text in texts if text]
    return deltas


# The members of details that come in pieces.
_GROWING: Final = {"reasoning.text": "text", "reasoning.summary": "summary"}


def own_thought(view: Any) -> str | None:
    """Return the reasoning that a delta has in a separate field."""
    return text_label(view.reasoning_content) or text_label(view.reasoning)


def _thought_of(details: list[Any] | None) -> str:
    """Return the text of details, for servers that send reasoning nowhere else."""
    if not details:
        return ""
    return "".join(text_label(member(one, name)) or "" for one in details for name in _GROWING.values())


def reasoning_details(choice: int, details: list[Any]) -> list[Delta]:
    """Return the details as they came, to be sent back; encrypted reasoning and signatures are in blocks, too."""
    deltas: list[Delta] = []
    for detail in details:
        if not isinstance(detail, dict):
            continue
        kind = detail.get("type")
        grows = _GROWING.get(kind) if isinstance(kind, str) else None
        if grows is not None and not isinstance(detail.get(grows), str):
            grows = None
        deltas.append(BlockKept(choice, detail, grows=grows))
        if detail.get("data") or detail.get("signature"):
            data, signature = text_label(detail.get("data")), text_label(detail.get("signature"))
            if data or signature:
                id = id_label(detail.get("id"))
                deltas.append(ReasoningFragment(choice, "", f"detail/{id}", id, signature, data))
    return deltas


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
