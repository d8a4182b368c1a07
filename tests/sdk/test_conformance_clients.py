"""Adapters of SDKs and frameworks: what they tell the runner of streams that show one thing each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import share
from tests.support.adapters import ANTHROPIC, CHAT, CLOSED, PASSED, RESPONSES, graded, small_suite, verdicts

pytestmark = pytest.mark.sdk

TOLD = {
    ("openai_sdk", "openai-loop"): {CHAT: PASSED, RESPONSES: PASSED},
    ("openai_sdk", "openai-stream"): {CHAT: PASSED, RESPONSES: PASSED},
    ("anthropic_sdk", "anthropic-loop"): {ANTHROPIC: PASSED},
    ("anthropic_sdk", "anthropic-stream"): {ANTHROPIC: CLOSED},
    ("langchain_chat", "langchain-openai"): {CHAT: CLOSED, RESPONSES: CLOSED},
    ("langchain_chat", "langchain-anthropic"): {ANTHROPIC: CLOSED},
    ("langchain_agent", "langchain-agent"): {CHAT: CLOSED, RESPONSES: CLOSED, ANTHROPIC: CLOSED},
    ("pydantic_ai_agent", "pydantic-ai"): {CHAT: PASSED, RESPONSES: PASSED, ANTHROPIC: PASSED},
    ("groq_sdk", "groq"): {CHAT: PASSED},
}


@pytest.mark.parametrize(("program", "client"), share.every(4, list(TOLD), "clients"), ids=lambda name: name)
def test_what_a_client_is_told_to_have_run(program: str, client: str, tmp_path: Path) -> None:
    """Whole calls pass; a call that was cut passes where the client raises, refuses it or hands its text over."""
    found = graded(small_suite(tmp_path), f"python/{program}.py", client)

    assert TOLD[program, client] == verdicts(found)


def test_sdks_behind_the_transport_are_safe(tmp_path: Path) -> None:
    """Over wholecall's transport no SDK hands over the call that was cut; some only pass on the reason of the end."""
    clients = ("openai-loop+wholecall", "openai-stream+wholecall", "anthropic-stream+wholecall")
    found = graded(small_suite(tmp_path), "wholecall_adapter.py", *clients)
    runs = [(run.case.partition("/")[2], run.verdict) for client in found for run in client.cases]

    assert {"pass"} == {verdict for name, verdict in runs if name != "cut"}
    assert {verdict for name, verdict in runs if name == "cut"} <= {"pass", "lost"}


def test_frameworks_with_their_integrations_are_right(tmp_path: Path) -> None:
    """With wholecall's integration a framework runs whole calls, and a call that was cut is told to the model."""
    clients = ("langchain-agent+wholecall", "pydantic-ai+wholecall", "openai-agents+wholecall")
    found = graded(small_suite(tmp_path), "wholecall_integrations.py", *clients, timeout=90)

    assert [PASSED] * 8 == [told for client in found for told in verdicts([client]).values()]
