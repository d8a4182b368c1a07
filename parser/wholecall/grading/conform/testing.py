"""The cases of the conformance suite as parameters of a project's own tests.

Theory of operation. The decorator only marks a test: the plugin makes its parameters when pytest collects it, because
then it knows the options of the command line.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from wholecall.grading.conform.cases import Case, Suite, Tool, Wire, open_suite
from wholecall.grading.conform.server import CaseServer
from wholecall.grading.conform.verdicts import Answer, CaseVerdict, judge
from wholecall.grading.conform.writes import pieces

if TYPE_CHECKING:
    import pytest

MARKER = "conformance_cases"

_PACKS = ("core",)


class _Wanted(NamedTuple):
    """The content of the marker."""

    wires: tuple[str, ...] = ()
    packs: tuple[str, ...] = _PACKS
    data: str | os.PathLike[str] = "conformance"
    write: str = "frame"


def conformance_cases(
    *wires: Wire,
    packs: Iterable[str] = _PACKS,
    data: str | os.PathLike[str] = "conformance",
    write: str = "frame",
) -> pytest.MarkDecorator:
    """Run a test once for each case of the conformance suite, as its argument `case`.

    ::

        @conformance_cases("chat-completions")
        def test_my_client(case):
            calls = my_client.read(case.chunks)
            case.check([{"id": c.id, "name": c.name, "arguments": c.arguments} for c in calls])

    Args:
        wires: the wires whose cases are wanted; none for all of HTTP. The sessions of WebSockets (`responses-socket`,
            `openai-realtime`, `gemini-live`) have a message in each chunk, and are not served.
        packs: packs or levels; `pytest --conformance-pack core,common` overrides them.
        data: the folder of the suite, relative to the test's file or, if it is not there, to pytest's root folder.
        write: how the bytes are cut: `frame`, `byte`, `whole`, a number of bytes, or `seed:N`.
    """
    import pytest  # noqa: PLC0415 - the module is imported without it, too

    mark: pytest.MarkDecorator = getattr(pytest.mark, MARKER)
    return mark(wires, tuple(packs), data, write)


class ConformanceCase:
    """A case of the suite, to be read by the client under test.

    Attributes:
        id: its id, `WIRE/NAME`.
        wire: its wire.
        level: its level.
        about: its subject, in a sentence.
        tools: the tools to offer, each with `name` and `schema`.
        chunks: the bytes, as they are written.
        ending: how the answer ends: `clean`, `half`, `reset`, `no-terminator` or `idle:Ns`; of a session `clean` or
            `close:N`, the code with which the server closes.
        status: its HTTP status.
        stream: whether it answers a request for a stream.
    """

    def __init__(self, suite: Suite, case: Case, write: str) -> None:
        self.id, self.wire, self.level, self.about = case.id, case.wire, case.level, case.about
        self.tools: tuple[Tool, ...] = case.request.tools
        self.chunks: list[bytes] = pieces(case, write)
        self.ending, self.status, self.stream = case.http.ending, case.http.status, case.request.stream
        self._suite, self._case, self._write = suite, case, write

    def __repr__(self) -> str:
        return f"<ConformanceCase {self.id!r}>"

    @contextmanager
    def served(self) -> Generator[str]:
        """Serve the case on the loopback interface, and give the URL that a client takes as its base URL.

        The first POST gets the case, and later ones the farewell.

        Raises:
            BadSuite: the case is a session of a WebSocket, which is not served.
        """
        with CaseServer(self._suite) as server:
            yield server.offer("test", self._case, self._write)

    def judge(
        self,
        calls: Sequence[Mapping[str, Any]] = (),
        *,
        refused: Sequence[str] = (),
        error: object = None,
    ) -> CaseVerdict:
        """Return the verdict on what the client made of the case.

        Args:
            calls: the calls that it ran, or handed over as good: `id` (None if it is not known), `name` and
                `arguments`, an object or the text that was handed over.
            refused: a reason for each call of which it said that it was not run.
            error: what it raised, None if nothing.

        Raises:
            msgspec.ValidationError: a call has another form.
        """
        told = {
            "calls": list(calls),
            "refused": [{"why": why} for why in refused],
            "error": None if error is None else str(error) or type(error).__name__,
        }
        return judge(self._case, msgspec.convert(told, Answer))

    def check(
        self,
        calls: Sequence[Mapping[str, Any]] = (),
        *,
        refused: Sequence[str] = (),
        error: object = None,
    ) -> None:
        """Fail the test if the case is not passed; the arguments are those of `judge`."""
        import pytest  # noqa: PLC0415

        __tracebackhide__ = True
        verdict = self.judge(calls, refused=refused, error=error)
        if verdict.word != "pass":
            pytest.fail(f"{self.id}: {verdict.word}: {verdict.why}\n{self.about}", pytrace=False)


def parameters(mark: pytest.Mark, chosen: str | None, folders: Iterable[Path]) -> list[ConformanceCase]:
    """Return the cases for a marked test.

    Args:
        mark: the marker that `conformance_cases` made.
        chosen: the packs of the command line, separated by commas; None leaves those of the marker.
        folders: where the suite's folder may be, the first before others.

    Raises:
        BadSuite: there is no suite, or no such pack.
    """
    wanted = _Wanted(*mark.args)
    packs = wanted.packs if chosen is None else chosen.split(",")
    places = [folder / wanted.data for folder in folders]
    place = next((one for one in places if (one / "cases").is_dir()), places[0])
    suite = open_suite(place)
    found = suite.cases(packs, wanted.wires)
    return [
        ConformanceCase(suite, case, wanted.write) for case in found if wanted.wires or not case.is_session
    ]
