"""Make `corpora/tools`: the files that other tools write when our recordings are served to them.

`python -m tests.support.make_tool_files TOOL` from the project's root, in an environment that has the tool:

- `vcrpy`: vcrpy and httpx; a cassette in YAML, and one in JSON
- `requests`: vcrpy and requests; a cassette whose compressed bodies stay compressed
- `mitmproxy`: mitmproxy and curl; a HAR
- `playwright`: playwright, and Chromium's path in `CHROMIUM`; a HAR
- `curl`: curl; the output of `curl -N`

Each tool asks for all of `CASES` in order; `tests/unit/test_recordings_tools.py` reads its files.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.support.loopback import serve
from wholecall.serving import Answer

CORPORA = Path(__file__).resolve().parents[2] / "corpora"
TOOLS = CORPORA / "tools"
PIECE = 97  # bytes of a chunk of the transfer: it cuts events and characters


class Case(NamedTuple):
    """A served response: a recording, or (without a name) another body."""

    name: str
    content_type: str
    suffix: str = "sse"
    coding: str = ""
    other: bytes = b""

    @property
    def body(self) -> bytes:
        """The bytes before any compression."""
        return (
            (CORPORA / "recordings" / f"{self.name}.{self.suffix}").read_bytes() if self.name else self.other
        )

    @property
    def answer(self) -> Answer:
        """The server's handler."""
        sent = gzip.compress(self.body, mtime=0) if self.coding else self.body
        pieces = [sent[start : start + PIECE] for start in range(0, len(sent), PIECE)]
        headers = (("content-encoding", self.coding),) if self.coding else ()
        return Answer(pieces, self.content_type, headers=headers)


CASES = (
    Case("", "text/html", other=b"<!doctype html><title>x</title>"),
    Case("chat-completions/arguments-unicode", "text/event-stream"),
    Case("anthropic/text-and-thinking-parallel", "text/event-stream; charset=utf-8"),
    Case("", "application/json", other=b'{"object":"list","data":[]}'),
    Case("gemini/parallel-calls", "application/json; charset=UTF-8", "json"),
    Case("bedrock-converse/single-call", "application/vnd.amazon.eventstream", "bin"),
    Case("ollama/parallel-in-one-line", "application/x-ndjson", "ndjson"),
    Case("chat-completions/choices-two", "text/event-stream", coding="gzip"),
    Case("", "text/event-stream"),
)


def vcrpy() -> None:
    """Record with httpx."""
    import httpx  # noqa: PLC0415 - of the tool's environment
    import vcr  # noqa: PLC0415 - as above

    for name, serializer in (("vcrpy.yaml", "yaml"), ("vcrpy.json", "json")):
        cases = [case for case in CASES if serializer == "yaml" or not (case.coding or case.suffix == "bin")]
        with serve(*(case.answer for case in cases)) as server:
            recorder = vcr.VCR(serializer=serializer, record_mode="all")
            with recorder.use_cassette(str(_fresh(name))):
                for _ in cases:
                    httpx.post(f"{server.url}/v1/answer", json={"stream": True})


def requests() -> None:
    """Record with requests."""
    import requests as client  # noqa: PLC0415 - of the tool's environment
    import vcr  # noqa: PLC0415 - as above

    with serve(*(case.answer for case in CASES)) as server:
        recorder = vcr.VCR(record_mode="all")
        with recorder.use_cassette(str(_fresh("vcrpy-requests.yaml"))):
            for _ in CASES:
                client.post(f"{server.url}/v1/answer", json={"stream": True}, timeout=20)


def mitmproxy() -> None:
    """Record curl's requests through mitmproxy."""
    path = _fresh("mitmproxy.har")
    proxy = "http://127.0.0.1:18099"
    command = [str(Path(sys.executable).parent / "mitmdump"), "-q", "-p", "18099", "--set", f"hardump={path}"]
    with serve(*(case.answer for case in CASES)) as server, subprocess.Popen(command) as process:  # noqa: S603 - ours
        for _ in CASES:
            url = f"{server.url}/v1/answer"
            _curl("--retry", "20", "--retry-connrefused", "-x", proxy, "-d", "{}", "-o", os.devnull, url)
        process.terminate()


def playwright() -> None:
    """Record a page's requests in Chromium."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - of the tool's environment

    first, *others = CASES
    fetching = "async () => (await (await fetch('/v1/answer', {method: 'POST', body: '{}'})).arrayBuffer()).byteLength"
    with serve(first.answer, *(case.answer for case in others)) as server, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=os.environ["CHROMIUM"], args=["--no-sandbox"])
        context = browser.new_context(record_har_path=_fresh("playwright.har"), record_har_content="embed")
        page = context.new_page()
        page.goto(f"{server.url}/")
        for _ in others:
            page.evaluate(fetching)
        context.close()
        browser.close()


def curl() -> None:
    """Keep curl's output."""
    with serve(CASES[1].answer) as server:
        _fresh("curl.txt").write_bytes(_curl("-N", server.url))


def _curl(*options: str) -> bytes:
    return subprocess.run(["curl", "-s", *options], check=True, capture_output=True).stdout  # noqa: S603, S607


def _fresh(name: str) -> Path:
    path = TOOLS / name
    path.unlink(missing_ok=True)
    return path


_TOOLS: dict[str, Callable[[], None]] = {
    one.__name__: one for one in (vcrpy, requests, mitmproxy, playwright, curl)
}

if __name__ == "__main__":
    _TOOLS[sys.argv[1]]()
