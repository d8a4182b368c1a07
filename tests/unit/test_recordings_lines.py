"""JSON lines with a whole response each: bare bodies, outputs of batches; and files that hold no responses."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import corpora
from wholecall import StreamFault, ToolCall
from wholecall.cli import main
from wholecall.recordings import read
from wholecall.replay import replay

BODIES = {
    "chat-completions": "chat-completions/whole-body.json",
    "responses": "responses/whole-body.json",
    "anthropic": "anthropic/whole-body.json",
    "gemini": "gemini/whole-body.json",
}
TRANSCRIPTS = corpora.CORPORA / "transcripts"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def body(dialect: str) -> bytes:
    """Return a whole response on one line."""
    value = json.loads((corpora.CORPORA / "recordings" / BODIES[dialect]).read_bytes())
    return json.dumps(value).encode()


def expected(dialect: str) -> list[tuple[str, Any]]:
    """Return the calls of a response."""
    return [
        (e.name, e.arguments) for e in replay(written(body(dialect), path="alone")) if isinstance(e, ToolCall)
    ]


def written(*lines: bytes, path: str = "x.jsonl") -> str:
    """Write lines to a file and return its path."""
    Path(path).write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def calls(path: str) -> dict[str, list[tuple[str, Any]]]:
    """Return the calls of each recording in a file, by name."""
    return {
        one.name: [(e.name, e.arguments) for e in replay(one) if isinstance(e, ToolCall)]
        for one in read(path)
    }


def openai(id: str, body: bytes, status: int = 200) -> bytes:
    """Return a line of the output of an OpenAI batch."""
    return (
        b'{"id": "batch_req_1", "custom_id": "%b", "response": {"status_code": %d, "request_id": "r", "body": %b}, '
        % (
            id.encode(),
            status,
            body,
        )
        + b'"error": null}'
    )


def anthropic(id: str, kind: str, **result: bytes) -> bytes:
    """Return a line of the results of a Message Batch."""
    more = b"".join(b',"%b":%b' % (name.encode(), value) for name, value in result.items())
    return b'{"custom_id":"%b","result":{"type":"%b"%b}}' % (id.encode(), kind.encode(), more)


class TestBodies:
    """A whole response on each line."""

    @pytest.mark.parametrize("dialect", BODIES)
    def test_each_line_is_a_recording(self, dialect: str) -> None:
        """It has the number of its line and the id of its response, and gives its own calls."""
        written(body(dialect), body(dialect), b" ", body(dialect), path="b.jsonl")
        assert {f"b.jsonl#{n}": expected(dialect) for n in (1, 2, 3)} == calls("b.jsonl")
        assert expected(dialect)
        value = json.loads(body(dialect))
        meta = {"id": value["id"]} if "id" in value else {}
        assert [(meta, "bodies")] * 3 == [(one.meta, one.form) for one in read("b.jsonl")]

    @pytest.mark.slow
    def test_a_thousand(self) -> None:
        """As many recordings as lines, each with its calls and without a fault."""
        written(*[body("chat-completions")] * 1000, path="b.jsonl")
        found = [list(replay(one)) for one in read("b.jsonl")]
        faults = [event for events in found for event in events if isinstance(event, StreamFault)]
        assert (1000, []) == (len(found), faults)

    def test_lines_may_differ(self) -> None:
        """Each line is detected by itself; a line of no known dialect, or not JSON, stops no other."""
        path = written(body("anthropic"), b'{"a": 1}', body("responses"), b'{"id": ', body("gemini"))
        recordings = read(path)
        found = list(recordings)
        assert ["x.jsonl#1", "x.jsonl#3", "x.jsonl#4", "x.jsonl#5"] == [one.name for one in found]
        assert {"no_dialect": 1} == recordings.skipped
        assert [None, None, "line 4 is not a JSON object", None] == [one.trouble for one in found]

    @pytest.mark.parametrize("damage", [b"\xff", b"\xed\xa0\x80", b"\\u00"])
    def test_damage_inside_of_a_body(self, damage: bytes) -> None:
        """Reading does not raise: a line that is not text, or is cut, is damage of one line."""
        whole = body("anthropic")
        broken = whole.replace(b"assistant", b"assis" + damage, 1)
        for lines in ([openai("a", whole), openai("b", broken), openai("c", whole)], [whole, broken, whole]):
            first, *_, last = read(written(*lines))
            found = [[e.name for e in replay(one) if isinstance(e, ToolCall)] for one in (first, last)]
            assert ("x.jsonl#1", "x.jsonl#3") == (first.name, last.name)
            assert [[name for name, _ in expected("anthropic")]] * 2 == found
        assert list(read(written(broken, whole)))

    def test_bytes_stay(self) -> None:
        """A body is the file's own content, in any spelling."""
        odd = body("chat-completions").replace(b'"chat.completion"', b'"chat\\u002ecompletion"')
        for path in (written(odd, odd), written(openai("a", odd))):
            assert odd == b"".join(chunk for _, chunk in next(read(path)).chunks)

    @pytest.mark.parametrize("dialect", BODIES)
    def test_one_body_is_one_file(self, dialect: str) -> None:
        """A single response, on one line or many, is a recording by the name of the file."""
        for text in (body(dialect), json.dumps(json.loads(body(dialect)), indent=2).encode()):
            assert {"x.jsonl": expected(dialect)} == calls(written(text))

    def test_pieces_of_streams_are_no_bodies(self) -> None:
        """Lines of one stream are one recording."""
        gemini = [
            b'{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}',
            b'{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}',
        ]
        assert ["x.jsonl"] == [one.name for one in read(written(*gemini))]

    def test_a_live_stream_is_not_waited_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A first line that is a piece of a stream decides at once."""

        class Live(io.BytesIO):
            def read1(self, _size: int | None = -1, /) -> bytes:
                """Return a line, and fail if more is asked for than one."""
                line = self.readline()
                assert line, "it waits for a second line"
                return line

        line = b'{"model":"m","message":{"role":"assistant","content":"a"},"done":false}\n'
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": Live(line)})())
        assert (None, line) == next(next(read("-")).chunks)


class TestBatches:
    """Outputs of batches."""

    @pytest.mark.parametrize("dialect", ["chat-completions", "responses"])
    def test_openai(self, dialect: str) -> None:
        """The body is unwrapped; the id is that of the request, the status that of the response."""
        path = written(openai("a", body(dialect)), openai("b", body(dialect)), path="out.jsonl")
        assert {f"out.jsonl#{n}": expected(dialect) for n in (1, 2)} == calls(path)
        assert [({"id": "a"}, 200), ({"id": "b"}, 200)] == [(one.meta, one.status) for one in read(path)]

    def test_openai_that_failed(self) -> None:
        """An error of the provider is a recording with a fault; a request that was not answered has its error."""
        error = b'{"message": "no", "code": "batch_expired"}'
        path = written(
            openai("a", b'{"error": {"message": "no"}}', 400),
            b'{"id": "b", "custom_id": "b", "response": null, "error": %b}' % error,
            b'{"id": "b", "custom_id": "b", "response": null, "error": null}',
        )
        recordings = read(path)
        kinds = [[e.kind for e in replay(one) if isinstance(e, StreamFault)] for one in recordings]
        assert [["provider_error"], ["provider_error"]] == kinds
        assert {"no_response": 1} == recordings.skipped

    def test_anthropic(self) -> None:
        """Messages and errors are recordings; a canceled or expired request has none."""
        error = b'{"type": "error", "error": {"type": "overloaded_error", "message": "no"}}'
        recordings = read(
            written(
                anthropic("a", "canceled"),
                anthropic("b", "succeeded", message=body("anthropic")),
                anthropic("c", "errored", error=error),
            )
        )
        found = {
            one.name: [e for e in replay(one) if isinstance(e, (ToolCall, StreamFault))] for one in recordings
        }
        assert ["x.jsonl#2", "x.jsonl#3"] == list(found)
        assert expected("anthropic") == [
            (e.name, e.arguments) for e in found["x.jsonl#2"] if isinstance(e, ToolCall)
        ]
        assert [StreamFault] == [type(e) for e in found["x.jsonl#3"]]
        assert {"no_response": 1} == recordings.skipped

    def test_gemini_and_bedrock(self) -> None:
        """The Developer API names requests by a key, Vertex AI repeats them, Bedrock has a record's id."""
        gemini, message = body("gemini"), body("anthropic")
        for line, dialect, meta in (
            (b'{"key": "a", "response": %b}' % gemini, "gemini", {"id": "a"}),
            (b'{"status": "", "request": {"contents": []}, "response": %b}' % gemini, "gemini", {}),
            (b'{"recordId": "r", "modelInput": {}, "modelOutput": %b}' % message, "anthropic", {"id": "r"}),
        ):
            path = written(line)
            assert {"x.jsonl#1": expected(dialect)} == calls(path)
            assert [meta] == [one.meta for one in read(written(line))]

    def test_replay_shows_the_ids(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Number and id are in the list, for people, and in each line, for programs."""
        path = written(openai("request-7", body("chat-completions")), openai("b", body("chat-completions")))
        assert 0 == main(["replay", "--calls", path])
        assert "x.jsonl#1 (request-7)  chat-completions" in capsys.readouterr().out
        assert 0 == main(["replay", "--json", path])
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert {("x.jsonl#1", "request-7"), ("x.jsonl#2", "b")} == {
            (line["recording"], line["recording_id"]) for line in lines
        }

    def test_a_single_result(self) -> None:
        """A batch of one request is unwrapped, too."""
        assert {"x.jsonl#1": expected("anthropic")} == calls(
            written(anthropic("a", "succeeded", message=body("anthropic")))
        )


class TestOthers:
    """Files that hold no responses."""

    @pytest.mark.sampled(11)
    @pytest.mark.parametrize(
        "path", sorted(path for path in TRANSCRIPTS.rglob("*.json*") if path.parent != TRANSCRIPTS), ids=str
    )
    def test_a_transcript_names_its_command(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Every transcript is named with the command that reads it, and read by it."""
        assert 1 == main(["replay", str(path)])
        assert f"wholecall: {path}: no answer of a model: it is a transcript (" in capsys.readouterr().err
        assert "`wholecall history check`" in str(next(read(path)).trouble)
        assert main(["history", "check", str(path)]) in {0, 1}

    @pytest.mark.parametrize("indent", [None, 2])
    @pytest.mark.parametrize("name", ["messages", "input", "contents"])
    def test_a_request_is_one(self, name: str, indent: int | None) -> None:
        """A body that was sent holds a transcript."""
        request = {"model": "m", name: [{"role": "user"}]}
        (recording,) = read(written(json.dumps(request, indent=indent).encode()))
        assert "transcript" == recording.form

    def test_in_a_folder_they_are_skipped(self) -> None:
        """A folder of sessions and recordings gives the recordings."""
        written(b'{"role": "user", "content": "a"}', b'{"role": "assistant", "content": "b"}', path="s.jsonl")
        written(b"data: {}", b"", path="x.sse")
        recordings = read(".")
        assert ["x.sse"] == [one.name for one in recordings]
        assert {"transcript": 1} == recordings.skipped

    @pytest.mark.parametrize("first", [b"9:websocket;0:~", b"7:version;2:21#", b"7:version,2:19#"])
    def test_flows_of_mitmproxy_are_named(self, first: bytes) -> None:
        """The sentence says how they become an archive, which is read."""
        Path("flows").write_bytes(b"1234:" + first + b"8:response;" * 50)
        (recording,) = read("flows")
        assert recording.trouble is not None
        assert "mitmdump -n -r flows --set hardump=flows.har" in recording.trouble

    def test_a_stream_of_numbers_is_none(self) -> None:
        """Vercel's lines begin with a number and a colon, too."""
        Path("x").write_bytes(b'9:{"toolCallId":"a","toolName":"f","args":{}}\n')
        assert ["raw"] == [one.form for one in read("x")]
