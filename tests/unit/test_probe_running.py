"""Runs of the probe: what is asked, in which order, within which bounds, and what is kept of it."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.endpoint import Answered, Got, endpoint
from tests.support.loopback import serve
from wholecall.grading.probe.asked import functions_in, limit_in
from wholecall.grading.probe.asking import Endpoint, target_of, tokens_spent, wire_told_by
from wholecall.grading.probe.bodies import Habits, body_of, tokens_at_most
from wholecall.grading.probe.exchange import WIRES, Exchange, Wire
from wholecall.grading.probe.oracle import asked_of
from wholecall.grading.probe.running import Run, Runner, asks_of, cost_of
from wholecall.grading.probe.scenarios import LEVELS, SCENARIOS, TRIES, Scenario, Variant, scenarios_at
from wholecall.serving import Answer

ONE = scenarios_at("quick", ["one"])


def measured(
    url: str, scenarios: Sequence[Scenario], tries: int = 1, other: str | None = None, **more: Any
) -> Run:
    """Return a run against an endpoint."""
    run = Run()
    timeout = more.pop("timeout", 20.0)
    ends = [Endpoint(one, "m", "chat-completions", timeout=timeout) for one in (url, other) if one]
    Runner(run, *ends, **more).measure(asks_of(scenarios, tries))
    return run


def files(exchanges: Sequence[Exchange]) -> list[str]:
    """Return the names of exchanges in order."""
    return [exchange.file.removesuffix(".jsonl") for exchange in exchanges]


class TestOrder:
    """The order of the requests."""

    def test_rounds_come_one_after_the_other(self) -> None:
        """Each scenario is asked plain and streamed before any is asked again."""
        with endpoint() as server:
            run = measured(server.url, scenarios_at("quick", ["one", "two"]), 2, jobs=1)

        rounds = [[f"{name}-{form}-{n}" for name in ("one", "two") for form in ("plain", "stream")] for n in (1, 2)]  # fmt: skip
        assert [*rounds[0], *rounds[1]] == files(run.exchanges)

    def test_each_variant_is_asked_at_least_once(self) -> None:
        """A scenario with more variants than tries is asked once for each; with fewer, the tries go round."""
        for scenario in SCENARIOS:
            for tries in (1, 5, 7):
                asks = asks_of([scenario], tries)
                names = {ask.variant.name for ask in asks}
                forms = 1 if scenario.variants[0].streams_only else 2

                assert {variant.name for variant in scenario.variants} == names
                assert forms * max(tries, len(scenario.variants)) == len(asks)

    def test_a_reference_is_asked_between(self) -> None:
        """The reference gets each request right after the endpoint."""
        order: list[str] = []

        def note(side: str) -> Any:
            return lambda got, _number: order.append(f"{side} {bool(got.body.get('stream'))}")

        with endpoint(note("ours")) as server, endpoint(note("theirs")) as other:
            run = measured(server.url, ONE, 1, other.url, jobs=1)

        assert ["ours False", "theirs False", "ours True", "theirs True"] == order
        assert files(run.exchanges) == files(run.reference)

    def test_file_names_are_unique(self) -> None:
        """No two requests of the largest run are saved under one name."""
        asks = asks_of(scenarios_at("full"), 7)
        labels = [(ask.scenario, ask.variant.name, ask.is_streamed, ask.attempt) for ask in asks]

        assert len(set(labels)) == len(labels)


class TestFollowing:
    """Requests that need an earlier answer."""

    def test_own_ids_are_sent_back(self) -> None:
        """The history of `turn/own-ids` has the calls of the answer to `two`, under the server's ids."""
        with endpoint() as server:
            measured(server.url, scenarios_at("standard", ["turn/own-ids"]), jobs=2)
            histories = [got.body["messages"] for got in server.got if len(got.body["messages"]) > 1]

        ids = [[call["id"] for call in messages[1]["tool_calls"]] for messages in histories]
        answers = [[message["tool_call_id"] for message in messages[2:]] for messages in histories]
        assert [["call_0", "call_1"]] * 2 == ids == answers
        assert [["red", "blue"]] * 2 == [[one["content"] for one in messages[2:]] for messages in histories]

    def test_the_last_token_is_cut_off(self) -> None:
        """The limit of `cut/last` is one token less than the answer to `one` had, streamed and plain."""
        with endpoint() as server:
            measured(server.url, scenarios_at("quick", ["cut/last"]), jobs=2)
            limits = [got.body["max_tokens"] for got in server.got]

        assert [11, 11] == [limit for limit in limits if limit < 100]

    def test_without_an_answer_it_is_not_asked(self) -> None:
        """If the earlier answer has no calls, the request is counted as not made, with the reason."""
        text = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "no"}, "finish_reason": "stop"}]}  # fmt: skip
        answer = Answered(200, "application/json", (json.dumps(text).encode(),))
        with endpoint(lambda _got, _number: answer) as server:
            run = measured(server.url, scenarios_at("standard", ["turn/own-ids"]))

        assert {"the answer before it has no two calls to answer": 2} == run.unasked
        assert ["two-plain-1", "two-stream-1"] == sorted(files(run.exchanges))


class TestBounds:
    """Budget, timeouts, interruptions, busy servers."""

    def test_the_budget_is_never_exceeded(self) -> None:
        """Requests that could exceed the budget are not made, also when several are under way."""
        most = tokens_at_most(body_of(ONE[0].variants[0], "chat-completions", "m", is_streamed=False))
        budget = 2 * most
        with endpoint() as server:
            run = measured(server.url, ONE, 20, budget=budget, jobs=4)

        assert 2 <= len(run.exchanges) < 40
        assert run.tokens <= budget
        assert {"the budget of tokens is spent": 40 - len(run.exchanges)} == run.unasked

    def test_usage_counts_where_it_is(self) -> None:
        """A plain answer costs what its usage says; a stream without one costs the most that it may; a refusal nothing."""
        refusal = Answered(400, "application/json", (b"{}",))
        with endpoint(lambda _got, number: refusal if number > 2 else None) as server:
            run = measured(server.url, ONE, 2, jobs=1)

        plain, stream, *refused = map(tokens_spent, run.exchanges)
        assert (62, tokens_at_most(run.exchanges[1].request), [0, 0]) == (plain, stream, refused)

    def test_an_interruption_keeps_what_was_measured(self) -> None:
        """Ctrl-C in the third request keeps the two before it, and says that the run was left early."""
        left = threading.Event()

        def hook(_got: Got, number: int) -> None:
            if number == 3:
                os.kill(os.getpid(), signal.SIGINT)
                left.wait(20)

        with endpoint(hook) as server:
            run = measured(server.url, ONE, 5, jobs=1)
            left.set()

        assert ["one-plain-1", "one-stream-1"] == files(run.exchanges)
        assert run.is_interrupted

    def test_a_busy_server_is_asked_again(self) -> None:
        """After 429 the same request is sent again, twice at most; the last exchange is kept."""
        busy = Answered(429, "application/json", (b"{}",), (("retry-after", "0"),))
        with endpoint(lambda _got, number: busy if number in {1, 3, 4, 5} else None) as server:
            run = measured(server.url, ONE, 1, jobs=1)
            asked = len(server.got)

        assert ([200, 429], 5) == ([exchange.status for exchange in run.exchanges], asked)

    def test_a_silent_server_times_out(self) -> None:
        """An answer that does not come in time is an exchange that says so."""
        over = threading.Event()
        with endpoint(lambda _got, _number: over.wait(20) and None) as server:
            run = measured(server.url, ONE, 1, timeout=0.2)
            over.set()

        assert [("timed_out", None)] * 2 == [(one.ended, one.status) for one in run.exchanges]

    def test_no_server_is_an_exchange_too(self) -> None:
        """A port on which nobody listens is no error of the probe."""
        run = measured("http://127.0.0.1:9/v1", ONE)

        assert ["unreachable"] * 2 == [exchange.ended for exchange in run.exchanges]

    def test_a_cut_connection_is_an_exchange_too(self) -> None:
        """If the connection breaks inside the answer, what came is kept."""
        with serve(Answer([b"data: {}\n\n"], ending="cut")) as server:
            run = measured(server.url, ONE)

        assert [("broken", b"data: {}\n\n")] * 2 == [(one.ended, one.body) for one in run.exchanges]

    def test_the_client_hangs_up_and_asks_again(self) -> None:
        """In `stop` the probe leaves after three pieces, and then makes a new request."""
        with endpoint() as server:
            run = measured(server.url, scenarios_at("full", ["stop"]), jobs=1)

        assert ["stop-stream-1", "stop-after-stream-1"] == files(run.exchanges)
        assert [("hung_up", 3), ("closed", True)] == [
            (run.exchanges[0].ended, len(run.exchanges[0].chunks)),
            (run.exchanges[1].ended, b"[DONE]" in run.exchanges[1].body),
        ]


class TestHabits:
    """Parameters that an endpoint refuses by name."""

    @pytest.mark.parametrize(
        ("refused", "sent"), [("temperature", "temperature"), ("max_tokens", "max_completion_tokens")]
    )
    def test_a_refused_parameter_is_learned(self, refused: str, sent: str) -> None:
        """The request is made again without the parameter, or with the other spelling, and so are all later ones."""
        said = {"error": {"message": f"unsupported: {refused}; use {sent} instead"}}
        error = Answered(400, "application/json", (json.dumps(said).encode(),))
        with endpoint(lambda got, _number: error if refused in got.body else None) as server:
            run = measured(server.url, ONE, 2, jobs=1)
            bodies = [got.body for got in server.got]

        assert [True, False, False, False, False] == [refused in body for body in bodies]
        assert {200} == {exchange.status for exchange in run.exchanges}
        assert (sent == "temperature") is not all(sent in body for body in bodies[1:])

    def test_a_limit_survives_extra_members(self) -> None:
        """Members of the user win over ours, but a scenario about limits keeps its own."""
        habits = Habits(extra={"max_completion_tokens": 9_000, "temperature": 1})
        one = body_of(ONE[0].variants[0], "chat-completions", "m", is_streamed=False, habits=habits)
        (cut,) = scenarios_at("quick", ["cut/limit-40"])
        other = body_of(cut.variants[0], "chat-completions", "m", is_streamed=False, habits=habits)

        assert ("max_tokens" in one, 9_000, 1) == (False, one["max_completion_tokens"], one["temperature"])
        assert (40, "max_completion_tokens" in other, 1) == (other["max_tokens"], False, other["temperature"])


class TestScenarios:
    """The scenarios as data."""

    def test_levels_include_the_ones_before(self) -> None:
        """The ids of a level are those of the contract, and each level adds to the one before it."""
        quick, standard, full = ([one.id for one in scenarios_at(level)] for level in LEVELS)

        assert ["one", "none", "two", "mixed", "noargs", "unicode", "cut", "usage"] == quick
        assert ["markers", "numbers", "nested", "long", "many", "choice", "turn", "bad"] == standard[8:]
        assert ["stop"] == full[16:]

    def test_quick_is_cheap(self) -> None:
        """The quick level makes about 48 requests, standard about 150; the most that they cost is known before."""
        costs = {
            level: cost_of(asks_of(scenarios_at(level), TRIES[level]), "chat-completions", "m")
            for level in LEVELS
        }

        assert (50, 162) == (costs["quick"][0], costs["standard"][0])
        assert costs["quick"][1] < 40_000 < costs["standard"][1] < 250_000

    @pytest.mark.parametrize("wire", WIRES)
    @pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
    def test_a_body_names_its_tools_in_every_wire(self, scenario: Scenario, wire: Wire) -> None:
        """Each body has the tools by name, the limit, and `stream` only where one is asked for; Gemini has it in the path."""
        for variant in scenario.variants:
            plain, stream = (body_of(variant, wire, "m", is_streamed=one) for one in (False, True))
            tools = [function["name"] for function in functions_in(plain)]

            assert [tool.name for tool in variant.tools] == tools
            assert ("stream" in plain, "stream" in stream) == (False, wire != "gemini")
            assert variant.limit == limit_in(plain)
            assert all(len(name) <= 64 for name in tools)

    def test_patterns_choose(self) -> None:
        """A pattern names scenarios or variants; what another one needs stays."""
        assert ["two", "turn"] == [one.id for one in scenarios_at("standard", ["turn"])]
        assert [["strict"]] == [_names(one.variants) for one in scenarios_at("standard", ["choice/strict"])]
        assert () == scenarios_at("quick", ["choice"])


def _names(variants: Sequence[Variant]) -> list[str]:
    return [variant.name for variant in variants]


@pytest.mark.parametrize(
    ("url", "wire", "target"),
    [
        ("https://a/v1", "chat-completions", "https://a/v1/chat/completions"),
        ("https://a/v1/chat/completions", "chat-completions", "https://a/v1/chat/completions"),
        ("https://a/v1?api-version=1", "responses", "https://a/v1/responses?api-version=1"),
        ("https://a", "anthropic", "https://a/v1/messages"),
        ("https://a/v1", "anthropic", "https://a/v1/messages"),
        ("https://a/v1/messages", "anthropic", "https://a/v1/messages"),
        ("https://a", "gemini", "https://a/v1beta/models/m%2F1:generateContent"),
        ("https://a/v1", "gemini", "https://a/v1/models/m%2F1:generateContent"),
        ("https://a/v1beta/models/x:generateContent", "gemini", "https://a/v1beta/models/x:generateContent"),
    ],
)
def test_targets(url: str, wire: Wire, target: str) -> None:
    """The path of the wire is added where it is not there yet; the query stays."""
    assert target == target_of(url, wire, "models/m/1")


def test_urls_that_show_their_wire() -> None:
    """A path that ends as a wire's does, and Anthropic's host, show the wire; a base URL does not."""
    urls = ["https://a/responses", "https://api.anthropic.com", "https://a/v1", "https://a/x/messages"]
    google = "https://generativelanguage.googleapis.com/v1beta"

    assert ("gemini", None) == (wire_told_by(google), wire_told_by(f"{google}/openai"))
    assert ["responses", "anthropic", None, "anthropic"] == [wire_told_by(url) for url in urls]


@pytest.mark.parametrize("wire", WIRES)
def test_an_oracle_knows_what_is_asked(wire: Wire) -> None:
    """From a request alone it is found what it asks for, whether a stream is asked for or not."""
    for variant in (one for scenario in SCENARIOS for one in scenario.variants if one.follows is None):
        for is_streamed in (False, True):
            body = body_of(variant, wire, "any", is_streamed=is_streamed)

            assert variant.asked == asked_of(body, wire)
