"""What a transcript must be that a provider takes: rules of each shape, written without the library.

Each rule reads the messages by itself, by the plainest means, and says what is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

__all__ = ["complaints", "texts"]

JSON = dict[str, Any]
# A neutral step: (who, kind, id, text). Results of block shapes are steps of the user.
Step = tuple[str, str, str, str]


def _unwrapped(shape: str, messages: list[JSON]) -> list[JSON]:
    """Return the messages inside the entries of a session file."""
    if shape == "codex":
        return [line["payload"] for line in messages if line["type"] == "response_item"]
    if shape == "pi":
        return [entry["message"] for entry in messages if entry["type"] == "message"]
    if shape == "claude-code":
        return [line["message"] for line in messages if line["type"] in ("user", "assistant")]
    return messages


def _blocks(message: JSON) -> list[JSON]:
    content = message.get("content", message.get("parts"))
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def _steps(shape: str, message: JSON) -> Iterator[Step]:
    """Yield what a message says, in order."""
    if shape in ("responses", "codex") and message["type"] != "message":
        kind = message["type"]
        if kind.endswith("_output"):
            yield "result", "result", message["call_id"], ""
        else:
            kinds = {"reasoning": "thinking", "function_call": "call"}
            yield "model", kinds.get(kind, "other"), message.get("call_id", ""), ""
        return
    role = message["role"]
    if role in ("tool", "toolResult"):
        yield "result", "result", message.get("tool_call_id") or message.get("toolCallId", ""), ""
        return
    who = "model" if role in ("assistant", "model") else "user"
    if message.get("reasoning_content"):
        yield who, "thinking", "", ""
    for block in _blocks(message):
        yield who, *_block(block)
    for call in message.get("tool_calls", ()):
        yield who, "call", call["id"], ""


def _block(block: JSON) -> tuple[str, str, str]:
    kind = block.get("type")
    if kind in ("tool_use", "toolCall"):
        return "call", block["id"], ""
    if kind == "tool_result":
        return "result", block["tool_use_id"], ""
    if "functionCall" in block:
        return "call", block["functionCall"].get("id") or block["functionCall"]["name"], ""
    if "functionResponse" in block:
        return "result", block["functionResponse"].get("id") or block["functionResponse"]["name"], ""
    if kind == "thinking" or block.get("thought"):
        return "thinking", "", ""
    if isinstance(block.get("text"), str):
        return "text", "", block["text"]
    return "other", "", ""


def texts(shape: str, messages: list[JSON]) -> list[str]:
    """Return all texts that are not blank, in order."""
    steps = (step for message in _unwrapped(shape, messages) for step in _steps(shape, message))
    return [text for _, kind, _, text in steps if kind == "text" and text.strip()]


def complaints(shape: str, messages: list[JSON], *, kept: bool = False) -> list[str]:
    """Return what is wrong with messages; `kept`: calls may be unanswered."""
    inner = _unwrapped(shape, messages)
    found = [f"{number}: {what}" for number, message in enumerate(inner) for what in _empty(shape, message)]
    found += [
        f"{number}: {what}" for number, message in enumerate(inner) for what in _stopped(shape, message)
    ]
    found += _pairing(shape, inner, kept=kept)
    if shape in ("pi", "claude-code"):
        found += _links(shape, messages)
    return found


def _empty(shape: str, message: JSON) -> Iterator[str]:
    if "tool_calls" in message and not message["tool_calls"]:
        yield "no calls in tool_calls"
    steps = list(_steps(shape, message))
    if any(kind == "text" and not text.strip() for _, kind, _, text in steps) and "tool_calls" not in message:
        yield "a blank text"
    if all(kind in ("thinking", "text") and not text.strip() for _, kind, _, text in steps):
        whole = shape not in ("responses", "codex", "claude-code")
        if whole or not any(kind == "thinking" for _, kind, _, _ in steps):
            yield "nothing but thoughts or blanks"


def _stopped(shape: str, message: JSON) -> Iterator[str]:
    stops = [message.get(name) for name in ("stop_reason", "stopReason", "finish_reason", "finishReason")]
    if not {"aborted", "error"} & set(stops):
        return
    steps = list(_steps(shape, message))
    if any(kind in ("call", "thinking") for _, kind, _, _ in steps):
        yield "a call or a thought in an aborted turn"
    used = Counter(block["id"] for block in _blocks(message) if block.get("type") == "server_tool_use")
    told = {
        block["tool_use_id"] for block in _blocks(message) if "search_tool_result" in str(block.get("type"))
    }
    if shape == "anthropic" and used.keys() != told:
        yield "half of a pair of the provider's own tool"


class _Turn:
    """The calls that wait for their results, and who spoke last."""

    def __init__(self, shape: str, *, kept: bool) -> None:
        self.shape, self.kept = shape, kept
        self.waiting: Counter[str] = Counter()
        self.identity: str | None = None
        self.fresh = False

    def goes_on(self, identity: str | None) -> bool:
        """Tell whether the model's next message belongs to this turn."""
        if self.shape == "claude-code" and identity is not None and identity == self.identity:
            return True
        return self.fresh and self.shape not in ("chat-completions", "pi")

    def end(self) -> list[str]:
        """End the turn: nothing may wait any more."""
        missing = [] if self.kept else [f"call {id!r} was not answered" for id in +self.waiting]
        self.waiting.clear()
        self.identity = None
        return missing

    def answer(self, id: str, *, leads: bool) -> list[str]:
        """Take a result."""
        if not leads:
            return [f"result {id!r} stands behind something else"]
        self.waiting[id] -= 1
        return [f"result {id!r} answers no call of the turn"] * (self.waiting[id] < 0)


def _pairing(shape: str, messages: list[JSON], *, kept: bool) -> list[str]:
    """Walk the messages: behind each turn come its results, each once, before anybody speaks."""
    turn, seen = _Turn(shape, kept=kept), set[str]()
    found: list[str] = []
    for message in messages:
        steps = list(_steps(shape, message))
        if steps and steps[0][0] == "model":
            found += [] if turn.goes_on(message.get("id")) else turn.end()
            turn.identity, turn.fresh = message.get("id"), True
            calls = [id for _, kind, id, _ in steps if kind == "call"]
            turn.waiting.update(calls)
            found += [complaint for id in calls for complaint in _fresh(shape, seen, id)]
            continue
        kinds = [kind for _, kind, _, _ in steps]
        others = next((place for place, kind in enumerate(kinds) if kind != "result"), len(kinds))
        turn.fresh = False
        for place, (_, kind, id, _) in enumerate(steps):
            found += turn.answer(id, leads=place < others) if kind == "result" else []
        if others < len(kinds) or shape in ("anthropic", "gemini"):
            found += turn.end()
    return found + turn.end()


def _fresh(shape: str, seen: set[str], id: str) -> list[str]:
    counted = shape == "chat-completions" and ":" in id
    named = shape == "gemini" and id in ("read", "exec", "invalid_tool_call")
    repeated = id in seen and not counted and not named
    seen.add(id)
    return [f"id {id!r} is taken"] * (repeated or not id)


def _links(shape: str, messages: list[JSON]) -> list[str]:
    id, parent = ("id", "parentId") if shape == "pi" else ("uuid", "parentUuid")
    entries = [entry for entry in messages if parent in entry]
    known: set[str] = set()
    found = []
    for number, entry in enumerate(entries):
        before = None if number == 0 else entries[number - 1][id]
        found += [] if entry[parent] == before else [f"{entry[id]} follows {entry[parent]}, not {before}"]
        found += [f"{entry[id]} is there twice"] * (entry[id] in known)
        known.add(entry[id])
    return found
