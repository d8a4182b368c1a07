"""`max_stream_bytes` counts every byte of a stream, whatever it is and whether anything of it is repaired."""

from __future__ import annotations

import random
from itertools import pairwise

from tests.support.together import together
from wholecall import Limits
from wholecall.repairing import Repairer

LIMIT = 1000
FRAME = 160  # bytes of an error frame
CHUNK = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":null}]}\n\n'
TEXT = CHUNK % b'{"content":"Hello"}'
CALL = CHUNK % (
    b'{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}'
)
GEMINI = b'data: {"candidates":[{"content":{"parts":[{"text":"Hello"}]}}],"responseId":"r"}\n\n'
ENVELOPE = b'data: {"type":"x","data":"y"}\n\n'
FLOODS = {
    "blanks": b" \n" * 3 * LIMIT,
    "blanks, then chat": b"\n" * 2 * LIMIT + TEXT + CALL,
    "comments": b": ping\n\n" * LIMIT,
    "comments, then chat": b": ping\n\n" * (LIMIT // 4) + TEXT + CALL,
    "unknown events": ENVELOPE * 100,
    "unknown events, then chat": ENVELOPE * 60 + TEXT + CALL,
    "one event that has no end": b"data: " + b"x" * 4 * LIMIT,
    "one event of many lines": b"data: x\n" * LIMIT,
    "a dialect that is not repaired": GEMINI * 40,
    "lines of JSON": b'{"a":1}\n' * LIMIT,
    "a page": b"<html>" + b"x" * 4 * LIMIT,
    "chat": TEXT * 40,
    "chat, then a call without end": TEXT + CALL.removesuffix(b"\n\n") + b" " * 4 * LIMIT,
    "chat, then comments": TEXT + b": ping\n\n" * LIMIT,
}


def read(pieces: list[bytes], **options: object) -> tuple[bytes, str | None, int]:
    """Return a repairer's output, the error in its report, and its calls."""
    repairer = Repairer(limits=Limits(max_stream_bytes=LIMIT), **options)  # type: ignore[arg-type]
    out = b"".join(map(repairer.feed, pieces)) + repairer.close()
    return out, repairer.report.error, repairer.report.n_calls


def cut(data: bytes, seed: int) -> list[bytes]:
    """Return data in pieces of random sizes."""
    chance = random.Random(seed)
    ends = sorted({0, len(data), *(chance.randrange(len(data)) for _ in range(30))})
    return [data[start:end] for start, end in pairwise(ends)]


@together("text", [None, "auto"])
@together("name", FLOODS)
def test_a_stream_beyond_its_limit_ends(name: str, text: str | None) -> None:
    """Nothing after the limit goes out, no call is emitted, and the report says why."""
    out, error, n_calls = read([FLOODS[name]], text=text)

    assert ("stream_too_large", 0) == (error, n_calls)
    assert len(out) <= LIMIT + FRAME
    assert b'"tool_calls"' not in out


@together("name", FLOODS)
def test_the_cut_does_not_matter(name: str) -> None:
    """The same bytes go out, however the stream comes."""
    data = FLOODS[name]
    ways = [[data], [data[at : at + 1] for at in range(len(data))], *(cut(data, seed) for seed in range(5))]

    assert [read([data])] * len(ways) == [read(way) for way in ways]


@together("name", FLOODS)
def test_a_stream_at_its_limit_is_whole(name: str) -> None:
    """As many bytes as the limit allows end nothing."""
    data = FLOODS[name][:LIMIT]
    ways = [[data], [data[at : at + 1] for at in range(len(data))], cut(data, 1)]

    assert [True] * len(ways) == [read(way)[1] != "stream_too_large" for way in ways]


@together("name", FLOODS)
def test_nothing_follows_the_end(name: str) -> None:
    """Once it has ended the repairer says so, holds nothing, and fails with nothing more to say."""
    repairer = Repairer(limits=Limits(max_stream_bytes=LIMIT))
    repairer.feed(FLOODS[name])
    before = (repairer.ended, repairer.report.held, repairer.feed(CALL), repairer.ping())

    assert (True, 0, b"", b"") == before
    assert b"" == repairer.fail("upstream_lost", "it broke off")
