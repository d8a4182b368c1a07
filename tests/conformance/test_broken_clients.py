"""The runner finds clients that are broken on purpose, each with the verdict that its fault deserves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.adapters import WIRES, graded, small_suite, verdicts

# Of one call, of two calls, and of a call that was cut.
BROKEN = {
    "closes_brackets": {"one": "pass", "two": "pass", "cut": "unsafe"},
    "merges_by_index": {"one": "pass", "two": "unsafe", "cut": "pass"},
    "drops_the_last": {"one": "lost", "two": "lost", "cut": "lost"},
}


@pytest.mark.parametrize("name", BROKEN)
def test_each_fault_has_its_verdict(name: str, tmp_path: Path) -> None:
    """A closed bracket and a merged call are unsafe, a call that was dropped silently is lost; on every wire."""
    found = graded(small_suite(tmp_path), f"broken/{name}.py")

    assert dict.fromkeys(WIRES, BROKEN[name]) == verdicts(found)


@pytest.mark.slow
def test_wholecall_as_an_adapter_passes(tmp_path: Path) -> None:
    """The parser behind the protocol gets every stream right, and tells of the call that was cut."""
    found = graded(small_suite(tmp_path), "wholecall_adapter.py", "wholecall")
    told = verdicts([client for client in found if client.wire in WIRES])

    assert dict.fromkeys(WIRES, dict.fromkeys(BROKEN["closes_brackets"], "pass")) == told


def test_what_a_client_asks_of_the_adapter(tmp_path: Path) -> None:
    """Each run tells whose it is: names, versions, wires and what the version depends on."""
    [first, *_] = graded(small_suite(tmp_path), "broken/drops_the_last.py")

    assert ("broken-drops-the-last", "1", "chat-completions", "bytes") == (
        first.name,
        first.version,
        first.wire,
        first.mode,
    )
