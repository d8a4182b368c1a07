"""Counts of `wholecall.bulk.report` (law 92)."""

from __future__ import annotations

import contextlib
import io
import json
import math
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.hygiene.source_tree import CORPORA
from tests.support.reports import answer, call, rows_of, sample, write_assembled, write_part, write_parts
from wholecall.bulk import CALLS, GROUPS, RECORDINGS, BulkReport, Group, Histogram, Rate, report, scan
from wholecall.bulk.columns import flat
from wholecall.bulk.reporting import counting
from wholecall.bulk.reporting import tables as tables_read
from wholecall.bulk.reporting.result import Counts
from wholecall.bulk.rows import Known, Row, troubled
from wholecall.cli import main
from wholecall.recordings.counts import OTHERS, Words

FOLDERS = ("recordings", "tools", "text")
TEXTS = [pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
if int(pa.__version__.partition(".")[0]) >= 20:  # older ones cannot make views of texts
    TEXTS.append(pa.string_view())
OF_LINT = ("recordings", "odd", "turns", "calls", "empty", "dropped", "faults", "flags", "edits", "anomalies")


@pytest.fixture(scope="module")
def corpus() -> list[Row]:
    """A row for each recording of the corpora."""
    return rows_of(*(CORPORA / folder for folder in FOLDERS))


@pytest.fixture(scope="module")
def parts(corpus: list[Row], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpora as parts of a scan."""
    return write_parts(tmp_path_factory.mktemp("parts") / "out", corpus)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """A sample as parts of a scan, several recordings each."""
    return write_parts(tmp_path / "out", sample(), size=7)


def said(found: BulkReport) -> list[dict[str, Any]]:
    """Return all that a report says."""
    return list(found.to_dicts())


def linted(*paths: Path) -> dict[str, dict[str, Any]]:
    """Return the counts of `wholecall lint`, by provider, and for all under the empty name."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main(["lint", "--json", "--ignore", "calls_in_text", *map(str, paths)])
    lines = map(json.loads, out.getvalue().splitlines())
    return {line.pop("provider", ""): line for line in lines if "recording" not in line}


BY_PROVIDER = ("provider", "dialect")


def by_provider(found: BulkReport) -> dict[str, dict[str, Any]]:
    """Return the counts of a report as lint groups them, by dialect where no provider is known; all has the empty name."""
    named: dict[str, list[Group]] = {}
    for group in found.groups:
        provider, dialect = group.key
        named.setdefault(dialect if provider == "unknown" else provider, []).append(group)
    groups = {name: found.together(its).to_dict() for name, its in named.items()}
    return {"": found.total.to_dict(), **groups}


def chosen(counts: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return of some counts those that both commands have."""
    return {name: {word: its[word] for word in OF_LINT if word in its} for name, its in counts.items()}


def answers(counts: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return of some counts those of providers that answered, and the turns and calls of all."""
    each = {name: its for name, its in counts.items() if name and its["turns"]}
    return chosen(each) | {"": {word: counts[""][word] for word in ("turns", "calls")}}


def one_part(folder: Path, calls: pa.Table, recordings: pa.Table) -> None:
    """Write two tables as the only part of a scan."""
    for table in ("calls", "recordings"):
        (folder / table).mkdir()
    write_part(folder, 0, calls, recordings)


def without_arguments(path: Path) -> None:
    """Damage the columns of a Parquet file that hold texts of calls."""
    data = path.read_bytes()
    columns = pq.ParquetFile(path).metadata.row_group(0)
    for column in (columns.column(n) for n in range(columns.num_columns)):
        if column.path_in_schema.rpartition(".")[2] in {"arguments", "raw_arguments", "detail"}:
            start = column.dictionary_page_offset or column.data_page_offset
            size = column.total_compressed_size
            data = data[:start] + b"\xff" * size + data[start + size :]
    path.write_bytes(data)


class TestLint:
    """Both commands count the same."""

    @pytest.mark.slow
    def test_groups_are_those_of_lint(self, parts: Path) -> None:
        """By provider each group in which a model answers has, to the last word, the numbers that `wholecall lint` has.

        Files that hold no answer are named by `lint`, and rows without a turn in the tables.
        """
        lint = linted(*(CORPORA / folder for folder in FOLDERS))

        assert len(lint) > 20
        assert answers(lint) == answers(by_provider(report(parts, by=BY_PROVIDER)))

    @pytest.mark.cases
    @pytest.mark.slow
    def test_so_are_those_of_further_recordings(self, recordings_dir: Path, tmp_path: Path) -> None:
        """The same holds for recordings of others, once they are scanned."""
        for _ in scan([recordings_dir], tmp_path / "out"):
            pass
        found = report(tmp_path / "out", by=BY_PROVIDER)

        assert answers(linted(recordings_dir)) == answers(by_provider(found))

    def test_what_is_unreadable_is_counted_nowhere_else(self, tmp_path: Path) -> None:
        """A recording that breaks off leaves no trace in the counts, as in those of `wholecall lint`."""
        recording = tmp_path / "a.jsonl"
        whole = (CORPORA / "recordings/chat-completions/single-call.sse").read_text("utf-8")
        lines = [{"wholecall": "recording", "version": 1}, {"data": whole}]
        text = "".join(f"{json.dumps(line)}\n" for line in lines).replace('": ', '":').replace(', "', ',"')
        recording.write_text(text + "nonsense\n", "utf-8")
        out = write_parts(tmp_path / "out", rows_of(recording))
        found = report(out)

        assert (0, 0, 1, 1) == (
            found.total.recordings,
            found.total.calls,
            found.unreadable.recordings,
            found.unreadable.calls,
        )
        assert 0 == linted(recording)[""]["recordings"]


class TestTables:
    """The origin of the tables does not matter."""

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("by", [["provider"], ["model", "tool"], ["tool"]])
    def test_assembled_is_flat(self, corpus: list[Row], parts: Path, tmp_path: Path, by: list[str]) -> None:
        """The result of a batch function gives the report that the two flat tables give."""
        path = write_assembled(tmp_path / "table.parquet", corpus)

        assert said(report(parts, by=by)) == said(report(path, by=by))

    def test_the_order_of_rows_does_not_matter(self, corpus: list[Row], tmp_path: Path) -> None:
        """Engines give rows back in any order; the report is the same, the worst and all examples included."""
        shuffled = random.Random(24).sample(corpus, len(corpus))
        paths = [
            write_assembled(tmp_path / f"{number}.parquet", rows)
            for number, rows in enumerate((corpus, shuffled))
        ]

        assert said(report(paths[0])) == said(report(paths[1]))

    @pytest.mark.parametrize(
        ("recordings", "calls"), [pytest.param(1, 1, marks=pytest.mark.slow), (3, 2), (1000, 5)]
    )
    def test_windows_do_not_matter(
        self, tables: Path, recordings: int, calls: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """However many rows are read at once, the report is the same, also where the calls of one recording are cut."""
        whole = said(report(tables, by=["provider", "tool"]))
        monkeypatch.setattr(tables_read, "_N_RECORDINGS", recordings)
        monkeypatch.setattr(tables_read, "_N_CALLS", calls)

        assert whole == said(report(tables, by=["provider", "tool"]))

    def test_groups_add_up(self, tables: Path) -> None:
        """The groups of any choice without tools add up to the total; by tool the calls do."""
        found = {by: report(tables, by=[by]) for by in GROUPS}
        for by, its in found.items():
            together = its.together(its.groups)

            assert (its.total.calls, its.total.dropped) == (together.calls, together.dropped)
            assert by == "tool" or its.total.to_dict() == together.to_dict()

        assert 1 == len({json.dumps(its.total.to_dict(), sort_keys=True) for its in found.values()})

    def test_a_folder_is_that_of_the_source(self, tmp_path: Path) -> None:
        """Folders are below the scanned folder; files directly in it are in `.`."""
        sources = ("a.sse", "logs/b.sse", "logs/c.sse", "logs/old/d.sse", "s3://x/e.sse", "/f.sse")
        rows = [answer(source, call("f", "{}")) for source in sources]
        found = report(write_parts(tmp_path / "out", rows), by=["folder"])

        assert {".": 1, "logs": 2, "logs/old": 1, "s3://x": 1, "/": 1} == {
            group.key[0]: group.counts.recordings for group in found.groups
        }

    def test_a_provider_is_no_dialect(self, tmp_path: Path) -> None:
        """Where the recording names no server, the provider is unknown, whatever the dialect."""
        rows = [answer("a", call("f", "{}")), answer("b", call("f", "{}"), provider="p")]
        found = report(write_parts(tmp_path / "out", rows), by=["provider", "dialect"])

        assert {("unknown", "chat-completions"), ("p", "chat-completions")} == {
            group.key for group in found.groups
        }

    def test_files_and_folders(self, tables: Path) -> None:
        """A folder of parts equals its content: its two folders, or all its files, in order."""
        files = sorted(tables.rglob("*.parquet"))

        assert said(report(tables)) == said(report(tables / "calls", tables / "recordings"))
        assert said(report(tables)) == said(report(*files))
        assert said(report(tables)) == said(report(f"file://{tables}"))

    def test_what_is_unfinished_is_left_out(self, tables: Path) -> None:
        """Hidden files, those of the scan's books, and calls whose recordings are not there yet are left out."""
        whole = said(report(tables))
        part = next((tables / "calls").iterdir())
        (tables / "_scan").mkdir()
        for name in ("calls/.part-9.12", "_scan/x.parquet", "calls/part-000099-abc.parquet"):
            (tables / name).write_bytes(part.read_bytes())

        assert whole == said(report(tables))

    def test_columns_that_came_later(self, tables: Path) -> None:
        """A table that lacks columns of the schema is read as if they were null."""
        for path in tables.rglob("*.parquet"):
            table = pq.read_table(path)
            kept = ["recording_id", "outcome", "reason", "trouble", "provider", "n_arguments_bytes"]
            pq.write_table(table.select([name for name in table.column_names if name in kept]), path)
        found = report(tables)

        assert (82, 3, 2) == (found.total.recordings, found.total.dropped - 1, found.unreadable.recordings)
        assert 0 == found.missing
        assert {"harbour", "quay", "unknown"} == {group.key[0] for group in found.groups}

    def test_columns_that_nobody_knows(self, tables: Path) -> None:
        """Columns that this version does not know are not read."""
        whole = said(report(tables))
        for path in tables.rglob("*.parquet"):
            table = pq.read_table(path)
            pq.write_table(table.append_column("later", pa.nulls(len(table), pa.int32())), path)

        assert whole == said(report(tables))

    @pytest.mark.slow
    @pytest.mark.parametrize("text", TEXTS, ids=str)
    def test_relatives_of_types(self, tables: Path, text: pa.DataType) -> None:
        """Large texts, views and dictionaries, large lists of them and other integers are read by their meaning."""

        def other(kind: pa.DataType) -> pa.DataType:
            if pa.types.is_list(kind) and not pa.types.is_struct(kind.value_type):
                return pa.large_list(other(kind.value_type))
            return {pa.string(): text, pa.int32(): pa.int64()}.get(kind, kind)

        whole = said(report(tables))
        for path in tables.rglob("*.parquet"):
            table = pq.read_table(path)
            columns = [column.cast(other(column.type)) for column in table.columns]
            pq.write_table(pa.table(columns, table.column_names), path)

        assert whole == said(report(tables))

    def test_no_text_of_arguments_is_read(self, tables: Path, tmp_path: Path) -> None:
        """Where the bytes of arguments are damaged in the file, the report is the same, also of an assembled table."""
        table = write_assembled(tmp_path / "table.parquet", sample())
        for place, part in ((tables, next((tables / "calls").iterdir())), (table, table)):
            whole = said(report(place))
            without_arguments(part)
            with pytest.raises(OSError, match=r"."):
                pq.read_table(part)

            assert whole == said(report(place))

    def test_nothing(self, tmp_path: Path) -> None:
        """Tables without a row give a report of zeros."""
        found = report(write_parts(tmp_path / "none", []), write_assembled(tmp_path / "none.parquet", []))

        assert (0, (), (), 0) == (found.total.recordings, found.groups, found.worst, found.duplicates.hashed)


class TestRefusals:
    """Inputs that are not tables of ours."""

    def test_other_order(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Calls that are not in the order of their recordings are refused once both are not read together any more."""
        monkeypatch.setattr(tables_read, "_N_RECORDINGS", 1)
        calls, recordings = flat([answer("a", call("f", "{}")), answer("b", call("f", "{}"))])
        one_part(tmp_path, calls.take([1, 0]), recordings)
        with pytest.raises(ValueError, match="sort both tables by recording_id"):
            report(tmp_path)

    def test_calls_that_are_too_many(self, tmp_path: Path) -> None:
        """More calls than the recordings state are refused: some input was given twice."""
        calls, recordings = flat([answer("a", call("f", "{}")), answer("b", call("f", "{}"))])
        one_part(tmp_path, pa.concat_tables([calls, calls]), recordings)
        with pytest.raises(ValueError, match="2 calls more than the recordings have"):
            report(tmp_path)

    def test_calls_that_are_missing(self, tmp_path: Path) -> None:
        """Where recordings say that they have more calls than there are, the report says how many are missing."""
        calls, recordings = flat([answer("a", call("f", "{}")), answer("b", call("f", "{}"))])
        one_part(tmp_path, calls.slice(1), recordings)

        assert 1 == report(tmp_path).missing

    @pytest.mark.parametrize(
        ("made", "message"),
        [
            (lambda path: path.write_bytes(b"PAR1 is no table PAR1"), "is damaged, or no Parquet file"),
            (lambda path: pq.write_table(pa.table({"a": [1]}), path), "is no table of calls or recordings"),
            (lambda path: pq.write_table(CALLS.empty_table(), path), "not the recordings that they are of"),
            (lambda path: pq.write_table(RECORDINGS.empty_table(), path), "but not their calls"),
            (
                lambda path: pq.write_table(pa.table({"recording_id": ["a"], "calls": [["b"]]}), path),
                "calls is no list of structs",
            ),
            (
                lambda path: pq.write_table(
                    pa.table({"recording_id": ["a"], "trouble": [["b"]], "calls": [[{"name": "f"}]]}), path
                ),
                "instead of string",
            ),
            (
                lambda path: pq.write_table(pa.table({}, pa.schema([], {"wholecall.schema": "2"})), path),
                "version 2 of the schema",
            ),
        ],
        ids=["bytes", "table", "calls", "recordings", "texts", "type", "version"],
    )
    def test_files(self, made: Any, message: str, tmp_path: Path) -> None:
        """A foreign file is refused by name, with advice."""
        made(tmp_path / "x.parquet")
        with pytest.raises(ValueError, match=message):
            report(tmp_path / "x.parquet")

    def test_places(self, tmp_path: Path) -> None:
        """A missing path is an error of the file system; a folder without tables, or another URL, is a wrong value."""
        with pytest.raises(FileNotFoundError, match="wholecall scan --out"):
            report(tmp_path / "none")
        with pytest.raises(ValueError, match="holds no Parquet file"):
            report(tmp_path)
        with pytest.raises(ValueError, match="no URL of a store"):
            report("klingon://example.org/x")

    @pytest.mark.parametrize("by", [[], ["colour"], "colour"])
    def test_groups(self, by: Any, tables: Path) -> None:
        """A column that makes no groups is refused, and the error lists the columns that do."""
        with pytest.raises(ValueError, match="provider, model, dialect, folder, tool"):
            report(tables, by=by)

    def test_damage_in_the_middle(self, tables: Path) -> None:
        """A file whose pages are damaged is refused, and its contents are not quoted."""
        path = next((tables / "recordings").iterdir())
        data = path.read_bytes()
        path.write_bytes(data[:4] + b"\xff" * (len(data) // 2) + data[4 + len(data) // 2 :])
        with pytest.raises(ValueError, match="is damaged, or no Parquet file"):
            report(tables)


class TestGroups:
    """The counts of groups."""

    def test_by_tool(self, tables: Path) -> None:
        """When grouped by tool, a recording counts for each tool that it calls; without a call it has a separate
        group.
        """
        found = {group.key: group.counts for group in report(tables, by=["tool"]).groups}

        assert {("ring",): (40, 40, 1), ("hoist",): (38, 35, 3), ("(no call)",): (3, 0, 0)} == {
            key: (counts.recordings - (key == ("ring",)), counts.calls, counts.dropped)
            for key, counts in found.items()
        }

    def test_order(self, tables: Path) -> None:
        """Rates of enough calls come first, the worst before the others; then the groups with the most calls."""
        ranked = report(tables, by=["provider"], least=30)
        small = report(tables, by=["provider"], least=39)

        assert ["quay", "harbour", "unknown"] == [group.key[0] for group in ranked.groups][:3]
        assert ["harbour", "quay", "unknown"] == [group.key[0] for group in small.groups][:3]
        assert [True, False, False] == [small.is_ranked(group.counts) for group in small.groups][:3]

    def test_bounded(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Beyond the bound groups share one; it and the others still add up."""
        monkeypatch.setattr("wholecall.bulk.reporting.groups._MOST_GROUPS", 5)
        rows = [answer(f"{n}", call(f"t{n}", "{}"), model=f"m{n}") for n in range(20)]
        found = report(write_parts(tmp_path / "out", rows), by=["model", "tool"])

        assert {("m0", "t0"): 1, (OTHERS, OTHERS): 15} == {
            group.key: group.counts.calls for group in found.groups if group.key[0] in {"m0", OTHERS}
        }
        assert (6, 20) == (len(found.groups), found.together(found.groups).calls)

    def test_worst(self, tables: Path) -> None:
        """The worst recordings have the most drops and faults; where all have one, the first come first."""
        worst = report(tables).worst

        assert ["b/00.jsonl#0", "b/01.jsonl#1", "b/02.jsonl#2", "c d.sse", "f.sse"] == [
            one.recording_id for one in worst
        ]
        assert ({"truncated": 1}, True) == (worst[0].words, worst[0].is_file)

    def test_worst_are_few(self, tmp_path: Path) -> None:
        """Of many the 20 worst are kept, at any position."""
        deltas = [call("f", '{"a": "')["tool_calls"][0] | {"index": n, "id": f"c{n}"} for n in range(30)]
        rows = [answer(f"{n}", {"tool_calls": deltas[: n % 30]}, finish="length") for n in range(90)]
        worst = report(write_parts(tmp_path / "out", rows, size=17)).worst

        assert [(29 - n // 3, 30 * (n % 3) + 29 - n // 3) for n in range(20)] == [
            (one.dropped, int(one.recording_id)) for one in worst
        ]

    def test_times_and_tokens(self, tables: Path) -> None:
        """Times and tokens are those of the recordings that have them."""
        found = {group.key[0]: group.counts for group in report(tables, by=["provider"]).groups}
        harbour = found["harbour"]

        assert [0.25, 0.5, 0.75] == [
            pytest.approx(harbour.seconds[name].quantile(0.5), rel=0.05)
            for name in ("first_text_s", "first_call_s", "last_s")
        ]
        assert (40, sum(range(20, 60)), 40) == (
            harbour.with_tokens,
            harbour.output_tokens,
            harbour.calls_with_tokens,
        )
        assert (0, 0) == (found["quay"].with_tokens, found["quay"].seconds["last_s"].total)

    def test_unreadable(self, tables: Path) -> None:
        """Troubles are counted by their text, with the first recording that has each."""
        unreadable = report(tables).unreadable

        assert (2, {"not YAML: line 3": 2}, {"not YAML: line 3": "g0.yaml"}) == (
            unreadable.recordings,
            unreadable.troubles,
            unreadable.examples,
        )

    def test_finishes(self, tables: Path) -> None:
        """Ends are counted by the provider's reason and its result, the most frequent first."""
        finishes = [(one.provider, one.ours, one.count) for one in report(tables).finishes]

        assert ("tool_calls", "tool_calls", 75) == finishes[0]
        assert {("stop", "stop", 2), ("length", "length", 3)} < set(finishes)


class TestNumbers:
    """Rates, histograms, samples."""

    @pytest.mark.parametrize(
        ("part", "whole", "low", "high"),
        [
            (0, 0, 0, 1),
            (0, 10, 0, 0.2775),
            (10, 10, 0.7225, 1),
            (5, 10, 0.2366, 0.7634),
            (1, 1000, 0.00018, 0.00564),
        ],
    )
    def test_intervals(self, part: int, whole: int, low: float, high: float) -> None:
        """Wilson's interval has the values that tables of it have."""
        assert [low, high] == pytest.approx(Rate(part, whole).interval, abs=1e-4)

    def test_quantiles(self) -> None:
        """A quantile is within 5 % of the one of all values."""
        rng = random.Random(7)
        values = sorted(rng.lognormvariate(0, 2) for _ in range(10_000))
        histogram = Histogram()
        for value in values:
            histogram.buckets[math.floor(Histogram.STEPS * math.log2(value))] += 1

        assert all(
            abs((histogram.quantile(share) or 0) / values[math.ceil(share * len(values)) - 1] - 1) < 0.05
            for share in (0.01, 0.5, 0.9, 0.99)
        )
        assert None is Histogram().quantile(0.5)

    def test_odd_values(self, tmp_path: Path) -> None:
        """A value that is not a number of seconds is not counted, and less than a millionth is nothing."""
        calls, recordings = flat([answer(str(n)) for n in range(6)])
        values = pa.array([math.nan, math.inf, -math.inf, None, -1.0, 0.0])
        recordings = recordings.set_column(recordings.column_names.index("last_s"), "last_s", values)
        one_part(tmp_path, calls, recordings)
        seconds = report(tmp_path).total.seconds["last_s"]

        assert (2, 0.0, {}) == (seconds.total, seconds.quantile(0.99), seconds.above_zero())

    def test_words_are_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Beyond the bound new words are counted as one, and known ones as themselves."""
        monkeypatch.setattr("wholecall.recordings.counts._MOST_WORDS", 2)
        words = Words()
        for word in "abcdab":
            words.add(word, 1)

        assert {"a": 2, "b": 2, OTHERS: 2} == words

    def test_duplicates(self, tables: Path) -> None:
        """Recordings with equal bytes are counted: all, and how many different ones there are."""
        found = report(tables).duplicates

        assert (82, True) == (found.hashed, found.exact)
        assert 82 - found.distinct == found.surplus == 2 + 34 + 1

    @pytest.mark.parametrize(("n_distinct", "copies"), [(50_000, 1), (20_000, 3)])
    def test_duplicates_beyond_the_bound(self, n_distinct: int, copies: int) -> None:
        """A sample estimates the number of different values beyond the kept ones."""
        rng = random.Random(3)
        hashes = [f"{rng.getrandbits(128):032x}" for _ in range(n_distinct)] * copies
        rng.shuffle(hashes)
        counter = counting.Hashes(most=5000)
        for start in range(0, len(hashes), 1000):
            column = pa.array(hashes[start : start + 1000])
            counter.add(tables_read.Window({"content_hash": column}, {}, pa.array([], pa.int64())))
        found = counter.found()

        assert (n_distinct * copies, False) == (found.hashed, found.exact)
        assert n_distinct == pytest.approx(found.distinct, rel=0.06)

    def test_counts_merge(self) -> None:
        """Every number of counts is added, and an empty one changes nothing."""
        one = Counts()
        one.add(dict.fromkeys(("recordings", "calls", "output_tokens"), 2))
        one.findings["flags"].add("repeated", 3)
        one.sizes.buckets[4] = 1
        two = Counts()
        two.merge(one)
        two.merge(Counts())

        assert one.to_dict() == two.to_dict()


def test_a_trouble_says_nothing_of_others(tmp_path: Path) -> None:
    """Where unreadable recordings are between readable ones, calls stay with their own."""
    rows = [
        answer("a", call("f", "{}"), provider="p"),
        troubled(Known("b", "b"), "gone"),
        answer("c", call("g", "{}"), provider="q"),
    ]
    found = report(write_parts(tmp_path / "out", rows), by=["provider", "tool"])

    assert {("p", "f"): 1, ("q", "g"): 1} == {group.key: group.counts.calls for group in found.groups}
