"""The claim: the additional cost of a process's first stream over the second is small in every dialect.

It is the import of one translator, in a fresh process with all code compiled, compared with the import of msgspec. That
ratio is the same on every machine; the milliseconds of chat completions are shown next to it because users notice them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from benchmarks import measure
from benchmarks.claims import Figure, Scale

_RECORDINGS = Path(__file__).parents[1] / "corpora" / "recordings"
_STREAMS = {
    "chat-completions": "single-call.sse",
    "anthropic": "blocks-interleaved.sse",
    "responses": "single-call.sse",
    "gemini": "single-call.sse",
    "ollama": "single-call.ndjson",
}
_FELT = "chat-completions"


def _first_stream(dialect: str, scale: Scale) -> float:
    taken = measure.first_stream_times(_RECORDINGS / dialect / _STREAMS[dialect], scale.rounds)
    return min(taken) / min(measure.import_times(("msgspec",), scale.rounds)[0])


def _milliseconds(scale: Scale) -> float:
    return min(measure.first_stream_times(_RECORDINGS / _FELT / _STREAMS[_FELT], scale.rounds)) * 1000


def _import_openai(scale: Scale) -> float:
    theirs, msgspec = measure.import_times(("openai", "msgspec"), scale.rounds)
    return min(theirs) / min(msgspec)


CLAIMS = [
    *(
        Figure(
            f"first {dialect} stream beyond the second / import of msgspec",
            partial(_first_stream, dialect),
            0.3,
        )
        for dialect in _STREAMS
    ),
    Figure(f"first {_FELT} stream beyond the second, ms", _milliseconds, 9, checked=False),
    *([Figure("beside it: import of openai / of msgspec", _import_openai, 0)] if find_spec("openai") else []),
]


def test_first_stream(race: Callable[[], None]) -> None:
    """Each can be read by a process that has read nothing before."""
    race()
