"""A timeline as one page (see `pages`).

Theory of operation. The steps go into the page as JSON, which the script shows as text only. The page may be shared.
Therefore it has only the parts of names below their common folder.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from wholecall.cli.frame_summary import summary
from wholecall.cli.naming import below_common_folder
from wholecall.cli.out import complain
from wholecall.cli.pages import harmless, page_of, write_page
from wholecall.cli.tally import Tally
from wholecall.timeline import Step

__all__ = ["HtmlPage"]

_STYLES = ("colours.css", "page.css")
_SCRIPTS = ("theme.js", "text.js", "model.js", "lists.js", "calls.js", "track.js", "chooser.js", "main.js")
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
        """Add one step."""
        shown = self._recordings[-1]
        for event in step.events:
            shown.tally.count(event)
        name, text = summary(step, _SUMMARY)
        said = f'"name":{json.dumps(name)},"summary":{json.dumps(text[: 2 * _SUMMARY])}'
        shown.steps.append(harmless(f"{{{said},{step.to_json().decode()[1:]}"))

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
        write_page(self._path, page_of("page.html", _STYLES, _SCRIPTS, data=data))


class _Shown(NamedTuple):
    """A recording of the page: its name, its summary, its steps as JSON."""

    name: str
    tally: Tally
    steps: list[str]

    def to_json(self, name: str) -> str:
        """Return the JSON of the recording under another name."""
        facts = {
            "name": name,
            "dialect": self.tally.dialect or "unknown dialect",
            "calls": self.tally.calls,
            "dropped": self.tally.dropped,
            "faults": self.tally.faults,
        }
        return f'{harmless(json.dumps(facts))[:-1]},"steps":[{",".join(self.steps)}]}}'
