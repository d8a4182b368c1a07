"""The results of the conformance suite as one page for a browser.

Theory of operation. The page is complete without its script, which only sorts and folds tables. What clients said is
data of others: all content of an element is escaped text, or is markup made here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from wholecall.cli.markup import Frame, element, framed, headed, safe, titled, wide
from wholecall.grading.conform.cases import LEVELS
from wholecall.grading.conform.results import ALL, Graded, Results, Run, Score
from wholecall.grading.conform.verdicts import Word

_SHOWN = 400  # characters of an answer
_DAY = 10  # characters of a time
_GROUPS: tuple[tuple[str, str, str, frozenset[Word]], ...] = (
    (
        "unsafe",
        "Calls that nobody sent",
        "Handed over, or run: the worst that can happen.",
        frozenset({"unsafe"}),
    ),
    ("lost", "Lost calls", "A call is missing, and nothing was said.", frozenset({"lost"})),
    ("refused", "Refused", "A call is missing, and it was said.", frozenset({"refused"})),
    ("broken", "No answer", "The client crashed, or took too long.", frozenset({"crash", "timeout"})),
)
_MARKS: dict[Word, str] = {
    "pass": "·",
    "unsafe": "unsafe",
    "lost": "lost",
    "refused": "refused",
    "crash": "crash",
    "timeout": "timeout",
    "unsupported": "n/a",
}


def ranked(clients: Iterable[Graded]) -> list[Graded]:
    """Return clients in the order of a matrix: few unsafe runs, few lost calls, many passes."""
    return sorted(clients, key=lambda client: (*client.scores[ALL].rank, client.name, client.wire))


def percent(share: float | None) -> str:
    """Return a share as text; only all is 100 %, and only nothing is 0 %."""
    if share is None:
        return "n/a"
    if share in (0.0, 1.0):
        return f"{share:.0%}".replace("%", " %")
    return f"{min(max(share * 100, 0.1), 99.9):.1f} %"


def page_of(found: Sequence[Results]) -> str:
    """Return results as a page."""
    clients = ranked([client for one in found for client in one.clients])
    sections = [("clients", "Clients", _clients(clients))]
    sections += [
        (name, title, element("p", safe(about)) + _runs(clients, words))
        for name, title, about, words in _GROUPS
        if any(run.verdict in words for client in clients for run in client.cases)
    ]
    sections.append(("cases", "Cases", _cases(clients)))
    n_clients = len({(client.name, client.version) for client in clients})
    frame = Frame(
        command="conform",
        title=f"{n_clients} client{'' if n_clients == 1 else 's'} over the conformance suite",
        about=" ".join(dict.fromkeys(map(_about, found))),
        styles=("conform.css",),
    )
    return framed(frame, [(name, title, titled(title, inner)) for name, title, inner in sections])


def _about(found: Results) -> str:
    seed = "published names" if found.seed is None else f"seed {found.seed}"
    machine = " ".join(found.platform.values())
    whole = "" if found.complete else ", interrupted before its end"
    return f"Data {found.data}, {seed}, {found.started[:_DAY]}, {machine}{whole}."


# The matrix.


def _clients(clients: Sequence[Graded]) -> str:
    levels = [level for level in LEVELS if any(level in client.scores for client in clients)]
    heads = ["client", "wire", "run", "unsafe", "lost", "refused", "no answer", "safety", "completeness"]
    heads += [f"{level} {number}" for level in levels for number in ("safe", "complete")]
    about = element(
        "p",
        "Safety is the share of runs in which no call was handed over that nobody sent; completeness is the share that "
        "passed. The order is by unsafe, then by lost, then by completeness.",
    )
    return about + _table(heads, [_client(client, levels) for client in clients], n_texts=2, folds=False)


def _client(client: Graded, levels: Sequence[str]) -> str:
    score = client.scores[ALL]
    cells = [_text(client.label, "name"), _text(client.wire, "name"), _number(score.run)]
    cells += [
        _number(score.unsafe, "unsafe"),
        _number(score.lost, "lost"),
        _number(score.refused, "refused"),
        _number(score.crash + score.timeout, "crash"),
    ]
    for one in [score, *(client.scores.get(level) for level in levels)]:
        cells += [_share(one, "safety"), _share(one, "completeness")]
    return element("tr", "".join(cells))


def _share(score: Score | None, member: str) -> str:
    share = None if score is None else getattr(score, member)
    tone = "unsafe" if member == "safety" and share is not None and share < 1 else None
    value = "" if share is None else f"{share:.6f}"
    return element("td", percent(share), class_=tone).replace("<td", f'<td data-value="{value}"', 1)


# Runs and cases.


def _runs(clients: Sequence[Graded], words: frozenset[Word]) -> str:
    rows = [_run(client, run) for client in clients for run in client.cases if run.verdict in words]
    return _table(["client", "case", "written by", "why", "got"], rows, n_texts=5)


def _run(client: Graded, run: Run) -> str:
    got = "" if run.got is None else json.dumps(_brief(run.got), ensure_ascii=False)
    shown = got if len(got) <= _SHOWN else got[:_SHOWN] + "…"
    cells = [
        _text(client.label, "client"),
        _text(run.case, "verdict"),
        _text(run.write, "verdict"),
        element(
            "td",
            element("span", safe(run.verdict), class_=run.verdict) + ": " + safe(run.why or ""),
            class_="why",
        ),
        element("td", element("code", safe(shown)), class_="got"),
    ]
    return element("tr", "".join(cells))


def _brief(got: dict[str, object]) -> dict[str, object]:
    """Return an answer without what is empty in it."""
    return {name: value for name, value in got.items() if value}


def _cases(clients: Sequence[Graded]) -> str:
    names: dict[str, str] = {}
    for client in clients:
        names |= {run.case: run.level for run in client.cases}
    rows = []
    for case, level in sorted(names.items()):
        marks = "".join(_mark(client, case) for client in clients)
        rows.append(element("tr", _text(case, "name") + _text(level, "name") + marks))
    return _table(
        ["case", "level", *(f"{client.name} {client.wire}" for client in clients)],
        rows,
        n_texts=2,
    )


def _mark(client: Graded, case: str) -> str:
    """Return the cell with the verdicts of a client on a case, the worst of several ways of writing."""
    words = [run.verdict for run in client.cases if run.case == case]
    for word in _WORST:
        if word in words:
            return _text(_MARKS[word], f"verdict {word}")
    return _text("", "verdict")


_WORST: tuple[Word, ...] = ("unsafe", "crash", "timeout", "lost", "refused", "unsupported", "pass")


def _table(heads: Sequence[str], rows: Sequence[str], n_texts: int, *, folds: bool = True) -> str:
    cells = "".join(_heads(heads, n_texts))
    return wide(element("table", headed(cells, rows, folds=folds)), heads[0])


def _heads(heads: Sequence[str], n_texts: int) -> Iterator[str]:
    for n, head in enumerate(heads):
        button = element("button", safe(head), type="button")
        yield element("th", button, scope="col", class_="name" if n < n_texts else None)


def _text(text: str, class_: str) -> str:
    return element("td", safe(text), class_=class_, title=text if len(text) > 30 else None)


def _number(number: int, tone: str | None = None) -> str:
    return element("td", f"{number:,}", class_=tone if number else "dim").replace(
        "<td", f'<td data-value="{number}"', 1
    )
