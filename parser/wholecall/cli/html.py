"""A timeline as one page that needs nothing else: no network, no other file, no program.

Theory of operation. The page's markup, style and script are beside this module in `page/`; here they are put
into one file with the steps as JSON. Whatever the wire sent is data: it is in a block that no browser
executes, written so that nothing in it can end that block, and the script shows it as text only. A content
security policy names the page's own style and script by their hashes and forbids everything else, including
the network. Of names only what is below their common folder is in the page, which may be shown to others.
"""

from __future__ import annotations

import hashlib
import json
import sys
from base64 import b64encode
from importlib.resources import files
from typing import NamedTuple

from wholecall.cli.frame_summary import summary
from wholecall.cli.naming import below_common_folder
from wholecall.cli.out import complain
from wholecall.cli.tally import Tally
from wholecall.cli.target import STDIO, replacing
from wholecall.timeline import Step

__all__ = ["HtmlPage"]

_SCRIPTS = ("text.js", "model.js", "lists.js", "calls.js", "track.js", "chooser.js", "main.js")
_SUMMARY = 160  # characters of a frame's summary


class HtmlPage:
    """Gathers recordings and writes them as a page.

    Args:
        path: the file to write, `"-"` for standard output.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._recordings: list[_Shown] = []

    def begin(self, name: str) -> None:
        """Start another recording."""
        self._recordings.append(_Shown(name, Tally(), []))

    def step(self, step: Step) -> None:
        """Take one step."""
        shown = self._recordings[-1]
        for event in step.events:
            shown.tally.add(event)
        name, text = summary(step, _SUMMARY)
        said = f'"name":{json.dumps(name)},"summary":{json.dumps(text[: 2 * _SUMMARY])}'
        shown.steps.append(_harmless(f"{{{said},{step.to_json().decode()[1:]}"))

    def end(self, text: str) -> None:  # noqa: ARG002 - the page counts by recording
        """Write the page, unless there is nothing to show.

        Raises:
            OSError: it cannot be written.
        """
        shown = [one for one in self._recordings if one.steps]
        if not shown:
            complain("there is nothing to show, so no page was written")
            return
        names = below_common_folder([one.name for one in shown])
        recordings = (one.to_json(name) for one, name in zip(shown, names, strict=True))
        data = f'{{"recordings":[{",".join(recordings)}]}}'
        page = _page(data).encode()
        if self._path == STDIO:
            sys.stdout.buffer.write(page)
        else:
            with replacing(self._path) as file:
                file.write(page)


class _Shown(NamedTuple):
    """A recording of the page: its name, what it holds, its steps as JSON."""

    name: str
    tally: Tally
    steps: list[str]

    def to_json(self, name: str) -> str:
        """Return it as JSON under another name."""
        facts = {
            "name": name,
            "dialect": self.tally.dialect or "unknown dialect",
            "calls": self.tally.calls,
            "dropped": self.tally.dropped.total(),
            "faults": self.tally.faults.total(),
        }
        return f'{_harmless(json.dumps(facts))[:-1]},"steps":[{",".join(self.steps)}]}}'


def _harmless(text: str) -> str:
    """Return JSON of the same value without any character that means something to HTML."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _page(data: str) -> str:
    style = _part("page.css")
    script = '"use strict";\n' + "".join(map(_part, _SCRIPTS))
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {"POLICY": policy, "STYLE": style, "SCRIPT": script, "DATA": data}
    page = _part("page.html")
    pieces = page.split("@@")  # text, name, text, name, ... so that nothing put in is looked at again
    return "".join(parts[piece] if n % 2 else piece for n, piece in enumerate(pieces))


def _part(name: str) -> str:
    return (files("wholecall.cli") / "page" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
