"""Rules of providers for transcripts, written without the library.

Each shape's messages are read by the plainest means, into steps; the rules are walks over the steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from wholecall.history import MISSING_RESULT

JSON = dict[str, Any]


class Step(NamedTuple):
    """One statement of a message: results in messages of their own are nobody's words."""

    who: str
    kind: str
    id: str = ""
    name: str = ""
    text: str = ""


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


def _plain(content: Any) -> str:
    """Return the text of a result."""
    if isinstance(content, list):
        return "".join(block.get("text", "") for block in content)
    return str(next(iter(content.values()))) if isinstance(content, dict) else content


def _steps(shape: str, message: JSON) -> Iterator[Step]:
    """Yield a message's statements, in order."""
    if shape in ("responses", "codex") and message["type"] != "message":
        yield _item(message)
        return
    role = message["role"]
    if role in ("tool", "toolResult"):
        id = message.get("tool_call_id") or message.get("toolCallId", "")
        yield Step("result", "result", id, text=_plain(message["content"]))
        return
    who = "model" if role in ("assistant", "model") else "user"
    if message.get("reasoning_content"):
        yield Step(who, "thinking")
    yield from (_block(who, block) for block in _blocks(message))
    for call in message.get("tool_calls", ()):
        yield Step(who, "call", call["id"], call["function"].get("name", ""))


def _item(item: JSON) -> Step:
    kind = item["type"]
    if kind.endswith("_output"):
        return Step("result", "result", item["call_id"], text=_plain(item["output"]))
    kinds = {"reasoning": "thinking", "function_call": "call"}
    return Step("model", kinds.get(kind, "other"), item.get("call_id", ""), item.get("name", ""))


def _block(who: str, block: JSON) -> Step:
    kind = block.get("type")
    if kind in ("tool_use", "toolCall"):
        return Step(who, "call", block["id"], block["name"])
    if kind == "tool_result":
        return Step(who, "result", block["tool_use_id"], text=_plain(block["content"]))
    if "functionCall" in block:
        return Step(who, "call", block["functionCall"].get("id", ""), block["functionCall"]["name"])
    if "functionResponse" in block:
        told = block["functionResponse"]
        return Step(who, "result", told.get("id", ""), told["name"], _plain(told["response"]))
    if kind == "thinking" or block.get("thought"):
        return Step(who, "thinking")
    return Step(who, "text", text=block["text"]) if isinstance(block.get("text"), str) else Step(who, "other")


def _all_steps(shape: str, messages: list[JSON]) -> Iterator[Step]:
    for message in _unwrapped(shape, messages):
        yield from _steps(shape, message)


def texts(shape: str, messages: list[JSON]) -> list[str]:
    """Return all texts that are not blank, in order."""
    return [step.text for step in _all_steps(shape, messages) if step.kind == "text" and step.text.strip()]


def said(shape: str, messages: list[JSON]) -> list[str]:
    """Return the statements of messages, in the same words for every shape.

    `user: a`, `model: a`, `model thinks`, `model calls c1`, `c1: done`, `c1 is missing`.
    """
    return [_words(step) for step in _all_steps(shape, messages)]


def _words(step: Step) -> str:
    label = step.id or step.name
    if step.kind == "result":
        return f"{label} is missing" if step.text == MISSING_RESULT else f"{label}: {step.text}"
    words = {"text": f": {step.text}", "thinking": " thinks", "call": f" calls {label}"}
    return step.who + words.get(step.kind, " does something")


def complaints(shape: str, messages: list[JSON], *, kept: bool = False) -> list[str]:
    """Return the faults of messages; `kept`: calls may be unanswered."""
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
    if any(step.kind == "text" and not step.text.strip() for step in steps) and "tool_calls" not in message:
        yield "a blank text"
    alone = shape in ("responses", "codex", "claude-code")  # where a thought may have a separate message
    if all(step.kind == "text" and not step.text.strip() for step in steps):
        yield "nothing but blanks"
    elif all(step.kind == "thinking" for step in steps) and not alone:
        yield "nothing but thoughts"


def _stopped(shape: str, message: JSON) -> Iterator[str]:
    stops = [message.get(name) for name in ("stop_reason", "stopReason", "finish_reason", "finishReason")]
    if not {"aborted", "error"} & set(stops):
        return
    if any(step.kind in ("call", "thinking") for step in _steps(shape, message)):
        yield "a call or a thought in an aborted turn"
    used = {block["id"] for block in _blocks(message) if block.get("type") == "server_tool_use"}
    told = {
        block["tool_use_id"] for block in _blocks(message) if "search_tool_result" in str(block.get("type"))
    }
    if shape == "anthropic" and used != told:
        yield "half of a pair of the provider's own tool"


class _Turn:
    """The calls that wait for their results, and who spoke last."""

    def __init__(self, shape: str, *, kept: bool) -> None:
        self.shape, self.kept = shape, kept
        self.waiting: Counter[str] = Counter()
        self.identity: str | None = None
        self.fresh = False

    def goes_on(self, identity: str | None) -> bool:
        """Return whether the model's next message belongs to this turn."""
        if self.shape == "claude-code" and identity is not None and identity == self.identity:
            return True
        return self.fresh and self.shape not in ("chat-completions", "pi")

    def end(self) -> list[str]:
        """End the turn: nothing may wait any more."""
        missing = [] if self.kept else [f"call {key!r} was not answered" for key in +self.waiting]
        self.waiting.clear()
        self.identity = None
        return missing

    def answer(self, key: str, *, leads: bool) -> list[str]:
        """Take a result."""
        if not leads:
            return [f"result {key!r} stands behind something else"]
        self.waiting[key] -= 1
        return [f"result {key!r} answers no call of the turn"] * (self.waiting[key] < 0)


def _pairing(shape: str, messages: list[JSON], *, kept: bool) -> list[str]:
    """Walk the messages: after each turn come its results, each once, before anybody speaks."""
    turn, seen = _Turn(shape, kept=kept), set[str]()
    found: list[str] = []
    for message in messages:
        steps = list(_steps(shape, message))
        if steps and steps[0].who == "model":
            found += [] if turn.goes_on(message.get("id")) else turn.end()
            turn.identity, turn.fresh = message.get("id"), True
            calls = [step for step in steps if step.kind == "call"]
            turn.waiting.update(_key(shape, step) for step in calls)
            found += [complaint for step in calls for complaint in _fresh(shape, seen, step.id)]
            continue
        others = next((place for place, step in enumerate(steps) if step.kind != "result"), len(steps))
        turn.fresh = False
        for place, step in enumerate(steps):
            found += turn.answer(_key(shape, step), leads=place < others) if step.kind == "result" else []
        if others < len(steps) or shape in ("anthropic", "gemini"):
            found += turn.end()
    return found + turn.end()


def _key(shape: str, step: Step) -> str:
    """Return the keys by which calls and results match."""
    return step.name if shape == "gemini" else step.id


def _fresh(shape: str, seen: set[str], id: str) -> list[str]:
    counted = shape == "chat-completions" and ":" in id
    optional = shape == "gemini" and not id
    repeated = id in seen and not counted
    seen.add(id)
    return [] if optional else [f"id {id!r} is taken"] * (repeated or not id)


def _links(shape: str, messages: list[JSON]) -> list[str]:
    id, parent = ("id", "parentId") if shape == "pi" else ("uuid", "parentUuid")
    entries = [entry for entry in messages if parent in entry]
    known: set[str] = set()
    found: list[str] = []
    for number, entry in enumerate(entries):
        before = None if number == 0 else entries[number - 1][id]
        found += [] if entry[parent] == before else [f"{entry[id]} follows {entry[parent]}, not {before}"]
        found += [f"{entry[id]} is there twice"] * (entry[id] in known)
        known.add(entry[id])
    return found
