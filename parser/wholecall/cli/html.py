"""A timeline as one page that needs nothing else: no network, no other file, no program.

Theory of operation. The page's markup, style and script are beside this module in `page/`; here they are put
into one file with the steps as JSON. Whatever the wire sent is data: it is in a block that no browser
executes, written so that nothing in it can end that block, and the script shows it as text only. A content
security policy names the page's own style and script by their hashes and forbids everything else, including
the network.
"""

from __future__ import annotations

import hashlib
import json
import sys
from base64 import b64encode
from importlib.resources import files

from wholecall.cli.frame_summary import summary
from wholecall.cli.out import complain
from wholecall.cli.target import STDIO, replacing
from wholecall.timeline import Step

__all__ = ["HtmlPage"]

_SCRIPTS = ("text.js", "model.js", "lists.js", "calls.js", "track.js", "main.js")
_SUMMARY = 160  # characters of a frame's summary


class HtmlPage:
    """Gathers recordings and writes them as a page.

    Args:
        path: the file to write, `"-"` for standard output.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._names: list[str] = []
        self._steps: list[list[str]] = []

    def begin(self, name: str) -> None:
        """Start another recording."""
        self._names.append(name)
        self._steps.append([])

    def step(self, step: Step) -> None:
        """Take one step."""
        name, text = summary(step, _SUMMARY)
        said = f'"name":{json.dumps(name)},"summary":{json.dumps(text[: 2 * _SUMMARY])}'
        self._steps[-1].append(_harmless(f"{{{said},{step.to_json().decode()[1:]}"))

    def end(self, text: str) -> None:
        """Write the page, unless there is nothing to show.

        Raises:
            OSError: it cannot be written.
        """
        shown = [(name, steps) for name, steps in zip(self._names, self._steps, strict=True) if steps]
        if not shown:
            complain("there is nothing to show, so no page was written")
            return
        recordings = (
            f'{{"name":{_harmless(json.dumps(name))},"steps":[{",".join(steps)}]}}' for name, steps in shown
        )
        data = f'{{"about":{_harmless(json.dumps(text))},"recordings":[{",".join(recordings)}]}}'
        page = _page(data).encode()
        if self._path == STDIO:
            sys.stdout.buffer.write(page)
        else:
            with replacing(self._path) as file:
                file.write(page)


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
