"""Tests that two environments run, each with the libraries that it has: those of docs/frameworks.md, and of recordings.

A file of `tests/sdk` and one of `tests/sdk_other` make a class of one of these, which names what is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from benchmarks.rivals.quirks import is_right, measure
from benchmarks.rivals.recorded import excuse, measured, recorded
from benchmarks.rivals.streams import Stream
from benchmarks.rivals.systems import System
from tests.hygiene.source_tree import PROJECT
from tests.support import frameworks, share
from tests.support.frameworks import CUTS, HEALTHY, TOLD
from tests.support.integrations import BOTH, LINES, answered, ran

MARKS = [
    pytest.mark.sdk,
    # Frameworks do not close the clients of their SDKs.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
# How often a model is asked that can do nothing but cut its calls, if that is not three times: pydantic-ai counts its
# tool's retries, and smolagents asks for an answer without tools in the end, and raises nothing.
_ASKED = {"pydantic-ai": 2, "smolagents": 4}


class Lines:
    """The lines of docs/frameworks.md: a call that is cut runs without the transport, and not with it.

    Attributes:
        names: the frameworks.
    """

    names: ClassVar[Sequence[str]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each test for each framework."""
        metafunc.parametrize("name", self.names)

    def test_the_page_tells_what_is_run(self, name: str) -> None:
        """Without the transport a framework treats a cut call as the page says; with it, it raises as the page says."""
        assert TOLD[name] == frameworks.cells(name)

    def test_only_whole_calls_run(self, name: str) -> None:
        """With the transport no cut call runs, and a whole one runs with its arguments, once."""
        found = [frameworks.ran(name, stream, wrapped=True).ports for stream in (*CUTS, HEALTHY)]

        assert [[], [], [], ["Brest"]] == found


class Integrations:
    """The integrations of docs/frameworks.md: the model is told of a cut call, and sends it again.

    Attributes:
        names: the frameworks.
    """

    names: ClassVar[Sequence[str]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run a test for each framework; one of `live` for those that show arguments while they arrive."""
        word = "live" if "live" in metafunc.fixturenames else "name"
        metafunc.parametrize(word, [name for name in self.names if word == "name" or LINES[name][2]])

    @pytest.mark.parametrize("cut", CUTS)
    def test_a_cut_call_is_sent_again(self, name: str, cut: str) -> None:
        """A cut call is not run, the model is told of it, and the whole call of its next turn is run, once."""
        found = ran(name, cut, HEALTHY)

        assert (["Brest"], [False, True], "") == (found.ports, found.told[:2], found.error)
        assert 3 == len(found.requests)

    def test_a_good_stream_is_untouched(self, name: str) -> None:
        """A whole call is run, and the model is told of nothing else."""
        found = ran(name, HEALTHY)

        assert (["Brest"], [False, False], "") == (found.ports, found.told, found.error)

    def test_a_whole_call_is_run_beside_a_cut_one(self, name: str) -> None:
        """Of two calls the whole one is run, and in its next turn the model is told of the other; LiteLLM has no loop."""
        dropped: list[Any] = []
        found = ran(name, BOTH, on_dropped=dropped.append)

        assert (["Brest"], [False, name != "LiteLLM"], "") == (found.ports, found.told, found.error)
        assert ["get_tide"] == [drop.name for drop in dropped]

    def test_a_model_that_cannot_is_given_up(self, name: str) -> None:
        """If each turn has a cut call only, none is run, and the run ends; with an exception, if the framework has one."""
        found = ran(name, *[CUTS[0]] * 3)

        assert ([], name != "smolagents") == (found.ports, bool(found.error))
        assert _ASKED.get(name, 3) == len(found.requests)

    def test_arguments_are_shown_while_they_arrive(self, live: str) -> None:
        """With live arguments the beginning of a cut call is shown, not run, and the call asked for again."""
        found = ran(live, CUTS[0], HEALTHY, live_arguments=True)

        assert (["Brest"], [False, True], "") == (found.ports, found.told[:2], found.error)
        assert 3 == len(found.requests)
        assert "".join(found.shown).startswith('{"port": "Bre')

    def test_the_end_is_no_option(self, name: str) -> None:
        """A silent end is refused where the integration is made."""
        found = ran(name, HEALTHY, withheld="end")

        assert ("TypeError", []) == (found.error, found.requests)

    def test_the_example_goes_on(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The framework's example answers although its model's first call was cut: the model was told."""
        monkeypatch.syspath_prepend(PROJECT / "examples")
        answer, told = answered(name)

        assert (True, [False, True]) == (answer.endswith(("Done.", "At 04:12.")), told[:2])
        assert 3 == len(told)


class Recordings:
    """Recorded streams of four wires, through the transport and each installed library.

    Attributes:
        one_in: of how many streams a library reads one in a run, others after each change of the package.
    """

    one_in: ClassVar[int]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each test for each stream of each library."""
        cases = [
            pytest.param(system, stream, id=f"{system.name}, {stream.dialect}/{stream.title}")
            for system in measured()
            for stream in share.every(
                self.one_in, recorded(system.dialect), f"{system.name}, {system.dialect}"
            )
        ]
        metafunc.parametrize(("system", "stream"), cases)

    def test_recordings_are_read_right(self, system: System, stream: Stream) -> None:
        """A library gets exactly the executable calls, or without any, none or an error; the exceptions have a reason."""
        said = measure(system, stream, mended=True)

        assert is_right(stream, said) == (not excuse(system.name, stream)), said
