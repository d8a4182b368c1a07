"""Scans from and to object stores: as from and to disks. These are in memory; real protocols are tried in tests/stores."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from itertools import chain, count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.scanning import Inline, make_recordings, parts, stream
from tests.support.stores import copied, new_store, objects, put
from wholecall.bulk import report, storage, units
from wholecall.bulk import tasks as working
from wholecall.bulk.addresses import address, folder_of, is_url, joined, root_of, shown
from wholecall.bulk.scanning import Progress, ScanFailed, scan
from wholecall.bulk.units import found
from wholecall.cli import main
from wholecall.recordings.source import PIECE

N, UNIT, UNITS = 14, 5, 3  # recordings, those of a unit, units
SECRET = "AKIAVERYSECRET"
SLOW_DOWN = f"AWS Error SLOW_DOWN during GetObject operation: {SECRET}"


@pytest.fixture(autouse=True)
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units are small, and done in this process, which does not wait."""
    monkeypatch.setattr(units, "MOST_PIECES", UNIT)
    monkeypatch.setattr(working, "_PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr("wholecall.bulk.scanning.Pool", Inline)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of 14 recordings, which no test changes."""
    return make_recordings(tmp_path_factory.mktemp("logs") / "logs", N)


@pytest.fixture(scope="module")
def expected(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The parts of these, from disk to disk."""
    out = tmp_path_factory.mktemp("expected") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(units, "MOST_PIECES", UNIT)
        patch.setattr("wholecall.bulk.scanning.Pool", Inline)
        last(scan([logs], out))
    return parts(out)


def last(steps: Iterator[Progress]) -> Progress:
    """Return how far a scan came."""
    *_, end = steps
    return end


def parts_in(url: str) -> dict[str, bytes]:
    """Return the parts of a scan in a store: all that its readers see."""
    return {name: data for name, data in objects(url).items() if not name.startswith("_scan/")}


def rows_in(url: str, *columns: str) -> list[tuple[Any, ...]]:
    """Return some columns of the recordings that a scan wrote into a store."""
    files = [data for name, data in objects(url).items() if name.startswith("recordings/")]
    table = pa.concat_tables(pq.read_table(pa.BufferReader(data)) for data in files)
    return list(zip(*(table[column].to_pylist() for column in columns), strict=True))


# --- addresses -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("logs/a.sse", "logs/a.sse"),
        ("C:/logs", "C:/logs"),
        ("file:///srv/my%20logs", "/srv/my logs"),
        ("s3://bucket", "s3://bucket"),
        ("S3://bucket/a//b/", "s3://bucket/a/b"),
        ("s3://bucket/a%23b%3Fc/x y", "s3://bucket/a#b?c/x y"),
        (
            "s3://bucket/logs?endpoint_override=http://h:9&scheme=http",
            "s3://bucket?endpoint_override=http%3A%2F%2Fh%3A9&scheme=http/logs",
        ),
        ("gs://anonymous@bucket/x", "gs://anonymous@bucket/x"),
        (
            "abfs://container@account.dfs.core.windows.net/x",
            "abfs://container@account.dfs.core.windows.net/x",
        ),
        ("hdfs:///x/y", "hdfs:///x/y"),
    ],
)
def test_an_address_ends_as_its_name_does(named: str, expected: str) -> None:
    """The endpoint comes first, then the path without escapes; duplicates are removed."""
    found = address(named)

    assert expected == found
    if is_url(found):
        root, below = root_of(found)
        assert found == (joined(root, below) if below else root)
        assert "?" not in shown(found).removesuffix(below)
        assert not below or found == joined(folder_of(found), below.split("/")[-1])


@pytest.mark.parametrize(
    "url",
    [
        f"s3://{SECRET}:x@bucket/logs",
        f"s3://{SECRET}@bucket/logs",
        f"s3://bucket/logs?access_key={SECRET}",
        f"s3://bucket/logs?region=x&{SECRET}",
        f"abfs://container:{SECRET}@account.dfs.core.windows.net/logs",
        f"abfs://account.blob.core.windows.net/c/logs?client_secret={SECRET}",
        f"sftp://me@host/{SECRET}",
        f"https://host/x?X-Amz-Signature={SECRET}",
    ],
)
def test_credentials_are_refused(
    url: str, logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is done, and without being repeated."""
    commands = [
        ["scan", url, "--out", str(tmp_path / "out")],
        ["scan", str(logs), "--out", url],
        ["report", url],
    ]
    codes = [main(command) for command in commands]
    said = capsys.readouterr()

    assert [2, 2, 3] == codes
    assert 3 == said.err.count("no credentials") == len(said.err.splitlines())
    assert SECRET not in said.err + said.out
    assert not (tmp_path / "out").exists()


def test_a_store_of_no_known_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused with the list of known schemes."""
    assert 2 == main(["scan", "klingon://ship/logs", "--out", str(tmp_path / "out")])
    assert "klingon://ship is no URL of a store that is known here" in capsys.readouterr().err


# --- inputs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "below",
    [
        "",
        "day-1",
        "day-1/000001.sse",
        "day-*",
        "**/*.sse",
        "*/*9.sse",
        "day-[12]/**",
        "*",
        "none.sse",
        "n*.sse",
    ],
)
def test_sources_are_those_of_a_disk(tmp_path: Path, below: str) -> None:
    """A folder, an object, a pattern: the sources have the names that a copy on a disk has."""
    logs = make_recordings(tmp_path / "logs", N)
    (logs / ".hidden").mkdir()
    (logs / ".hidden" / "x.sse").touch()
    for name in ("day-1/.x.sse", "day-1/a.case.json", "day-1/b.json.gz", "day-1/c.txt"):
        (logs / name).write_bytes(b"{}")
    url = copied(logs, f"{new_store()}/logs")
    on_disk = found([logs / below], "out")
    in_store = found([f"{url}/{below}"], "out")

    assert [(one.source, one.size, one.named, one.trouble) for one in on_disk] == [
        (one.source, one.size, one.named, one.trouble) for one in in_store
    ]
    assert on_disk


def test_nothing_comes_twice_from_stores(logs: Path) -> None:
    """Two names of one object are refused, and so are two objects of one name."""
    url = copied(logs, f"{new_store()}/logs")
    for others, message in (
        ([url], "named twice"),
        ([f"{url}/day-1"], "found twice"),
        ([logs], "both be called"),
    ):
        with pytest.raises(ValueError, match=message):
            found([url, *others], "out")


def test_every_form_is_read(corpora_dir: Path, tmp_path: Path) -> None:
    """Any kind of file, compressed or not, and unreadable ones: the parts are the same, byte for byte."""
    folder = corpora_dir / "tools"
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "cut.sse.gz").write_bytes(gzip.compress(stream(3) * 200, mtime=0)[:-900])
    (broken / "empty.sse").touch()
    (broken / "broken.yaml").write_bytes(b"interactions:\n- {x: [\n")
    said = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}
    lines = f"{json.dumps({'role': 'user', 'content': 'x'})}\n{json.dumps(said)}\n".encode()
    (broken / "session.jsonl").write_bytes(lines)
    (broken / "session-2.jsonl.gz").write_bytes(gzip.compress(lines, mtime=0))
    (broken / "many.sse.gz").write_bytes(gzip.compress(b"".join(map(stream, range(9))), mtime=0))
    last(scan([folder, broken], tmp_path / "out"))
    store = new_store()
    urls = [copied(folder, f"{store}/tools"), copied(broken, f"{store}/broken")]
    last(scan(urls, f"{store}/out"))

    assert parts(tmp_path / "out") == parts_in(f"{store}/out")
    assert {("session.jsonl", 1), ("session-2.jsonl.gz", 1)} <= set(
        rows_in(f"{store}/out", "source", "n_calls")
    )


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.jsonl", "t.jsonl.gz"])
def test_tables_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """They are cut as on a disk."""
    monkeypatch.setattr(units, "MOST_BYTES", 9_000)
    table = pa.table({"raw": [stream(n).decode("utf-8", "replace") for n in range(14)]})
    path = tmp_path / "tables" / name
    path.parent.mkdir()
    if name == "t.parquet":
        pq.write_table(table, path, row_group_size=4)
    elif name == "t.arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=4)
    else:
        lines = "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()
        path.write_bytes(gzip.compress(lines) if name.endswith(".gz") else lines)
    end = last(scan([path.parent], tmp_path / "out", body="raw"))
    url = copied(path.parent, f"{new_store()}/tables")

    assert end == last(scan([url], tmp_path / "out-2", body="raw"))
    assert parts(tmp_path / "out") == parts(tmp_path / "out-2")
    assert (end.total > 1) == (not name.endswith(".gz"))


def test_objects_are_read_in_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large an object is, no more is asked for at once; and the ranges do not matter."""
    path = tmp_path / "logs" / "a.sse"
    path.parent.mkdir()
    path.write_bytes(b"".join(map(stream, range(200))))
    last(scan([path], tmp_path / "out"))
    asked: list[int] = []
    read = storage._Object.readinto
    monkeypatch.setattr(storage, "_RANGE", 2 * PIECE)
    monkeypatch.setattr(
        storage._Object, "readinto", lambda one, buffer: (asked.append(len(buffer)), read(one, buffer))[1]
    )
    last(scan([copied(path.parent, f"{new_store()}/logs") + "/a.sse"], tmp_path / "out-2"))

    assert parts(tmp_path / "out") == parts(tmp_path / "out-2")
    assert 2 * PIECE == max(asked) < path.stat().st_size / 2


def test_small_objects_are_opened_before_their_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many and no more; each once, and again only if it is read again. Large objects, and a disk's, are excluded."""
    monkeypatch.setattr(storage, "_AHEAD", 2)
    url = address(copied(make_recordings(tmp_path, 8), new_store()))
    first, large, second, third = (f"{url}/day-{n % 7}/{n:06}.sse" for n in (0, 7, 1, 2))
    begun: list[str] = []
    open_ = storage.Store.open
    monkeypatch.setattr(storage.Store, "open", lambda one, path: (begun.append(path), open_(one, path))[1])
    opens = storage.opening([(first, 9), (large, 2**30), (second, 9), (str(tmp_path), None), (third, 9)])
    begins = [next(opens)]
    assert {first} >= set(begun)
    for begin in chain(begins, opens):
        if begin is not None:
            begin().close()
    assert begins[0] is not None
    begins[0]().close()

    assert sorted([first, first, large, second, third]) == sorted(begun)
    assert [None, None] == list(storage.opening([("/a", 1), ("/b", 2)]))


# --- outputs ---------------------------------------------------------------------------------------------


def test_parts_are_those_of_a_disk(logs: Path, expected: dict[str, bytes]) -> None:
    """From a store to a store; next to them there are the plan and the markers, and no more."""
    store = new_store()
    end = last(scan([copied(logs, f"{store}/logs")], f"{store}/out"))
    scanned = [name for name in objects(f"{store}/out") if name.startswith("_scan/")]

    assert expected == parts_in(f"{store}/out")
    assert N == end.recordings
    assert [
        *(f"_scan/done/00000{n}.json" for n in range(UNITS)),
        "_scan/plan.jsonl",
        "_scan/scan.json",
    ] == scanned


def test_what_is_written_is_not_read(logs: Path) -> None:
    """A scan within its inputs leaves its own tables out."""
    url = copied(logs, f"{new_store()}/logs")
    last(scan([url], f"{url}/out"))

    assert UNITS == next(scan([url], f"{url}/out", resume=True)).done


def test_a_scan_goes_on_from_any_unit(logs: Path, expected: dict[str, bytes]) -> None:
    """Whatever was finished before, the parts are the same, and no more is done than was left."""
    for n_done in range(UNITS + 1):
        out = f"{new_store()}/deep/out"
        steps = scan([logs], out)
        for _ in range(n_done + 1):
            next(steps)
        steps.close()  # type: ignore[attr-defined]
        with pytest.raises(ValueError, match=r"there is a scan in mock://store-\d+/deep/out already"):
            next(scan([logs], out))
        going_on = list(scan([logs], out, resume=True))

        assert [n_done, UNITS] == [going_on[0].done, going_on[-1].done]
        assert expected == parts_in(out)


@pytest.mark.parametrize("choice", ["resume", "overwrite"])
def test_a_scan_is_repaired_or_begun_anew(logs: Path, expected: dict[str, bytes], choice: str) -> None:
    """A part that is cut, and a part that was begun and never named, do not outlive the next scan."""
    out = f"{new_store()}/out"
    last(scan([logs], out))
    (name, *_) = parts_in(out)
    put(f"{out}/{name}", b"PAR1")
    put(f"{out}/calls/.part-000001-0123456789ab.parquet.77", b"PAR1")
    last(scan([logs], out, **{choice: True}))

    assert expected == parts_in(out)


def test_a_folder_of_something_else_is_refused(logs: Path) -> None:
    """Nor are files that no scan wrote, in a store either."""
    url = copied(logs, new_store())
    for out in (url, f"{url}/day-1/000001.sse"):
        with pytest.raises(ValueError, match="no scan"):
            last(scan([logs], out, overwrite=True))
    assert N == len(objects(url))


@pytest.mark.parametrize("at_once", [True, False])
def test_a_fault_in_the_middle_leaves_nothing(
    logs: Path, monkeypatch: pytest.MonkeyPatch, *, at_once: bool
) -> None:
    """Whatever raises between the first row of a unit and its last: nothing of it is there, neither under another name."""
    out = f"{new_store()}/out"
    if at_once:
        monkeypatch.setattr(storage, "_APPEARING", frozenset({"mock"}))
    made = working.columns.flat
    monkeypatch.setattr(working, "_BATCH_ROWS", 4)
    monkeypatch.setattr("wholecall.bulk.output_folder._GROUP_ROWS", 2)
    batches: list[int] = []

    def flat(rows: Any) -> Any:
        batches.append(len(rows))
        if len(batches) == 4:  # the last of the second unit
            raise RuntimeError
        return made(rows)

    monkeypatch.setattr(working.columns, "flat", flat)
    with pytest.raises(RuntimeError):
        last(scan([logs], out))

    assert ["calls/part-000000", "recordings/part-000000"] == [name[:-21] for name in parts_in(out)]
    assert ["_scan/done/000000.json"] == [name for name in objects(out) if "done" in name]


class Flat:
    """A store in which nothing can be moved, and which remembers its content at the time of the attempt."""

    def __init__(self, store: Any, url: str) -> None:
        self.store, self.url = store, url
        self.seen: list[list[str]] = []

    def move(self, *_: Any) -> None:
        """Refuse."""
        self.seen.append(list(objects(self.url, hidden=False)))
        raise pa.ArrowNotImplementedError

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


def test_what_is_written_is_hidden_until_it_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an object shows while it is written: it gets its name at the end, by a copy where nothing moves."""
    url = new_store()
    store = storage.Store(url)
    store.make([f"{url}/out"])
    flat = Flat(store._fs, url)
    monkeypatch.setattr(store, "_fs", flat)
    store.upload(f"{url}/out/x", b"1")
    store.upload(f"{url}/out/y", b"22")

    assert [[], ["out/x"]] == flat.seen
    assert {"out/x": b"1", "out/y": b"22"} == objects(url)


class Refusing:
    """A function of a store that fails some times before it does its work."""

    def __init__(self, function: Callable[..., Any], times: int, error: Exception) -> None:
        self.function, self.left, self.error = function, times, error

    def __call__(self, *arguments: Any) -> Any:
        """Fail, or work."""
        if self.left:
            self.left -= 1
            with storage.asking("s3://bucket/x"):
                raise self.error
        return self.function(*arguments)


@pytest.mark.parametrize("method", ["upload", "open", "state", "read"])
@pytest.mark.parametrize("times", [3, 4])
def test_a_store_that_does_not_answer(
    logs: Path,
    expected: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    times: int,
) -> None:
    """It is asked three times again; then the scan stops, and no recording has a trouble that is the store's."""
    store = new_store()
    url, out = copied(logs, f"{store}/logs"), f"{store}/out"
    steps = scan([url], out)
    next(steps)
    monkeypatch.setattr(storage, "_AHEAD", 1)
    monkeypatch.setattr(storage.Store, "at_once", 1)
    refusing = Refusing(getattr(storage.Store, method), times, OSError(SLOW_DOWN))
    monkeypatch.setattr(storage.Store, method, lambda *arguments: refusing(*arguments))  # noqa: PLW0108 - a method
    if times == 4:
        with pytest.raises(ScanFailed, match=r"^s3://bucket: the store answers SLOW_DOWN$"):
            last(steps)
        assert {} == parts_in(out)
        last(scan([url], out, resume=True))
    else:
        last(steps)
    assert expected == parts_in(out)
    assert {(None,)} == set(rows_in(out, "trouble"))


def test_a_store_that_stops_answering_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The part of an object read by then is forgotten: it is read again, and is not a row with trouble."""
    path = tmp_path / "logs" / "a.sse"
    path.parent.mkdir()
    path.write_bytes(b"".join(map(stream, range(100))))
    last(scan([path], tmp_path / "out"))
    url = copied(path.parent, new_store())
    monkeypatch.setattr(storage, "_RANGE", PIECE)
    read, reads = storage._Object.readinto, count()

    def answering(one: Any, buffer: Any) -> int:
        if next(reads) in {2, 4}:
            with storage.asking(url):
                raise OSError(SLOW_DOWN)
        return read(one, buffer)

    monkeypatch.setattr(storage._Object, "readinto", answering)
    last(scan([f"{url}/a.sse"], tmp_path / "out-2"))

    assert next(reads) > 6
    assert parts(tmp_path / "out") == parts(tmp_path / "out-2")


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (
            OSError(f"AWS Error ACCESS_DENIED during HeadObject operation: {SECRET}"),
            "the store answers ACCESS_DENIED",
        ),
        (
            OSError(f"google::cloud::Status(PERMISSION_DENIED: {SECRET})"),
            "the store answers PERMISSION_DENIED",
        ),
        (FileNotFoundError(2, SECRET), "No such file or directory"),
        (PermissionError(13, SECRET), "Permission denied"),
    ],
)
def test_an_object_that_may_not_be_read(
    logs: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, trouble: str
) -> None:
    """The error concerns the object: it is a row, in our words, and the others are kept."""
    store = new_store()
    url = copied(logs, f"{store}/logs")
    steps = scan([url], f"{store}/out")
    next(steps)
    monkeypatch.setattr(storage, "_AHEAD", 1)
    refusing = Refusing(storage.Store.open, 1, error)
    monkeypatch.setattr(storage.Store, "open", lambda *arguments: refusing(*arguments))  # noqa: PLW0108 - a method
    end = last(steps)

    assert (N, 1) == (end.recordings, end.troubles)
    assert [("day-0/000000.sse", trouble)] == [
        row for row in rows_in(f"{store}/out", "recording_id", "trouble") if row[1]
    ]


@pytest.mark.parametrize(("times", "trouble"), [(1, None), (2, "changed")])
def test_an_object_that_changes_meanwhile(
    logs: Path, monkeypatch: pytest.MonkeyPatch, times: int, trouble: str | None
) -> None:
    """Its unit is read again; an object that changed twice is a row with that trouble."""
    store = new_store()
    url, read, left = copied(logs, f"{store}/logs"), working.recording_files.rows_of_file, [times]

    def changing(piece: Any, *others: Any) -> Iterator[Any]:
        yield from read(piece, *others)
        if piece.source == "day-3/000010.sse" and left[0]:
            left[0] -= 1
            put(f"{url}/day-3/000010.sse", stream(10) + b"data: {}\n\n" * left[0])

    put(f"{url}/day-3/000010.sse", b"data: {}\n\n")
    monkeypatch.setattr(working.recording_files, "rows_of_file", changing)
    last(scan([url], f"{store}/out"))

    assert trouble == dict(rows_in(f"{store}/out", "recording_id", "trouble"))["day-3/000010.sse"]
    if trouble is None:
        assert UNITS == next(scan([url], f"{store}/out", resume=True)).done
        put(f"{url}/day-3/000010.sse", b"")
        with pytest.raises(ValueError, match=r"day-3/000010\.sse.*--changed"):
            next(scan([url], f"{store}/out", resume=True))


def test_a_report_of_a_store(logs: Path, tmp_path: Path) -> None:
    """It is that of the same tables on a disk."""
    store = new_store()
    last(scan([logs], tmp_path / "out"))
    last(scan([logs], f"{store}/out"))

    assert list(report(tmp_path / "out").to_dicts()) == list(report(f"{store}/out").to_dicts())
