"""The libraries after the repairing transport, over a real server: what `benchmarks/rivals` prints cannot regress.

The extra `sdk` brings the SDKs of OpenAI and Anthropic. Frameworks take part where they are installed (the extra
`rivals`).
"""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.rivals.quirks import STREAMS, is_right, measure
from benchmarks.rivals.systems import SYSTEMS

# What libraries warn of while they read broken streams is not our affair.
pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore")]

MENDED = [system for system in SYSTEMS if system.installed and system.mendable]


@pytest.mark.parametrize("system", MENDED, ids=lambda system: f"{system.name}, {system.dialect}")
def test_mended_streams_are_read_right(system: Any) -> None:
    """With the transport, a library gets every stream of the battery right."""
    streams = STREAMS[system.dialect]
    verdicts = {stream.title: measure(system, stream, mended=True) for stream in streams}

    assert [] == [
        (stream.title, verdicts[stream.title])
        for stream in streams
        if not is_right(stream, verdicts[stream.title])
    ]


def test_the_sdk_needs_mending() -> None:
    """Without the transport, the helper of OpenAI's SDK does not get every stream right: the battery has teeth."""
    helper = next(system for system in SYSTEMS if system.name == "openai .stream()")
    streams = STREAMS[helper.dialect]

    assert not all(is_right(stream, measure(helper, stream, mended=False)) for stream in streams)
