"""The pytest plugin, as pytest loads it: recordings served to the code under test (docs/testing.md).

Theory of operation. pytest imports this module in every run in an environment that has wholecall. Therefore it imports
only pytest, and is outside the package, to avoid the cost of the package's import. The fixtures import
`wholecall.recordings.testing.plugin`, which does the work, when a test requests them. PYTEST_DONT_REWRITE: nothing is asserted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from wholecall.recordings.testing.plugin import Golden
    from wholecall.serving import Loopback, MockTransport

_MARKER = (
    "wholecall(*recordings, timing=False, repeat=1, cut=None, match=None, upstream=None, strict=True): "
    "what `wholecall_server` and `wholecall_transport` answer, one recording a request, in order or by what matches; "
    "paths and globs are relative to the test's file"
)
_CASES = "conformance_cases"
_SPLIT = "_wholecall_split"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("wholecall")
    group.addoption(
        "--wholecall-splits",
        type=int,
        default=0,
        metavar="N",
        help="run each test that is served recordings N times, each with other chunk boundaries",
    )
    group.addoption(
        "--wholecall-record",
        action="store_true",
        help="where the last recording of a marked test is missing, ask the provider and write it",
    )
    group.addoption(
        "--wholecall-bless",
        action="store_true",
        help="rewrite the golden files that `wholecall_golden` compares with, and say what changed",
    )
    group.addoption(
        "--conformance-pack",
        metavar="P,P",
        help="the packs of the conformance suite for tests with `conformance_cases`, in place of theirs",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers."""
    config.addinivalue_line("markers", _MARKER)
    config.addinivalue_line(
        "markers", f"{_CASES}(...): run once for each case of a suite; from wholecall.testing"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Multiply the tests that are served recordings by the requested splits, and those of cases by the cases."""
    n_splits: int = metafunc.config.option.wholecall_splits
    if n_splits > 0 and _SPLIT in metafunc.fixturenames:
        names = [f"split-{number}" for number in range(1, n_splits + 1)]
        metafunc.parametrize(_SPLIT, names, ids=names, indirect=True)
    mark = metafunc.definition.get_closest_marker(_CASES)
    if mark is not None:
        from wholecall.grading.conform.cases import BadSuite  # noqa: PLC0415 - only where it is used
        from wholecall.grading.conform.testing import parameters  # noqa: PLC0415

        config = metafunc.config
        folders = (metafunc.definition.path.parent, config.rootpath)
        try:
            cases = parameters(mark, config.option.conformance_pack, folders)
        except BadSuite as error:
            raise pytest.UsageError(f"conformance_cases: {error}") from None
        metafunc.parametrize("case", cases, ids=[case.id for case in cases])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Report which files were written."""
    blessed, recorded = config.option.wholecall_bless, config.option.wholecall_record
    if blessed or recorded:
        from wholecall.recordings.testing.plugin import summary  # noqa: PLC0415 - only where it is used

        summary(terminalreporter, blessed=blessed, recorded=recorded)


@pytest.fixture
def _wholecall_split(request: pytest.FixtureRequest) -> str | None:
    """The seed of the chunk boundaries; None leaves them as they were recorded."""
    seed: str | None = getattr(request, "param", None)
    return seed


@pytest.fixture
def wholecall_server(request: pytest.FixtureRequest, _wholecall_split: str | None) -> Iterator[Loopback]:
    """A server on 127.0.0.1 that answers with the recordings of the test's marker, and others given to it."""
    from wholecall.recordings.serving.loopback import Loopback  # noqa: PLC0415
    from wholecall.recordings.testing.plugin import serving  # noqa: PLC0415 - only where it is used

    with serving(request, Loopback, _wholecall_split) as loopback, loopback:
        yield loopback


@pytest.fixture
def wholecall_transport(
    request: pytest.FixtureRequest, _wholecall_split: str | None
) -> Iterator[MockTransport]:
    """The same without a socket: a transport for the clients of httpx and httpx2, sync or async."""
    from wholecall.recordings.serving.mock import MockTransport  # noqa: PLC0415
    from wholecall.recordings.testing.plugin import serving  # noqa: PLC0415 - only where it is used

    with serving(request, MockTransport, _wholecall_split) as transport:
        yield transport


@pytest.fixture
def wholecall_golden(request: pytest.FixtureRequest) -> Golden:
    """A comparison of a value with the golden file next to the recording."""
    from wholecall.recordings.testing.plugin import Golden  # noqa: PLC0415 - only where it is used

    return Golden(request.node)
