"""Measure the proxy and print its cost, with the budgets: `python -m benchmarks.proxy [--quick] [--json]`.

The upstream and the clients are in this process, the contenders each in a separate process, with its own core if the
system has two. LiteLLM's proxy is included if there is a command for it:

    python -m benchmarks.proxy --litellm ../litellm/bin/litellm
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import os
import platform
import resource
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple

import msgspec

from benchmarks.proxy import measures
from benchmarks.proxy.budgets import Round, judged, lines
from benchmarks.proxy.clients import WrongAnswer
from benchmarks.proxy.measures import Measured
from benchmarks.proxy.systems import DIRECT, NotStarted, System, cores, started
from benchmarks.proxy.upstream import Pace

_OURS: Final = ("pass", "repair")


class Scale(NamedTuple):
    """The amount of measurement.

    Attributes:
        rounds: the number of measurements of each contender.
        times: streams on each connection.
        requests: requests on each connection.
        seconds: the time for which paced streams are observed.
    """

    rounds: int
    times: int
    requests: int
    seconds: float


FULL, QUICK = Scale(5, 4, 60, 10.0), Scale(1, 1, 15, 3.0)


class Work(NamedTuple):
    """A kind of work.

    Attributes:
        who: the contenders that do it.
        do: measures one of them.
        is_once: whether the first round is enough.
    """

    who: tuple[str, ...]
    do: Callable[[System, Pace, Scale], Awaitable[Measured]]
    is_once: bool = False


async def _text(system: System, _: Pace, scale: Scale) -> Measured:
    times = 1 if system.name == "litellm" else scale.times
    return await measures.busy(system, "text", clients=8, times=times)


async def _call(system: System, _: Pace, scale: Scale) -> Measured:
    return await measures.busy(system, "call", clients=8, times=scale.times)


async def _requests(system: System, _: Pace, scale: Scale) -> Measured:
    times = max(1, scale.requests // 20) if system.name == "litellm" else scale.requests
    return await measures.requests(system, "json", clients=50, times=times)


async def _opened(system: System, pace: Pace, scale: Scale) -> Measured:
    return await measures.opened(system, pace, streams=50, times=scale.requests // 4)


async def _paced(system: System, pace: Pace, scale: Scale) -> Measured:
    return await measures.paced(system, pace, streams=500, interval=0.25, seconds=scale.seconds)


async def _paced_few(system: System, pace: Pace, scale: Scale) -> Measured:
    return await measures.paced(system, pace, streams=50, interval=0.25, seconds=scale.seconds)


async def _idle(system: System, _: Pace, scale: Scale) -> Measured:  # noqa: ARG001
    return Measured(memory=await measures.idle(system, few=200, many=1200))


WORK: Final[Mapping[str, Work]] = {
    "idle connections": Work(("repair",), _idle, is_once=True),  # before anything else grows
    "text": Work(("relay", *_OURS, "litellm"), _text),
    "call": Work(_OURS, _call),
    "opened": Work(_OURS, _opened),
    "requests": Work((*_OURS, "litellm"), _requests),
    "paced": Work((*_OURS, "no pings"), _paced),
    "paced, few": Work((DIRECT, "relay", *_OURS), _paced_few),
}


async def _round(systems: Mapping[str, System], pace: Pace, scale: Scale, *, is_first: bool) -> Round:
    found: dict[tuple[str, str], Measured] = {}
    for name, work in WORK.items():
        if work.is_once and not is_first:
            continue
        for system in (systems[who] for who in work.who if who in systems):
            measured = found[name, system.name] = await work.do(system, pace, scale)
            print(f"{name}, {system.name}: {measured}", file=sys.stderr, flush=True)
    return found


async def _run(scale: Scale, litellm: str | None) -> list[Round]:
    pace = Pace()
    async with measures.serving(pace) as port, started(port, litellm) as systems:
        for system in systems.values():
            await measures.check(system, is_exact=system.name != "litellm")
        return [await _round(systems, pace, scale, is_first=n == 0) for n in range(scale.rounds)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.proxy",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="one round, of little work")
    parser.add_argument("--json", action="store_true", help="print the figures and the measurements as JSON")
    parser.add_argument("--rounds", type=int, help="how often each contender is measured")
    parser.add_argument(
        "--litellm",
        metavar="COMMAND",
        default=shutil.which("litellm"),
        help="what starts LiteLLM's proxy; `litellm` where it is installed, an empty one leaves it out",
    )
    return parser.parse_args()


def _as_json(rounds: list[Round]) -> str:
    measured = [
        {f"{work}, {who}": measured._asdict() for (work, who), measured in found.items()} for found in rounds
    ]
    told = {
        "python": platform.python_version(),
        "figures": [result._asdict() for result in judged(rounds)],
        "rounds": measured,
    }
    return msgspec.json.format(msgspec.json.encode(told), indent=1).decode()


def main() -> int:
    """Measure and print; return 1 if a budget is missed, 2 if a contender does not start or answers wrongly."""
    options = _options()
    scale = QUICK if options.quick else FULL
    if options.rounds:
        scale = scale._replace(rounds=options.rounds)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    os.sched_setaffinity(0, cores()[1])
    try:
        rounds = asyncio.run(_run(scale, options.litellm or None))
    except (NotStarted, WrongAnswer) as error:
        print(error, file=sys.stderr)
        return 2
    results = list(judged(rounds))
    if options.json:
        print(_as_json(rounds))
    else:
        now = dt.datetime.now(tz=dt.timezone.utc)
        print(
            f"{now:%Y-%m-%d}, {platform.python_implementation()} {platform.python_version()}, "
            f"{scale.rounds} rounds: median, least and most"
        )
        print(*lines(results), sep="\n")
    return int(any(result.is_missed for result in results))


if __name__ == "__main__":
    sys.exit(main())
