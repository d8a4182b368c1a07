"""A real browser without a window: it opens a page of the program; a driver operates it and reports the page's state.

A driver is a script that the page's policy is made to allow, in addition to the page's script. It presses keys, clicks,
and calls `tell(facts)` once; the facts come back as JSON through the page's DOM.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wholecall.cli import main

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_PATIENCE = 120  # seconds after which a browser has failed

_WORDS = """
const one = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const texts = (selector) => all(selector).map((element) => element.textContent);
const press = (key, shiftKey = false) =>
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true }));
const step = () => Number(one("#slider").value);
const tell = (facts) => {
  const place = document.createElement("pre");
  place.id = "told";
  place.textContent = JSON.stringify(facts);
  document.body.append(place);
  one("#data")?.replaceChildren(); // the DOM that comes back need not hold it
};
"""


def made(folder: Path, *recordings: bytes, options: Sequence[str] = ()) -> Path:
    """Return the page of some recordings, made by the program with these options."""
    paths = []
    for n, recording in enumerate(recordings):
        path = folder / f"recording-{n}.sse"
        path.write_bytes(recording)
        paths.append(str(path))
    page = folder / "page.html"
    assert main(["inspect", "--html", str(page), *options, *paths]) == 0
    return page


def told(page: Path, driver: str, at: str = "0.0", *, size: str = "1440,900", policy: bool = True) -> Any:
    """Open a page and return the driver's facts.

    Args:
        page: a page that the program wrote.
        driver: statements that end in `tell(...)`.
        at: the number of the recording and of the step to begin with.
        size: the size of the window.
        policy: whether the page keeps its security policy.
    """
    script = f"{_WORDS}{driver}"
    allowed = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = page.read_text("utf-8").replace("script-src '", f"script-src 'sha256-{allowed}' '")
    if not policy:
        text = re.sub(r"<meta http-equiv[^>]*>", "", text)
    driven = page.with_name("driven.html")
    driven.write_text(text.replace("</body>", f"<script>{script}</script></body>"), "utf-8", newline="\n")
    dom, _ = _opened(f"{driven.as_uri()}#{at}", page.parent, size)
    found = re.search(r'<pre id="told">(.*?)</pre>', dom, re.DOTALL)
    assert found is not None, "the driver told nothing"
    return json.loads(html.unescape(found[1]))


def console(page: Path) -> list[str]:
    """Open a page and return the browser's console output: errors, and refusals of the policy."""
    _, log = _opened(page.as_uri(), page.parent, "1440,900")
    return [line for line in log.splitlines() if ":CONSOLE" in line]


def _opened(url: str, folder: Path, size: str) -> tuple[str, str]:
    """Open a page, and return its DOM when all is quiet, and the browser's log."""
    program = next(filter(None, map(shutil.which, BROWSERS)))
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        f"--window-size={size}",
        "--virtual-time-budget=20000",
        f"--user-data-dir={folder / 'profile'}",
    ]
    done = subprocess.run(  # noqa: S603 - a browser that we found, a page that we wrote
        [program, *options, "--dump-dom", url], capture_output=True, check=True, timeout=_PATIENCE
    )
    return done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
