"""Recorded streams of four wires, through the transport and each library: their calls, or a reason that is written down."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.rivals.quirks import is_right, measure
from benchmarks.rivals.recorded import EXCUSES, FOLDER, measured, recorded
from tests.support.framework_tests import Recordings

pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore")]


class TestRecordings(Recordings):
    """Through the libraries that run with the newest SDKs, a share of them."""

    one_in = 13


def test_excuses_are_of_recordings() -> None:
    """Each reason is about a recording that is there."""
    assert {name for name in EXCUSES if (FOLDER / f"{name}.sse").is_file()} == EXCUSES.keys()


def test_recordings_need_mending() -> None:
    """Without the transport the helper of OpenAI's SDK does not read all of them right: the collection has teeth."""
    [helper] = [
        one for one in measured() if (one.name, one.dialect) == ("openai .stream()", "chat-completions")
    ]
    wrong: list[Any] = [
        one for one in recorded(helper.dialect) if not is_right(one, measure(helper, one, mended=False))
    ]

    assert len(wrong) > 20
