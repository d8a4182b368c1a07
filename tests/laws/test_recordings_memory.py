from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from tests.hygiene.source_tree import PROJECT
from tests.support import share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GB = 1000**3
MB = 1000**2
MAX_GROWTH = 100 * MB
# Replays standard input, after a small file that loads everything, and prints the events and the growth of memory.
PROGRAM = """
    import sys
    from tests.support.memory import peak
    from wholecall.recordings import read
    from wholecall.replay import replay

    def taken(path):
        count = size = 0
        for recording in read(path):
            count += 1
            for event in replay(recording):
                size += len(event.text) if hasattr(event, "text") else 0
        return count, size

    taken(sys.argv[1])
    before = peak()
    print(*taken("-"), peak() - before)
"""
EVENT = 'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % ("a wave \u6f6e, " * 400)


def of(head: bytes, piece: bytes, tail: bytes, size: int, between: bytes = b"") -> Iterator[bytes]:
    """Yield a file: a head, a piece again and again until there is enough, and a tail."""
    yield head + piece
    for _ in range(size // len(piece)):
        yield between + piece
    yield tail


def archive(size: int) -> Iterator[bytes]:
    """Yield a HAR of entries of 4 MB, with small ones between them."""
    entries = []
    for repeats in (1, 4 * MB // len(EVENT.encode())):
        content = {"mimeType": "text/event-stream", "text": EVENT * repeats}
        request = {"method": "POST", "url": "http://h/", "headers": [{"name": "x", "value": "y"}] * 20}
        entries.append(json.dumps({"request": request, "response": {"status": 200, "content": content}}))
    pair = ",".join(entries).encode()
    return of(b'{"log":{"version":"1.2","entries":[', pair, b"]}}", size, b",")


def payloads(size: int) -> Iterator[bytes]:
    """Yield JSON lines of one stream."""
    line = json.dumps({"choices": [{"index": 0, "delta": {"content": "x" * 60_000}}]}).encode() + b"\n"
    return of(b"", line, b"", size)


def own(size: int) -> Iterator[bytes]:
    """Yield recordings of 20 MB in our own format."""
    chunk = json.dumps({"t": 1.0, "data": EVENT * 10}).encode() + b"\n"
    one = b'{"wholecall":"recording","version":1}\n' + chunk * (20 * MB // len(chunk))
    return of(b"", one, b"", size)


def cassette(size: int) -> Iterator[bytes]:
    """Yield a cassette of interactions of 1 MB."""
    body = json.dumps(EVENT * (MB // len(EVENT.encode())))
    one = (
        "- request: {method: POST, uri: 'http://h/'}\n  response:\n    headers: {content-type: [text/event-stream]}\n"
        f"    body: {{string: {body}}}\n    status: {{code: 200}}\n"
    )
    return of(b"interactions:\n", one.encode(), b"version: 1\n", size)


def measure(pieces: Iterator[bytes], warm: str) -> tuple[int, int, int]:
    """Return how many recordings and bytes a process found in a file, and how its memory grew."""
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), warm]
    with subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 - ours
        assert process.stdin is not None
        assert process.stdout is not None
        for piece in pieces:
            process.stdin.write(piece)
        process.stdin.close()
        count, size, growth = map(int, process.stdout.read().split())
    return count, size, growth


FILES = [(archive, GB), (payloads, GB), (own, GB), (cassette, GB // 10)]


@pytest.mark.slow
@pytest.mark.parametrize(("file", "size"), share.every(4, FILES, "large files"))
def test_memory_does_not_grow_with_the_file(
    file: Callable[[int], Iterator[bytes]], size: int, tmp_path: object
) -> None:
    """Law 58: a file that is larger than memory is replayed with that of one recording, or one chunk."""
    warm = f"{tmp_path}/warm"
    with open(warm, "wb") as small:  # noqa: PTH123 - a path of text goes to the process
        small.writelines(file(1))

    count, found, growth = measure(file(size), warm)

    assert count > 0
    assert found > 0.5 * size
    assert growth < MAX_GROWTH
