"""The pytest plugin under real SDKs and under httpx and httpx2, as a user's tests have it."""

from __future__ import annotations

import shutil

import pytest

from tests.hygiene.source_tree import CORPORA, PACKAGE
from tests.hygiene.test_readme import blocks
from tests.support.pages import NEED_SDKS, lay_out

pytestmark = pytest.mark.sdk
pytest_plugins = ["pytester"]

RECORDINGS = {"chat": "chat-completions", "responses": "responses", "claude": "anthropic"}
CASES = {"chat": "single-call", "responses": "single-call", "claude": "text-and-thinking-parallel"}


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Give an empty project, and a run without other plugins and without anybody's keys."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE.parent))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return pytester


def run(project: pytest.Pytester, code: str, *arguments: str) -> pytest.RunResult:
    """Run the tests of a file next to recordings of each SDK's provider."""
    for name, dialect in RECORDINGS.items():
        shutil.copy(CORPORA / "recordings" / dialect / f"{CASES[name]}.sse", project.path / f"{name}.sse")
    project.makepyfile(test_agent=code)
    return project.runpytest_subprocess("-p", "wholecall_pytest", *arguments)


def test_the_examples_with_sdks_run(project: pytest.Pytester) -> None:
    """The examples of docs/testing.md that need SDKs pass, also under splits."""
    lay_out(project.path, NEED_SDKS)
    result = project.runpytest_subprocess("-p", "wholecall_pytest", "--wholecall-splits=3")

    result.assert_outcomes(passed=3 * len(NEED_SDKS))


def test_the_tutorials_test_runs(project: pytest.Pytester) -> None:
    """The test in docs/tutorials/tests.md passes next to a cassette, under each split."""
    ((_, code),) = blocks("python", page="docs/tutorials/tests.md", needs="pytest")
    cassette = CORPORA / "recordings" / "chat-completions" / "single-call.sse"
    (project.path / "cassettes").mkdir()
    shutil.copy(cassette, project.path / "cassettes" / "tide.sse")

    run(project, code, "--wholecall-splits=2").assert_outcomes(passed=2)


SDKS = """
import asyncio

import anthropic
import openai
import pytest

MESSAGES = [{"role": "user", "content": "?"}]


@pytest.mark.wholecall("chat.sse")
def test_openai(wholecall_server):
    client = openai.OpenAI(base_url=wholecall_server.url + "/v1", api_key="x")
    with client.chat.completions.stream(model="m", messages=MESSAGES) as stream:
        assert stream.get_final_completion().choices[0].message.tool_calls[0].function.name == "get_tide"


@pytest.mark.wholecall("responses.sse")
def test_responses(wholecall_server):
    client = openai.OpenAI(base_url=wholecall_server.url + "/v1", api_key="x")
    events = list(client.responses.create(model="m", input=MESSAGES, stream=True))
    assert events[-1].type == "response.completed"


@pytest.mark.wholecall("claude.sse")
def test_anthropic(wholecall_server):
    client = anthropic.Anthropic(base_url=wholecall_server.url, api_key="x")
    with client.messages.stream(model="m", max_tokens=9, messages=MESSAGES) as stream:
        assert stream.get_final_message().stop_reason == "tool_use"
    assert wholecall_server.requests[0].json()["messages"] == MESSAGES


@pytest.mark.wholecall("chat.sse")
def test_openai_async(wholecall_server):
    async def ask():
        async with openai.AsyncOpenAI(base_url=wholecall_server.url + "/v1", api_key="x") as client:
            stream = await client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
            return [chunk.choices[0].finish_reason async for chunk in stream if chunk.choices]
    assert asyncio.run(ask())[-1] == "tool_calls"


@pytest.mark.wholecall("claude.sse")
def test_anthropic_async(wholecall_server):
    async def ask():
        async with anthropic.AsyncAnthropic(base_url=wholecall_server.url, api_key="x") as client:
            stream = await client.messages.create(model="m", max_tokens=9, messages=MESSAGES, stream=True)
            return [event.type async for event in stream]
    assert asyncio.run(ask())[-1] == "message_stop"


@pytest.mark.wholecall("chat.sse")
def test_openai_without_a_socket(wholecall_transport):
    http = openai.DefaultHttpxClient(transport=wholecall_transport)
    client = openai.OpenAI(api_key="x", http_client=http)
    stream = client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
    assert [chunk.choices[0].finish_reason for chunk in stream if chunk.choices][-1] == "tool_calls"


@pytest.mark.wholecall("chat.sse")
def test_a_golden_of_sdk_objects(wholecall_server, wholecall_golden):
    client = openai.OpenAI(base_url=wholecall_server.url + "/v1", api_key="x")
    wholecall_golden(client.chat.completions.create(model="m", messages=MESSAGES, stream=True))
"""


def test_sdks_are_answered(project: pytest.Pytester) -> None:
    """The clients of OpenAI and Anthropic, sync and async, read recordings by URL and by transport."""
    result = run(project, SDKS, "--wholecall-splits=2", "--wholecall-bless")

    result.assert_outcomes(passed=14)
    result.stdout.fnmatch_lines(["blessed chat.sse.golden.jsonl (new, * lines)"])


def test_what_is_beyond_is_asked_once(project: pytest.Pytester) -> None:
    """An SDK whose answer reports that nothing is left does not retry, and its error has the reason."""
    result = run(
        project,
        """
import anthropic
import openai
import pytest


@pytest.mark.wholecall(strict=False)
def test_agent(wholecall_server):
    with pytest.raises(openai.InternalServerError, match="no answer is left for POST /v1/chat/completions"):
        client = openai.OpenAI(base_url=wholecall_server.url + "/v1", api_key="x")
        client.chat.completions.create(model="m", messages=[], stream=True)
    with pytest.raises(anthropic.InternalServerError, match="no answer is left for POST /v1/messages"):
        client = anthropic.Anthropic(base_url=wholecall_server.url, api_key="x")
        client.messages.create(model="m", max_tokens=9, messages=[], stream=True)
    assert len(wholecall_server.unanswered) == 2
""",
    )

    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_a_transport_of_either_library(project: pytest.Pytester, library: str) -> None:
    """Clients of both libraries, under asyncio and trio, read the recorded chunks; errors are the library's."""
    result = run(
        project,
        """
import asyncio

import pytest
import trio
import LIBRARY
from wholecall.recordings import Recorder

CHUNKS = [b"data: 1\\n", b"\\nda", b"ta: 2\\n\\n"]
with Recorder("ours.jsonl", status=201, content_type="text/x-own") as recorder:
    for chunk in CHUNKS:
        recorder.write(chunk, at=0.0)


@pytest.mark.wholecall("ours.jsonl")
def test_sync(wholecall_transport, wholecall_server):
    with LIBRARY.Client(transport=wholecall_transport) as client:
        with client.stream("POST", "http://x/v1?key=1", json={"a": 1}) as response:
            assert (response.status_code, response.headers["content-type"]) == (201, "text/x-own")
            assert list(response.iter_raw()) == CHUNKS
    with LIBRARY.Client() as client, client.stream("POST", wholecall_server.url) as response:
        assert list(response.iter_raw()) == CHUNKS
    assert wholecall_transport.requests[0].json() == {"a": 1}


@pytest.mark.wholecall("ours.jsonl", timing=True)
@pytest.mark.parametrize("run", [asyncio.run, lambda coroutine: trio.run(lambda: coroutine)])
def test_async(wholecall_transport, run):
    async def ask():
        async with LIBRARY.AsyncClient(transport=wholecall_transport) as client:
            async with client.stream("GET", "http://x/") as response:
                return [chunk async for chunk in response.aiter_raw()]
    assert run(ask()) == CHUNKS


@pytest.mark.wholecall("ours.jsonl", cut=2)
def test_cut(wholecall_transport, wholecall_server):
    for transport, url in ((wholecall_transport, "http://x/"), (None, wholecall_server.url)):
        with LIBRARY.Client(transport=transport) as client, client.stream("GET", url) as response:
            with pytest.raises(LIBRARY.RemoteProtocolError, match="incomplete chunked read"):
                list(response.iter_raw())
""".replace("LIBRARY", library),
    )

    result.assert_outcomes(passed=4)
