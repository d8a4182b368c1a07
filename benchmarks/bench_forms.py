"""The claim: other forms of the same stream, which many servers send, are read about as fast as the usual one.

All of them come to the same events: no space after `data:`, lines that end in CRLF, a number before each event, a
comment after every tenth event.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import streams, workloads
from benchmarks.claims import Comparison, Ratio
from benchmarks.streams import EVENT, OURS, Stream
from benchmarks.workloads import DIALECTS, READ, Workload

_BETWEEN = 10  # events between two comments
_BUDGET = 1.3  # in reads of 1,460 bytes
# Chat of the usual form is read by templates, in half of the time before them; other forms are the machine's.
_NOW = {"chat-completions": {"no space": 1.8, "CRLF": 1.9, "id lines": 2.5, "comments": 2.7}}
_USUAL = "usual"
_FORMS: dict[str, Callable[[int, bytes], bytes]] = {
    _USUAL: lambda _, event: event,
    "no space": lambda _, event: event.replace(b"data: ", b"data:", 1),
    "CRLF": lambda _, event: event.replace(b"\n", b"\r\n"),
    "id lines": lambda number, event: b"id: %d\n%b" % (number, event),
    "comments": lambda number, event: event if number % _BETWEEN else b"%b: keep-alive\n\n" % event,
}
NAMES = {
    "no space": "no space after `data:`",
    "CRLF": "lines end in CRLF",
    "id lines": "an `id:` line before each event",
    "comments": "a comment behind every tenth event",
}


def _written(usual: Workload, form: Callable[[int, bytes], bytes]) -> Workload:
    events = [form(number, event) for number, event in enumerate(usual.events)]
    return Workload(usual.name, usual.dialect, events, usual.calls, usual.text)


def _claim(dialect: str, read: str | int) -> Comparison:
    def make(_part: int) -> list[Stream]:
        usual = workloads.w1(dialect)
        return [streams.stream(_written(usual, form), read) for form in _FORMS.values()]

    contenders = {name: streams.nth(OURS, at) for at, name in enumerate(_FORMS)}
    budget, now = (0, {}) if read == EVENT else (_BUDGET, _NOW.get(dialect, {}))
    ratios = tuple(Ratio(name, _USUAL, budget, known=now.get(name, 0)) for name in _FORMS if name != _USUAL)
    what = f"W1 {dialect}" + (", by event" if read == EVENT else "") + ", a form is"
    return Comparison(what, make, contenders, ratios)


CLAIMS = [_claim(dialect, read) for read in (READ, EVENT) for dialect in DIALECTS]


def test_forms(race: Callable[[], None]) -> None:
    """Every form gives the same calls."""
    race()
