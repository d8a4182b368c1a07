"""JavaScript clients over quirky streams: as they are, and through the proxy.

These tests need Node.js, and the packages that `npm ci --ignore-scripts` puts into this folder; `pytest -m node` runs
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial

import pytest

from benchmarks.rivals.quirks import STREAMS
from benchmarks.rivals.recorded import recorded
from benchmarks.rivals.streams import Stream
from tests.support.javascript import Client, Outcome, Serve, Streams, StreamServer, mended, run_node
from tests.support.javascript_table import ROWS, Row
from tests.support.proxy_process import proxied
from wholecall.recordings.serving.answers import Ending
from wholecall.serving import Answer

pytestmark = pytest.mark.node

CLIENTS = [row.client for row in ROWS]
OF_RECORDINGS = [Client("@google/genai, own loop", "gemini"), Client("ai + @ai-sdk/google", "gemini")]
# Ways of repair: by the proxy, with its options, or without it, and a ping after each piece.
PROXIES: dict[str, tuple[str, ...]] = {"the proxy": (), "the proxy, live": ("--live",)}
PINGS: dict[str, Serve] = {
    "with pings": partial(mended, pings=True),
    "live, with pings": partial(mended, live=True, pings=True),
}
WAYS = (*PROXIES, *PINGS)
# Silent losses of clients on repaired recordings:
KNOWN = {
    "anthropic/cut-max-tokens",
    "anthropic/cut-max-tokens-parses",
    "chat-completions/cut-length",
    "gemini/cut-at-length",
    "responses/incomplete",
}  # whole calls next to a call that was cut at the token limit; the AI SDK runs none of them
# Calls that it takes from choices after the first.
OF_OTHER_CHOICES = [
    ("openai, own loop, chat-completions", f"chat-completions/{name}")
    for name in ("copilot-extras", "foundry-choices-by-chunk")
]


def named(client: Client) -> str:
    """Return the name of a client in a test."""
    return f"{client.name}, {client.dialect}"


@cache
def directly() -> dict[Client, list[Outcome]]:
    """Return the clients' outcomes on the streams as they are."""
    with StreamServer() as server:
        return run_node(CLIENTS, server.url)


@contextmanager
def repairing(way: str, streams: Streams = STREAMS) -> Iterator[str]:
    """Yield the address of repaired streams."""
    with StreamServer(PINGS.get(way), streams) as server:
        if way in PINGS:
            yield server.url
            return
        with proxied(server.url, *PROXIES[way]) as url:
            yield url


@cache
def repaired(way: str) -> dict[Client, list[Outcome]]:
    """Return the clients' outcomes on the repaired streams."""
    with repairing(way) as url:
        return run_node(CLIENTS, url)


def faults(outcomes: list[Outcome]) -> list[tuple[str, ...]]:
    """Return the failures: the streams, the verdicts and the errors."""
    return [(found.stream.title, found.verdict, found.error) for found in outcomes if not found.is_right]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: named(row.client))
def test_streams_as_they_are(row: Row) -> None:
    """Without the proxy a client misreads the streams that the table lists, and as silently."""
    outcomes = directly()[row.client]
    titles = {
        verdict: tuple(found.stream.title for found in outcomes if found.verdict == verdict)
        for verdict in ("wrong", "lost")
    }
    right = sum(found.is_right for found in outcomes)

    assert row == Row(row.client, right, titles["wrong"], titles["lost"])


@pytest.mark.parametrize("client", CLIENTS, ids=named)
@pytest.mark.parametrize("way", WAYS)
def test_repaired_streams(way: str, client: Client) -> None:
    """Every client gets every repaired stream right."""
    assert [] == faults(repaired(way)[client])


@pytest.mark.parametrize("client", CLIENTS, ids=named)
@pytest.mark.parametrize("way", WAYS)
def test_a_stream_without_an_end_is_raised(way: str, client: Client) -> None:
    """A stream that breaks off within a call is an error for every client, not the end of its work."""
    broken = [found for found in repaired(way)[client] if found.stream.title.startswith("dropped")]
    silent = [found.stream.title for found in broken if not found.error]

    assert broken
    assert [] == silent


@cache
def ended(ending: Ending) -> dict[Client, list[Outcome]]:
    """Return the clients' outcomes on half of a healthy stream, through the proxy, for this kind of end."""
    streams = {
        dialect: [known[0]._replace(pieces=known[0].pieces[: len(known[0].pieces) // 2], expected=())]
        for dialect, known in STREAMS.items()
    }
    with StreamServer(partial(ending_in, ending), streams) as server, proxied(server.url) as url:
        return run_node(CLIENTS, url, streams)


def ending_in(ending: Ending, stream: Stream) -> Answer:
    """Return the answer that ends a stream in a certain way."""
    return Answer(stream.pieces, ending=ending)


@pytest.mark.parametrize("client", CLIENTS, ids=named)
@pytest.mark.parametrize("ending", ["clean", "cut", "reset"])
def test_a_connection_that_is_lost_is_raised(ending: Ending, client: Client) -> None:
    """For every end of the provider's connection within a call, every client raises, and runs nothing."""
    [found] = ended(ending)[client]

    assert "raise" == found.verdict


@cache
def withheld() -> dict[Client, list[Outcome]]:
    """Return the clients' outcomes on a cut call, through a proxy that ends turns without their calls with an error."""
    streams = {
        dialect: [stream for stream in known if stream.title == "cut text, called finished"]
        for dialect, known in STREAMS.items()
    }
    with StreamServer(streams=streams) as server, proxied(server.url, "--withheld", "error") as url:
        return run_node(CLIENTS, url, streams)


@pytest.mark.parametrize("client", CLIENTS, ids=named)
def test_a_turn_without_its_calls_is_no_success(client: Client) -> None:
    """Every client raises for a turn that claims success, and whose only call was withheld; it can name the call."""
    [found] = withheld()[client]

    assert "raise" == found.verdict
    assert "get_tide (truncated)" in found.error


def recordings() -> dict[str, list[Stream]]:
    """Return the recordings of the dialects, each with the calls that may run."""
    return {
        dialect: [one._replace(title=f"{dialect}/{one.title}") for one in recorded(dialect)]
        for dialect in (*STREAMS, "gemini")
    }


def test_repaired_recordings() -> None:
    """No client takes a call that is not in a repaired recording, or loses a call silently."""
    streams = recordings()
    with repairing("the proxy", streams) as url:
        outcomes = run_node([*CLIENTS, *OF_RECORDINGS], url, streams)
    wrong = [
        (named(client), found.stream.title)
        for client, all_found in outcomes.items()
        for found in all_found
        if found.verdict == "wrong"
    ]
    lost = {
        found.stream.title
        for all_found in outcomes.values()
        for found in all_found
        if found.verdict == "lost"
    }

    assert sum(map(len, streams.values())) > 100
    assert OF_OTHER_CHOICES == wrong
    assert KNOWN == lost
