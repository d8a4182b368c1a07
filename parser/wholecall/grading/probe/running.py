"""A run of the probe: which requests are made, in which order, within which bounds, and what came of them.

Theory of operation. The order goes round by round, so that a run that is left early has asked each scenario about
equally often; a reference gets each request right after the endpoint. Some workers take requests from one queue. A
request that needs an earlier answer waits for it; the earlier one is before it in the queue, so a worker has it. Before
a request is sent, the most that it can cost is reserved from the budget, and replaced by its costs afterwards. What is
measured is kept whenever it is there: an interruption loses the requests under way, and nothing else.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any

import msgspec

from wholecall.discreet import compact
from wholecall.grading.probe.asking import Ask, Endpoint, output_tokens, tokens_spent, turn_of
from wholecall.grading.probe.bodies import Habits, body_of, can_ask, tokens_at_most
from wholecall.grading.probe.exchange import WIRES, Asked, AskedCall, Exchange, Wire
from wholecall.grading.probe.scenarios import PastCall, PastResult, Scenario, Variant, scenarios_at

_FEWEST = 2  # calls that make a history of several
_UNASKED = {
    "calls": "the answer before it has no two calls to answer",
    "length": "the answer before it has no usage to cut at",
    "budget": "the budget of tokens is spent",
    "words": "the API has no words for it",
}
_NOT_THERE = frozenset({404, 405, 501})
# Asked once the client has hung up.
AGAIN = Variant(
    name="after",
    prompt="Call the tool echo once, with the text again.",
    asked=Asked(outcome="calls", calls=(AskedCall("echo", {"text": "again"}),)),
)


def asks_of(scenarios: Sequence[Scenario], tries: int) -> tuple[Ask, ...]:
    """Return the requests of a run in their order.

    Args:
        scenarios: the scenarios.
        tries: how often each is asked plain, and streamed; a scenario with more variants is asked once for each.
    """
    most = max((_rounds(one, tries) for one in scenarios), default=0)
    rounds = [
        (scenario, number)
        for number in range(most)
        for scenario in scenarios
        if number < _rounds(scenario, tries)
    ]
    return tuple(ask for scenario, number in rounds for ask in _pair(scenario, number))


def _rounds(scenario: Scenario, tries: int) -> int:
    return max(tries, len(scenario.variants))


def _pair(scenario: Scenario, number: int) -> Iterator[Ask]:
    variant = scenario.variants[number % len(scenario.variants)]
    for is_streamed in (True,) if variant.streams_only else (False, True):
        yield Ask(
            scenario=scenario.id,
            variant=variant,
            is_streamed=is_streamed,
            attempt=number // len(scenario.variants) + 1,
            round=number,
        )


def cost_of(
    asks: Iterable[Ask], wire: Wire, model: str, extra: dict[str, Any] | None = None
) -> tuple[int, int]:
    """Return the number of requests and of tokens that asks cost at most, as far as that is known before."""
    habits = Habits(extra=extra or {})
    requests = tokens = 0
    for ask in asks:
        body = body_of(ask.variant, wire, model, is_streamed=ask.is_streamed, habits=habits)
        requests += 1 + ask.variant.hangs_up
        tokens += tokens_at_most(body) * (1 + ask.variant.hangs_up)
    return requests, tokens


class Run:
    """The results of a run; complete at any time.

    Attributes:
        exchanges: what the endpoint answered.
        reference: what the reference answered.
        unasked: how many requests were not made, by reason.
        requests: how many requests were made to find the wire.
        tokens: the tokens spent; those of answers without usage are counted as the most that they may be.
        seconds: how long it took.
        is_interrupted: whether it was left early.
    """

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.reference: list[Exchange] = []
        self.unasked: Counter[str] = Counter()
        self.requests = 0
        self.tokens = 0
        self.seconds = 0.0
        self.is_interrupted = False


class _Purse:
    """The budget: what is spent, and what is reserved for requests under way."""

    def __init__(self, run: Run, budget: int) -> None:
        self._run = run
        self._budget = budget
        self._reserved = 0

    def reserve(self, most: int) -> bool:
        if self._run.tokens + self._reserved + most > self._budget:
            return False
        self._reserved += most
        return True

    def settle(self, most: int, spent: int) -> None:
        self._reserved -= most
        self._run.tokens += spent


class Runner:
    """Makes the requests of a run.

    Args:
        run: where the results go.
        endpoint: the endpoint.
        reference: the endpoint to compare with, None for none.
        budget: the most tokens to spend at both.
        jobs: how many requests are under way at a time.
        told: called with each exchange, and with whether it is the reference's.
    """

    def __init__(
        self,
        run: Run,
        endpoint: Endpoint,
        reference: Endpoint | None = None,
        *,
        budget: int = 200_000,
        jobs: int = 2,
        told: Callable[[Exchange, bool], None] = lambda _exchange, _is_reference: None,
    ) -> None:
        self._run = run
        self._endpoints = [endpoint] if reference is None else [endpoint, reference]
        self._purse = _Purse(run, budget)
        self._jobs = jobs
        self._told = told
        self._answers: dict[tuple[Any, ...], asyncio.Future[Exchange | None]] = {}
        self._began = time.monotonic()

    def measure(self, asks: Sequence[Ask]) -> None:
        """Make the requests; a keyboard interrupt ends the run early and is noted in it.

        Args:
            asks: the requests, in order.
        """
        self._began = time.monotonic()
        try:
            asyncio.run(self._measure(asks))
        except (KeyboardInterrupt, asyncio.CancelledError):
            self._run.is_interrupted = True
        self._run.seconds = time.monotonic() - self._began

    async def _measure(self, asks: Sequence[Ask]) -> None:
        loop = asyncio.get_running_loop()
        _cancel_at_interrupt(loop)
        queue = iter([(place, ask) for ask in asks for place in range(len(self._endpoints))])
        self._answers = {
            (place, ask.scenario, ask.is_streamed, ask.round): loop.create_future()
            for ask in asks
            for place in range(len(self._endpoints))
        }
        async with AsyncExitStack() as stack:
            for endpoint in self._endpoints:
                await stack.enter_async_context(endpoint)
            await asyncio.gather(*(self._work(queue) for _ in range(self._jobs)))

    async def _work(self, queue: Iterator[tuple[int, Ask]]) -> None:
        for place, ask in queue:
            answer = None
            try:
                answer = await self._make(place, ask)
            finally:
                self._answers[place, ask.scenario, ask.is_streamed, ask.round].set_result(answer)

    async def _make(self, place: int, ask: Ask) -> Exchange | None:
        if not can_ask(ask.variant, self._endpoints[place].wire):
            self._run.unasked[_UNASKED["words"]] += 1
            return None
        variant = await self._completed(place, ask)
        if variant is None:
            self._run.unasked[_UNASKED[ask.variant.follows or ""]] += 1
            return None
        exchange = await self._paid(place, msgspec.structs.replace(ask, variant=variant))
        if variant.hangs_up and exchange is not None:
            await self._paid(place, msgspec.structs.replace(ask, variant=AGAIN))
        return exchange

    async def _paid(self, place: int, ask: Ask) -> Exchange | None:
        """Make a request if the budget allows, and keep the exchange."""
        endpoint = self._endpoints[place]
        most = tokens_at_most(endpoint.body(ask))
        if not self._purse.reserve(most):
            self._run.unasked[_UNASKED["budget"]] += 1
            return None
        spent = most
        try:
            exchange = await endpoint.ask(ask)
            spent = tokens_spent(exchange)
        finally:
            self._purse.settle(most, spent)
        (self._run.reference if place else self._run.exchanges).append(exchange)
        self._told(exchange, place == 1)
        return exchange

    async def _completed(self, place: int, ask: Ask) -> Variant | None:
        """Return the variant with what it needs of an earlier answer, None if that does not have it."""
        variant = ask.variant
        if variant.follows is None:
            return variant
        # a plain body has its usage, which many a stream has only when it is asked for
        is_streamed = ask.is_streamed and variant.follows == "calls"
        rounds = [key[3] for key in self._answers if key[:3] == (place, variant.base, is_streamed)]
        base = await self._answers[place, variant.base, is_streamed, ask.round % (max(rounds) + 1)]
        if base is None:
            return None
        return _answered(variant, base) if variant.follows == "calls" else _shortened(variant, base)


def _cancel_at_interrupt(loop: asyncio.AbstractEventLoop) -> None:
    """Let Ctrl-C cancel the task that runs, as CPython does from 3.11 on, rather than raise wherever the program is."""
    task = asyncio.current_task()
    assert task is not None
    with suppress(RuntimeError, ValueError):  # on Windows, or in a thread
        loop.add_signal_handler(signal.SIGINT, task.cancel)


async def wire_of(make: Callable[[Wire], Endpoint], run: Run) -> Wire | None:
    """Return the first wire that an endpoint answers to with anything but "not found", None if there is none.

    Args:
        make: returns an endpoint of a wire.
        run: counts requests and tokens.
    """
    (scenario,) = scenarios_at("quick", ["one"])
    ask = Ask(scenario=scenario.id, variant=scenario.variants[0], is_streamed=False)
    for wire in WIRES:
        async with make(wire) as endpoint:
            exchange = await endpoint.ask(ask)
        run.tokens += tokens_spent(exchange)
        run.requests += endpoint.n_requests
        if exchange.status is not None and exchange.status not in _NOT_THERE:
            return wire
    return None


def _answered(variant: Variant, base: Exchange) -> Variant | None:
    """Return a variant whose history has the calls of an answer, with their results."""
    turn = turn_of(base)
    if turn is None or len(turn.calls) < _FEWEST:
        return None
    ids = [_own_id(call, base.wire) for call in turn.calls]
    calls = tuple(
        PastCall(
            id,
            call.name,
            call.raw_arguments or compact(call.arguments),
            str((call.extra or {}).get("thoughtSignature", "")),
        )
        for id, call in zip(ids, turn.calls, strict=True)
    )
    results = tuple(
        PastResult(id, str(call.arguments.get("text", "")), name=call.name)
        for id, call in zip(ids, turn.calls, strict=True)
    )
    return msgspec.structs.replace(variant, calls=calls, results=results)


def _own_id(call: Any, wire: Wire) -> str:
    """Return the id under which a call goes back: on Gemini, where ids may be absent, none that the server did not give."""
    return "" if wire == "gemini" and "id_generated" in call.flags else str(call.id)


def _shortened(variant: Variant, base: Exchange) -> Variant | None:
    """Return a variant whose limit is one token less than an answer has."""
    count = output_tokens(base)
    return msgspec.structs.replace(variant, limit=count - 1) if count is not None and count > 1 else None
