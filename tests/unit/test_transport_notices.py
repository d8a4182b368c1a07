"""Notices to callers of the transports: drops, faults and reports with their exchange, and totals."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.loopback import serve
from tests.support.together import together
from tests.unit.test_transport import (
    BEGUN,
    DONE,
    FINISH,
    LIBRARIES,
    PATH,
    QUIRKY,
    TEXT,
    WHOLE,
    apost,
    each_library,
    post,
)
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.events import StreamFault
from wholecall.repairing import RepairReport
from wholecall.serving import Answer
from wholecall.transport import AsyncRepairTransport, Counters, Exchange, RepairTransport, client

BROKEN = b'data: {"choices":[{\n\n'


class Heard:
    """Notes all that is reported, and by which exchange."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.exchanges: list[Exchange] = []

    def dropped(self, drop: Any, exchange: Exchange) -> None:
        """Take a drop."""
        self._take(f"dropped {drop.name} {drop.reason}", exchange)

    def fault(self, fault: Any, exchange: Exchange) -> None:
        """Take a fault."""
        self._take(f"fault {fault.kind}", exchange)

    def repaired(self, report: Any, exchange: Exchange) -> None:
        """Take a report."""
        self._take(f"repaired {report.dialect} {report.n_calls} {report.n_withheld}", exchange)

    def _take(self, word: str, exchange: Exchange) -> None:
        self.words.append(word)
        self.exchanges.append(exchange)

    def options(self) -> dict[str, Any]:
        """Return the options of a client that reports it all, in a synchronous way."""
        return {"on_dropped": self.dropped, "on_fault": self.fault, "on_repaired": self.repaired}

    def async_options(self) -> dict[str, Any]:
        """Return the same, to be awaited."""

        def awaited(note: Any) -> Any:
            async def later(event: Any, exchange: Exchange) -> None:
                await asyncio.sleep(0)
                note(event, exchange)

            return later

        return {name: awaited(note) for name, note in self.options().items()}


TOLD = ["fault undecodable_frame", "dropped f truncated", "repaired chat-completions 0 1"]


@each_library
def test_all_is_told_with_its_exchange(library: Any) -> None:
    """Drops, faults and the report come with the id that the answer has as a header, and without secrets."""
    heard = Heard()
    http = client(library=library, withheld="end", **heard.options())
    with serve(Answer([TEXT, BROKEN, BEGUN, FINISH, DONE])) as server, http:
        url = server.url.replace("//", "//user:secret@") + PATH
        response = http.post(url + "?key=secret#x", json={})

    (exchange,) = set(heard.exchanges)
    assert TOLD == heard.words
    assert ("POST", server.url + PATH) == (exchange.method, exchange.url)
    assert response.headers["x-wholecall-id"] == exchange.id != ""


_HEARERS: dict[str, Any] = {
    "list.append": lambda heard: heard.append,
    "any": lambda heard: lambda *events: heard.extend(events),
    "an option": lambda heard: lambda event, _loud=False: heard.append(event),
    "two": lambda heard: lambda event, where: heard.extend([event, where]),
    "exchange": lambda heard: lambda event, exchange=None: heard.extend([event, exchange]),
}


@together("kind", _HEARERS)
@together("name", ["on_dropped", "on_fault", "on_repaired"])
def test_one_signature_holds_everywhere(kind: str, name: str) -> None:
    """A function is called with the event; one that must have two arguments, or names the exchange, gets that."""
    heard: list[Any] = []
    with serve(Answer([TEXT, BROKEN, BEGUN, FINISH, DONE])) as server:
        post(LIBRARIES[0], server, withheld="end", **{name: _HEARERS[kind](heard)})
    with_exchange = [Exchange] if kind in ("two", "exchange") else []
    event = {"on_dropped": ToolCallDropped, "on_fault": StreamFault, "on_repaired": RepairReport}[name]

    assert [event, *with_exchange] == [type(one) for one in heard]


@pytest.mark.parametrize("function", [lambda: None, lambda _a, _b, _c: None, lambda _a, *, key: key])
def test_a_function_that_nobody_can_call_is_refused(function: Any) -> None:
    """A function that takes neither one argument nor two is refused when the transport is made, not in a stream."""
    with pytest.raises(TypeError, match="on_dropped is called with what happened"):
        RepairTransport(on_dropped=function)

    assert "<RepairTransport" == repr(RepairTransport(on_dropped=print)).partition(" ")[0]


@each_library
def test_functions_may_be_awaited(library: Any) -> None:
    """The asynchronous transport awaits functions that are asynchronous, in order, and calls the others."""
    heard, called = Heard(), Heard()

    async def both() -> None:
        for options in (heard.async_options(), called.options()):
            with serve(Answer([TEXT, BROKEN, BEGUN, FINISH, DONE])) as server:
                await apost(library, server, withheld="end", **options)

    asyncio.run(both())

    assert [TOLD, TOLD] == [heard.words, called.words]


def test_a_synchronous_transport_awaits_nothing() -> None:
    """A function that would have to be awaited is refused when the transport is made."""
    with pytest.raises(TypeError, match="on_fault cannot be awaited"):
        RepairTransport(on_fault=Heard().async_options()["on_fault"])

    assert repr(AsyncRepairTransport(**Heard().async_options())).startswith("<AsyncRepairTransport <httpx")


@each_library
def test_what_a_function_raises_reaches_the_reader(library: Any) -> None:
    """An error of the caller's own is not swallowed."""

    def refuse(_drop: object, _exchange: object) -> None:
        raise KeyError("mine")

    with serve(Answer([TEXT, BEGUN, FINISH, DONE])) as server, pytest.raises(KeyError, match="mine"):
        post(library, server, on_dropped=refuse)


@each_library
def test_healthy_streams_are_not_told(library: Any) -> None:
    """`on_repaired` is for changed answers."""
    heard = Heard()
    with serve(Answer([TEXT, WHOLE, FINISH, DONE])) as server:
        post(library, server, **heard.options())

    assert [] == heard.words


@each_library
def test_counters_add_up(library: Any) -> None:
    """Several clients may share them; each exchange counts once, also one that is left early."""
    counters = Counters()
    healthy, cut = Answer([TEXT, WHOLE, FINISH, DONE]), Answer([TEXT, BEGUN, FINISH, DONE])
    with serve(healthy, cut, Answer([QUIRKY]), Answer([TEXT + BEGUN], ending="hang")) as server:
        post(library, server, counters=counters)
        post(library, server, counters=counters, withheld="end")
        asyncio.run(apost(library, server, counters=counters))
        http = client(library=library, counters=counters)
        with http, http.stream("POST", server.url + PATH) as response:
            next(response.iter_raw())
    n_quirky = counters.n_calls - 1

    assert (4, 2, 0, 2) == (counters.n_exchanges, counters.n_mended, counters.n_failed, counters.n_withheld)
    assert n_quirky >= 1
    assert repr(counters).startswith("<Counters n_exchanges=4, n_mended=2, ")


@each_library
def test_failures_are_counted(library: Any) -> None:
    """An exchange that ended with an error of ours is one that failed."""
    counters = Counters()
    with serve(Answer([TEXT])) as server, pytest.raises(Exception, match="upstream_incomplete"):
        post(library, server, counters=counters)

    assert (1, 1, 1) == (counters.n_exchanges, counters.n_mended, counters.n_failed)
