"""The page of `wholecall report` in a real browser: its content, its controls, and its limits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.browser import console, told
from tests.support.loopback import serve
from tests.support.reports import answer, call, sample, write_parts
from wholecall.bulk.rows import Row
from wholecall.cli import main
from wholecall.serving import Answer

pytestmark = pytest.mark.browser

EVIL = "</td></script><script>window.pwned=1</script><img src=x onerror='window.pwned=2'>\u202e&lt; end"
SECRET = "sesame-4711"


def page_of(folder: Path, rows: list[Row], *options: str) -> Path:
    """Return the page of the report of some rows."""
    page = folder / "page.html"
    assert main(["report", str(write_parts(folder / "out", rows)), "--html", str(page), *options]) == 0
    return page


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the sample."""
    return page_of(tmp_path_factory.mktemp("page"), sample())


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with many groups, one of which is the rest."""
    rows = [
        answer(
            f"{n}",
            call("f", "{}" if n % 7 else '{"a": "'),
            model=f"m{n:03}",
            finish="length" if n % 7 == 0 else "stop",
        )
        for n in range(510)
    ]
    return page_of(tmp_path_factory.mktemp("long"), rows, "--by", "model", "--min", "1")


class TestQuiet:
    """The limits of the page."""

    def test_no_complaint(self, page: Path) -> None:
        """The browser finds nothing wrong with it, and its policy refuses none of its own content."""
        assert [] == console(page)

    def test_complaints_are_heard(self, page: Path) -> None:
        """A style that is not the page's own is refused, and the refusal is noticed."""
        other = page.with_name("other.html")
        other.write_text(page.read_text("utf-8").replace("<main>", '<main style="color: red">'), "utf-8")

        assert 1 == len(console(other))

    def test_no_request(self, page: Path) -> None:
        """It loads nothing, not even its own picture."""
        assert 0 == told(page, 'tell(performance.getEntriesByType("resource").length)')

    @pytest.mark.parametrize("policy", [True, False])
    def test_no_network(self, page: Path, policy: bool) -> None:
        """Even a script that runs in the page reaches no server, because the policy forbids it."""
        with serve(Answer([b"{}"])) as server:
            driver = (
                f"const ask = fetch({json.dumps(server.url)}, {{ mode: 'no-cors' }});"
                "ask.then(() => tell('reached'), () => tell('refused'));"
            )
            seen = told(page, driver, policy=policy)

        assert (("refused", 0) if policy else ("reached", 1)) == (seen, len(server.requests))

    def test_no_markup(self, tmp_path: Path) -> None:
        """Names from the wire are text everywhere, and no text of arguments is there."""
        rows = [
            answer(
                EVIL, call(EVIL[:60], json.dumps({"code": SECRET})), provider=EVIL, model=EVIL, finish=EVIL
            ),
            answer("b", call(EVIL[:60], f'{{"code": "{SECRET}'), provider=EVIL, model=EVIL, finish="length"),
        ]
        made = page_of(tmp_path, rows)
        seen = told(
            made,
            'tell([all("img, td script, td *:not(svg):not(rect):not(line):not(code):not(span)").length,'
            ' all("script").length, window.pwned === undefined, texts("#groups td.name"),'
            f' document.documentElement.innerHTML.includes("{SECRET[:6]}" + "-4711")])',
        )

        assert [0, 2, True, [EVIL.replace("\u202e", "\\u202e")] * 2, False] == seen


class TestTables:
    """The controls of tables."""

    def test_sorting(self, long: Path) -> None:
        """A head sorts its column, once more the other way round; names go up first, numbers down; the rest stays last."""
        driver = """
const column = (n) => texts(`#groups tbody td:nth-child(${n})`);
const ends = (n) => [column(n)[0], column(n)[498], column(n)[499]];
const head = (name) => all("#groups th").find((one) => one.textContent === name);
const click = (name) => { head(name).firstElementChild.click(); return head(name).ariaSort; };
const seen = [ends(1)];
seen.push(click("model"), ends(1), click("model"), ends(1));
seen.push(click("dropped"), column(head("dropped").cellIndex + 1).slice(0, 2), head("model").ariaSort);
tell(seen);
"""
        rest = "(11 others)"  # all but one of the last twelve: m504 has a drop

        assert [
            ["m000", "m496", rest],
            *("ascending", ["m000", "m504", rest], "descending", ["m504", "m000", rest]),
            *("descending", ["1", "1"], None),
        ] == told(long, driver)

    def test_heat_maps_sort_too(self, page: Path) -> None:
        """A column of a heat map is a column of a table."""
        driver = """
const head = all("#quirks th").find((one) => one.textContent === "missing_finish");
head.firstElementChild.click();
tell([texts("#quirks tbody tr:first-child td"), all("#quirks td svg rect").length]);
"""

        assert [["unknown", "m", "3", "·", "33.3"], 2] == told(page, driver)

    def test_long_tables_are_folded(self, long: Path) -> None:
        """A long table shows its first rows and the last; a button shows all."""
        driver = """
const seen = () => all("#groups tbody tr").filter((row) => row.checkVisibility()).length;
const button = one("#groups .more");
const found = [seen(), button.textContent];
button.click();
found.push(seen(), button.textContent);
tell(found);
"""

        assert [16, "Show all 500 rows", 500, "Show fewer rows"] == told(long, driver)

    def test_without_a_script_nothing_is_hidden(self, long: Path) -> None:
        """Without scripts all rows are there."""
        bare = long.with_name("bare.html")
        text = long.read_text("utf-8")
        bare.write_text(text[: text.rindex("<script>")] + "</body></html>", "utf-8")

        assert 500 == told(
            bare, 'tell(all("#groups tbody tr").filter((row) => row.checkVisibility()).length)'
        )


class TestLook:
    """The appearance."""

    @pytest.mark.parametrize("size", ["1440,900", "1000,700", "600,800", "500,900"])
    def test_nothing_sticks_out(self, page: Path, size: str) -> None:
        """In no window does the page scroll sideways; wide content scrolls in its own place."""
        driver = """
const sticks = all("main > section, header, footer, h1, .facts div").filter((one) => one.scrollWidth > one.clientWidth + 1);
tell([document.documentElement.scrollWidth <= window.innerWidth, sticks.map((one) => one.id || one.tagName)]);
"""

        assert [True, []] == told(page, driver, size=size)

    @pytest.mark.parametrize("size", ["1920,1200", "1440,900"])
    def test_commands_are_whole(self, tmp_path: Path, size: str) -> None:
        """The last column of the worst recordings is in its table's window, for any length of a path."""
        rows = [answer("a-long-name-of-a-folder/" * 12 + "a.sse", call("f", '{"a": "'), finish="length")]
        driver = """
const wide = one("#worst .wide");
tell([wide.scrollWidth <= wide.clientWidth + 1, one("td.command").textContent.endsWith("a.sse")]);
"""

        assert [True, True] == told(page_of(tmp_path, rows), driver, size=size)

    def test_dark_and_light(self, page: Path) -> None:
        """A button changes the colours, and changes them back."""
        driver = """
const ground = () => getComputedStyle(document.body).backgroundColor;
const found = [ground()];
for (const _ of [1, 2]) { one("#theme").click(); found.push(ground()); }
tell(found);
"""
        first, second, third = told(page, driver)

        assert first == third != second

    def test_everything_has_a_name_and_can_be_reached(self, page: Path) -> None:
        """Every control has an accessible name, and takes the focus; pictures describe their content."""
        driver = """
const controls = all("button, a, [tabindex]").filter((one) => one.checkVisibility());
const nameOf = (element) => element.getAttribute("aria-label") || element.textContent.trim();
const reached = controls.filter((one) => { one.focus(); return document.activeElement === one; });
const mute = all("svg").filter((one) => !one.getAttribute("aria-label") && one.getAttribute("aria-hidden") !== "true");
tell([controls.length > 40, controls.filter((one) => !nameOf(one)).length, controls.length - reached.length, mute.length]);
"""

        assert [True, 0, 0, 0] == told(page, driver)

    def test_figures_have_a_size(self, page: Path) -> None:
        """Bars and histograms are drawn: each has a width and a height, and histograms have as many bars as values."""
        driver = """
const boxes = all("#times figure rect, #tools .rate rect, #drops .bar rect").map((one) => one.getBoundingClientRect());
tell([boxes.length, boxes.filter((box) => box.width > 0 && box.height > 0).length, all("#times figure").length]);
"""
        count, drawn, figures = told(page, driver)

        assert (7, 7, 3) == (count, drawn, figures)
