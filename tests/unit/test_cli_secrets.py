"""Keys and passwords: where the commands send them, and which parts remain in the files that they write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.loopback import serve
from wholecall.cli.main import main
from wholecall.proxy.log import plain_path
from wholecall.recordings import Recording, Request, read
from wholecall.recordings.secrets import keyless_path, looks_like_a_key, plain_type, without_secrets
from wholecall.redacting import Redaction, redact
from wholecall.serving import Answer

SECRET = "hunter2hunter2hunter2"
HEADERS = [
    "-H",
    f"Authorization: Bearer {SECRET}",
    "-H",
    f"x-api-key: {SECRET}",
    "-H",
    "Accept: text/event-stream",
]
DONE = b"data: [DONE]\n\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one, and reach servers without a proxy."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("no_proxy", "*")
    return tmp_path


def moved(to: str, status: int = 302) -> Answer:
    """Return a redirect."""
    return Answer([b""], status=status, headers=(("location", to),))


class TestRecord:
    """`wholecall record URL`."""

    @pytest.mark.parametrize("status", [301, 302, 303, 307])
    def test_another_server_is_refused(self, status: int, capsys: pytest.CaptureFixture[str]) -> None:
        """The other server is not asked at all; the message names it, and the remedy."""
        with serve(Answer([DONE])) as other, serve(moved(other.url + "/x?key=" + SECRET, status)) as server:
            code = main(["record", "-q", "-o", "x.jsonl", server.url, *HEADERS])
            asked = len(other.requests)

        assert (3, 0, False) == (code, asked, Path("x.jsonl").exists())
        said = capsys.readouterr().err
        assert (
            "it redirects to another server, 127.0.0.1; --follow asks that one, without your headers" in said
        )
        assert SECRET not in said

    @pytest.mark.parametrize("steps", [1, 2])
    def test_follow_carries_no_key(self, steps: int) -> None:
        """A followed redirect gets only the given headers that declare the form, and so do all later steps."""
        with serve(Answer([DONE])) as other, serve(moved(other.url)) as middle:
            goal = other.url if steps == 1 else middle.url
            with serve(moved(goal)) as server:
                code = main(["record", "-q", "--follow", "-o", "x.jsonl", server.url, *HEADERS])
                sent = server.requests[0].headers
            got = [one.headers for one in (*middle.requests, *other.requests)]

        assert (0, steps) == (code, len(got))
        assert SECRET == sent["x-api-key"]
        assert all(SECRET not in json.dumps(one) for one in got)
        assert ["text/event-stream"] * steps == [one["accept"] for one in got]

    def test_the_same_server_gets_what_it_had(self) -> None:
        """A redirect there is followed as usual."""
        with serve(moved("/v2"), Answer([DONE])) as server:
            code = main(["record", "-q", "-o", "x.jsonl", server.url, *HEADERS])
            keys = [one.headers["x-api-key"] for one in server.requests]

        assert (0, [SECRET, SECRET]) == (code, keys)

    @pytest.mark.parametrize("follow", [[], ["--follow"]])
    @pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "file:///etc/hostname", "data:,x"])
    def test_only_http_is_spoken(self, follow: list[str], url: str) -> None:
        """A redirect to anything else is not a way to read a file."""
        with serve(moved(url)) as server:
            code = main(["record", "-q", "-o", "x.jsonl", server.url, *follow])

        kept = b"".join(chunk for one in read(*map(str, Path().glob("x.jsonl"))) for _, chunk in one.chunks)
        assert (True, b"") == (code in {0, 3}, kept)


URLS = {
    "https://u:p@host/v1/chat": "https://host/v1/chat",
    "https://host/v1?key=abc&alt=sse": "https://host/v1?alt=sse",
    "https://host/v1?api-version=2024-10-21&code=abc": "https://host/v1?api-version=2024-10-21",
    "https://host/v1?X-Amz-Signature=a&X-Amz-Credential=b&X-Amz-Security-Token=c&x=1": "https://host/v1?x=1",
    f"https://host/v1?q={SECRET}&stream=true#frag": "https://host/v1?stream=true",
    "https://host/v1?acc%65ss_token=a;b": "https://host/v1",
    "https://host/v1": "https://host/v1",
    "https://[::1/v1?key=a": None,
}


@pytest.mark.parametrize("url", URLS)
def test_urls_without_secrets(url: str) -> None:
    """User, fragment and query members that are keys are removed, all others stay."""
    found = without_secrets(Recording(name="a", chunks=iter(()), request=Request("POST", url)))

    assert Request("POST", URLS[url]) == found.request


@pytest.mark.parametrize("form", ["recording", "har", "cassette"])
def test_convert_writes_no_key(form: str) -> None:
    """Whatever is written, the secrets of the request and of the content type are not in it; the bytes are."""
    url = f"https://user:{SECRET}@host/v1?key={SECRET}&alt=sse"
    header = {
        "wholecall": "recording",
        "version": 1,
        "method": "POST",
        "url": url,
        "status": 200,
        "content_type": f"text/event-stream; charset=utf-8; token={SECRET}",
    }
    chunk = {"data": DONE.decode()}
    lines = [json.dumps(one, separators=(",", ":")) for one in (header, chunk)]
    Path("a.jsonl").write_text("\n".join(lines))
    code = main(["convert", "a.jsonl", "--to", form, "-o", "out"])
    written = Path("out").read_text()

    assert (0, False) == (code, SECRET in written)
    assert "https://host/v1?alt=sse" in written
    assert "text/event-stream; charset=utf-8" in written
    assert "[DONE]" in written


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, None),
        ("text/event-stream", "text/event-stream"),
        ("text/event-stream; charset=utf-8", "text/event-stream; charset=utf-8"),
        ("application/json; key=a; Charset=x", "application/json; Charset=x"),
        (f"application/json;charset={SECRET}", "application/json"),
    ],
)
def test_types_without_parameters(given: str | None, expected: str | None) -> None:
    """The charset stays, because it determines how the bytes are read."""
    assert expected == plain_type(given)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("sk-proj-abcdefgh", True),
        ("error: ghp_abcdefgh12", True),
        ("AKIAIOSFODNN7EXAMPLE", True),
        ("0123456789abcdef0123", True),
        ("content_block_delta", False),
        ("response.function_call_arguments.delta", False),
        ("chat.completion.chunk", False),
        ("web_search_20250305", False),
        ("12345678901234567890", False),
        ("AIMessageChunk", False),
        ("gpt-4o-2024-08-06", False),
    ],
)
def test_what_looks_like_a_key(text: str, *, is_one: bool) -> None:
    """Known beginnings are removed, and long runs of letters and digits; words of protocols are not."""
    assert is_one is looks_like_a_key(text)


REFUSED = (
    b'event: error\ndata: {"type":"error","error":{"type":"%b","code":"%b","message":"no"}}\n\n'
    b"event: %b\ndata: {}\n\n"
    b'data: {"choices":[{"index":0,"delta":{"%b":1}}]}\n\n'
)


@pytest.mark.parametrize("key", ["sk-ant-api03-abcdefgh", "AKIAIOSFODNN7EXAMPLE", SECRET])
def test_redact_keeps_no_key_in_words_of_the_protocol(key: str) -> None:
    """Names of events, types and codes of errors, and names of members are replaced where they look like a secret."""
    data = REFUSED.replace(b"%b", key.encode())
    Path("a.sse").write_bytes(data)
    code = main(["redact", "a.sse", "--seed", "7", "--to", "raw", "-o", "out"])
    written = Path("out").read_bytes()

    assert (0, len(data), False) == (code, len(written), key.encode() in written)
    assert written.startswith(b'event: error\ndata: {"type":"error","error":{"type":"')


KEYS = [
    "sk-proj-abcdefghijkl",
    "sk%2Dproj-abcdefghijkl",
    "AIzaSyAbCdEfGhIjKlMn",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_abcdefghijkl",
    "bot12345:AAHdqTcvCH1vGW",
    "Bearer%20abc",
    "key=abc",
    "x;token=abc",
    "eyJhbGciOiJI.eyJzdWIi.c2ln",
    "0123456789abcdef0123456789abcdef",
    "dGhpcyBpcyBhIHNlY3JldCE1",
    SECRET,
]


class TestPaths:
    """Keys in the path of a URL."""

    @pytest.mark.parametrize("form", ["/{}", "/v1/{}/chat", "/{}/v1/messages", "/v1/chat/{}"])
    @pytest.mark.parametrize("key", KEYS)
    def test_a_segment_that_looks_like_a_key_goes(self, form: str, key: str) -> None:
        """One sign replaces the segment, and the other segments stay, wherever it is."""
        assert form.format("-") == keyless_path(form.format(key))

    @pytest.mark.parametrize("word", ["key", "api-key", "token", "auth", "secret", "Bearer"])
    def test_what_is_announced_as_a_key_goes(self, word: str) -> None:
        """A short key has no distinctive form; the segment before it identifies it."""
        assert f"/v1/{word}/-/chat" == keyless_path(f"/v1/{word}/abc/chat")

    @pytest.mark.parametrize(
        "path",
        [
            "",
            "/",
            "/v1/chat/completions",
            "/v1beta/models/gemini-2.5-flash:streamGenerateContent",
            "/openai/deployments/gpt-4o-mini/chat/completions",
            "/model/us.anthropic.claude-3-5-sonnet-20241022-v2%3A0/converse-stream",
        ],
    )
    def test_paths_without_keys_stay(self, path: str) -> None:
        """Endpoints and models are not keys."""
        assert path == keyless_path(path)

    def test_one_rule_serves_all(self) -> None:
        """The output of `convert` and `redact` and the proxy's logs and recordings have no key in a path."""
        url = f"https://api.example/v1/{SECRET}/chat"
        one = Recording(name="a", chunks=iter([(None, DONE)]), request=Request("POST", url))
        asked = [without_secrets(one).request, redact(one, Redaction("s")).request]

        told = [found.url for found in asked if found is not None]
        expected = "/v1/-/chat"
        assert [f"https://api.example{expected}"] * 2 + [expected] == [
            *told,
            plain_path(f"/v1/{SECRET}/chat"),
        ]
