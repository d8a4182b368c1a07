"""The calls of the corpora that each choice of a policy emits, as docs/policy.md shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tests.support import corpora
from wholecall import Policy, ToolCallParser
from wholecall.calls.output.call_events import BuiltinToolCall, CustomToolCall, ToolCall
from wholecall.calls.output.events import Event

PAGE = Path(__file__).resolve().parents[2] / "docs" / "policy.md"
STRICT = Policy.strict()
CHOICES = ("recovery", "silence", "refused_flags", "truncated_turn", "require_reason", "on_bad_sibling")
POLICIES = {
    "`Policy()`": Policy(),
    **{f"`{name}` alone": replace(Policy(), **{name: getattr(STRICT, name)}) for name in CHOICES},
    "`Policy.strict()`": STRICT,
}


def read(recorded: bytes, policy: Policy) -> list[Event]:
    """Return the events of a recording under a policy."""
    parser = ToolCallParser("auto", policy=policy)
    return [*parser.feed(recorded), *parser.close()]


def emitted(events: list[Event]) -> list[Any]:
    """Return the calls that are emitted for execution."""
    return [event for event in events if isinstance(event, (ToolCall, CustomToolCall, BuiltinToolCall))]


def rows() -> list[str]:
    """Return the rows of the table."""
    recorded = [corpora.recorded(entry) for entry in corpora.cases()]
    counts = {
        said: sum(len(emitted(read(one, policy))) for one in recorded) for said, policy in POLICIES.items()
    }
    return [f"| {said} | {n} | {1 - n / counts['`Policy()`']:.1%} |" for said, n in counts.items()]


def shown(page: str) -> list[str]:
    """Return the rows that the page has."""
    return [line for line in page.splitlines() if line.endswith("% |")]


def write() -> None:
    """Put the rows into the page."""
    page = PAGE.read_text("utf-8")
    for old, new in zip(shown(page), rows(), strict=True):
        page = page.replace(old, new)
    PAGE.write_text(page, "utf-8", newline="\n")


if __name__ == "__main__":
    write()
