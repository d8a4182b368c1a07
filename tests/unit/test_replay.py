from __future__ import annotations

import io
import itertools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import encode_bedrock
from tests.support.encode import Call, Turn
from wholecall import BadRecording, Policy, ToolCall, ToolCallDropped, UnknownDialect
from wholecall.replay import Chunking, Recording, find_recordings, replay

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


def found(*paths: str | os.PathLike[str]) -> list[str]:
    """Return the places that can be read, with `/` between the parts."""
    return [Path(one.path).as_posix() for one in find_recordings(paths) if one.trouble is None]


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


class TestFinding:
    """What is found at a path."""

    def test_a_folder_gives_its_recordings_sorted(self, folder: Path) -> None:
        """A folder gives the files with a recording's suffix in it and below it, in the order of names."""
        write("b/2.sse", "b/1.ndjson", "b.jsonl", "a/deep/x.JSON", "a/y.bin", "notes.txt", "c/readme.md")
        assert ["a/deep/x.JSON", "a/y.bin", "b/1.ndjson", "b/2.sse", "b.jsonl"] == found(".")
        assert [(folder / "b" / name).as_posix() for name in ("1.ndjson", "2.sse")] == found(folder / "b")

    def test_logs_and_hidden_files_are_no_recordings(self, folder: Path) -> None:
        """Event logs, hidden files and hidden folders are left out."""
        write("x.sse", "x.events.jsonl", ".hidden.sse", ".git/y.sse")
        assert [f"{folder.as_posix()}/x.sse"] == found(folder)

    @pytest.mark.usefixtures("folder")
    def test_a_file_is_taken_whatever_its_name(self) -> None:
        """A file that is named outright is a recording, also one whose name looks like a glob."""
        write("a.log", "b[1].txt")
        assert ["b[1].txt", "a.log", "-"] == found("b[1].txt", "a.log", "-")

    @pytest.mark.usefixtures("folder")
    def test_a_glob_gives_each_recording_once(self) -> None:
        """A glob gives its matches sorted, folders with what is in them, nothing twice."""
        write("d/a.sse", "d/e/b.sse", "d/e/b.txt", "z.sse")
        assert ["d/a.sse", "d/e/b.sse"] == found("d/**")
        assert ["d/a.sse", "d/e/b.sse", "z.sse"] == found("**/*.sse")
        assert ["z.sse"] == found("?.*")

    @pytest.mark.usefixtures("folder")
    def test_folders_are_listed_when_they_are_reached(self) -> None:
        """Nothing is listed before its turn comes."""
        write("a/1.sse", "b/1.sse")
        search = find_recordings(["a", "b"])
        next(search)
        write("b/2.sse")
        assert ["1.sse", "2.sse"] == [Path(one.path).name for one in search]

    @pytest.mark.usefixtures("folder")
    @pytest.mark.parametrize("path", ["empty", "*.sse"])
    def test_nothing_found_is_trouble(self, path: str) -> None:
        """A folder or glob without recordings gives one that says so, also when it is read."""
        Path("empty").mkdir()
        (recording,) = find_recordings([path])
        assert recording.path == path
        assert "no recording" in (recording.trouble or "")
        with pytest.raises(BadRecording, match="no recording") as error:
            next(replay(recording))
        assert path in str(error.value)

    @pytest.mark.usefixtures("folder")
    def test_a_folder_that_cannot_be_listed_is_trouble(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The folder is named, and the search goes on behind it."""
        write("a/1.sse", "b/1.sse")
        scandir = os.scandir

        def refuse(path: str) -> os.ScandirIterator[str]:
            if path == "a":
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        monkeypatch.setattr(os, "scandir", refuse)
        first, second = find_recordings(["a", "b"])
        assert Recording("a", "Permission denied") == first
        assert second.trouble is None


class TestReading:
    """What a recording gives."""

    @pytest.mark.usefixtures("folder")
    def test_a_recording_gives_its_events(self) -> None:
        """A path, or what was found at it, is read to its end."""
        write("x.sse")
        events = list(replay("x.sse"))
        assert list(replay(Recording("x.sse"))) == list(replay(Path("x.sse"))) == events
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

    def test_an_unknown_dialect_raises_at_once(self) -> None:
        """The dialect is checked before anything is read."""
        with pytest.raises(UnknownDialect, match="esperanto"):
            replay("missing.sse", "esperanto")

    @pytest.mark.usefixtures("folder")
    @pytest.mark.parametrize("path", ["missing.sse", ""])
    def test_a_missing_file_is_a_bad_recording(self, path: str) -> None:
        """A file that cannot be opened raises when its first event is asked for."""
        (recording,) = find_recordings([path])
        events = replay(recording)
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
        events = replay("x.sse", chunking=Chunking(size=10))
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
    """How a recording is cut."""

    def test_sizes_are_as_asked(self) -> None:
        """A number gives chunks of that size, the default large ones."""
        assert [7, 7, 7] == list(itertools.islice(Chunking.parse("7").sizes(), 3))
        assert [64 * 1024] == list(itertools.islice(Chunking().sizes(), 1))

    def test_a_seed_gives_the_same_sizes_again(self) -> None:
        """Random sizes depend on the seed alone, and are small and large."""
        first, again, other = (
            list(itertools.islice(Chunking.parse(f"random:{seed}").sizes(), 200)) for seed in (1, 1, 2)
        )
        assert first == again != other
        assert min(first) == 1
        assert 1000 < max(first) <= 4096

    @pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "x", "random", "random:", "²", "chaos:1"])
    def test_anything_else_is_refused(self, text: str) -> None:
        """The message names what was given and what would do."""
        with pytest.raises(ValueError, match="random:SEED"):
            Chunking.parse(text)
