"""The page of `wholecall inspect` in a real browser: its content, its controls, and its limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import made, told
from tests.support.leaking import QWEN, leaked
from tests.support.loopback import serve
from wholecall.cli import main
from wholecall.serving import Answer

pytestmark = pytest.mark.browser

CUT = Path(__file__).parents[2] / "corpora/recordings/chat-completions/cut-relabelled.sse"
EVIL = (
    "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=2'><!--\0\u202e\ud800 &lt; end"
)
LOOK = """
tell({
  step: step(),
  frame: texts("#frames .here .what"),
  raw: texts("#frame"),
  names: texts(".card .name"),
  chips: texts(".card .head .chip"),
  text: texts(".card pre"),
  added: texts(".card mark"),
  why: texts(".card .why"),
  events: texts("#events .here b"),
  status: texts("#status"),
  empty: texts(".cards .empty"),
});
"""


def chat(*deltas: dict[str, Any], finish: str = "tool_calls") -> bytes:
    """Return a chat stream."""
    choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    chunks = [{"object": "chat.completion.chunk", "model": EVIL, "choices": [one]} for one in choices]
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks) + b"data: [DONE]\n\n"


def piece(arguments: str, **labels: Any) -> dict[str, Any]:
    """Return a delta with a piece of a call."""
    name = {"name": labels.pop("name")} if "name" in labels else {}
    return {"tool_calls": [{"index": 0, "function": {"arguments": arguments, **name}, **labels}]}


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a recording whose one call is dropped."""
    return made(tmp_path_factory.mktemp("cut"), CUT.read_bytes())


class TestStates:
    """The content of a step."""

    def test_the_start(self, cut: Path) -> None:
        """At the first step no call has begun."""
        seen = told(cut, LOOK)

        assert (0, ['role="assistant"'], []) == (seen["step"], seen["frame"], seen["names"])
        assert (["No call has begun."], ["turn started"]) == (seen["empty"], seen["events"])

    def test_in_the_middle_of_a_call(self, cut: Path) -> None:
        """A growing call shows its name, its phase, its text, and this frame's addition."""
        seen = told(cut, LOOK, "0.3")

        assert {
            "step": 3,
            "frame": ['arguments="-rf /srv/cache/ti"'],
            "raw": seen["raw"],
            "names": ["run_shell"],
            "chips": ["streaming"],
            "text": ['{"command": "rm -rf /srv/cache/ti'],
            "added": ["-rf /srv/cache/ti"],
            "why": [],
            "events": ["arguments delta"],
            "status": ["call 0, added 17 characters"],
            "empty": [],
        } == seen
        assert json.loads(seen["raw"][0])["object"] == "chat.completion.chunk"

    def test_the_drop(self, cut: Path) -> None:
        """The dropped call shows the drop and its reason."""
        seen = told(cut, LOOK, "0.6")

        assert ["streaming → ended", "dropped: truncated"] == seen["chips"]
        assert ["the text ends before its object does; see character 12"] == seen["why"]
        assert (["tool call dropped"], ["call 0 ended, dropped: truncated"]) == (
            seen["events"],
            seen["status"],
        )

    def test_the_end(self, cut: Path) -> None:
        """The end of the stream is a separate step; the call stays as it ended."""
        seen = told(cut, LOOK, "0.7")

        assert (["(end of the stream)"], ["turn finished"]) == (seen["frame"], seen["events"])
        assert ["ended", "dropped: truncated"] == seen["chips"]

    def test_edits_and_replaced_text(self, tmp_path: Path) -> None:
        """Edits are marked at their place, a replaced text as such."""
        recovered = chat(piece('{"a":"🌊",}', id="c1", name="f"))
        replaced = chat(piece("{}", id="c1", name="f"), piece('{"a":1}'))
        page = made(tmp_path, recovered, replaced)
        seen = told(
            page, 'tell([texts("mark.edited"), texts(".chip.edit"), texts(".row.edit .word")])', "0.2"
        )

        assert [[","], ["trailing_comma at character 8"], ["edit"]] == seen
        assert [['{"a":1}'], ["this frame replaced the text", "placeholder"]] == told(
            page, 'tell([texts("mark.replaced"), texts(".notes .chip")])', "1.1"
        )


class TestOpening:
    """The step at which a page opens."""

    @pytest.mark.parametrize("at", ["", "0"])
    def test_the_first_end_of_a_call(self, cut: Path, at: str) -> None:
        """Without a step in its address a page opens where a call ended first, whole or dropped."""
        assert 6 == told(cut, "tell(step())", at)

    def test_another_recording(self, tmp_path: Path) -> None:
        """A chosen recording opens there, too; a recording without calls at its first mark or at its beginning."""
        good = chat({"content": "x"}, piece("{}", id="c1", name="f"))
        plain = chat({"content": "x"}, finish="stop")
        broken = plain[:-14] + b"data: oops\n\n" + plain[-14:]
        page = made(tmp_path, plain, good, broken)
        driver = """
const went = [0, 1, 2].map((n) => {
  one("#choose").value = n;
  one("#choose").dispatchEvent(new Event("change"));
  return [step(), texts(".row.here .word")];
});
tell(went);
"""

        assert [[0, []], [3, ["call", "call"]], [2, ["fault", "fault"]]] == told(page, driver, "")


class TestNamed:
    """The character that a drop names."""

    def test_it_is_marked(self, cut: Path) -> None:
        """The drop names a character, counted from 0, and this character is marked in the text."""
        seen = told(cut, 'tell([texts("mark.named"), texts(".card pre")])', "0.6")

        assert [['"'], ['{"command": "rm -rf /srv/cache/ti']] == seen

    def test_characters_of_two_places_count_once(self, tmp_path: Path) -> None:
        """A character that browsers count as two is one; of a long text the part with the mark is shown."""
        wave = '{"a": "🌊", "b": nope}'
        long = '{"a": "' + "🌊" * 30_000 + '", "b": nope, "c": "' + "x" * 30_000 + '"}'
        page = made(tmp_path, chat(piece(wave, id="c1", name="f")), chat(piece(long, id="c1", name="f")))
        look = (
            'tell([texts("mark.named"), texts(".why")[0], texts(".card .cut"), texts(".card pre")[0].length])'
        )
        first, second = told(page, look, "0"), told(page, look, "1")

        assert (["n"], True) == (first[0], first[1].endswith("see character 16"))
        assert (["n"], True) == (second[0], second[1].endswith("see character 30015"))
        assert 2 == len(second[2])
        assert second[3] < 20_000

    def test_the_end_of_the_text(self, tmp_path: Path) -> None:
        """If the drop names the place after the last character, an empty mark is there."""
        page = made(tmp_path, chat(piece('{"a":', id="c1", name="f")))
        driver = 'tell([texts("mark.named"), one("mark.named").offsetWidth > 4, texts(".why")[0].slice(-9), texts(".card pre")])'

        assert [[""], True, "aracter 5", ['{"a":']] == told(page, driver, "")


class TestControls:
    """Navigation through the stream."""

    def test_keys(self, cut: Path) -> None:
        """Arrows step, with shift by ten, Home and End go to the ends, n and p to the marks."""
        keys = [
            "ArrowRight",
            "ArrowRight",
            "ArrowLeft",
            "End",
            "ArrowRight",
            "Home",
            "ArrowLeft",
            "n",
            "n",
            "p",
        ]
        seen = told(
            cut,
            f"const went = {json.dumps(keys)}.map((key) => {{ press(key); return step(); }});"
            'press("Home"); press("ArrowRight", true); went.push(step()); tell(went);',
        )

        assert [1, 2, 1, 7, 7, 0, 0, 6, 6, 6, 7] == seen

    def test_play(self, cut: Path) -> None:
        """Space plays to the end and stops there; once more begins anew."""
        driver = """
const first = one("#play").textContent;
press(" ");
const playing = one("#play").textContent;
setTimeout(() => {
  const end = [step(), one("#play").textContent];
  press(" ");
  const again = step();
  press(" ");
  tell([first, playing, ...end, again, one("#play").textContent]);
}, 5000);
"""

        assert ["play", "pause", 7, "play", 0, "play"] == told(cut, driver)

    def test_buttons_rows_and_slider(self, cut: Path) -> None:
        """Each button does as labelled, a row goes to its step, the slider to the step where it is dropped."""
        driver = """
const went = ["next", "next", "back", "last", "first", "markNext", "markBack"].map((id) => {
  one(`#${id}`).click();
  return step();
});
one("#frames .row:nth-child(5)").click();
went.push(step());
all("#events .row")[3].click();
went.push(step());
one("#slider").value = 5;
one("#slider").dispatchEvent(new Event("input"));
went.push(texts("#where")[0]);
tell(went);
"""

        assert [1, 2, 1, 7, 0, 6, 6, 3, 3, "step 5 of 7  byte 1,239"] == told(cut, driver)

    def test_dark_and_light(self, cut: Path) -> None:
        """The button changes the colours."""
        driver = """
const paper = () => getComputedStyle(document.body).backgroundColor;
const before = paper();
one("#theme").click();
const after = paper();
one("#theme").click();
tell([before === paper(), before === after]);
"""

        assert [True, False] == told(cut, driver)

    def test_several_recordings(self, tmp_path: Path) -> None:
        """The choice among several recordings."""
        page = made(tmp_path, CUT.read_bytes(), chat({"content": "x"}, finish="stop"))
        driver = """
const before = texts("#sums .chip");
one("#choose").value = 1;
one("#choose").dispatchEvent(new Event("change"));
tell([one("#choice").hidden, before, texts("#sums .chip")]);
"""

        assert [False, ["8 steps", "0 calls", "1 dropped"], ["4 steps", "0 calls"]] == told(page, driver)

    def test_one_recording_has_no_choice(self, cut: Path) -> None:
        """With one recording there is no choice, and its name is shown without folders."""
        seen = told(cut, 'tell([one("#choice").offsetHeight, texts("h1"), document.title])')

        assert [0, ["recording-0.sse"], "recording-0.sse · wholecall inspect"] == seen

    def test_names_are_those_below_the_common_folder(self, tmp_path: Path) -> None:
        """The page holds no folder that all recordings have in common."""
        for name in ("deep/a/x.sse", "deep/b/x.sse"):
            (tmp_path / name).parent.mkdir(parents=True)
            (tmp_path / name).write_bytes(CUT.read_bytes())
        page = tmp_path / "page.html"
        assert main(["inspect", "--html", str(page), str(tmp_path / "deep")]) == 0

        assert str(tmp_path) not in page.read_text("utf-8")
        assert ["a/x.sse · 0 calls, 1 dropped", "b/x.sse · 0 calls, 1 dropped"] == told(
            page, 'tell(texts("#choose option"))'
        )

    def test_a_filter_and_counts(self, tmp_path: Path) -> None:
        """Each recording has its counts; words of names and dialects filter, and so does their content."""
        good = chat(piece("{}", id="c1", name="f"))
        page = made(tmp_path, good, CUT.read_bytes(), b'data: {"error": {"message": "busy"}}\n\n')
        driver = """
const state = () => [texts("#choose option").map((text) => text.slice(10)), texts("#found")[0], texts("h1")[0]];
const enter = (id, value) => {
  one(id).value = value;
  one(id).dispatchEvent(new Event(id === "#filter" ? "input" : "change"));
  return state();
};
tell([
  state(), texts("#which option"), enter("#which", 1), enter("#which", 2), enter("#which", 0),
  enter("#filter", "CHAT -1"), enter("#filter", "nothing"), one("#choose").disabled, enter("#filter", ""),
]);
"""
        names = ["0.sse · 1 call", "1.sse · 0 calls, 1 dropped", "2.sse · 0 calls, 1 fault"]

        assert [
            [names, "3 of 3 recordings", "recording-0.sse"],
            [
                "all (3)",
                "with drops (1)",
                "with faults (1)",
                "with calls (1)",
                "without drops and faults (1)",
            ],
            [names[1:2], "1 of 3 recordings", "recording-1.sse"],
            [names[2:], "1 of 3 recordings", "recording-2.sse"],
            [names, "3 of 3 recordings", "recording-2.sse"],
            [names[1:2], "1 of 3 recordings", "recording-1.sse"],
            [[], "0 of 3 recordings", "recording-1.sse"],
            True,
            [names, "3 of 3 recordings", "recording-1.sse"],
        ] == told(page, driver)

    def test_keys_in_the_filter_are_text(self, tmp_path: Path) -> None:
        """Typing into the filter moves nothing."""
        page = made(tmp_path, CUT.read_bytes(), CUT.read_bytes())
        driver = """
const key = (key) => one("#filter").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
["n", "End", " ", "p", "ArrowRight"].forEach(key);
tell([step(), texts("#play")]);
"""

        assert [0, ["play"]] == told(page, driver)

    def test_everything_has_a_name_and_can_be_reached(self, cut: Path) -> None:
        """Every control has an accessible name, and takes the focus."""
        driver = """
const controls = all("button, select, input, [tabindex]").filter((one) => one.checkVisibility() && !one.disabled);
const nameOf = (element) =>
  element.getAttribute("aria-label") || element.getAttribute("aria-labelledby") || element.textContent.trim();
const reached = controls.filter((one) => { one.focus(); return document.activeElement === one; });
tell([controls.length > 12, controls.filter((one) => !nameOf(one)).length, controls.length - reached.length]);
"""

        assert [True, 0, 0] == told(cut, driver, "0.3")

    def test_small_screens(self, cut: Path) -> None:
        """On a phone the calls come before the frames and those before the events, under what happened; the buttons
        stay at the foot of the screen.
        """
        driver = """
const topOf = (selector) => one(selector).getBoundingClientRect().top;
const order = ["h1", "#slider", "#status", "#hCalls", "#hFrames", "#hEvents"].map(topOf);
const foot = innerHeight - one(".controls").getBoundingClientRect().bottom;
tell([order.every((one, n) => !n || order[n - 1] < one), Math.round(foot), order[3] < innerHeight / 2]);
"""

        assert [True, 0, True] == told(cut, driver, "", size="500,900")

    @pytest.mark.parametrize("size", ["1440,900", "1000,700", "600,800", "500,900"])
    def test_nothing_sticks_out(self, cut: Path, size: str) -> None:
        """In no window does the page scroll sideways or by itself, and no card is wider than its column."""
        driver = """
const sticks = all(".card, .row, header, footer, section").filter((one) => one.scrollWidth > one.clientWidth + 1);
press("End");
press("p");
tell([document.documentElement.scrollWidth <= window.innerWidth, sticks.length, window.scrollY]);
"""

        assert [True, 0, 0] == told(cut, driver, "0.6", size=size)


class TestHostility:
    """Content from the wire stays text."""

    def test_no_markup(self, tmp_path: Path) -> None:
        """Names, ids, models, texts and broken frames are shown as they are, with escapes for invisible characters."""
        stream = chat({"content": EVIL}, piece(json.dumps({"a": EVIL}), id=EVIL, name=EVIL[:60]))
        page = made(tmp_path, stream[:-14] + b"data: <img src=x onerror='window.pwned=3'>\n\n" + stream[-14:])
        driver = """
const found = [];
for (let n = 0; n < 7; n += 1) {
  found.push(all("img, b > *, h1 *, .card script").length, window.pwned === undefined, all("script").length);
  press("ArrowRight");
}
tell({ found: [...new Set(found)], names: texts(".card .name"), id: texts(".card .id"), origin: texts("#origin") });
"""
        shown = EVIL.replace("\0", "\\x00").replace("\u202e", "\\u202e").replace("\ud800", "\\ud800")
        seen = told(page, driver)

        assert [0, True, 3] == seen["found"]  # the data, the page's script, the driver
        assert ([EVIL[:60]], [shown]) == (seen["names"], seen["id"])
        assert [f"chat-completions · {shown}"] == seen["origin"]

    @pytest.mark.parametrize("policy", [True, False])
    def test_no_network(self, tmp_path: Path, policy: bool) -> None:
        """Even a script that runs in the page reaches no server, because the policy forbids it."""
        page = made(tmp_path, CUT.read_bytes())
        with serve(Answer([b"{}"])) as server:
            driver = (
                f"const ask = fetch({json.dumps(server.url)}, {{ mode: 'no-cors' }});"
                "ask.then(() => tell('reached'), () => tell('refused'));"
            )
            seen = told(page, driver, policy=policy)

        assert (("refused", 0) if policy else ("reached", 1)) == (seen, len(server.requests))


class TestTexts:
    """Recordings with calls in their texts."""

    def test_what_a_text_is(self, tmp_path: Path) -> None:
        """Each part that a step decided is shown with its kind; the call shows its format."""
        page = made(tmp_path, leaked(f"Hi\n{QWEN}{EVIL}", size=1000), options=("--text", "auto"))
        look = 'tell([one("#hSpans").hidden, texts("#spans .chip"), texts("#spans > :not(.chip)"), texts(".notes .chip")])'
        hidden, kinds, parts, notes = told(page, look)

        assert (False, ["text", "markup", "call", "markup", "text"]) == (hidden, kinds)
        assert [" Hi\n", " <tool_call>\n"] == parts[:2]
        assert "</script><script>window.pwned=1" in parts[-1]
        assert ["from_text (auto)"] == notes

    def test_without_such_texts_there_is_no_place_for_them(self, cut: Path) -> None:
        """The page is unchanged for recordings whose texts are not read."""
        assert [True, True, ""] == told(
            cut, 'tell([one("#hSpans").hidden, one("#spans").hidden, texts("#spans")[0]])'
        )


class TestSize:
    """Long streams."""

    def test_ten_thousand_frames(self, tmp_path: Path) -> None:
        """Only the rows in sight exist, and of a long text the relevant part, at every step."""
        pieces = [
            piece('{"a":"', id="c1", name="f"),
            *[piece(f"{n:06} ") for n in range(10_000)],
            piece('"}'),
        ]
        page = made(tmp_path, chat(*pieces))
        driver = """
const found = [];
for (const place of [0, 5000, 10003]) {
  one("#slider").value = place;
  one("#slider").dispatchEvent(new Event("input"));
  found.push([step(), all(".row").length < 120, texts(".row.here .number")[0], texts("mark"), texts(".size")]);
}
tell([found, texts("pre .cut"), texts(".card pre")[0].length < 13000]);
"""
        found, cut, is_short = told(page, driver)

        assert [
            [0, True, "#0", ['{"a":"'], ["6 characters"]],
            [5000, True, "#5000", ["004999 "], ["35,006 characters"]],
            [10003, True, "#10003", [], ["70,008 characters"]],
        ] == found
        assert (["… 64,008 characters before\n"], True) == (cut, is_short)

    def test_many_calls(self, tmp_path: Path) -> None:
        """Of very many calls the currently relevant are shown; the others are counted."""
        deltas = [
            {"tool_calls": [{"index": n, "id": f"c{n}", "function": {"name": f"f{n}", "arguments": "{}"}}]}
            for n in range(100)
        ]
        page = made(tmp_path, chat(*deltas))
        seen = told(page, 'tell([all(".card").length, texts(".empty"), texts(".touched .name")])', "0.99")

        assert [60, ["40 calls that are over are not shown"], ["f99"]] == seen
