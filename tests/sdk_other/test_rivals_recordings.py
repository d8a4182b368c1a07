"""Recorded streams of four wires, through the transport and each library that needs older SDKs: a share of them, in turns."""

from __future__ import annotations

import pytest

from benchmarks.rivals.quirks import measure
from benchmarks.rivals.recorded import measured, recorded
from benchmarks.rivals.systems import OLDER
from tests.support.framework_tests import Recordings

pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore")]


class TestRecordings(Recordings):
    """Through the libraries that need older SDKs, a share of them."""

    one_in = 5


def test_all_of_them_are_here() -> None:
    """No library is left out because it is not installed."""
    assert {system.name for system in measured()} == OLDER


def test_gateways_need_mending() -> None:
    """Without the transport a gateway hands a program unsent calls, or calls that are not JSON, in every wire."""
    gateway = [system for system in measured() if system.name == "any-llm"]
    wrong = {
        system.dialect
        for system in gateway
        if any(
            measure(system, stream, mended=False) in {"wrong", "raw"} for stream in recorded(system.dialect)
        )
    }

    assert wrong == {"chat-completions", "anthropic", "responses", "gemini"}
