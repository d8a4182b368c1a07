from __future__ import annotations

import os
from pathlib import Path

import pytest

from wholecall.recordings.finding import Place, find


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder, which is also the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(*names: str) -> None:
    """Write files below the current folder."""
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"data: {}\n\n")


def found(*paths: str | os.PathLike[str]) -> list[str]:
    """Return the places that can be read, with `/` between the parts."""
    return [Path(one.path).as_posix() for one in find(paths) if one.trouble is None]


class TestFinding:
    """The recordings found at a path."""

    def test_a_folder_gives_its_recordings_sorted(self, folder: Path) -> None:
        """A folder gives the files with a recording's suffix in it and below it, in the order of names."""
        write("b/2.sse", "b/1.ndjson", "b.jsonl", "a/deep/x.JSON", "a/y.bin", "notes.txt", "c/readme.md")
        assert ["a/deep/x.JSON", "a/y.bin", "b/1.ndjson", "b/2.sse", "b.jsonl"] == found(".")
        assert [(folder / "b" / name).as_posix() for name in ("1.ndjson", "2.sse")] == found(folder / "b")

    def test_logs_and_hidden_files_are_no_recordings(self, folder: Path) -> None:
        """Event logs, hidden files and hidden folders are left out."""
        write("x.sse", "x.case.json", "x.events.jsonl", ".hidden.sse", ".git/y.sse")
        assert [f"{folder.as_posix()}/x.sse"] == found(folder)

    @pytest.mark.usefixtures("folder")
    def test_a_file_is_taken_whatever_its_name(self) -> None:
        """A file that is named outright is a recording, also one whose name looks like a glob."""
        write("a.log", "b[1].txt")
        assert ["b[1].txt", "a.log", "-"] == found("b[1].txt", "a.log", "-")

    @pytest.mark.usefixtures("folder")
    def test_a_glob_gives_each_recording_once(self) -> None:
        """A glob gives its matches sorted, folders with their content, nothing twice."""
        write("d/a.sse", "d/e/b.sse", "d/e/b.txt", "z.sse")
        assert ["d/a.sse", "d/e/b.sse"] == found("d/**")
        assert ["d/a.sse", "d/e/b.sse", "z.sse"] == found("**/*.sse")
        assert ["z.sse"] == found("?.*")

    @pytest.mark.usefixtures("folder")
    def test_folders_are_listed_when_they_are_reached(self) -> None:
        """Nothing is listed before its turn comes."""
        write("a/1.sse", "b/1.sse")
        search = find(["a", "b"])
        next(search)
        write("b/2.sse")
        assert ["1.sse", "2.sse"] == [Path(one.path).name for one in search]

    @pytest.mark.usefixtures("folder")
    @pytest.mark.parametrize("path", ["empty", "*.sse"])
    def test_nothing_found_is_trouble(self, path: str) -> None:
        """A folder or glob without recordings gives one that says so, not an error."""
        Path("empty").mkdir()
        (place,) = find([path])
        assert place.path == path
        assert "no recording" in (place.trouble or "")

    @pytest.mark.usefixtures("folder")
    def test_links_are_files_unless_they_lead_to_folders(self) -> None:
        """A link to a folder is not followed, whatever it is called; one that leads nowhere is found out by reading it."""
        write("a/1.sse", "b/2.sse")
        Path("a/folder.sse").symlink_to(Path("b").absolute())
        Path("a/itself.sse").symlink_to("itself.sse")
        Path("a/file.sse").symlink_to(Path("b/2.sse").absolute())

        assert ["a/1.sse", "a/file.sse", "a/itself.sse"] == [
            Path(place.path).as_posix() for place in find(["a"])
        ]

    @pytest.mark.usefixtures("folder")
    def test_a_folder_that_cannot_be_listed_is_trouble(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The folder is named, and the search continues after it."""
        write("a/1.sse", "b/1.sse")
        scandir = os.scandir

        def refuse(path: str) -> os.ScandirIterator[str]:
            if path == "a":
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        monkeypatch.setattr(os, "scandir", refuse)
        first, second = find(["a", "b"])
        assert Place("a", "Permission denied") == first
        assert second.trouble is None

    @pytest.mark.usefixtures("folder")
    def test_archives_cassettes_and_compressed_files_are_found(self) -> None:
        """A folder gives archives, cassettes, and compressed files; of archives of files nothing."""
        write("a.har", "b.yaml", "c.YML", "d.sse.gz", "e.jsonl.zst", "f.gz", "g.tar.gz", "h.events.jsonl.gz")
        assert ["a.har", "b.yaml", "c.YML", "d.sse.gz", "e.jsonl.zst"] == found(".")

    @pytest.mark.usefixtures("folder")
    def test_it_is_known_what_was_asked_for_by_name(self) -> None:
        """A file that a folder or a glob gave was not named."""
        write("d/a.sse")
        assert [True, False, False] == [place.named for place in find(["d/a.sse", "d", "d/*"])]


def test_pipes_are_skipped_unless_they_are_named(tmp_path: Path) -> None:
    """Reading a pipe without a writer would wait for ever; a caller that names a pipe means it."""
    os.mkfifo(tmp_path / "a.sse")
    (tmp_path / "b.sse").touch()
    irregular = "it is no regular file; name it to have it read"
    a, b = str(tmp_path / "a.sse"), str(tmp_path / "b.sse")

    assert [Place(a, irregular), Place(b)] == list(find([tmp_path]))
    assert [Place(a, irregular), Place(b)] == list(find([tmp_path / "*.sse"]))
    assert [Place(a, named=True)] == list(find([a]))
