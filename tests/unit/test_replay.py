from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.support import encode_bedrock
from tests.support.encode import Call, Turn
from tests.support.together import together
from wholecall import ArgumentsDelta, BadRecording, Policy, ToolCall, ToolCallDropped, UnknownDialect
from wholecall.recordings import read
from wholecall.replay import Chunking, replay

if TYPE_CHECKING:
    from collections.abc import Iterator

FRAME = (
    b'data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":%s}]}\n\n'
)
CALL = b'{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"ring","arguments":"%s"}}]}'
END = b'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n'
STREAM = (
    FRAME % (CALL % b'{\\"bell\\": ') + FRAME % b'{"tool_calls":[{"index":0,"function":{"arguments":"3}"}}]}'
) + (END + b"data: [DONE]\n\n")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder, which is also the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(*names: str, data: bytes = STREAM) -> None:
    """Write the same bytes into files below the current folder."""
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


class Broken(io.RawIOBase):
    """Bytes that end in an error of the disk."""

    def __init__(self, error: OSError) -> None:
        self.pieces: Iterator[bytes] = iter([STREAM[:100]])
        self.error = error

    def read(self, _size: int = -1) -> bytes:
        """Return the only piece, then fail."""
        for piece in self.pieces:
            return piece
        raise self.error


class TestReading:
    """The content of a recording."""

    @pytest.mark.usefixtures("folder")
    def test_a_recording_gives_its_events(self) -> None:
        """A path, or the source found at it, is read to its end."""
        write("x.sse")
        events = list(replay("x.sse"))
        (recording,) = read("x.sse")
        assert list(replay(recording)) == list(replay(Path("x.sse"))) == events
        assert [{"bell": 3}] == [event.arguments for event in events if isinstance(event, ToolCall)]

    @pytest.mark.usefixtures("folder")
    @pytest.mark.parametrize("chunk", ["1", "2", "7", "1460", "1000000", "random:1", "random:x"])
    def test_chunks_change_nothing(self, chunk: str) -> None:
        """However a recording is cut, its events are the same."""
        write("x.sse")
        assert list(replay("x.sse")) == list(replay("x.sse", chunking=Chunking.parse(chunk)))
        call = Call("tooluse_1", "ring", '{"bell":3}')
        write("x.bin", data=encode_bedrock.render_converse(Turn([call])))
        events = list(replay("x.bin", chunking=Chunking.parse(chunk)))
        assert [{"bell": 3}] == [event.arguments for event in events if isinstance(event, ToolCall)]
        assert list(replay("x.bin", framing="eventstream")) == events

    @pytest.mark.usefixtures("folder")
    def test_the_options_of_the_parser_are_passed_on(self) -> None:
        """The policy reaches the parser."""
        write("x.sse", data=FRAME % (CALL % b'{\\"bell\\": 3}'))
        lenient = list(replay("x.sse", policy=Policy(require_terminal=False)))
        assert any(isinstance(event, ToolCall) for event in lenient)
        assert any(isinstance(event, ToolCallDropped) for event in replay("x.sse"))

    @pytest.mark.usefixtures("folder")
    def test_events_of_calls_only(self) -> None:
        """With `events="calls"` the events are those of the recording but pieces of text; another word raises at
        once.
        """
        write("x.sse", data=FRAME % (CALL % b'{\\"bell\\": 3}'))
        expected = [event for event in replay("x.sse") if not isinstance(event, ArgumentsDelta)]
        assert expected == list(replay("x.sse", events="calls"))
        assert len(expected) < len(list(replay("x.sse")))
        with pytest.raises(ValueError, match="events is"):
            replay("x.sse", events=cast("Any", "few"))

    def test_an_unknown_dialect_raises_at_once(self) -> None:
        """The dialect is checked before anything is read."""
        with pytest.raises(UnknownDialect, match="esperanto"):
            replay("missing.sse", "esperanto")

    @pytest.mark.usefixtures("folder")
    @pytest.mark.parametrize("path", ["missing.sse", ""])
    def test_a_missing_file_is_a_bad_recording(self, path: str) -> None:
        """A file that cannot be opened raises when its first event is asked for."""
        events = replay(path)
        with pytest.raises(BadRecording, match=f"^{path}: "):
            next(events)

    def test_an_error_while_reading_names_the_place(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A file that fails in the middle raises with its path and the position."""
        broken = Broken(OSError(5, "Input/output error"))
        monkeypatch.setattr(Path, "open", lambda *_: broken)
        with pytest.raises(BadRecording, match=r"^x\.sse: Input/output error \(at byte 100\)$"):
            list(replay("x.sse"))
        assert broken.closed

    @pytest.mark.usefixtures("folder")
    def test_leaving_early_closes_the_file(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A file is open only while its events are taken."""
        file = io.BytesIO(STREAM)
        monkeypatch.setattr(Path, "open", lambda *_: file)
        events = replay("x.sse", chunking=Chunking(size=100))
        next(events)
        assert not file.closed
        events.close()  # type: ignore[attr-defined]
        assert file.closed

    def test_standard_input_is_read_and_left_open(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """`-` is standard input."""
        stdin = io.TextIOWrapper(io.BytesIO(STREAM))
        monkeypatch.setattr(sys, "stdin", stdin)
        assert any(isinstance(event, ToolCall) for event in replay("-"))
        assert not stdin.closed

    def test_no_standard_input_is_a_bad_recording(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A process without standard input says so."""
        monkeypatch.setattr(sys, "stdin", None)
        with pytest.raises(BadRecording, match=r"^-: there is no standard input$"):
            next(replay("-"))


class TestChunking:
    """The cuts of a recording."""

    def test_sizes_are_as_asked(self) -> None:
        """A number gives chunks of that size whatever came, the last one shorter; the default changes nothing."""
        pieces = [b"abcd", b"", b"e", b"fghij"]
        assert [b"abc", b"def", b"ghi", b"j"] == list(Chunking.parse("3").cut(pieces))
        assert pieces == list(Chunking().cut(pieces))

    def test_a_seed_gives_the_same_sizes_again(self) -> None:
        """Random sizes depend on the seed alone, and are small and large; no byte is lost."""
        data = bytes(range(256)) * 400
        first, again, other = (
            list(Chunking.parse(f"random:{seed}").cut([data[:999], data[999:]])) for seed in (1, 1, 2)
        )
        assert first == again != other
        assert b"".join(first) == b"".join(other) == data
        assert min(map(len, first[:-1])) == 1
        assert 1000 < max(map(len, first)) <= 4096

    @together("text", ["", "0", "-1", "1.5", "x", "random", "random:", "²", "chaos:1"])
    def test_anything_else_is_refused(self, text: str) -> None:
        """The message names the given value and the valid ones."""
        with pytest.raises(ValueError, match="random:SEED"):
            Chunking.parse(text)
