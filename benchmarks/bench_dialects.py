"""The claim: in other dialects, too, bytes to events costs little more than a `json.loads` loop written for them."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import streams, workloads
from benchmarks.claims import Comparison, Ratio
from benchmarks.streams import EVENT, Stream
from benchmarks.texts import KIB
from benchmarks.workloads import READ, Workload

_BUDGET, _BINARY_BUDGET, _WHOLE_BUDGET = 1.2, 1.6, 2.5
_WHOLE_NOW = (
    6.6  # a call is some hundred small steps, in any dialect; where the machine has no cache to spare
)
_WHOLE = ("gemini", "ollama")  # whose calls usually have no pieces
_IN_PIECES = ("bedrock-converse", "bedrock-invoke-anthropic", "cohere-v2", "vercel-ui")

_SHAPES: dict[str, Callable[[str, int], Workload]] = {
    "plain text": lambda dialect, part: workloads.plain_text(dialect, 32 * KIB // part),
    "20 calls d4": lambda dialect, part: _in_pieces(dialect, max(20 // part, 4)),
    "100 whole calls": lambda dialect, _: workloads.parallel_calls(dialect, 100),
}
WHERE = {
    "plain text": (*_WHOLE, *_IN_PIECES),
    "20 calls d4": ("gemini", *_IN_PIECES),
    "100 whole calls": _WHOLE,
}


def title(name: str, dialect: str) -> str:
    """Return the title of a claim on a page."""
    if name != "20 calls d4":
        return f"{dialect}, {name}"
    return f"{dialect}, 20 parallel calls" + (", as values at paths" if dialect == "gemini" else "")


def _in_pieces(dialect: str, n: int) -> Workload:
    return workloads.streamed_values(n) if dialect == "gemini" else workloads.parallel_calls(dialect, n)


def _budget(name: str, dialect: str) -> float:
    if name == "100 whole calls":
        return _WHOLE_BUDGET
    if (name, dialect) == ("20 calls d4", "gemini"):
        return 0  # values at paths, from which arguments have to be built
    return _BINARY_BUDGET if dialect.startswith("bedrock") else _BUDGET


def _claim(name: str, dialect: str, read: str | int) -> Comparison:
    make = _SHAPES[name]

    def subject(part: int) -> Stream:
        return streams.stream(make(dialect, part), read)

    contenders = {other: streams.CONTENDERS[other] for other in ("wholecall", "naive")}
    known = _WHOLE_NOW if name == "100 whole calls" else 0
    ratios = (Ratio("wholecall", "naive", _budget(name, dialect), known=known),)
    what = f"{name} {dialect}" if read == READ else f"{name} {dialect}, by event"
    return Comparison(what, subject, contenders, ratios, streams.n_events)


def _claims(read: str | int) -> list[Comparison]:
    return [_claim(name, dialect, read) for name in _SHAPES for dialect in WHERE[name]]


IN_READS, AS_EVENTS = _claims(READ), _claims(EVENT)
CLAIMS = [*IN_READS, *AS_EVENTS]


def test_dialects(race: Callable[[], None]) -> None:
    """Both find the generator's content of the stream."""
    race()
