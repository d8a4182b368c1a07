from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import corpora
from tests.support.exchanges import SECRET, STARTED, entry
from wholecall.cli import main
from wholecall.proxy.config import RecordConfig
from wholecall.proxy.entry import Entry
from wholecall.proxy.recording import Bounds, Folder, Recordings
from wholecall.recordings import read
from wholecall.replay import replay

CHAT = (corpora.CORPORA / "recordings/chat-completions/arguments-unicode.sse").read_bytes()
NAME = "2026-11-23T09-06-55_req-1.jsonl"
TINY = Bounds(tape=1000, batch=500, seconds=1.0)


class Clock:
    """Seconds that advance by a step with each reading."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 100.0
        self.step = step

    def __call__(self) -> float:
        """Return the time."""
        self.now += self.step
        return self.now


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder that is not there yet."""
    return tmp_path / "logs/recordings"


def names(folder: Path) -> list[str]:
    """Return the content of a folder."""
    return sorted(path.name for path in folder.iterdir())


def recorded(
    folder: Path,
    *exchanges: tuple[Entry, list[bytes]],
    room: Bounds | None = None,
    clock: Any = None,
    **config: Any,
) -> Recordings:
    """Record exchanges, one after the other, and wait until all is written."""
    recordings = Recordings(
        RecordConfig(dir=folder, **config), bounds=room or Bounds(), clock=clock or Clock()
    )
    for told, pieces in exchanges:
        tape = recordings.tape(told)
        for piece in pieces:
            tape.chunk(piece)
        tape.over(is_odd=told.is_odd)
    assert recordings.close()
    return recordings


def pieces_of(data: bytes, size: int) -> list[bytes]:
    """Cut bytes."""
    return [data[at : at + size] for at in range(0, len(data), size)]


def test_a_recording_has_its_bytes_and_times(folder: Path) -> None:
    """The input is read again, piece by piece, each with the time since the answer began."""
    pieces = pieces_of(CHAT, 200)
    recorded(folder, (entry(), pieces), clock=Clock(0.5))

    (recording,) = read(str(folder))
    chunks = list(recording.chunks)
    assert pieces == [data for _, data in chunks]
    assert [0.5 * n for n in range(1, len(pieces) + 1)] == [at for at, _ in chunks]


def test_its_header_says_where_it_came_from(folder: Path) -> None:
    """The header has the method, the path, the status, the type, the upstream and the exchange's id."""
    recorded(folder, (entry(path="/a b\n/v1/messages"), [b"data: {}\n\n"]))
    header = json.loads((folder / NAME).read_bytes().splitlines()[0])

    assert header == {
        "wholecall": "recording",
        "version": 1,
        "method": "POST",
        "url": "/a%20b%0A/v1/messages",
        "status": 200,
        "content_type": "text/event-stream",
        "meta": {"id": "req-1", "upstream": "openai"},
    }


def test_only_its_owner_reads_it(folder: Path) -> None:
    """A file has mode 600, and the folder that is made for it 700."""
    recorded(folder, (entry(), [b"data: {}\n\n"]))

    assert (0o600, 0o700) == (
        stat.S_IMODE((folder / NAME).stat().st_mode),
        stat.S_IMODE(folder.stat().st_mode),
    )


@pytest.mark.parametrize(("requests", "is_there"), [(False, False), (True, True)])
def test_the_request_is_kept_only_where_wanted(folder: Path, requests: bool, is_there: bool) -> None:
    """The request's body is in the header if the configuration asks for it, else nowhere."""
    recorded(folder, (entry(), [b"data: {}\n\n"]), requests=requests)

    assert is_there == (SECRET in (folder / NAME).read_text())


@pytest.mark.parametrize("room", [Bounds(), TINY], ids=["in memory", "written early"])
@pytest.mark.parametrize(
    ("told", "is_kept"),
    [
        ({}, False),
        ({"outcome": "client_left"}, False),
        ({"outcome": "mended", "mended": True}, True),
        ({"outcome": "withheld", "n_withheld": 1}, True),
        ({"outcome": "client_left", "n_withheld": 1}, True),
        ({"outcome": "upstream_lost"}, True),
        ({"outcome": "upstream_incomplete"}, True),
        ({"outcome": "cut"}, True),
    ],
    ids=str,
)
def test_what_is_odd_is_kept(folder: Path, told: dict[str, Any], is_kept: bool, room: Bounds) -> None:
    """With `odd` a recording stays if something was withheld, mended, lost or faulty; others leave nothing."""
    recordings = recorded(folder, (entry(**told), pieces_of(CHAT, 100)), only="odd", room=room)

    assert [NAME] * is_kept == names(folder)
    assert (0, 0) == (recordings.lost, recordings.held)
    if is_kept:
        (recording,) = read(str(folder))
        assert CHAT == b"".join(data for _, data in recording.chunks)


def test_large_ones_do_not_stay_in_memory(folder: Path) -> None:
    """An exchange that may turn out odd waits in memory up to a bound, then on the disk."""
    recordings = Recordings(RecordConfig(dir=folder, only="odd"), bounds=TINY, clock=Clock())
    tape = recordings.tape(entry())
    held: list[int] = []
    for piece in pieces_of(CHAT, 100):
        tape.chunk(piece)
        held.append(recordings.held)
    tape.over(is_odd=False)

    assert max(held) <= TINY.tape
    assert recordings.close()
    assert [] == names(folder)


def test_many_small_ones_do_not_stay_in_memory(folder: Path) -> None:
    """The exchanges of a process share a bound, too."""
    recordings = Recordings(RecordConfig(dir=folder, only="odd"), bounds=Bounds(all=5000), clock=Clock())
    tapes = [recordings.tape(entry(id=f"req-{n}")) for n in range(100)]
    held: list[int] = []
    for tape in tapes:
        tape.chunk(b"x" * 100)
        held.append(recordings.held)
    for tape in tapes:
        tape.over(is_odd=True)

    assert max(held) <= 5000
    assert recordings.close()
    assert (100, 0, 0) == (len(names(folder)), recordings.held, recordings.lost)


def test_pieces_do_not_wait_for_long(folder: Path) -> None:
    """Where everything is recorded, a piece goes to the disk a second after the one before it, not at the end."""
    clock = Clock()
    recordings = Recordings(RecordConfig(dir=folder), clock=clock)
    tape = recordings.tape(entry())
    tape.chunk(b"data: 1\n\n")
    waiting = recordings.held
    clock.now += 1.5
    tape.chunk(b"data: 2\n\n")

    written(recordings)
    early = names(folder)
    tape.over(is_odd=False)

    assert waiting > 0
    assert 0 == recordings.held
    assert recordings.close()
    assert [f"{NAME}.part"] == early  # a reader sees that it is not whole


def written(recordings: Recordings) -> None:
    """Wait until all is on the disk that goes there so far."""
    is_dry = threading.Event()
    recordings.writer.insist(is_dry.set)
    is_dry.wait()


class Stuck:
    """A disk that does not answer until it is released."""

    def __init__(self, recordings: Recordings) -> None:
        self.begun = threading.Event()
        self.let = threading.Event()
        recordings.writer.insist(self.stick)
        self.begun.wait()

    def stick(self) -> None:
        """Be the job that does not end."""
        self.begun.set()
        self.let.wait()


@pytest.fixture
def stuck(folder: Path) -> Iterator[tuple[Recordings, Stuck]]:
    """Return recordings onto a disk that does not answer."""
    room = Bounds(queue=2000, batch=100)
    recordings = Recordings(RecordConfig(dir=folder), bounds=room, clock=Clock())
    disk = Stuck(recordings)
    yield recordings, disk
    disk.let.set()
    recordings.close()


def test_a_slow_disk_costs_the_recording(folder: Path, stuck: tuple[Recordings, Stuck]) -> None:
    """When too much waits, a recording is given up and counted once; the others are whole, and nothing is left of it."""
    recordings, disk = stuck
    small, large = recordings.tape(entry(id="small")), recordings.tape(entry(id="large"))
    small.chunk(b"data: 1\n\n")
    for _ in range(50):
        large.chunk(b"x" * 100)
    large.over(is_odd=True)
    lost = recordings.lost
    disk.let.set()
    written(recordings)
    small.chunk(b"data: 2\n\n")
    small.over(is_odd=True)

    assert recordings.close()
    assert (1, 1, 0) == (lost, recordings.lost, recordings.held)
    assert ["2026-11-23T09-06-55_small.jsonl"] == names(folder)


def test_what_was_begun_is_removed(folder: Path) -> None:
    """A recording that is given up in the middle leaves nothing on the disk."""
    recordings = Recordings(RecordConfig(dir=folder), bounds=Bounds(queue=1000, batch=100), clock=Clock())
    tape = recordings.tape(entry())
    tape.chunk(b"x" * 100)
    written(recordings)
    early, disk = names(folder), Stuck(recordings)
    for _ in range(10):
        tape.chunk(b"x" * 100)
    disk.let.set()
    tape.over(is_odd=True)

    assert recordings.close()
    assert ([f"{NAME}.part"], [], 1) == (early, names(folder), recordings.lost)


def test_a_slow_disk_costs_no_memory(stuck: tuple[Recordings, Stuck]) -> None:
    """However much arrives while the disk does not answer, the memory kept is bounded."""
    recordings, _ = stuck
    tapes = [recordings.tape(entry(id=f"req-{n}")) for n in range(50)]
    for _ in range(10):
        for tape in tapes:
            tape.chunk(b"x" * 1000)

    assert recordings.held == 0
    assert recordings.writer._n_bytes <= 2000
    assert 50 == recordings.lost


def test_a_full_disk_costs_the_recording(folder: Path) -> None:
    """An error of the disk is counted once for each recording, and has no other effect."""
    recordings = Recordings(RecordConfig(dir=folder), bounds=TINY, clock=Clock())
    folder.rmdir()
    for n in range(2):
        tape = recordings.tape(entry(id=f"req-{n}"))
        for piece in pieces_of(CHAT, 200):
            tape.chunk(piece)
        tape.over(is_odd=True)

    assert recordings.close()
    assert 2 == recordings.lost


def test_after_the_end_recordings_are_lost(folder: Path) -> None:
    """Input after the writer was closed is counted as lost."""
    recordings = Recordings(RecordConfig(dir=folder), clock=Clock())
    assert recordings.close()
    tape = recordings.tape(entry())
    tape.chunk(b"data: {}\n\n")
    tape.over(is_odd=True)

    assert (1, 0) == (recordings.lost, recordings.held)


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    """A folder that cannot be made is reported at once, when the proxy starts."""
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        Recordings(RecordConfig(dir=tmp_path / "file"))

    assert ["file"] == names(tmp_path)


def test_the_same_id_twice(folder: Path) -> None:
    """Clients choose ids, and repeat them: no recording replaces another one."""
    same = [(entry(), [b"data: %d\n\n" % n]) for n in range(3)]
    recorded(folder, *same)

    assert [b"data: 0\n\n", b"data: 1\n\n", b"data: 2\n\n"] == [
        data
        for recording in read(*sorted(map(str, folder.iterdir()), key=len))
        for _, data in recording.chunks
    ]


@pytest.mark.parametrize("id", ["a:b", "..", ".", "-", "a" * 128])
def test_an_id_is_no_path(folder: Path, id: str) -> None:
    """Whatever plain id a client chooses, the recording lies in the folder, under the time and the id."""
    recorded(folder, (entry(id=id), [b"data: {}\n\n"]))

    assert [f"2026-11-23T09-06-55_{id.replace(':', '-')}.jsonl"] == names(folder)
    assert [id] == [recording.meta["id"] for recording in read(*map(str, folder.iterdir()))]


def test_the_oldest_go_first(folder: Path) -> None:
    """The folder holds the newest recordings that fit into its bound; files that are not ours stay."""
    folder.mkdir(parents=True)
    (folder / "mine.jsonl").write_bytes(b"x" * 9000)
    exchanges = [(entry(id="x", started=STARTED + n), [b"y" * 1000]) for n in range(20)]
    recorded(folder, *exchanges, max_bytes=6000)

    left = [name for name in names(folder) if name != "mine.jsonl"]
    assert (folder / "mine.jsonl").exists()
    assert [f"2026-11-23T09-07-{15 - len(left) + n:02}_x.jsonl" for n in range(len(left))] == left
    assert 3000 < sum((folder / name).stat().st_size for name in left) <= 6000


def test_one_that_is_larger_than_the_bound_stays(folder: Path) -> None:
    """The newest recording stays, even if it alone is too large: it is the one most likely looked at."""
    exchanges = [(entry(id=f"r{n}", started=STARTED + n), [b"y" * 1000]) for n in range(3)]
    recorded(folder, *exchanges, max_bytes=10)

    assert ["2026-11-23T09-06-57_r2.jsonl"] == names(folder)


def test_room_is_not_looked_for_each_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of many recordings is not looked through for each new one."""
    recordings = Recordings(RecordConfig(dir=folder, max_bytes=100_000), clock=Clock())
    looked: list[int] = []
    files = recordings.folder._files
    monkeypatch.setattr(recordings.folder, "_files", lambda: looked.append(1) or files())
    for n in range(1000):
        tape = recordings.tape(entry(id=f"r{n}", started=STARTED + n))
        tape.chunk(b"y" * 1000)
        tape.over(is_odd=True)

    assert recordings.close()
    assert len(looked) < 250
    assert sum((folder / name).stat().st_size for name in names(folder)) <= 100_000


@given(st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=12), st.sampled_from(["all", "odd"]))
def test_any_bytes_come_back(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], only: Any
) -> None:
    """Whatever the bytes are and however they are cut, they are read again as they came."""
    folder = tmp_path_factory.mktemp("recordings")
    room = Bounds(tape=300, batch=200)
    recorded(folder, (entry(outcome="cut"), pieces), only=only, room=room, clock=Clock(0.3))

    (recording,) = read(str(folder))
    assert pieces == [data for _, data in recording.chunks]


def test_the_commands_read_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`wholecall replay` and `wholecall lint` read a recording, with its id."""
    recorded(folder, (entry(), pieces_of(CHAT, 150)))
    statuses = [main(["replay", "--json", str(folder)])]
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    statuses.append(main(["lint", "--json", str(folder)]))
    linted = capsys.readouterr().out

    (recording,) = read(str(folder))
    events = list(replay(recording))
    calls = [event for event in events if type(event).__name__ == "ToolCall"]
    assert [0, 0] == statuses
    assert len(calls) == sum(line.get("type") == "tool_call" for line in shown) > 0
    assert {"req-1"} == {line.get("recording_id") for line in shown}
    assert NAME in linted


def test_what_was_abandoned_goes_too(folder: Path) -> None:
    """A part that was not written to for an hour counts as a recording, one that is being written does not."""
    folder.mkdir(parents=True)
    old, new = (folder / f"2026-01-0{day}T00-00-00_x.jsonl.part" for day in (1, 2))
    for part in (old, new):
        part.write_bytes(b"x" * 5000)
    os.utime(old, (1e9, 1e9))
    recorded(folder, (entry(), [b"y" * 1000]), max_bytes=2000)

    assert [new.name, NAME] == names(folder)


def test_what_is_no_file_is_left_alone_and_said(tmp_path: Path) -> None:
    """Folders, pipes and links with names of recordings are not counted, and stop nothing."""
    names = [f"2020-01-01T00-00-0{n}_x.jsonl" for n in range(3)]
    (tmp_path / names[0]).mkdir()
    os.mkfifo(tmp_path / names[1])
    (tmp_path / names[2]).symlink_to(tmp_path / "elsewhere")
    said: list[str] = []
    folder = Folder(tmp_path, 10, said.append)
    for n in range(4):
        part, file = folder.begin(f"2026-01-01T00-00-0{n}_y")
        with file:
            file.write(b"x" * 9)
        folder.keep(part)

    kept = sorted(entry.name for entry in tmp_path.iterdir())
    assert (names, [*names, "2026-01-01T00-00-03_y.jsonl"]) == (sorted(said), kept)
