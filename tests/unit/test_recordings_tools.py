from __future__ import annotations

import pytest

from tests.support import bless, corpora
from tests.support.make_tool_files import CASES, TOOLS
from wholecall.recordings import read

# The file of each tool, its form, and the cases that it was asked for.
FILES = {
    "vcrpy.yaml": ("cassette", CASES),
    "vcrpy-requests.yaml": ("cassette", CASES),
    "vcrpy.json": ("interactions", [case for case in CASES if not case.coding and case.suffix != "bin"]),
    "mitmproxy.har": ("har", CASES),
    "playwright.har": ("har", CASES),
}


@pytest.mark.parametrize("file", FILES)
def test_what_a_tool_wrote_down_is_what_was_served(file: str) -> None:
    """Whatever a tool made of the bytes (another charset, base64, gzip), they come back as they were."""
    form, cases = FILES[file]
    expected = [(f"{TOOLS / file}#{n}", form, case.body) for n, case in enumerate(cases, 1) if case.name]
    recordings = read(TOOLS / file)
    found = [(one.name, one.form, b"".join(chunk for _, chunk in one.chunks)) for one in recordings]

    assert expected == found


@pytest.mark.parametrize("file", FILES)
def test_what_is_known_is_told(file: str) -> None:
    """The request, the status and the content type are those of the server; other lines are counted."""
    recordings = read(TOOLS / file)
    known = {
        (one.status, one.request.method, one.request.url.rpartition(":")[2][5:])
        for one in recordings
        if one.request and one.request.url
    }

    assert known == {(200, "POST", "/v1/answer")}
    assert recordings.skipped == {"other_type": 1, "no_dialect": 1, "no_body": 1}


def test_the_output_of_curl_is_a_raw_stream() -> None:
    """The output of `curl -N` is the body."""
    (recording,) = read(TOOLS / "curl.txt")

    assert ("raw", CASES[1].body) == (recording.form, b"".join(chunk for _, chunk in recording.chunks))


@pytest.mark.parametrize("file", FILES)
def test_the_calls_are_those_of_the_recordings(file: str) -> None:
    """A recording out of a tool's file gives the golden events of the one that was served."""
    cases = [case for case in FILES[file][1] if case.name]
    logs = [(corpora.RECORDINGS / f"{case.name}{corpora.GOLDEN}").read_bytes() for case in cases]
    found = [bless.lines(bless.parse(chunk for _, chunk in one.chunks)) for one in read(TOOLS / file)]

    assert logs == found
