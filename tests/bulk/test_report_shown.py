"""Output of `wholecall report` on a terminal, as JSON and as a page, and its errors."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.hygiene.source_tree import PROJECT
from tests.support.reports import answer, call, sample, write_parts
from wholecall.bulk import BulkReport, report
from wholecall.bulk.rows import Known, Row, troubled
from wholecall.cli import main
from wholecall.cli.report.page import html_of
from wholecall.cli.report.sections import Cell, Column, Table, short, short_share
from wholecall.cli.report.text import table_lines, text_of
from wholecall.cli.show import cells

GOLDEN = PROJECT / "tests" / "golden" / "report.txt"
HOSTILE = "\x1b[31m\x9b2J\u202e\x07\x7f\u2028</td><script>alert(1)</script>\"'&amp;"
SECRET = "sesame-4711"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample as parts of a scan."""
    return write_parts(tmp_path_factory.mktemp("shown") / "out", sample())


@pytest.fixture(scope="module")
def found(tables: Path) -> BulkReport:
    """The report of the sample."""
    return report(tables)


def hostile() -> list[Row]:
    """Return rows whose names are whatever a wire or a file system can hold."""
    broken = call(HOSTILE, json.dumps({"code": SECRET})[:-1])
    return [
        answer(HOSTILE, call(HOSTILE, json.dumps({"code": SECRET})), provider=HOSTILE, model=HOSTILE),
        answer(f"{HOSTILE}#2", {"content": SECRET}, broken, finish=HOSTILE),
        troubled(Known(HOSTILE, HOSTILE), HOSTILE),
    ]


def plain(lines: Any) -> str:
    """Return lines without their colours."""
    return re.sub(r"\x1b\[\d+m", "", "\n".join(lines))


class TestText:
    """The report on a terminal."""

    def test_golden(self, found: BulkReport) -> None:
        """The text of the sample is the one that is on file; `python -m tests.support.reports` writes it anew."""
        assert GOLDEN.read_text("utf-8") == "".join(f"{line}\n" for line in text_of(found, 100, colour=False))

    @pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
    def test_lines_fit(self, found: BulkReport, width: int) -> None:
        """Every line fits the width, but for commands that are there to be copied."""
        lines = list(text_of(found, width, colour=False))

        assert [] == [line for line in lines if cells(line) > width and "wholecall inspect" not in line]

    def test_colours_change_nothing_else(self, found: BulkReport) -> None:
        """With colours the text is the same; drops are red, rates of few calls grey."""
        coloured = list(text_of(found, 100, colour=True))
        few = next(line for line in coloured if line.startswith("unknown"))

        assert "\n".join(text_of(found, 100, colour=False)) == plain(coloured)
        assert re.search(r"\x1b\[31m *3\x1b\[0m  \x1b\[31m *7\.9 %\x1b\[0m", "\n".join(coloured))
        assert re.search(r"\x1b\[2m *100 %\x1b\[0m  \x1b\[2m *20\.7-100\.0\x1b\[0m", few)

    def test_grey_is_explained_where_it_stands(self, tmp_path: Path) -> None:
        """A legend names the groups that are not ranked, if there are any; else nothing mentions it."""
        path = write_parts(tmp_path / "out", [answer(str(n), call("f", "{}")) for n in range(3)])
        said = ["\n".join(text_of(report(path, least=least), 200, colour=False)) for least in (3, 4)]

        assert [0, 2] == [text.count("Rates of fewer than 4 calls are not ranked") for text in said]
        assert "grey" not in said[0]

    def test_many_groups(self, tmp_path: Path) -> None:
        """Of many groups the first have separate rows; the last row holds the others."""
        rows = [answer(str(n), call("f", "{}"), model=f"m{n:02}") for n in range(50)]
        text = "\n".join(text_of(report(write_parts(tmp_path / "out", rows)), 100, colour=False))

        assert 19 == len(
            re.findall(
                r"^unknown +m\d\d +1 +",
                text.split("Ends of turns")[0].split("Quirks")[0],
                re.MULTILINE,
            )
        )
        assert re.search(r"^\(31 others\) +31 +", text, re.MULTILINE)

    def test_nothing_reaches_the_terminal(self, tmp_path: Path) -> None:
        """Names from the wire hold nothing that a terminal obeys; no text of arguments or answers is shown."""
        text = "\n".join(text_of(report(write_parts(tmp_path / "out", hostile())), 1000, colour=False))

        assert text.replace("\n", "").isprintable()
        assert SECRET not in text
        assert r"\x1b[31m\x9b2J\u202e\x07\x7f\u2028</td>" in text

    def test_columns_go_before_names(self) -> None:
        """Where there is no room, the columns that are worth least go, and names are cut last."""
        columns = [Column("name", is_text=True), Column("a", worth=2), Column("b", worth=1), Column("c")]
        table = Table(columns, [[Cell("n" * 20), Cell("11111"), Cell("22222"), Cell("33333")]])
        lines = {
            width: list(table_lines(table, width, lambda text, _: text)) for width in (41, 40, 36, 35, 29, 21)
        }

        assert {
            41: "nnnnnnnnnnnnnnnnnnnn  11111  22222  33333",
            40: "nnnnnnnnnnnnnnnn...  11111  22222  33333",
            36: "nnnnnnnnnnnnnnnnnnnn  11111  33333",
            35: "nnnnnnnnnnnnnnnnnnnn  11111  33333",
            29: "nnnnnnnnnnnnnnnnnnnn  33333",
            21: "nnnnnnnnnnn...  33333",
        } == {width: shown[1] for width, shown in lines.items()}

    @pytest.mark.parametrize(
        ("share", "shown"),
        [
            (None, "-"),
            (0, "0 %"),
            (1, "100 %"),
            (0.00001, "<0.01 %"),
            (0.00123, "0.12 %"),
            (0.5, "50.0 %"),
            (0.99999, ">99.9 %"),
        ],
    )
    def test_shares(self, share: float | None, shown: str) -> None:
        """A share never looks like none or all where it is neither."""
        assert shown == short_share(share)

    @pytest.mark.parametrize(
        ("value", "shown"),
        [(None, "-"), (0, "0"), (0.0123, "0.012"), (1, "1.0"), (12.3, "12"), (1234, "1,200")],
    )
    def test_measured(self, value: float | None, shown: str) -> None:
        """Measured values have two digits."""
        assert shown == short(value).text


class TestJson:
    """The report for programs."""

    def test_lines(self, tables: Path, found: BulkReport, capsys: pytest.CaptureFixture[str]) -> None:
        """Each line is an object that says its section, and together they are the report."""
        assert 0 == main(["report", "--json", str(tables)])
        lines = list(map(json.loads, capsys.readouterr().out.splitlines()))

        assert json.loads(json.dumps(list(found.to_dicts()))) == lines
        assert ["total", "unreadable", "group", "tool", "finish", "duplicates", "worst"] == list(
            dict.fromkeys(line["section"] for line in lines)
        )

    def test_no_text_of_arguments(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """No argument is in it, and a name from the wire is JSON in ASCII."""
        assert 0 == main(["report", "--json", str(write_parts(tmp_path / "out", hostile()))])
        out = capsys.readouterr().out

        assert SECRET not in out
        assert out.replace("\n", "").isprintable()
        assert out.isascii()
        assert HOSTILE in {line.get("provider") for line in map(json.loads, out.splitlines())}


class Elements(HTMLParser):
    """Gathers the elements of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.ids: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the beginning of an element."""
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in {"href", "src"}}
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Take the end of an element, which has to be the last that began."""
        assert tag == self.open.pop()


class TestPage:
    """The report as a page, as far as no browser is needed."""

    def test_is_whole(self, found: BulkReport) -> None:
        """Elements end as they began, ids are unique, links stay in the page, and no element brings styles or scripts."""
        page = html_of(found)
        elements = Elements(page.replace("<!DOCTYPE html>", ""))

        assert [] == elements.open
        assert sorted(set(elements.ids)) == sorted(elements.ids)
        assert {f"#{id}" for id in elements.ids} >= elements.links
        assert set() == {name for name in elements.attributes if name.startswith("on") or name == "style"}
        assert "http:" not in page.replace("http-equiv", "")
        assert "https:" not in page

    def test_holds_what_was_counted(self, found: BulkReport) -> None:
        """Each section that has something to show is in it."""
        page = html_of(found)

        for section in (
            "summary",
            "groups",
            "drops",
            "quirks",
            "tools",
            "times",
            "finishes",
            "tokens",
            "worst",
        ):
            assert f'<section id="{section}"' in page
        assert "<h1>Tool calls of 82 recordings</h1>" in page
        assert "<code>wholecall inspect &#x27;c d.sse&#x27;</code>" in page

    def test_only_the_rest_is_the_rest(self, found: BulkReport) -> None:
        """Where no groups share a row, no row stays last when one sorts."""
        assert ' class="rest"' not in html_of(found)

    def test_hostile_names_are_text(self, tmp_path: Path) -> None:
        """No name from the wire is markup, none hides or reorders other content, and no argument is in the page."""
        page = html_of(report(write_parts(tmp_path / "out", hostile()), by=["provider", "model", "tool"]))
        elements = Elements(page.replace("<!DOCTYPE html>", ""))

        assert "script" in elements.tags
        assert 1 == page.count("<script")
        assert "&lt;/td&gt;&lt;script&gt;alert(1)" in page
        assert page.replace("\n", "").isprintable()
        assert SECRET not in page

    def test_is_written_as_a_whole(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A file is replaced by the page if it was one; standard output takes it, too."""
        page = tmp_path / "page.html"
        page.write_text("<p>old</p>", "utf-8")

        assert 0 == main(["report", str(tables), "--html", str(page)])
        assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
        assert 0 == main(["report", str(tables), "--html", "-"])
        assert page.read_text("utf-8") == capsys.readouterr().out

    def test_replaces_nothing_else(self, tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """A file that is not a page is not overwritten."""
        part = next((tables / "calls").iterdir())
        before = part.read_bytes()
        with pytest.raises(SystemExit, match="2"):
            main(["report", str(tables), "--html", str(part)])

        assert before == part.read_bytes()
        assert "is no page, and would be lost" in capsys.readouterr().err

    def test_long_tables(self, tmp_path: Path) -> None:
        """Beyond 500 groups the rest share a row."""
        rows = [answer(str(n), call("f", "{}"), model=f"m{n}") for n in range(510)]
        page = html_of(report(write_parts(tmp_path / "out", rows), by=["model"]))

        assert page.count("(11 others)") == 1


class TestCommand:
    """The command's messages when it fails."""

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--by", "colour"], "take some of provider, model, dialect, folder, tool, with commas"),
            (["--by", ","], "take some of provider, model, dialect, folder, tool, with commas"),
            (["--min", "-1"], "'-1' is not a number of calls"),
            (["--min", "9" * 5000], "is not a number of calls"),
            (["--json", "--html", "-"], "not allowed with"),
        ],
    )
    def test_wrong_options(
        self, options: list[str], message: str, tables: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A wrong option ends with 2, and the message names the right ones."""
        with pytest.raises(SystemExit, match="2"):
            main(["report", str(tables), *options])

        assert message in capsys.readouterr().err

    @pytest.mark.parametrize("made", [None, b"", b"nothing"])
    def test_unreadable_tables(
        self, made: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Unreadable input ends with 3 and one line on standard error."""
        path = tmp_path / "x.parquet"
        if made is not None:
            path.write_bytes(made)
        code = main(["report", str(path)])
        told = capsys.readouterr()

        assert (3, "", 1) == (code, told.out, told.err.count("\n"))
        assert str(path) in told.err

    def test_without_pyarrow(
        self, tables: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Without the extra the command says how to get it, and ends with 2; everything else works."""
        for name in [
            name
            for name in sys.modules
            if name.partition(".")[0] == "pyarrow" or name.startswith("wholecall.bulk")
        ]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.delattr("wholecall.bulk", raising=False)
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        code = main(["report", str(tables)])

        assert (2, "wholecall: report needs pyarrow: pip install 'wholecall[bulk]'\n") == (
            code,
            capsys.readouterr().err,
        )
