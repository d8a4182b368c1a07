"""The libraries after the repairing transport, and through the proxy: the output of `benchmarks/rivals` cannot regress.

The extra `sdk` brings the SDKs of OpenAI and Anthropic. Frameworks take part where they are installed (the extra
`rivals`).
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.rivals.quirks import FAREWELLS, STREAMS, is_right, judged, measure
from benchmarks.rivals.streams import Stream
from benchmarks.rivals.systems import SYSTEMS
from tests.support import share
from tests.support.proxy_process import proxied
from wholecall.serving import Answer, IncomingRequest, Loopback

# Libraries' warnings about broken streams do not matter here.
pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore")]

MENDED = [system for system in SYSTEMS if system.installed and system.mendable and system.dialect in STREAMS]


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


class Provider(Loopback):
    """Answers with a stream, and after it with a farewell, again and again."""

    def show(self, stream: Stream) -> None:
        """Begin with a stream, and forget earlier requests."""
        self._streams = [Answer(stream.pieces)]
        self._farewell = Answer([FAREWELLS[stream.dialect]])
        self.asked: list[IncomingRequest] = []

    def answer(self, request: IncomingRequest) -> Answer:
        """Return the next answer."""
        self.asked.append(request)
        return self._streams.pop() if self._streams else self._farewell


@pytest.fixture(scope="module")
def house() -> Iterator[tuple[Provider, str]]:
    """Give a provider, and where the proxy in front of it listens."""
    with Provider() as provider, proxied(provider.url) as url:
        yield provider, url


@pytest.mark.parametrize(
    "system", share.every(5, MENDED, "systems"), ids=lambda system: f"{system.name}, {system.dialect}"
)
def test_streams_through_the_proxy_are_read_right(system: Any, house: tuple[Provider, str]) -> None:
    """Through the proxy, so does a library without the transport."""
    provider, url = house
    wrong = []
    for stream in STREAMS[system.dialect]:
        provider.show(stream)
        server = SimpleNamespace(url=url, requests=provider.asked)
        said = judged(system, stream, server, mended=False)
        if not is_right(stream, said):
            wrong.append((stream.title, said))

    assert [] == wrong


def test_the_sdk_needs_mending() -> None:
    """Without the transport, the helper of OpenAI's SDK does not get every stream right: the battery has teeth."""
    helper = next(system for system in SYSTEMS if system.name == "openai .stream()")
    streams = STREAMS[helper.dialect]

    assert not all(is_right(stream, measure(helper, stream, mended=False)) for stream in streams)
