"""The plugin runs the tests of a small project, as a user's pytest would."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.hygiene.source_tree import CORPORA, PACKAGE, PROJECT
from wholecall.dialects.table import DIALECTS
from wholecall.recordings import read
from wholecall.serving import IncomingRequest

pytest_plugins = ["pytester"]

# Pytester forgets the modules that its runs load; the table would still hold their dialects.
for _dialect in DIALECTS:
    _dialect.start()

TIDE = "chat-completions/parallel-interleaved.sse"
AGENT = '''
import pathlib
import urllib.error
import urllib.request

import pytest
import wholecall


def ask(server, path="/v1/chat/completions", body=b"{}"):
    """Read an answer piece by piece, as it comes."""
    with urllib.request.urlopen(server.url + path, data=body, timeout=20) as response:
        return list(iter(response.read1, b""))


def events(server):
    return list(wholecall.events(ask(server)))


'''


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Give a project with a recording, and a run without other plugins."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE.parent))  # for runs in another process
    (pytester.path / "cassettes").mkdir()
    shutil.copy(CORPORA / "recordings" / TIDE, pytester.path / "cassettes" / "tide.sse")
    return pytester


def run(project: pytest.Pytester, code: str, *arguments: str, head: str = AGENT) -> pytest.RunResult:
    """Run the tests of a file in the project; every warning is an error."""
    project.makepyfile(test_agent=head + code)
    return project.runpytest_inprocess(
        "-p", "wholecall_pytest", "-W", "error", "--strict-markers", "-p", "no:cacheprovider", *arguments
    )


def test_a_marked_test_is_answered(project: pytest.Pytester) -> None:
    """A mark and a fixture serve a recording to any client by URL; requests and served answers are kept."""
    result = run(
        project,
        """
@pytest.mark.wholecall("cassettes/tide.sse")
def test_agent(wholecall_server):
    found = ask(wholecall_server, body=b'{"model": "m"}')
    [request], [recording] = wholecall_server.requests, wholecall_server.recordings

    assert b"".join(found) == pathlib.Path("cassettes/tide.sse").read_bytes()
    assert all(piece.endswith(b"\\n\\n") for piece in found) and len(found) > 3
    assert request.endpoint == "POST /v1/chat/completions" and request.json() == {"model": "m"}
    assert recording.name.endswith("tide.sse")
    assert len(wholecall.collect(data for _, data in recording.chunks).calls) == 2
""",
    )

    result.assert_outcomes(passed=1)


def test_recordings_are_answered_in_order(project: pytest.Pytester) -> None:
    """Several recordings, and more by hand, are answered one per request; a repeat begins again."""
    result = run(
        project,
        """
@pytest.mark.wholecall(b"data: 1\\n\\n", b"data: 2\\n\\n", repeat=2)
def test_agent(wholecall_server):
    wholecall_server.serve(b"data: 3\\n\\n", b"data: 4\\n\\n", repeat=True)
    found = b"".join(piece[6:7] for _ in range(8) for piece in ask(wholecall_server))
    assert found == b"12123434"
""",
    )

    result.assert_outcomes(passed=1)


def test_a_recording_of_ours_keeps_its_chunks(project: pytest.Pytester) -> None:
    """Chunks, status and content type are those that were recorded."""
    result = run(
        project,
        """
from wholecall.recordings import Recorder

def test_agent(wholecall_server, tmp_path):
    with Recorder("cassettes/ours.jsonl", status=201, content_type="text/x-own") as recorder:
        for chunk in (b"data:", b" 1\\n", b"\\n"):
            recorder.write(chunk, at=1000.0)
    wholecall_server.serve("cassettes/ours.jsonl")
    with urllib.request.urlopen(wholecall_server.url, timeout=20) as response:
        head = response.status, response.headers["content-type"]
        assert (head, list(iter(response.read1, b""))) == ((201, "text/x-own"), [b"data:", b" 1\\n", b"\\n"])
""",
    )

    result.assert_outcomes(passed=1)


def test_timing_is_on_request(project: pytest.Pytester) -> None:
    """With `timing` the server waits as recorded, without it not at all."""
    result = run(
        project,
        """
from wholecall.serving import Loopback
from wholecall.recordings import Recorder

with Recorder("cassettes/slow.jsonl") as recorder:
    for at in (0.0, 3000.0, 7000.0):
        recorder.write(b"data: 1\\n\\n", at=at)

@pytest.fixture
def waits(monkeypatch):
    waits = []
    monkeypatch.setattr(Loopback, "pause", lambda _, seconds: waits.append(round(seconds, -3)) or True)
    return waits

@pytest.mark.wholecall("cassettes/slow.jsonl", timing=True)
def test_slow(waits, wholecall_server):
    assert len(ask(wholecall_server)) == 3 and waits == [3000, 7000]

@pytest.mark.wholecall("cassettes/slow.jsonl")
def test_fast(waits, wholecall_server):
    assert len(ask(wholecall_server)) == 3 and waits == []
""",
    )

    result.assert_outcomes(passed=2)


def test_the_nearest_mark_counts(project: pytest.Pytester) -> None:
    """The mark of a parameter precedes that of the test, and that precedes the one of the class."""
    result = run(
        project,
        """
@pytest.mark.wholecall(b"data: class\\n\\n")
class TestAgent:
    def test_class(self, wholecall_server):
        assert ask(wholecall_server) == [b"data: class\\n\\n"]

    @pytest.mark.wholecall(b"data: test\\n\\n")
    @pytest.mark.parametrize("expected", [
        b"data: test\\n\\n",
        pytest.param(b"data: one\\n\\n", marks=pytest.mark.wholecall(b"data: one\\n\\n")),
    ])
    def test_parameter(self, wholecall_server, expected):
        assert ask(wholecall_server) == [expected]
""",
    )

    result.assert_outcomes(passed=3)


def test_paths_are_relative_to_the_test(project: pytest.Pytester) -> None:
    """Recordings are found next to the test's file, wherever pytest is started; a glob gives its files sorted."""
    (project.path / "deep" / "cassettes").mkdir(parents=True)
    for name in ("b", "a"):
        (project.path / "deep" / "cassettes" / f"{name}.sse").write_text(f"data: {name}\n\n", "utf-8")
    (project.path / "deep" / "test_deep.py").write_text(
        AGENT
        + """
@pytest.mark.wholecall("cassettes/*.sse")
def test_agent(wholecall_server):
    assert ask(wholecall_server) + ask(wholecall_server) == [b"data: a\\n\\n", b"data: b\\n\\n"]
""",
        "utf-8",
    )
    result = project.runpytest_inprocess("-p", "wholecall_pytest", "deep/test_deep.py")

    result.assert_outcomes(passed=1)


def test_requests_beyond_fail_the_test(project: pytest.Pytester) -> None:
    """A request without a remaining recording gets an error, and the test fails at its end, which names the request."""
    result = run(
        project,
        """
@pytest.mark.wholecall("cassettes/tide.sse")
def test_agent(wholecall_server):
    ask(wholecall_server)
    for path in ("/v1/models?key=secret", "/v1/x", "/v1/x"):
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask(wholecall_server, path)
        with caught.value as error:
            assert error.code == 500 and b"no answer is left" in error.read()
""",
    )

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at teardown of test_agent*",
            "wholecall: 3 requests came beyond the 1 that answers were prepared for:",
            "  POST /v1/models",
            "  POST /v1/x (2 times)",
            "Name more recordings in @pytest.mark.wholecall(...)*repeat=True*strict=False*",
        ]
    )
    result.stdout.no_fnmatch_line("*secret*")


def test_strictness_can_be_off(project: pytest.Pytester) -> None:
    """With strict=False a client may get the error that nothing is left."""
    result = run(
        project,
        """
@pytest.mark.wholecall(strict=False)
def test_agent(wholecall_server):
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(wholecall_server)
    caught.value.close()
""",
    )

    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ('"casettes/tide.sse"', "*casettes/tide.sse: No such file or directory"),
        ('"*.sse"', "*[*].sse: no recording *"),
        ('"cassettes/tide.sse", repeats=2', "got an unexpected keyword argument 'repeats'*"),
        ('"cassettes/tide.sse", repeat=0', "repeat is a number from 1, or True: 0"),
        ("7", "*not int"),
    ],
)
def test_a_wrong_mark_is_told(project: pytest.Pytester, mark: str, message: str) -> None:
    """A mark that cannot be served fails the test before it begins, in one line and without a traceback."""
    code = f"@pytest.mark.wholecall({mark})\ndef test_agent(wholecall_server):\n    pass\n"
    result = run(project, code)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ERROR at setup of test_agent*", f"@pytest.mark.wholecall: {message}"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_connection_can_be_cut(project: pytest.Pytester) -> None:
    """`cut` ends the connection after so many chunks."""
    result = run(
        project,
        """
import http.client

@pytest.mark.wholecall("cassettes/tide.sse", cut=2)
def test_agent(wholecall_server):
    with pytest.raises(http.client.IncompleteRead):
        with urllib.request.urlopen(wholecall_server.url, timeout=20) as response:
            response.read()
    assert wholecall_server.n_sent == 2
""",
    )

    result.assert_outcomes(passed=1)


def test_a_cut_is_where_it_is_under_every_split(project: pytest.Pytester) -> None:
    """`cut` counts the chunks of the recording, so that other boundaries send the same bytes before the end."""
    code = """
import http.client

@pytest.mark.wholecall("cassettes/tide.sse", cut=2)
def test_agent(wholecall_server):
    with pytest.raises(http.client.IncompleteRead) as caught:
        with urllib.request.urlopen(wholecall_server.url, timeout=20) as response:
            response.read()
    whole = pathlib.Path("cassettes/tide.sse").read_bytes()
    assert caught.value.partial == b"".join(part + b"\\n\\n" for part in whole.split(b"\\n\\n")[:2])
"""
    run(project, code).assert_outcomes(passed=1)
    run(project, code, "--wholecall-splits=5").assert_outcomes(passed=5)


def test_both_doors_give_the_same(project: pytest.Pytester) -> None:
    """The transport without a socket answers from a separate queue, in the same chunks."""
    result = run(
        project,
        """
import sys, types

class Request:
    method, headers = "POST", {}
    class url: raw_path = b"/v1/x"
    def read(self): return b"{}"
def Response(status, headers, stream): return status, dict(headers), list(stream)
class SyncByteStream: pass
class AsyncByteStream: pass

@pytest.mark.wholecall("cassettes/tide.sse")
def test_agent(wholecall_server, wholecall_transport):
    answer = wholecall_transport.handle_request(Request())
    assert answer == (200, {"content-type": "text/event-stream"}, ask(wholecall_server))

@pytest.mark.wholecall
def test_beyond(wholecall_transport):
    assert wholecall_transport.handle_request(Request())[0] == 500
""",
    )

    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["wholecall: 1 request came beyond the 0 that answers were prepared for:"])


def test_what_nobody_asks_for_fails_the_test(project: pytest.Pytester) -> None:
    """A recording that was not requested fails the test at its end and is named; so does a remaining repeat."""
    result = run(
        project,
        """
@pytest.mark.wholecall(b"data: 1\\n\\n", "cassettes/tide.sse", repeat=2)
def test_agent(wholecall_server):
    ask(wholecall_server)

@pytest.mark.wholecall("cassettes/tide.sse", repeat=True)
def test_never(wholecall_server):
    pass

@pytest.mark.wholecall("cassettes/tide.sse", repeat=True)
def test_endless(wholecall_server):
    ask(wholecall_server)

@pytest.mark.wholecall("cassettes/tide.sse", strict=False)
def test_may(wholecall_server):
    pass

@pytest.mark.wholecall("cassettes/tide.sse")
def test_that_fails_anyway(wholecall_server):
    assert False
""",
    )

    result.assert_outcomes(passed=4, failed=1, errors=2)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at teardown of test_agent*",
            "wholecall: 2 recordings were not asked for:",
            "  bytes",
            "  *cassettes/tide.sse",
            "Name fewer recordings in @pytest.mark.wholecall(...)*strict=False*",
            "*ERROR at teardown of test_never*",
            "wholecall: 1 recording was not asked for:",
        ]
    )


def test_requests_can_be_matched(project: pytest.Pytester) -> None:
    """By path, each request gets the recording of its path, in whatever order they come; by body of its body, too."""
    result = run(
        project,
        """
from wholecall.recordings import Recorder
from wholecall.serving import IncomingRequest

def body(text): return IncomingRequest("POST", "/", {}, text).digest

known = {"method": "GET", "url": "https://api.example/v1/models?key=x", "meta": {"request_digest": body(b"")}}
with Recorder("cassettes/all.jsonl", **known) as one:
    one.write(b"data: models\\n\\n")
for answer in (1, 2):
    known = {"method": "POST", "url": "https://api.example/v1/chat", "meta": {"request_digest": body(b"%d" % answer)}}
    with Recorder("cassettes/all.jsonl", append=True, **known) as one:
        one.write(b"data: chat %d\\n\\n" % answer)

@pytest.mark.wholecall("cassettes/all.jsonl", match="path")
def test_path(wholecall_server):
    chats = [ask(wholecall_server, "/v1/chat?x=1") for _ in range(2)]
    assert chats == [[b"data: chat 1\\n\\n"], [b"data: chat 2\\n\\n"]]
    assert ask(wholecall_server, "/v1/models", body=None) == [b"data: models\\n\\n"]

@pytest.mark.wholecall("cassettes/all.jsonl", match="body", strict=False)
def test_body(wholecall_server):
    assert ask(wholecall_server, "/v1/chat", body=b" 2 ") == [b"data: chat 2\\n\\n"]
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(wholecall_server, "/v1/chat", body=b"3")
    caught.value.close()
    assert len(wholecall_server.unanswered) == 1 and len(wholecall_server.unused) == 2

@pytest.mark.wholecall("cassettes/tide.sse", match="path")
def test_a_bare_stream(wholecall_server):
    pass

@pytest.mark.wholecall("cassettes/all.jsonl", match="header")
def test_no_such_match(wholecall_server):
    pass
""",
    )

    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines(
        [
            "@pytest.mark.wholecall: *tide.sse does not say which request it answers: match='path' needs that",
            "@pytest.mark.wholecall: match is 'path', 'body' or None: 'header'",
        ]
    )


class TestRecording:
    """`--wholecall-record`."""

    CODE = """
import asyncio
from wholecall.serving import Answer, Loopback

class Provider(Loopback):
    def __enter__(self):
        super().__enter__()
        self.serve("cassettes/tide.sse", b"data: 2\\n\\n", repeat=True)
        return self

provider = Provider(pathlib.Path(__file__).parent) if PROVIDER else None
if provider:
    provider.__enter__()
UPSTREAM = provider.url if provider else "http://127.0.0.1:9"

@pytest.mark.wholecall("cassettes/new/agent.jsonl", upstream=UPSTREAM)
def test_agent(wholecall_server):
    first = b"".join(ask(wholecall_server, "/v1/chat?key=secret", body=b'{"a": "prompt"}'))
    assert first == pathlib.Path("cassettes/tide.sse").read_bytes()
    assert b"".join(ask(wholecall_server)) == b"data: 2\\n\\n"
"""

    def run(
        self, project: pytest.Pytester, *arguments: str, provider: bool, code: str = CODE
    ) -> pytest.RunResult:
        """Run a test with a provider or with none."""
        return run(project, code, *arguments, head=f"{AGENT}PROVIDER = {provider}\n")

    def test_it_records_once_and_then_replays(self, project: pytest.Pytester) -> None:
        """A missing recording is fetched from the provider and written; then none is needed, also under splits."""
        first = self.run(project, "--wholecall-record", provider=True)
        held = (project.path / "cassettes" / "new" / "agent.jsonl").read_bytes()
        again = self.run(project, "--wholecall-record", provider=False)
        then = self.run(project, "--wholecall-splits=3", provider=False)

        first.assert_outcomes(passed=1)
        first.stdout.fnmatch_lines(
            ["*wholecall: recordings*", "recorded cassettes/new/agent.jsonl (2 answers)"]
        )
        again.assert_outcomes(passed=1)
        again.stdout.fnmatch_lines(["none recorded"])
        then.assert_outcomes(passed=3)
        assert held == (project.path / "cassettes" / "new" / "agent.jsonl").read_bytes()
        assert [] == list((project.path / "cassettes").rglob("*.part"))

    def test_it_holds_what_was_asked_and_no_secret(self, project: pytest.Pytester) -> None:
        """A recording has method, URL and status, chunks and times; it has no header, no query and no body."""
        self.run(project, "--wholecall-record", provider=True)
        path = project.path / "cassettes" / "new" / "agent.jsonl"
        first, second = read(str(path))
        chunks = list(first.chunks)

        assert first.request is not None
        assert ("POST", "/v1/chat") == (first.request.method, urlsplit(first.request.url or "").path)
        assert (200, "text/event-stream") == (first.status, first.content_type)
        assert all(at is not None for at, _ in chunks)
        assert {"request_digest": IncomingRequest("POST", "/", {}, b'{"a":"prompt"}').digest} == first.meta
        assert second.meta != first.meta
        assert [] == [word for word in (b"secret", b"prompt") if word in path.read_bytes()]

    def test_without_the_option_a_missing_file_is_a_mistake(self, project: pytest.Pytester) -> None:
        """No provider is asked unless the user requests it."""
        result = self.run(project, provider=True)

        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines(
            [
                "@pytest.mark.wholecall: *agent.jsonl: No such file or directory; `pytest --wholecall-record` makes it"
            ]
        )
        assert not (project.path / "cassettes" / "new").exists()

    def test_what_exists_is_answered_first(self, project: pytest.Pytester) -> None:
        """Only the last recording may be missing; those before it are answered, and later requests are recorded."""
        code = self.CODE.replace('"cassettes/new', 'b"data: 0\\n\\n", "cassettes/new').replace(
            "    first =", '    assert ask(wholecall_server) == [b"data: 0\\n\\n"]\n    first ='
        )
        self.run(project, "--wholecall-record", provider=True, code=code).assert_outcomes(passed=1)
        assert 2 == len(list(read(str(project.path / "cassettes" / "new" / "agent.jsonl"))))
        self.run(project, provider=False, code=code).assert_outcomes(passed=1)

    @pytest.mark.parametrize(
        ("upstream", "asks", "message"),
        [
            ("broken.url", 0, "nothing was asked for"),
            ("None", 1, "POST /v1/chat/completions: nobody said where requests go: upstream='https://...'"),
            ('"http://127.0.0.1:9"', 1, "POST /v1/chat/completions: the provider cannot be reached: *"),
            (
                "busy.url",
                1,
                "POST /v1/chat/completions was answered with status 429, which is not kept",
            ),
            ("broken.url", 1, "POST /v1/chat/completions: the provider's answer broke off: *"),
        ],
    )
    def test_what_cannot_be_recorded(
        self, project: pytest.Pytester, upstream: str, asks: int, message: str
    ) -> None:
        """A test whose recording cannot be made fails at its end, with the reason; no file is left."""
        head, _, _ = self.CODE.partition("provider = ")
        code = f"""{head}
class Odd(Loopback):
    def __enter__(self):
        super().__enter__()
        self.serve(self.odd, repeat=True)
        return self

busy, broken = Odd(), Odd()
busy.odd, broken.odd = Answer([b"busy"], status=429), Answer([b"data: 1\\n\\n"], ending="cut")
busy.__enter__(), broken.__enter__()

@pytest.mark.wholecall("cassettes/new.jsonl", upstream={upstream})
def test_agent(wholecall_server):
    for _ in range({asks}):
        with pytest.raises(Exception):
            ask(wholecall_server)
"""
        result = self.run(project, "--wholecall-record", provider=True, code=code)

        result.stdout.fnmatch_lines(["wholecall: not all was recorded into cassettes/new.jsonl:", message])
        assert 1 == result.parseoutcomes()["errors"]
        assert not (project.path / "cassettes" / "new.jsonl").exists()

    @pytest.mark.parametrize(
        "upstream", ["file:///etc", "https://api.example/v1", "api.example", "https://[x"]
    )
    def test_an_upstream_is_a_host_of_the_web(self, project: pytest.Pytester, upstream: str) -> None:
        """The path is the request's, so that it is the same when it is replayed; else the test does not begin."""
        code = self.CODE.replace("upstream=UPSTREAM", f"upstream={upstream!r}")
        result = self.run(project, "--wholecall-record", provider=True, code=code)

        result.stdout.fnmatch_lines(["@pytest.mark.wholecall: upstream is like 'https://api.example', *"])
        assert {"errors": 1} == result.parseoutcomes()

    def test_a_request_by_a_transport(self, project: pytest.Pytester) -> None:
        """A transport needs no upstream: the request names its target. Sync and async clients are recorded."""
        code = """
import httpx

@pytest.mark.wholecall("cassettes/sync.jsonl")
def test_sync(wholecall_transport):
    with httpx.Client(transport=wholecall_transport) as client:
        assert client.post(UPSTREAM + "/v1/x?key=secret").text.startswith("data: {")

@pytest.mark.wholecall("cassettes/async.jsonl")
def test_async(wholecall_transport):
    async def post():
        async with httpx.AsyncClient(transport=wholecall_transport) as client:
            return (await client.post(UPSTREAM + "/v1/x")).text
    assert asyncio.run(post()) == "data: 2\\n\\n"
"""
        head, _, _ = self.CODE.partition("@pytest.mark")
        self.run(project, "--wholecall-record", provider=True, code=head + code).assert_outcomes(passed=2)
        self.run(project, provider=False, code=head + code).assert_outcomes(passed=2)


class TestSplits:
    """`--wholecall-splits`."""

    CODE = """
import hashlib

@pytest.mark.wholecall("cassettes/tide.sse")
@pytest.mark.parametrize("also", [1])
def test_agent(wholecall_server, also):
    found = ask(wholecall_server)
    assert b"".join(found) == pathlib.Path("cassettes/tide.sse").read_bytes()
    with open("cuts", "a") as log:
        print([len(piece) for piece in found], file=log)

@pytest.mark.wholecall("cassettes/tide.sse")
def test_without_an_answer():
    pass
"""

    def cuts(self, project: pytest.Pytester, *arguments: str, passed: int) -> list[str]:
        """Run the tests and return where the recording was cut in each of them."""
        log = project.path / "cuts"
        log.write_text("", "utf-8")
        run(project, self.CODE, *arguments).assert_outcomes(passed=passed)
        return log.read_text("utf-8").splitlines()

    def test_each_test_runs_under_each_split(self, project: pytest.Pytester) -> None:
        """A test that is served a recording runs N times, each time cut elsewhere; any other test runs once."""
        cuts = self.cuts(project, "--wholecall-splits=4", passed=5)

        assert 4 == len(set(cuts))

    def test_the_same_split_cuts_the_same(self, project: pytest.Pytester) -> None:
        """A split has a name, and cuts at the same places in every run and whatever the others are."""
        cuts = self.cuts(project, "--wholecall-splits=4", passed=5)
        second = self.cuts(project, "--wholecall-splits=2", "-k", "split-2", passed=1)

        assert cuts[1:2] == second

    def test_without_the_option_nothing_changes(self, project: pytest.Pytester) -> None:
        """A test has no further parameter, and the recording its chunks."""
        self.cuts(project, passed=2)
        result = run(project, self.CODE, "--collect-only", "-q")

        found = [line for line in result.stdout.lines if line.startswith("test_agent.py::")]
        assert ["test_agent.py::test_agent[1]", "test_agent.py::test_without_an_answer"] == found

    def test_code_that_trusts_chunks_is_found(self, project: pytest.Pytester) -> None:
        """A reader that takes each chunk for an event passes as recorded and fails under a split."""
        code = """
import json

@pytest.mark.wholecall("cassettes/tide.sse")
def test_naive(wholecall_server):
    for piece in ask(wholecall_server):
        assert piece == b"data: [DONE]\\n\\n" or json.loads(piece.removeprefix(b"data: "))
"""
        run(project, code).assert_outcomes(passed=1)
        result = run(project, code, "--wholecall-splits=3")

        result.assert_outcomes(failed=3)
        result.stdout.fnmatch_lines(["FAILED test_agent.py::test_naive[[]split-1] *"])


class TestGolden:
    """`wholecall_golden`."""

    CODE = """
@pytest.mark.wholecall("cassettes/tide.sse")
def test_agent(wholecall_server, wholecall_golden):
    wholecall_golden(events(wholecall_server))
"""

    @pytest.fixture
    def golden(self, project: pytest.Pytester) -> Path:
        """The golden file."""
        return project.path / "cassettes" / "tide.sse.golden.jsonl"

    def test_a_missing_file_is_a_failure(self, project: pytest.Pytester, golden: Path) -> None:
        """Nothing is written unless requested; the failure explains how."""
        result = run(project, self.CODE)

        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            [
                "wholecall_golden: there is no cassettes/tide.sse.golden.jsonl.",
                "Run pytest with --wholecall-bless to write it*",
            ]
        )
        assert not golden.exists()

    def test_a_bless_writes_and_says_so(self, project: pytest.Pytester, golden: Path) -> None:
        """A bless writes the output and reports it; the next run passes, the next bless changes nothing."""
        first = run(project, self.CODE, "--wholecall-bless")
        held = golden.read_bytes()
        then = run(project, self.CODE, "--wholecall-splits=2")
        again = run(project, self.CODE, "--wholecall-bless", "--wholecall-splits=2")

        first.assert_outcomes(passed=1)
        first.stdout.fnmatch_lines(
            ["*wholecall: golden files*", "blessed cassettes/tide.sse.golden.jsonl (new, * lines)"]
        )
        then.assert_outcomes(passed=2)
        then.stdout.no_fnmatch_line("*golden*")
        again.assert_outcomes(passed=2)
        again.stdout.fnmatch_lines(["none changed"])
        assert (held, 2) == (golden.read_bytes(), held.count(b'"type":"tool_call"}'))

    def test_a_difference_is_a_failure(self, project: pytest.Pytester, golden: Path) -> None:
        """A difference is shown, and a bless accepts it and counts it."""
        run(project, self.CODE, "--wholecall-bless").assert_outcomes(passed=1)
        lines = golden.read_bytes().splitlines(keepends=True)
        golden.write_bytes(b"".join(lines[:-1]) + b'{"other":1}\n')
        result = run(project, self.CODE)
        blessed = run(project, self.CODE, "--wholecall-bless")

        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            [
                "wholecall_golden: cassettes/tide.sse.golden.jsonl holds something else (+1 -1 lines):",
                '-{"other":1}',
                '+*"turn_finished"*',
                "If the new lines are right, run pytest with --wholecall-bless.",
            ]
        )
        blessed.stdout.fnmatch_lines(["blessed cassettes/tide.sse.golden.jsonl (+1 -1 lines)"])
        assert b"".join(lines) == golden.read_bytes()

    def test_a_long_difference_is_cut(self, project: pytest.Pytester, golden: Path) -> None:
        """Of a long difference the beginning is shown, and all of it with -vv."""
        golden.write_bytes(b"0\n")
        code = """
@pytest.mark.wholecall("cassettes/tide.sse")
def test_agent(wholecall_golden):
    wholecall_golden(["x" * 1000, *range(1, 100)])
"""
        cut, full = run(project, code), run(project, code, "-vv")

        cut.stdout.fnmatch_lines(['+["]xxx*…', "… 62 more lines, shown with -vv"])
        assert [False, True] == ["+99" in result.stdout.lines for result in (cut, full)]

    def test_names_tell_files_apart(self, project: pytest.Pytester, golden: Path) -> None:
        """Two values of one recording need names, or the second refuses to bless over the first."""
        code = """
@pytest.mark.wholecall("cassettes/tide.sse")
def test_one(wholecall_golden):
    wholecall_golden({"a": 1}, name="one")

@pytest.mark.wholecall("cassettes/tide.sse")
def test_two(wholecall_golden):
    wholecall_golden({"a": 2})

@pytest.mark.wholecall("cassettes/tide.sse")
def test_three(wholecall_golden):
    wholecall_golden({"a": 3})
"""
        result = run(project, code, "--wholecall-bless")

        result.assert_outcomes(passed=2, failed=1)
        result.stdout.fnmatch_lines(
            [
                "wholecall_golden: *tide.sse.golden.jsonl was blessed with other lines *, by test_agent.py::test_two.",
                "Give one of them a name*",
            ]
        )
        named = golden.with_name("tide.sse.one.golden.jsonl")
        assert (b'{"a":1}\n', b'{"a":2}\n') == (named.read_bytes(), golden.read_bytes())

    def test_the_recording_is_found(self, project: pytest.Pytester) -> None:
        """The file is next to the file served by hand, or next to the named one; without either there is advice."""
        code = """
@pytest.mark.wholecall(strict=False)
def test_served(wholecall_server, wholecall_golden):
    wholecall_server.serve(b"data: 1\\n\\n", "cassettes/tide.sse")
    wholecall_golden(1, name="served")

def test_named(wholecall_golden):
    wholecall_golden(2, beside="other/x.sse")

def test_neither(wholecall_golden):
    wholecall_golden(3)
"""
        (project.path / "other").mkdir()
        result = run(project, code, "--wholecall-bless")

        result.assert_outcomes(passed=2, failed=1)
        result.stdout.fnmatch_lines(["wholecall_golden: beside which recording? *"])
        assert (project.path / "cassettes" / "tide.sse.served.golden.jsonl").exists()
        assert (project.path / "other" / "x.sse.golden.jsonl").exists()

    def test_golden_files_are_not_served(self, project: pytest.Pytester) -> None:
        """A glob of recordings does not take their golden files for recordings."""
        code = self.CODE.replace("tide.sse", "*")
        run(project, code, "--wholecall-bless").assert_outcomes(passed=1)

        run(project, code).assert_outcomes(passed=1)


class TestLoading:
    """Pytest's view of the plugin."""

    LOADED = """
import sys

def pytest_unconfigure():
    print("loaded:", sorted({"wholecall", "msgspec", "http.server"} & set(sys.modules)))
"""

    def test_unused_it_costs_nothing(self, project: pytest.Pytester) -> None:
        """A run whose tests use no fixture of the plugin imports nothing of the package."""
        project.makeconftest(self.LOADED)
        project.makepyfile(test_other="def test_other():\n    pass\n")
        result = project.runpytest_subprocess("-p", "wholecall_pytest")

        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(["loaded: []"])

    @pytest.mark.slow
    def test_used_it_is_loaded(self, project: pytest.Pytester) -> None:
        """A run with a fixture does import it, so that the check above can fail."""
        project.makeconftest(self.LOADED)
        project.makepyfile(test_other="def test_other(wholecall_server):\n    pass\n")
        result = project.runpytest_subprocess("-p", "wholecall_pytest")

        result.stdout.fnmatch_lines(["loaded: ['http.server', 'msgspec', 'wholecall']"])

    def test_the_entry_point_loads_it(
        self, project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The installed plugin is found without `-p`, also where `-p` names it too, and `-p no:` keeps it out."""
        monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
        text = (PROJECT / "pyproject.toml").read_text("utf-8")
        entry = text.partition("[project.entry-points.pytest11]\n")[2].partition("\n\n")[0]
        metadata = project.path / "zzz-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: zzz\nVersion: 1.0\n", "utf-8")
        (metadata / "entry_points.txt").write_text(f"[pytest11]\n{entry.replace(chr(34), '')}\n", "utf-8")
        plain = project.runpytest_subprocess("--markers")
        named = project.runpytest_subprocess("--markers", "-p", "wholecall_pytest")
        without = project.runpytest_subprocess("--markers", "-p", "no:wholecall_pytest")

        marked = [
            sum(line.startswith("@pytest.mark.wholecall(*recordings, ") for line in result.stdout.lines)
            for result in (plain, named, without)
        ]
        assert [1, 1, 0] == marked

    def test_our_own_options_are_beside_it(self) -> None:
        """The options of this project's tests differ from the plugin's."""
        conftest = (PROJECT / "tests" / "conftest.py").read_text("utf-8")

        assert '"--recordings"' in conftest
        assert "--wholecall-" not in conftest
