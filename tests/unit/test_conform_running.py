"""Runs of adapters over a small suite: real programs, real sockets."""

from __future__ import annotations

import http.client
import json
import socket
import sys
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from tests.hygiene.source_tree import PROJECT
from tests.support.conform_suite import TIDE, adapter_of, case_of, chat, small_suite
from wholecall.grading.conform.cases import SESSIONS, WIRES, BadSuite, Case, Suite, Wire
from wholecall.grading.conform.gateways import ask
from wholecall.grading.conform.own import OwnClient
from wholecall.grading.conform.protocol import AdapterFailed, Client, Died, Program, TooSlow
from wholecall.grading.conform.results import Results, compare
from wholecall.grading.conform.running import Runner, Settings, plan, readings, writes_of
from wholecall.grading.conform.server import CaseServer
from wholecall.grading.conform.serving import HandServer
from wholecall.serving import Answer, Loopback

# What a client without any care does: it joins pieces by their index, and takes what it has at the end.
CARELESS = """\
import base64
text = b"".join(map(base64.b64decode, asked["chunks"])).decode()
calls = {}
for line in text.split("\\n"):
    if not line.startswith("data: {"):
        continue
    try:
        delta = json.loads(line[6:])["choices"][0]["delta"]
    except ValueError:
        continue
    for piece in delta.get("tool_calls", ()):
        call = calls.setdefault(piece["index"], {"id": None, "name": None, "arguments": ""})
        call["id"] = piece.get("id") or call["id"]
        call["name"] = piece["function"].get("name") or call["name"]
        call["arguments"] += piece["function"].get("arguments", "")
calls = list(calls.values())
"""
HTTP = """\
import http.client, urllib.request
try:
    with urllib.request.urlopen(asked["url"] + "/chat/completions", b'{"stream": true}') as answer:
        asked["chunks"] = [__import__("base64").b64encode(answer.read())]
except (http.client.IncompleteRead, ConnectionError) as error:
    return said(error=repr(error))
"""


class ReadAtOnce(threading.Thread):
    """A thread whose start returns when it has ended."""

    def start(self) -> None:
        """Run to the end."""
        super().start()
        self.join()


def run(suite: Suite, command: list[str], settings: Settings | None = None) -> Results:
    """Return the results of an adapter over every case."""
    settings = settings or Settings()
    first = Program(command)
    clients = first.hello()
    first.close()
    runner = Runner(suite, lambda: Program(command), settings)
    jobs = plan(clients, suite.cases(), settings)
    list(runner.run(jobs))
    return runner.results(clients, len(jobs))


def verdicts(results: Results) -> dict[str, str]:
    """Return the verdict of each run by the case's name and the way of writing."""
    return {f"{run.case.partition('/')[2]} {run.write}": run.verdict for _, run in results.runs()}


def test_a_careful_client_passes(tmp_path: Path) -> None:
    """Wholecall reads the suite to its expectation, in every way of writing."""
    suite = small_suite(tmp_path)
    runner = Runner(suite, OwnClient, Settings(write="all"))
    jobs = plan(OwnClient().hello(), suite.cases(), Settings(write="all"))
    found = Counter(its.verdict for _, its in runner.run(jobs))

    assert {"pass": 12} == found


def test_a_client_that_closes_brackets_is_unsafe(tmp_path: Path) -> None:
    """A call that was cut and emptied is a call that nobody sent."""
    body = (
        CARELESS
        + """for call in calls:
    try:
        json.loads(call["arguments"])
    except ValueError:
        call["arguments"] = {}
return said(calls)"""
    )
    found = run(small_suite(tmp_path), adapter_of(tmp_path, body))

    assert {
        "cut frame": "unsafe",
        "plain frame": "pass",
        "plain byte": "pass",
        "text frame": "pass",
    } == verdicts(found)
    assert not found.is_good


def test_a_line_too_many_is_told(tmp_path: Path) -> None:
    """A program that writes a line that nobody asked for is ended before it answers the wrong case."""
    program = Program(adapter_of(tmp_path, "print('loading')\nreturn said()"))
    with pytest.raises(Died, match="its answer is wrong"):
        program.run({"do": "run", "timeout": 20})


def test_a_client_that_drops_the_last_call_loses_it(tmp_path: Path) -> None:
    """A call that is missing without a word is lost."""
    found = run(small_suite(tmp_path), adapter_of(tmp_path, CARELESS + "return said(calls[:-1])"))

    assert {
        "cut frame": "lost",
        "plain frame": "lost",
        "plain byte": "lost",
        "text frame": "pass",
    } == verdicts(found)
    assert 1.0 == found.clients[0].scores["all"].safety
    assert not found.is_good


def test_a_client_over_http_sees_the_ending(tmp_path: Path) -> None:
    """In the mode http the connection is reset where the case says so, and whole otherwise."""
    found = run(
        small_suite(tmp_path), adapter_of(tmp_path, HTTP + CARELESS + "return said(calls)", mode="http")
    )

    assert {
        "cut frame": "pass",
        "plain frame": "pass",
        "plain byte": "pass",
        "text frame": "pass",
    } == verdicts(found)
    assert found.is_good


def test_workers_share_the_plan(tmp_path: Path) -> None:
    """Two workers give the results of one, in the order of the plan."""
    suite, command = small_suite(tmp_path), adapter_of(tmp_path, CARELESS + "return said(calls)")
    one, two = (run(suite, command, Settings(jobs=jobs, write="all")) for jobs in (1, 2))

    assert verdicts(one) == verdicts(two)
    assert list(verdicts(one)) == list(verdicts(two))
    assert [] == compare(one, two)


def test_a_program_that_dies_is_started_again(tmp_path: Path) -> None:
    """A death is the verdict of its case alone."""
    body = "if asked['case'].endswith('/cut'):\n    sys.exit(3)\n" + CARELESS + "return said(calls)"
    found = run(small_suite(tmp_path), adapter_of(tmp_path, body))

    assert {
        "cut frame": "crash",
        "plain frame": "pass",
        "plain byte": "pass",
        "text frame": "pass",
    } == verdicts(found)
    assert "the program ended (3)" == next(its.why for _, its in found.runs())


def test_a_program_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A case that takes too long is a timeout, and the next one has a new program."""
    monkeypatch.setattr("wholecall.grading.conform.protocol._GRACE", 0.0)
    program = Program(adapter_of(tmp_path, "return said() if asked['case'] == 'good' else time.sleep(600)"))

    with pytest.raises(TooSlow):
        program.run({"do": "run", "case": "bad", "timeout": 0.1})
    answer = program.run({"do": "run", "case": "good", "timeout": 20})
    program.close()

    assert () == answer.calls


def test_lines_end_at_lf_alone(tmp_path: Path) -> None:
    """U+2028 in an answer is text."""
    program = Program(adapter_of(tmp_path, "return said(text='a\\u2028b\\x85c')"))
    answer = program.run({"do": "run", "timeout": 20})
    program.close()

    assert "a\u2028b\x85c" == answer.text


@pytest.mark.parametrize("made", ["[1]", "{'calls': 7}", "{'calls': [{'id': [1]}]}"])
def test_an_answer_of_another_form_is_a_crash(tmp_path: Path, made: str) -> None:
    """What is no answer is told, and the program ends."""
    program = Program(adapter_of(tmp_path, f"return {made}"))

    with pytest.raises(Died, match="its answer is wrong"):
        program.run({"do": "run", "timeout": 20})
    program.close()


def test_a_program_that_is_no_adapter_is_told(tmp_path: Path) -> None:
    """A program that cannot be started, or ends, or says something else, is no adapter."""
    with pytest.raises(AdapterFailed, match="No such file"):
        Program([str(tmp_path / "none")]).hello()
    with pytest.raises(AdapterFailed, match="the program ended"):
        Program(["true"]).hello()
    with pytest.raises(AdapterFailed, match="its answer to hello is wrong"):
        Program(["echo", "hello"]).hello()


@pytest.mark.parametrize(
    ("command", "said"), [("true", "program ended"), ("echo", "its answer to hello is wrong")]
)
def test_a_program_that_ends_before_it_is_asked_is_told(
    monkeypatch: pytest.MonkeyPatch, command: str, said: str
) -> None:
    """A program whose output was read before the first request is no adapter either, and nothing waits for it."""
    monkeypatch.setattr("wholecall.grading.conform.protocol.threading.Thread", ReadAtOnce)
    monkeypatch.setattr("wholecall.grading.conform.protocol._HELLO", 0.0)

    with pytest.raises(AdapterFailed, match=said):
        Program([command]).hello()


def test_a_program_that_ends_after_its_answer_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The death of a program between two cases is the verdict of neither."""
    readers: list[threading.Thread] = []

    def thread(**kwargs: Any) -> threading.Thread:
        readers.append(threading.Thread(**kwargs))
        return readers[-1]

    monkeypatch.setattr("wholecall.grading.conform.protocol.threading", SimpleNamespace(Thread=thread))
    body = "print(json.dumps(said(text=asked['case'])), flush=True)\nsys.exit(3)"
    program = Program(adapter_of(tmp_path, body))
    told = []
    for case in ("one", "two"):
        told.append(program.run({"do": "run", "case": case, "timeout": 20}).text)
        readers[-1].join()  # the program has ended
    program.close()

    assert ["one", "two"] == told
    assert 2 == len(readers)


def test_blind_clients_are_told_no_names(tmp_path: Path) -> None:
    """With blind neither the case nor the URL holds the case's name."""
    body = "return said(text=json.dumps([asked['case'], asked['url']]))"
    command = adapter_of(tmp_path, body, mode="http")
    blind, seeing = (run(small_suite(tmp_path / str(n)), command, Settings(blind=n == 0)) for n in range(2))

    def told(results: Results) -> str:
        return " ".join(str(its.got and its.got["text"]) for _, its in results.runs())

    assert not [name for name in ("plain", "cut", "/text") if name in told(blind)]
    assert [] == [name for name in ("plain", "cut", "/text") if name not in told(seeing)]


def test_the_level_core_is_written_by_the_byte_too() -> None:
    """Without a choice a case is written in its first way, and in core by the byte, too."""
    case = case_of()

    assert ("frame", "byte") == writes_of(case, Settings())
    assert ("frame",) == writes_of(case_of(level="rare"), Settings())
    assert case.http.writes == writes_of(case, Settings(write="all"))
    assert ("whole",) == writes_of(case, Settings(write="whole"))
    assert ("seed:7",) == writes_of(case, Settings(seed=7))


def test_what_was_measured_is_kept(tmp_path: Path) -> None:
    """Whoever stops taking runs has those so far, and they say that they are not all."""
    suite = small_suite(tmp_path)
    clients, runner = OwnClient().hello(), Runner(suite, OwnClient, Settings())
    jobs = plan(clients, suite.cases(), Settings())
    running = runner.run(jobs)
    next(running)
    running.close()
    found = runner.results(clients[:1], len(jobs))

    assert (1, False) == (len(found.clients[0].cases), found.complete)


def test_a_gateway_is_read_on_its_other_side(tmp_path: Path) -> None:
    """A gateway that passes its upstream on is graded by what its clients get."""
    command = adapter_of(tmp_path, "return {'gateway': asked['url'], 'wire': asked['wire']}", mode="gateway")

    assert dict.fromkeys(["cut frame", "plain frame", "plain byte", "text frame"], "pass") == verdicts(
        run(small_suite(tmp_path), command)
    )


READER = [sys.executable, str(PROJECT / "conformance/clients/outsider/adapter.py")]


def hello(command: list[str]) -> list[Client]:
    """Return the clients of an adapter."""
    program = Program(command)
    clients = program.hello()
    program.close()
    return clients


def test_a_gateway_is_read_by_other_clients_too(tmp_path: Path) -> None:
    """Each client of another adapter that speaks the gateway's wire reads it, as a client of its own."""
    suite = small_suite(tmp_path)
    gateway = adapter_of(tmp_path, "return {'gateway': asked['url'], 'wire': asked['wire']}", mode="gateway")
    clients = hello(gateway)
    pairs = readings(clients, [hello(READER)])
    jobs = plan(clients, suite.cases(), Settings(), pairs)
    runner = Runner(suite, lambda: Program(gateway), Settings(), [lambda: Program(READER)])
    assert len(jobs) == len(list(runner.run(jobs))) == 8
    [read] = runner.results([pair.client for pair in pairs], len(jobs)).clients

    assert ("outsider+small", "1", "gateway", True) == (read.name, read.version, read.mode, read.runs_tools)
    assert "1" == read.dependencies["outsider"]
    assert dict.fromkeys(["cut frame", "plain frame", "plain byte", "text frame"], "pass") == {
        f"{run.case.partition('/')[2]} {run.write}": run.verdict for run in read.cases
    }


def test_a_reader_of_another_wire_is_not_asked(tmp_path: Path) -> None:
    """A gateway that speaks another wire to its clients is none for a client of this wire."""
    suite = small_suite(tmp_path)
    gateway = adapter_of(tmp_path, "return {'gateway': asked['url'], 'wire': 'anthropic'}", mode="gateway")
    pairs = readings(hello(gateway), [hello(READER)])
    jobs = plan([], suite.cases(), Settings(), pairs)
    runner = Runner(suite, lambda: Program(gateway), Settings(), [lambda: Program(READER)])

    assert {("unsupported", "the gateway speaks anthropic")} == {
        (run.verdict, run.why) for _, run in runner.run(jobs)
    }


def test_a_gateway_that_is_not_there(tmp_path: Path) -> None:
    """An answer without calls is refused, not lost: its clients are told; a gateway may not support a case."""
    suite = small_suite(tmp_path)
    gone = adapter_of(
        tmp_path, "return {'gateway': 'http://127.0.0.1:1/v1', 'wire': 'anthropic'}", mode="gateway"
    )
    found = verdicts(run(suite, gone))
    skips = adapter_of(tmp_path, "return {'unsupported': 'no'}", mode="gateway")

    assert {
        "cut frame": "pass",
        "plain frame": "refused",
        "plain byte": "refused",
        "text frame": "refused",
    } == found
    assert {"unsupported"} == set(verdicts(run(suite, skips)).values())


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire not in SESSIONS])
@pytest.mark.parametrize("stream", [True, False])
def test_a_request_for_a_gateway_names_the_tools(wire: Wire, stream: bool) -> None:
    """On each wire the request has the tools of the case, and goes below the gateway's base URL."""
    case = case_of(
        b"{}", request={"stream": stream, "tools": [{"name": "get_tide", "schema": {"type": "object"}}]}
    )
    with Loopback() as server:
        server.serve(Answer([b"{}"], "application/json", 404))
        ask(server.url + "/base", wire, case, 20)
        [request] = server.requests

    assert request.path.startswith("/base/")
    assert b'"get_tide"' in request.body


def test_sessions_are_for_parsers() -> None:
    """A client over HTTP is not asked for messages of a WebSocket, and the server does not serve them."""
    case = case_of(b'{"setupComplete":{}}\n', name="gemini-live/idle", level="rare", sent=[])
    clients = [Client("c", "1", "gemini-live", mode) for mode in ("http", "bytes", "gateway")]
    jobs = plan(clients, [case], Settings())

    assert ["bytes"] == [job.client.mode for job in jobs]
    with CaseServer(Suite(Path(), "1")) as server, pytest.raises(BadSuite, match="are not served"):
        server.offer("1", case, "frame")


# The server.


def post(url: str, body: object) -> bytes:
    """Return the answer to a POST."""
    with urlopen(Request(url, json.dumps(body).encode()), timeout=20) as response:  # noqa: S310 - loopback
        data: bytes = response.read()
    return data


def get(url: str) -> Any:
    """Return the JSON at a URL."""
    with urlopen(url, timeout=20) as response:  # noqa: S310 - loopback
        return json.load(response)


def test_the_farewell_comes_after_the_case(tmp_path: Path) -> None:
    """The first POST below the path gets the case, and every later one the farewell."""
    suite = small_suite(tmp_path)
    [case] = suite.cases(["core"])
    with CaseServer(suite) as server:
        url = server.offer("1", case, "frame")
        first, later = (post(url + "/chat/completions", {"stream": True}) for _ in range(2))

    assert url.endswith("/r/1/chat-completions/plain/v1")
    assert case.data == first
    assert b"Done." in later


def test_only_a_post_gets_the_case(tmp_path: Path) -> None:
    """Another method, and the path of no run, get 404, and take no case."""
    suite = small_suite(tmp_path)
    [case] = suite.cases(["core"])
    with CaseServer(suite) as server:
        url = server.offer("1", case, "frame")
        for wrong in (
            lambda: get(url + "/models"),
            lambda: post(server.url + "/r/2/chat-completions/plain", {}),
        ):
            with pytest.raises(HTTPError, match="404") as caught:
                wrong()
            caught.value.close()
        answered = post(url + "/anything", {})

    assert case.data == answered


def test_a_body_that_is_not_streamed_has_its_length(tmp_path: Path) -> None:
    """A body has a content-length and no chunks, and so has its farewell."""
    suite = small_suite(tmp_path)
    (tmp_path / "farewells" / "chat-completions.json").write_bytes(b'{"done": true}')
    case = case_of(b'{"choices": []}', request={"stream": False}, http={"content_type": "application/json"})
    heads = []
    with CaseServer(suite) as server:
        url = server.offer("1", case, "whole")
        for _ in range(2):
            with urlopen(Request(url, b"{}"), timeout=20) as response:  # noqa: S310 - loopback
                names = ("content-length", "transfer-encoding", "content-type")
                heads.append([response.headers[name] for name in names] + [response.read()])

    assert heads == [
        ["15", None, "application/json", b'{"choices": []}'],
        ["14", None, "application/json", b'{"done": true}'],
    ]


def read_raw(url: str) -> tuple[bytes, str]:
    """Return what a socket gets after a POST, and how it ended."""
    parts = urlsplit(url)
    data = b""
    with socket.create_connection((parts.hostname, parts.port), 20) as connection:  # type: ignore[arg-type]  # is str
        head = f"POST {parts.path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        connection.sendall(head.encode())
        try:
            while piece := connection.recv(65536):
                data += piece
        except ConnectionResetError:
            return data, "reset"
    return data, "terminated" if data.endswith(b"0\r\n\r\n") else "open"


@pytest.mark.parametrize(
    ("ending", "seen"),
    [
        ("clean", "terminated"),
        ("half", "terminated"),
        ("no-terminator", "open"),
        ("reset", "reset"),
        ("idle:1s", "open"),
    ],
)
def test_endings(tmp_path: Path, ending: str, seen: str) -> None:
    """An answer ends as its sidecar says: whole, without the end of its body, by a reset, or after silence."""
    suite = small_suite(tmp_path)
    http_of: dict[str, Any] = {"ending": ending}
    case: Case = case_of(chat(TIDE), http=http_of)
    with CaseServer(suite) as server:
        data, ended = read_raw(server.offer("1", case, "frame") + "/chat/completions")

    assert seen == ended
    assert ending == "reset" or b"[DONE]" in data


def test_a_status_is_sent(tmp_path: Path) -> None:
    """A case may be an error of HTTP; clients are told not to ask again."""
    suite = small_suite(tmp_path)
    case = case_of(b"{}", http={"status": 503, "content_type": "application/json"})
    with CaseServer(suite) as server:
        parts = urlsplit(server.offer("1", case, "whole"))
        connection = http.client.HTTPConnection(parts.netloc, timeout=20)
        connection.request("POST", parts.path)
        response = connection.getresponse()
        found = response.status, response.headers["content-type"], response.headers["x-should-retry"]
        response.read()
        connection.close()

    assert (503, "application/json", "false") == found


def test_a_client_driven_by_hand(tmp_path: Path) -> None:
    """The list names a URL for each case; an answer that is posted is judged, and kept for the report."""
    suite = small_suite(tmp_path)
    call = {name: TIDE[name] for name in ("id", "name", "arguments")}
    with HandServer(suite, suite.cases()) as server:
        [plain] = [case for case in get(server.url + "/cases") if case["id"].endswith("/plain")]
        stream = post(plain["url"].replace("RUN", "mine") + "/chat/completions", {"stream": True})
        told = json.loads(post(server.url + "/report/mine/chat-completions/plain", {"calls": [call]}))
        report = get(server.url + "/report")

    assert suite.cases(["core"])[0].data == stream
    assert ("pass", None) == (told["verdict"], told["why"])
    assert {"mine/chat-completions/plain": told} == report
