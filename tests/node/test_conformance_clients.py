"""The adapter of the JavaScript clients: what it tells the runner of streams that show one thing each.

It is run in a copy, with the packages of this folder, which are those that it pins itself.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.adapters import CLIENTS, graded, small_suite

pytestmark = pytest.mark.node

FOLDER = Path(__file__).parent
CHAT, RESPONSES, ANTHROPIC = "chat-completions", "responses", "anthropic"
# Of one call, of two calls, and of a call that was cut.
PASSED = ("pass", "pass", "pass")
CLOSED = ("pass", "pass", "unsafe")
SILENT = ("pass", "pass", "lost")
TOLD = {
    ("openai-node-loop", CHAT): PASSED,
    ("openai-node-stream", CHAT): PASSED,
    ("openai-node-runtools", CHAT): PASSED,
    ("openai-node-loop", RESPONSES): PASSED,
    ("openai-node-stream", RESPONSES): PASSED,
    ("anthropic-node-loop", ANTHROPIC): PASSED,
    ("anthropic-node-stream", ANTHROPIC): CLOSED,
    ("ai-sdk-openai", CHAT): PASSED,
    ("ai-sdk-openai-compatible", CHAT): PASSED,
    ("ai-sdk-openai", RESPONSES): SILENT,
    ("ai-sdk-anthropic", ANTHROPIC): SILENT,
}


def test_both_folders_pin_the_same_packages() -> None:
    """The versions that the adapter tells are those that these tests install."""
    ours, theirs = (
        json.loads((folder / "package.json").read_text("utf-8"))["dependencies"]
        for folder in (FOLDER, CLIENTS / "node")
    )

    assert ours == theirs


def test_what_the_clients_are_told_to_have_run(tmp_path: Path) -> None:
    """Whole calls pass; a call that was cut is closed, passed over in silence, or told."""
    copy = tmp_path / "node"
    shutil.copytree(CLIENTS / "node", copy, ignore=shutil.ignore_patterns("node_modules"))
    (copy / "node_modules").symlink_to(FOLDER / "node_modules")
    found = graded(small_suite(tmp_path / "suite"), str(copy / "adapter.mjs"), python="node")
    told = {(client.name, client.wire): client.cases for client in found if client.cases}
    in_order = {
        client: tuple(run.verdict for run in (one, two, cut)) for client, (cut, one, two) in told.items()
    }

    assert in_order == TOLD
