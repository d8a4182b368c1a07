"""The cost of a chunk in OpenAI's SDK, and our share: `python -m benchmarks.rivals.cost [--json] [--quick]`.

The stream comes from memory, through an HTTP client without a network, so that all measured time is the SDK's or ours.
The microseconds are those of the machine; the shares are ratios of times taken side by side in one run. The measured
work is `chat.completions.create(stream=True)` read to its end: bytes to `ChatCompletionChunk`, nothing kept.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import importlib
import importlib.metadata
import json
import platform
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from benchmarks import baselines, measure, workloads
from benchmarks.rivals import memory

_READ = 1460
_ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Tides?"}], "stream": True}
_ROW = "{:<20}{:<14}{:>14}{:>12}{:>9}  {}"
_BUDGETS = {"wrap": 0.10}  # of the SDK's own time


class Share(NamedTuple):
    """The time that an addition costs on top of the SDK's own time.

    Attributes:
        what: the addition.
        workload: the stream.
        sdk: microseconds that the SDK alone spends on a chunk, the least of all rounds.
        added: microseconds that are added to each chunk.
        share: `added` as a part of `sdk`, from the median ratio of times side by side.
    """

    what: str
    workload: str
    sdk: float
    added: float
    share: float


def _client(reads: Sequence[bytes], *, mended: bool, kind: str = "") -> Any:
    """Return a client of the SDK over a stream in memory; `kind` is `"Async"` or empty."""
    repair = getattr(importlib.import_module("wholecall.transport"), f"{kind}RepairTransport")
    return memory.sdk_client("openai.OpenAI", reads, kind=kind, wrap=repair if mended else memory.bare)


def _read(client: Any) -> int:
    return sum(1 for _ in client.chat.completions.create(**_ASK))


def _read_async(client: Any) -> int:
    async def count() -> int:
        return len([None async for _ in await client.chat.completions.create(**_ASK)])

    return asyncio.run(count())


def _feed(chunks: Sequence[Any]) -> int:
    """Read ready chunks as `wrap` does."""
    return len(list(importlib.import_module("wholecall").wrap(iter(chunks))))


def shares(workload: workloads.Workload, rounds: int) -> Iterator[Share]:
    """Yield the times that the transport, and `wrap` where it exists, add to the SDK on one stream of chat chunks."""
    reads = workloads.cut(workload.data, _READ)
    for what, kind, read in (("transport", "", _read), ("transport, async", "Async", _read_async)):
        alone, mended = (partial(read, _client(reads, mended=mend, kind=kind)) for mend in (False, True))
        assert alone() == mended(), f"{workload.name}: the transport changed the number of chunks"
        yield _share(what, workload, measure.rounds(rounds, alone, mended), _difference)
    alone = partial(_read, _client(reads, mended=False))
    yield _share(
        "parser (of bytes)", workload, measure.rounds(rounds, alone, lambda: baselines.parse(reads)), _part
    )
    if hasattr(importlib.import_module("wholecall"), "wrap"):
        chunks = list(_client(reads, mended=False).chat.completions.create(**_ASK))
        yield _share("wrap", workload, measure.rounds(rounds, alone, partial(_feed, chunks)), _part)


def _difference(sdk: float, both: float) -> float:
    return both - sdk


def _part(_sdk: float, added: float) -> float:
    return added


def _share(
    what: str, workload: workloads.Workload, times: list[list[float]], added: Callable[[float, float], float]
) -> Share:
    """Judge times of the SDK alone, and of both together or of the addition alone."""
    sdk = min(times[0]) / workload.n_events * 1e6
    share = statistics.median(added(one, other) / one for one, other in zip(*times, strict=True))
    return Share(what, workload.name, sdk, sdk * share, share)


def _workloads() -> list[workloads.Workload]:
    return [
        workloads.w1("chat-completions"),
        workloads.w2("chat-completions", 8 * workloads.KIB, 4),
        workloads.plain_text("chat-completions"),
    ]


def _budget(share: Share) -> str:
    budget = _BUDGETS.get(share.what)
    if budget is None:
        return ""
    return f"<= {budget:.0%}" + ("" if share.share <= budget else "  MISSED")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals.cost", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    options = parser.parse_args()
    rounds = 3 if options.quick else 9
    found = [share for workload in _workloads() for share in shares(workload, rounds)]
    about = {
        "date": f"{dt.datetime.now(tz=dt.timezone.utc):%Y-%m-%d}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "openai": importlib.metadata.version("openai"),
    }
    if options.json:
        print(json.dumps({**about, "shares": [share._asdict() for share in found]}, indent=1))
        return
    print(", ".join(about.values()), f"(openai), processor time, {rounds} rounds")
    print(_ROW.format("", "stream", "SDK us/chunk", "+ us/chunk", "share", "budget"))
    for share in found:
        figures = f"{share.sdk:.1f}", f"{share.added:.1f}", f"{share.share:.1%}"
        print(_ROW.format(share.what, share.workload, *figures, _budget(share)).rstrip())


if __name__ == "__main__":
    main()
