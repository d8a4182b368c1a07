"""The claim: checking calls against their tools costs little compared with reading them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from benchmarks import baselines, streams, workloads
from benchmarks.claims import Comparison, Contender, Ratio
from benchmarks.streams import OURS, Stream
from benchmarks.texts import WriteFile
from benchmarks.workloads import DIALECTS
from wholecall import Tools

_FORMS: dict[str, tuple[Any, float]] = {
    "a msgspec type": (WriteFile, 1.15),
    "a JSON Schema": (msgspec.json.schema(WriteFile), 0),
}


def _checked(form: Any) -> Contender:
    tools = Tools({"write_file": form})
    return Contender(lambda subject: baselines.parse(subject.reads, tools=tools), OURS.right)


def _claim(dialect: str) -> Comparison:
    def make(_part: int) -> Stream:
        return streams.stream(workloads.w1(dialect))

    contenders = {"unchecked": OURS, **{name: _checked(form) for name, (form, _) in _FORMS.items()}}
    ratios = tuple(Ratio(name, "unchecked", budget) for name, (_, budget) in _FORMS.items())
    return Comparison(f"W1 {dialect}, checked by", make, contenders, ratios)


CLAIMS = [_claim(dialect) for dialect in DIALECTS]


def test_tools(race: Callable[[], None]) -> None:
    """Sound calls pass unchanged."""
    race()
