"""Sessions of Claude Code: lines that wrap Anthropic messages, chained by `parentUuid`.

One answer of the model is stored as several lines that share `message.id`, and the results of its first calls may be
between them. Lines of a subagent (`isSidechain`) are a separate conversation. Lines of other types (`system`,
`summary`, `progress`, snapshots) are not part of it. There is no specification: this describes existing files.
"""

from __future__ import annotations

import uuid
from typing import Any

from wholecall.history.parts import SIDE, Line, Message, Part, rebuild
from wholecall.history.shapes.base import Links, Shape, missing
from wholecall.history.shapes.blocks import read_message

# Members of a line that describe its session, not its message.
_ENVELOPE = (
    *("parentUuid", "isSidechain", "agentId", "userType", "entrypoint", "cwd", "sessionId", "version"),
    *("gitBranch", "slug", "timestamp"),
)
_NAMESPACE = uuid.UUID("5f0c8a52-6f0e-5d3a-9a51-0a3a1a9f7f10")


def _is_line(entry: Message) -> bool:
    return entry.get("type") in ("user", "assistant") and isinstance(entry.get("message"), dict)


def _is_own(entry: Message) -> bool:
    """Return whether a line is one of these; a session may contain only summaries of others."""
    return _is_line(entry) or (entry.get("type") == "summary" and "leafUuid" in entry)


def _read(entry: Message) -> Line:
    if not _is_line(entry):
        return Line("other", [])
    message = entry["message"]
    line = read_message(message)
    if line.side == "user" and line.parts and all(part.kind == "result" for part in line.parts):
        line.side = "result"
    identity = message.get("id")
    line.answer = identity if line.side == "model" and isinstance(identity, str) else None
    if entry.get("isSidechain") is True:
        agent = entry.get("agentId")
        line.thread = f"agent {agent}" if agent else SIDE
    return line


def _write(entry: Message, parts: list[Part], left: list[Part]) -> Message:
    return {**entry, "message": rebuild(entry["message"], parts, left)}


def _carrier(results: list[Any], near: Message) -> Message:
    line: Message = {"type": "user", **{name: near[name] for name in _ENVELOPE if name in near}}
    return {**line, "message": {"role": "user", "content": results}}


def _mint(text: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, text.encode("utf-8", "backslashreplace").decode()))


CLAUDE_CODE = Shape(
    name="claude-code",
    read=_read,
    write=_write,
    result=missing("anthropic"),
    carrier=_carrier,
    is_own=_is_own,
    holder="content",
    merges=True,
    links=Links("uuid", "parentUuid", ("leafUuid", "logicalParentUuid", "sourceToolAssistantUUID"), _mint),
)
