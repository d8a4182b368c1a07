"""A scan from end to end: the content of the tables, and that every input is in them once."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.support.scanning import Inline, make_recordings, parts, rows, stream, table
from wholecall import Limits
from wholecall.bulk import report, units
from wholecall.bulk import tasks as working
from wholecall.bulk.columns import flat
from wholecall.bulk.rows import Judging, Known, Row
from wholecall.bulk.scanning import Progress, ScanFailed, scan
from wholecall.bulk.streams import row_of
from wholecall.recordings import read

UNIT = 10  # inputs


@pytest.fixture(autouse=True)
def inline(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Units are small, and done in this process unless a test wants others."""
    monkeypatch.setattr(units, "MOST_PIECES", UNIT)
    if "processes" not in request.keywords:
        monkeypatch.setattr("wholecall.bulk.scanning.Pool", Inline)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder of 35 recordings."""
    return make_recordings(tmp_path / "logs", 35)


def last(steps: Iterator[Progress]) -> Progress:
    """Return how far a scan came."""
    *_, end = steps
    return end


def test_a_report_says_what_was_not_read_yet(logs: Path, tmp_path: Path) -> None:
    """Units of the plan that have no marker yet are reported: the counts of a report before the end of a scan are
    partial.
    """
    steps = scan([logs], tmp_path / "out")
    while next(steps).done < 2:
        pass
    steps.close()
    before = report(tmp_path / "out")
    last(scan([logs], tmp_path / "out", resume=True))
    after = report(tmp_path / "out")

    assert [(2 * UNIT, 2), (35, 0)] == [(one.total.recordings, one.waiting) for one in (before, after)]


# --- the content of the tables -------------------------------------------------------------------------------


def test_the_tables_are_the_rows_of_the_recordings(corpora_dir: Path, tmp_path: Path) -> None:
    """Of every recording that `read` yields, in every form, there is its row, and its calls; in order."""
    folders = [corpora_dir / "recordings" / "chat-completions", corpora_dir / "tools"]
    end = last(scan(folders, tmp_path / "out"))
    prefixes = [f"{folder}{os.sep}" for folder in folders]
    expected: list[tuple[str, Row]] = []
    skipped = 0
    for folder, prefix in zip(folders, prefixes, strict=True):
        recordings = read(folder)
        for one in recordings:
            name = one.name.removeprefix(prefix)
            file, _, number = name.partition("#")
            known = Known(
                name, file, int(number or 1) - 1, one.provider, None, one.dialect, one.form, one.status
            )
            expected.append((file, row_of(one.chunks, known, Judging())))
        skipped += recordings.skipped.total()
    calls, recordings_ = flat(row for _, row in sorted(expected, key=lambda found: found[0]))

    assert recordings_.equals(table(tmp_path / "out", "recordings"))
    assert calls.equals(table(tmp_path / "out", "calls"))
    assert (end.recordings, sum(end.skipped.values())) == (len(expected), skipped)
    assert end.calls + end.dropped == calls.num_rows > 150


def test_a_scan_tells_how_far_it_is(logs: Path, tmp_path: Path) -> None:
    """Once at the beginning and once after each unit."""
    steps = list(scan([logs], tmp_path / "out"))

    assert [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)] == [(step.done, step.total) for step in steps]
    assert [None, 0, 1, 2, 3] == [step.unit for step in steps]
    assert [0, 10, 20, 30, 35] == [step.recordings for step in steps]
    assert steps[-1].bytes == steps[0].total_bytes == sum(f.stat().st_size for f in logs.rglob("*.sse"))


def test_nothing_says_where_and_when_it_was(logs: Path, tmp_path: Path) -> None:
    """A scan of the same files in another folder, later, has the same parts."""
    other = tmp_path / "elsewhere" / "copy"
    shutil.copytree(logs, other, copy_function=shutil.copyfile)
    last(scan([logs], tmp_path / "out"))
    last(scan([other], tmp_path / "out-2"))

    assert parts(tmp_path / "out") == parts(tmp_path / "out-2")
    assert 8 == len(parts(tmp_path / "out"))


def test_options_reach_the_rows(logs: Path, tmp_path: Path) -> None:
    """Arguments and hashes can be left out, limits be others, and the dialect be said."""
    tight = Limits(max_name_chars=2)
    last(
        scan(
            [logs], tmp_path / "out", arguments=False, hashed=False, limits=tight, dialect="chat-completions"
        )
    )
    calls, recordings = table(tmp_path / "out", "calls"), table(tmp_path / "out", "recordings")

    assert {None} == set(recordings["content_hash"].to_pylist())
    assert {None} == set(calls["arguments"].to_pylist()) | set(calls["raw_arguments"].to_pylist())
    assert {"name_too_long"} <= set(calls["reason"].to_pylist())
    assert {"chat-completions"} == set(recordings["dialect"].to_pylist())


def test_every_part_says_what_it_is(logs: Path, tmp_path: Path) -> None:
    """The footer names the table and the version of its schema; row groups are compressed."""
    last(scan([logs], tmp_path / "out"))
    for path in (tmp_path / "out").glob("*/*.parquet"):
        file = pq.ParquetFile(path)
        said = file.schema_arrow.metadata

        assert (path.parent.name.encode(), b"1") == (said[b"wholecall.table"], said[b"wholecall.schema"])
        assert "ZSTD" == file.metadata.row_group(0).column(0).compression


def test_row_groups_are_flushed(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit with many rows has several row groups, and the rows are the same."""
    last(scan([logs], tmp_path / "out"))
    monkeypatch.setattr("wholecall.bulk.output_folder._GROUP_ROWS", 3)
    monkeypatch.setattr(working, "_BATCH_ROWS", 2)
    last(scan([logs], tmp_path / "small"))
    (path, *_) = sorted((tmp_path / "small" / "recordings").glob("*"))

    assert 3 == pq.ParquetFile(path).num_row_groups
    assert table(tmp_path / "out", "recordings").equals(table(tmp_path / "small", "recordings"))


def test_what_cannot_be_read_is_a_row(tmp_path: Path) -> None:
    """Each input has its row, and nothing gives its location or its content."""
    logs = make_recordings(tmp_path / "logs", 1)
    whole = gzip.compress(stream(3) * 200, mtime=0)
    (logs / "cut.sse.gz").write_bytes(whole[: len(whole) // 2])
    (logs / "empty.sse").touch()
    (logs / "noise.bin").write_bytes(bytes(range(256)) * 20)
    (logs / "page.json").write_bytes(b"<html><h1>502 Bad Gateway secret</h1></html>")
    (logs / "broken.yaml").write_bytes(b"interactions:\n- {secret: [\n")
    missing = tmp_path / "missing.sse"
    end = last(scan([logs, missing], tmp_path / "out"))
    found = {id_: trouble for id_, trouble in rows(tmp_path / "out", "recording_id", "trouble") if trouble}

    assert {"cut.sse.gz", "broken.yaml", "missing.sse"} == {id_.partition("#")[0] for id_ in found}
    assert "No such file or directory" == found["missing.sse"]
    assert end.troubles == len(found)
    assert not [text for text in found.values() if "secret" in text or str(tmp_path) in text]
    kept = dict(rows(tmp_path / "out", "recording_id", "n_calls"))
    assert {"empty.sse", "noise.bin", "page.json", "day-0/000000.sse"} <= kept.keys()
    assert 0 == kept["empty.sse"] == kept["noise.bin"] == kept["page.json"]


def test_calls_before_the_damage_stand(tmp_path: Path) -> None:
    """A compressed file that is cut has a row with its trouble, and the calls that were whole by then."""
    folder = tmp_path / "logs"
    folder.mkdir()
    streams = b"".join(map(stream, range(300)))
    (folder / "a.sse.gz").write_bytes(gzip.compress(streams, mtime=0)[:-2_000])
    end = last(scan([folder], tmp_path / "out"))
    found = rows(tmp_path / "out", "recording_id", "source_index", "trouble", "n_calls")

    assert [("a.sse.gz" if n == 0 else f"a.sse.gz#{n + 1}", n) for n in range(len(found))] == [
        one[:2] for one in found
    ]
    assert 1 == end.troubles == sum(one[2] is not None for one in found)
    assert 100 < end.calls == sum(one[3] for one in found)


# --- going on --------------------------------------------------------------------------------------------


def test_a_folder_is_not_written_twice(logs: Path, tmp_path: Path) -> None:
    """An existing scan is not touched unless the caller chooses how to treat it."""
    last(scan([logs], tmp_path / "out"))
    before = parts(tmp_path / "out")

    with pytest.raises(ValueError, match=r"--resume.*--overwrite"):
        last(scan([logs], tmp_path / "out"))
    assert before == parts(tmp_path / "out")


def test_a_folder_of_something_else_is_refused(logs: Path) -> None:
    """Nor are files that no scan wrote, whatever the caller asks for."""
    for choice in ({}, {"resume": True}, {"overwrite": True}):
        with pytest.raises(ValueError, match="no scan"):
            last(scan([logs / "day-0"], logs, **choice))
    assert 35 == len(list(logs.rglob("*.sse")))


def test_a_scan_goes_on_from_any_unit(logs: Path, tmp_path: Path) -> None:
    """Whatever was finished before, the parts are the same, and no more is done than was left."""
    last(scan([logs], tmp_path / "whole"))
    for n_done in range(5):
        out = tmp_path / f"out-{n_done}"
        steps = scan([logs], out)
        for _ in range(n_done + 1):
            next(steps)
        steps.close()  # type: ignore[attr-defined]
        going_on = list(scan([logs], out, resume=True))

        assert [n_done, 4] == [going_on[0].done, going_on[-1].done]
        assert 5 - n_done == len(going_on)
        assert parts(tmp_path / "whole") == parts(out)
        assert 35 == going_on[-1].recordings


@pytest.mark.parametrize(
    "damage",
    [
        lambda out: next((out / "calls").glob("*000001*")).unlink(),
        lambda out: next((out / "recordings").glob("*000001*")).write_bytes(b"PAR1"),
        lambda out: (out / "_scan/done/000001.json").write_bytes(b'{"unit":'),
        lambda out: (out / "_scan/done/000001.json").unlink(),
        lambda out: (out / "calls/.part-000001-0123456789ab.77").write_bytes(b"PAR1"),
    ],
)
def test_a_marker_is_believed_only_with_its_parts(
    logs: Path, tmp_path: Path, damage: Callable[[Path], Any]
) -> None:
    """A unit of which something is missing is done again; leftovers go."""
    out = tmp_path / "out"
    last(scan([logs], out))
    expected = parts(out)
    damage(out)

    last(scan([logs], out, resume=True))

    assert expected == parts(out)
    assert [] == list(out.rglob(".*"))


def test_new_files_are_new_units(logs: Path, tmp_path: Path) -> None:
    """Finished parts keep their bytes; later input is there once."""
    out = tmp_path / "out"
    last(scan([logs], out))
    before = parts(out)
    make_recordings(logs, 15, first=35)
    steps = list(scan([logs], out, resume=True))

    assert [(4, 6), (5, 6), (6, 6)] == [(step.done, step.total) for step in steps]
    assert before.items() <= parts(out).items()
    assert 50 == len({id_ for (id_,) in rows(out, "recording_id")}) == len(rows(out, "recording_id"))


def test_to_go_on_where_nothing_is_is_to_begin(logs: Path, tmp_path: Path) -> None:
    """A script needs no case for the first time; a plan that was never finished counts as none."""
    end = last(scan([logs], tmp_path / "out", resume=True))
    (tmp_path / "out/_scan/plan.jsonl").unlink()
    shutil.rmtree(tmp_path / "out/_scan/done")

    assert end == last(scan([logs], tmp_path / "out", resume=True))


def test_overwriting_begins_anew(logs: Path, tmp_path: Path) -> None:
    """Nothing of the scan before is left."""
    out = tmp_path / "out"
    last(scan([logs], out, hashed=False))
    shutil.rmtree(logs / "day-1")
    last(scan([logs], out, overwrite=True))
    last(scan([logs], tmp_path / "fresh"))

    assert parts(tmp_path / "fresh") == parts(out)


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"hashed": False}, "hashed was True and is False"),
        ({"limits": Limits.gateway()}, "limits.max_calls was the default and is 64"),
        ({"dialect": "anthropic"}, "dialect was the default and is 'anthropic'"),
    ],
)
def test_a_scan_goes_on_as_it_began(
    logs: Path, tmp_path: Path, options: dict[str, Any], difference: str
) -> None:
    """With other options it would be neither the one nor the other."""
    last(scan([logs], tmp_path / "out"))

    with pytest.raises(ValueError, match=difference):
        last(scan([logs], tmp_path / "out", resume=True, **options))


def test_another_version_does_not_go_on(logs: Path, tmp_path: Path) -> None:
    """Calls are judged by the rules of one minor version."""
    last(scan([logs], tmp_path / "out"))
    about = tmp_path / "out/_scan/scan.json"
    told = json.loads(about.read_bytes())
    about.write_text(json.dumps(told | {"wholecall": "0.0.7"}), "utf-8")

    with pytest.raises(ValueError, match=r"wholecall was '0\.0'"):
        last(scan([logs], tmp_path / "out", resume=True))


# --- inputs that change ----------------------------------------------------------------------------------


def test_an_input_that_has_changed_is_the_caller_s_affair(logs: Path, tmp_path: Path) -> None:
    """By default nothing continues; its unit is done again, or everything stays."""
    out, changed = tmp_path / "out", logs / "day-2" / "000002.sse"
    last(scan([logs], out))
    before = parts(out)
    changed.write_bytes(stream(999))

    with pytest.raises(ValueError, match=r"day-2/000002\.sse.*--changed"):
        last(scan([logs], out, resume=True))
    assert 4 == last(scan([logs], out, resume=True, changed="keep")).done
    assert before == parts(out)
    steps = list(scan([logs], out, resume=True, changed="redo"))
    last(scan([logs], tmp_path / "fresh"))
    assert [3, 4] == [step.done for step in steps]
    assert parts(tmp_path / "fresh") == parts(out) != before
    assert 4 == next(scan([logs], out, resume=True)).done  # and now it is known as it is


def test_what_was_left_is_read_as_it_is(logs: Path, tmp_path: Path) -> None:
    """Keeping finished parts does not require reading inputs that are gone."""
    out = tmp_path / "out"
    steps = scan([logs], out)
    next(steps)
    next(steps)
    steps.close()  # type: ignore[attr-defined]
    (logs / "day-6" / "000006.sse").write_bytes(b"")
    last(scan([logs], out, resume=True, changed="keep"))

    assert 0 == dict(rows(out, "recording_id", "bytes"))["day-6/000006.sse"]
    assert 4 == next(scan([logs], out, resume=True)).done


class Changing:
    """Reads files, and changes one of them after each of the first readings."""

    def __init__(self, path: Path, times: int) -> None:
        self.path, self.left = path, times
        self.read = working.recording_files.rows_of_file

    def __call__(self, piece: Any, *others: Any) -> Iterator[Row]:
        """Read a file."""
        yield from self.read(piece, *others)
        if piece.path == str(self.path) and self.left:
            self.left -= 1
            with self.path.open("ab") as file:
                file.write(b"data: {}\n\n")


@pytest.mark.parametrize(("times", "trouble"), [(1, None), (2, "changed"), (9, "changed")])
def test_an_input_that_changes_meanwhile(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, trouble: str | None
) -> None:
    """Its unit is read again; an input that changed twice is a row with that trouble. All others are unchanged."""
    last(scan([logs], tmp_path / "fresh"))
    path = logs / "day-3" / "000010.sse"
    monkeypatch.setattr(working.recording_files, "rows_of_file", Changing(path, times))
    end = last(scan([logs], tmp_path / "out"))
    then = dict(rows(tmp_path / "fresh", "recording_id", "content_hash"))
    now = dict(rows(tmp_path / "out", "recording_id", "content_hash"))
    troubles = dict(rows(tmp_path / "out", "recording_id", "trouble"))

    assert {"day-3/000010.sse"} == {id_ for id_ in then if then[id_] != now[id_]}
    assert (35, trouble) == (end.recordings, troubles.pop("day-3/000010.sse"))
    assert {None} == set(troubles.values())
    if trouble is None:  # it was read as it is now
        assert 4 == next(scan([logs], tmp_path / "out", resume=True)).done


def test_an_input_that_vanishes_meanwhile(logs: Path, tmp_path: Path) -> None:
    """It is a row, as one that was never there."""
    steps = scan([logs], tmp_path / "out")
    next(steps)
    (logs / "day-6" / "000034.sse").unlink()
    end = last(steps)

    assert (35, 1) == (end.recordings, end.troubles)
    assert (
        "No such file or directory"
        == dict(rows(tmp_path / "out", "recording_id", "trouble"))["day-6/000034.sse"]
    )


# --- too many troubles ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("errors", "stops"),
    [(None, False), (2, False), (1, True), ("0", True), ("5%", True), ("6%", False), (0, True)],
)
def test_a_scan_stops_at_too_many_errors(logs: Path, tmp_path: Path, errors: Any, stops: bool) -> None:
    """The scan stops beyond that number or share of unreadable recordings; parts finished by then stay."""
    missing = [tmp_path / "0.sse", tmp_path / "1.sse"]
    if stops:
        with pytest.raises(ScanFailed, match="could not be read, more than allowed"):
            last(scan([logs, *missing], tmp_path / "out", errors=errors))
    else:
        assert 2 == last(scan([logs, *missing], tmp_path / "out", errors=errors)).troubles
    assert parts(tmp_path / "out")


@pytest.mark.parametrize("errors", ["x", "-1", "101%", "%", "1.5", "nan%"])
def test_what_is_no_number_of_errors(tmp_path: Path, errors: str) -> None:
    """It is refused before anything is read."""
    with pytest.raises(ValueError, match="percentage"):
        last(scan([tmp_path], tmp_path / "out", errors=errors))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resume": True, "overwrite": True}, "choose one"),
        ({"workers": 0}, "at least one worker"),
        ({"id": "x"}, "id is a column of a table"),
        ({"dialect": "klingon"}, "klingon"),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    """They are refused, and nothing is written."""
    with pytest.raises(ValueError, match=message):
        last(scan([tmp_path], tmp_path / "out", **options))
    assert not (tmp_path / "out").exists()


def test_a_fault_of_ours_is_a_row(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure costs only its own recording, reports its type and nothing else, and the rest continues."""

    def iterate(_: Any) -> Iterator[Any]:
        raise TypeError("secret")

    monkeypatch.setattr("wholecall.recordings.streams._numbered", lambda *_: iterate(None))
    end = last(scan([logs / "day-0"], tmp_path / "out"))

    assert end.recordings == end.troubles == 5
    assert {"internal: TypeError"} == {trouble for (trouble,) in rows(tmp_path / "out", "trouble")}
