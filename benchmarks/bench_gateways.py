"""The claim: text, reasoning and calls cost less than in the `json.loads` loop, for every server, one event a read.

Servers and gateways put their own members around a piece (`envelopes/gateways.py`). The loop that is pasted
everywhere leaves reasoning out, which costs it nothing; ours has to find it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from benchmarks import streams, workloads
from benchmarks.claims import Comparison, Contender, Ratio
from benchmarks.envelopes import GATEWAYS, THINKING
from benchmarks.streams import EVENT, OURS, Stream
from benchmarks.texts import KIB
from benchmarks.workloads import Workload

_BUDGET = 0.8
Kind = Literal["text", "reasoning", "calls"]
KINDS: Sequence[Kind] = ("text", "reasoning", "calls")


def _finds_thought(subject: Stream, parser: Any) -> bool:
    said = parser.turn.reasoning.text
    return OURS.right(subject, parser) and said == subject.workload.thought


_CONTENDERS = {
    "wholecall": Contender(OURS.act, _finds_thought),
    **{name: streams.CONTENDERS[name] for name in streams.LOOPS},
}


def through(kind: Kind, gateway: str) -> str:
    """Return the title of a claim about a gateway."""
    return f"{kind} through {gateway}"


def _claim(what: str, make: Callable[[int], Workload]) -> Comparison:
    ratios = (Ratio("wholecall", "naive", _BUDGET), Ratio("wholecall", "msgspec loop"))
    return Comparison(
        what,
        lambda part: streams.stream(make(16 * KIB // part), EVENT),
        _CONTENDERS,
        ratios,
        streams.n_events,
    )


def _of_gateway(kind: Kind, gateway: str) -> Comparison:
    return _claim(through(kind, gateway), lambda size: workloads.through(gateway, kind, size))


def _of_dialect(dialect: str) -> Comparison:
    return _claim(f"reasoning {dialect}", lambda size: workloads.plain_thought(dialect, size))


CLAIMS = [
    *(_of_gateway(kind, gateway) for kind in KINDS for gateway in GATEWAYS),
    *(_of_dialect(dialect) for dialect in THINKING if dialect != "chat-completions"),
]


def test_gateways(race: Callable[[], None]) -> None:
    """Every contender finds the generator's content of the stream, and ours the reasoning, too."""
    race()
