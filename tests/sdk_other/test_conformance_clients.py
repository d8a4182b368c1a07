"""Adapters of the frameworks that need older SDKs: what they tell the runner of streams that show one thing each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.adapters import ANTHROPIC, CHAT, CLOSED, PASSED, RESPONSES, graded, small_suite, verdicts
from wholecall.grading.conform.results import Graded

pytestmark = pytest.mark.sdk

SILENT = {**PASSED, "cut": "lost"}
TOLD = {
    ("smolagents_agent", "smolagents"): {CHAT: PASSED},
    ("litellm_completion", "litellm"): {CHAT: PASSED, RESPONSES: PASSED, ANTHROPIC: PASSED},
    ("any_llm_completion", "any-llm"): {CHAT: PASSED, RESPONSES: PASSED, ANTHROPIC: PASSED},
    ("agno_agent", "agno"): {CHAT: PASSED},
    ("strands_agent", "strands"): {CHAT: PASSED},
    ("autogen_agent", "autogen"): {CHAT: PASSED},
    ("haystack_agent", "haystack"): {CHAT: SILENT},
    ("llama_index_agent", "llama-index"): {CHAT: CLOSED},
}


@pytest.mark.parametrize(("program", "client"), TOLD, ids=lambda name: name)
def test_what_a_client_is_told_to_have_run(program: str, client: str, tmp_path: Path) -> None:
    """Whole calls pass; a call that was cut is closed, passed over in silence, or told."""
    found = graded(small_suite(tmp_path), f"python/{program}.py", client)

    assert TOLD[program, client] == {
        wire: told for wire, told in verdicts(found).items() if wire in TOLD[program, client]
    }


def test_frameworks_with_their_integrations_are_right(tmp_path: Path) -> None:
    """With wholecall's integration a framework runs whole calls, and a call that was cut is told to the model."""
    names = ("litellm", "strands", "smolagents", "llama-index")
    found = graded(
        small_suite(tmp_path),
        "wholecall_integrations.py",
        *(f"{name}+wholecall" for name in names),
        timeout=90,
    )

    assert [PASSED] * 6 == [client for client in map(_verdicts, found) if client]


def _verdicts(client: Graded) -> dict[str, str]:
    """Return the verdicts of a client over its wire; the suite has no streams of Gemini."""
    return verdicts([client])[client.wire]
