"""Markup of the reports that are pages: elements, tables, and the frame that `report`, `conform` and `probe` share.

Theory of operation. A page is whole without its script, which only sorts and folds tables, and changes between light and
dark. All content of an element is escaped text, or is markup made here or in the report's own module.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

import msgspec

from wholecall import __version__
from wholecall.cli import pages, show

_STYLES = ("colours.css", "report.css")
_SCRIPTS = ("theme.js", "report.js")
Fact = tuple[str, str, str, str]  # name, text, tone, and a smaller text below it


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """What is around the sections of a page; texts, not markup.

    Attributes:
        command: the command that writes it.
        title: its heading.
        about: a line below the heading.
        warning: another one; empty for none.
        promise: what the page holds back, for its last line.
        styles: files of styles besides those of all reports.
        scripts: files of scripts in place of those of all reports.
    """

    command: str
    title: str
    about: str
    warning: str = ""
    promise: str = "The page asks no network for anything."
    styles: tuple[str, ...] = ()
    scripts: tuple[str, ...] = _SCRIPTS


def framed(frame: Frame, sections: Sequence[tuple[str, str, str]], summary: str = "") -> str:
    """Return a page.

    Args:
        frame: what is around the sections.
        sections: of each its id, its title and its markup, which begins with the heading where it has one.
        summary: markup before them, which the links leave out.
    """
    first = element("section", summary, id="summary", aria_label="Summary") + "\n" if summary else ""
    return pages.page_of(
        "framed.html",
        (*_STYLES, *frame.styles),
        frame.scripts,
        title=safe(frame.title),
        command=safe(frame.command),
        about=safe(frame.about),
        warning=element("p", safe(frame.warning)) if frame.warning else "",
        links="".join(element("a", safe(title), href=f"#{id}") for id, title, _ in sections),
        sections=first
        + "\n".join(element("section", markup, id=id, aria_label=title) for id, title, markup in sections),
        version=safe(__version__),
        promise=safe(frame.promise),
    )


def safe(text: str) -> str:
    """Return text of the wire as markup that shows it, with escapes for invisible characters."""
    return html.escape(show.printable(text))


def element(tag: str, inner: str = "", **attributes: str | float | None) -> str:
    """Return an element.

    Args:
        tag: its name.
        inner: markup.
        attributes: by name, without a trailing underscore, and with `-` for others; their texts are escaped. Empty
            attributes and None are left out.
    """
    given = "".join(
        f' {name.strip("_").replace("_", "-")}="{safe(str(value))}"'
        for name, value in attributes.items()
        if value is not None and value != ""
    )
    return f"<{tag}{given}>{inner}</{tag}>"


def titled(title: str, markup: str) -> str:
    """Return the markup of a section under its title."""
    return element("h2", safe(title)) + markup


def facts(found: Iterable[Fact]) -> str:
    """Return large figures side by side."""
    return element("dl", "".join(map(_fact, found)), class_="facts")


def _fact(fact: Fact) -> str:
    name, text, tone, more = fact
    small = element("small", safe(more)) if more else ""
    return element("div", element("dt", safe(name)) + element("dd", safe(text) + small, class_=tone))


def headed(heads: str, rows: Sequence[str], *, folds: bool = True) -> str:
    """Return the inside of a table; a long one is folded unless it does not fold."""
    body = element("tbody", "\n".join(rows), class_=None if folds else "whole")
    return element("thead", element("tr", heads)) + "\n" + body


def wide(table: str, label: str) -> str:
    """Return a table that scrolls sideways if it is too wide."""
    return element("div", table, class_="wide", tabindex="0", role="region", aria_label=label)
