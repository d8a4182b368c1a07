"""Raw files that hold several streams, one after the other."""

from __future__ import annotations

import io
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support import corpora
from wholecall import BadRecording, ToolCall
from wholecall.recordings import read, streams
from wholecall.recordings.finding import Place
from wholecall.recordings.source import Source
from wholecall.replay import replay

# A stream of each kind that says where it ends, or has an id in each chunk.
ENDING = {
    "chat": "chat-completions/arguments-unicode.sse",
    "anthropic": "anthropic/blocks-interleaved.sse",
    "responses": "responses/call-id-missing.sse",
    "responses-lines": "responses/json-lines.ndjson",
    "ollama": "ollama/single-call.ndjson",
    "ollama-generate": "ollama-generate/text.ndjson",
}
GEMINI = b"".join(
    b'data: {"candidates":[{"content":{"parts":[{"text":"%d"}]}}],"responseId":"R"}\r\n\r\n' % n
    for n in range(3)
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stream(kind: str) -> bytes:
    """Return the bytes of a stream."""
    data = (corpora.RECORDINGS / ENDING[kind]).read_bytes()
    return data if data.endswith(b"\n") else data + b"\n"


def taken(path: str) -> dict[str, bytes]:
    """Return the bytes of the recordings at a path, by name."""
    return {one.name: b"".join(chunk for _, chunk in one.chunks) for one in read(path)}


class TestJoined:
    """The output of `cat a b`."""

    @pytest.mark.parametrize("first", ENDING)
    @pytest.mark.parametrize("second", ENDING)
    def test_each_stream_is_a_recording(self, first: str, second: str) -> None:
        """Streams of one framing are taken apart again, byte for byte; one of another framing ends where it said so."""
        a, b = stream(first), stream(second)
        Path("x").write_bytes(a + b + a)
        is_one_framing = a.startswith(b"{") == b.startswith(b"{")
        if not is_one_framing:
            assert a + b + a == b"".join(taken("x").values())
            return
        assert {"x": a, "x#2": b, "x#3": a} == taken("x")

    @pytest.mark.parametrize("kind", ENDING)
    @pytest.mark.parametrize("size", [1, 7, 1000])
    def test_pieces_change_nothing(self, kind: str, size: int) -> None:
        """However the bytes come, the recordings are the same."""
        data = stream(kind)
        both = data + data
        pieces = (both[start : start + size] for start in range(0, len(both), size))
        source = Source(Place("x"), pieces)
        source.fill()

        found = [
            b"".join(chunk for _, chunk in one.chunks) for one in streams.read_streams(source, Counter())
        ]
        assert [data, data] == found

    def test_each_has_its_own_calls(self) -> None:
        """Joined streams give the calls of both, each as if it were alone."""
        data = stream("chat")
        Path("a.sse").write_bytes(data)
        Path("b.sse").write_bytes(data * 2)

        alone = [event.to_json() for event in replay("a.sse")]
        assert [alone, alone] == [[event.to_json() for event in replay(one)] for one in read("b.sse")]
        assert any(isinstance(event, ToolCall) for event in replay("a.sse"))

    def test_the_ids_of_gemini(self) -> None:
        """Its streams have no end; each chunk names its response."""
        other = GEMINI.replace(b'"R"', b'"S"')
        Path("x.sse").write_bytes(GEMINI + other + GEMINI)

        assert {"x.sse": GEMINI, "x.sse#2": other, "x.sse#3": GEMINI} == taken("x.sse")

    def test_carriage_returns(self) -> None:
        """Events may end with any of the line ends that server-sent events know."""
        for end in (b"\r\n", b"\r"):
            data = b"\n".join(stream("anthropic").splitlines()).replace(b"\n", end) + end
            Path("x.sse").write_bytes(data * 2)
            assert {"x.sse": data, "x.sse#2": data} == taken("x.sse")


class TestOneStream:
    """Streams that look like several and are one."""

    @pytest.mark.parametrize(
        "paths", corpora.groups(path for path in corpora.streams() if path.suffix in {".sse", ".ndjson"})
    )
    def test_every_recording_of_the_corpora_is_one(self, paths: list[Path]) -> None:
        """Sessions with several turns, streams that begin again, and frames that servers append after an end."""
        assert {str(path): path.read_bytes() for path in paths} == {
            name: data for path in paths for name, data in taken(str(path)).items()
        }

    def test_a_session_of_a_socket(self) -> None:
        """A response that names the previous one goes on with its session, also after one that failed; lanes always do."""
        end, fail = b'{"type":"response.completed"}\n', b'{"type":"response.failed"}\n'
        next_ = b'{"type":"response.created","response":{"previous_response_id":"r"}}\n'
        lane = b'{"type":"response.completed","stream_id":"a"}\n{"type":"response.created","stream_id":"a"}\n'
        found = []
        sessions = [next_ + end + next_ + end, next_ + fail + next_ + end, lane * 2]
        for data in sessions:
            Path("x.ndjson").write_bytes(data)
            found.append(list(taken("x.ndjson").values()))

        assert [[data] for data in sessions] == found

    @pytest.mark.parametrize(
        "more",
        [
            b"data: [DONE]\n\n",
            b": ping\n\n",
            b'data: {"choices":[],"usage":{"total_tokens":3}}\n\n',
            b'data: {"text":"{\\"type\\":\\"message_start\\"}"}\n\n',
            b'data: {"event":{"type":"message_start"}}\n\n',
        ],
    )
    def test_what_comes_after_an_end(self, more: bytes) -> None:
        """It belongs to the stream, unless another one begins with it."""
        Path("x.sse").write_bytes(stream("chat") + more)
        assert {"x.sse": stream("chat") + more} == taken("x.sse")

    def test_arguments_that_say_done(self) -> None:
        """A member of arguments is not an end, and neither is the line that says that the model is loaded."""
        lines = (
            b'{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}\n'
            b'{"model":"m","message":{"tool_calls":[{"function":{"name":"f","arguments":{"done":true}}}]},"done":false}\n'
            b'{"model":"m","message":{"role":"assistant","content":""},"done":true}\n'
        )
        Path("x.ndjson").write_bytes(lines)
        assert {"x.ndjson": lines} == taken("x.ndjson")


class TestTaking:
    """When chunks are taken."""

    def test_in_any_order(self) -> None:
        """A file is opened again if it must be; a begun stream cannot be returned to."""
        data = stream("chat")
        Path("x.sse").write_bytes(data * 3)
        first, second, third = list(read("x.sse"))

        for recording in (third, first, second):
            assert data == b"".join(chunk for _, chunk in recording.chunks)

    def test_standard_input(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its streams are taken apart while they come, and can be taken once."""
        data = stream("ollama")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data * 2)))
        assert {"-": data, "-#2": data} == taken("-")

        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data * 2)))
        recordings = read("-")
        first = next(recordings)
        next(first.chunks)
        assert "-#2" == next(recordings).name
        with pytest.raises(ValueError, match="before the next one"):
            list(first.chunks)

    def test_what_has_come_is_passed_on(self) -> None:
        """Each event of a live stream is there when it has ended."""
        pieces = iter([b'data: {"choices"', b":[]}\n\ndata: {", b"}\n\n"])
        source = Source(Place("x"), pieces)
        source.fill()
        recording = next(streams.read_streams(source, None))
        assert (None, b'data: {"choices":[]}\n\n') == next(recording.chunks)
        assert [b"}\n\n"] == list(pieces)

    def test_an_event_is_not_waited_for_without_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A very long event is passed on while it comes, and cut nowhere else."""
        monkeypatch.setattr(streams, "_SHOWN", 100)
        pieces = [b'data: {"a":"', *[b"x" * 60] * 50, b'"}\n', b"\ndata: [DONE]\n\n"]
        source = Source(Place("x"), iter(pieces))
        source.fill()
        recording = next(streams.read_streams(source, None))
        chunks = [chunk for _, chunk in recording.chunks]

        assert b"".join(pieces) == b"".join(chunks)
        assert max(map(len, chunks)) < 400

    def test_damage_is_met_once(self) -> None:
        """A file that breaks off while it is not being taken is one recording, which says so when it is taken."""

        def broken() -> object:
            yield stream("chat")
            raise BadRecording("x: the file ends too early")

        source = Source(Place("x"), broken())  # type: ignore[arg-type]
        source.fill()
        (recording,) = streams.read_streams(source, None)
        assert "x" == recording.name
