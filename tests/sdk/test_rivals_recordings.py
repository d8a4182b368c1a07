"""Every recorded stream of the three wires that the SDKs read, through the transport and the SDKs' own accumulators.

Where the parser finds nothing to complain of, a program that uses the SDK gets the parser's calls; elsewhere it
gets them or an error, and never another call.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.rivals.quirks import verdict
from benchmarks.rivals.streams import Expected
from benchmarks.rivals.systems import SYSTEMS, System
from tests.hygiene.source_tree import CORPORA
from tests.support.loopback import Answer, serve
from wholecall import turns

pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore")]

SDKS = {"openai .stream()", "openai, own loop", "anthropic .stream()", "anthropic, own loop"}
# Calls of another kind, or in another field, than the loops read.
OTHER_CALLS = {"custom-tool", "gigachat-object", "legacy-function-call"}
# Streams in a form that they do not know: nothing is read, and nothing said.
UNREAD = {"comments-as-data", "enveloped", "executed-by-the-server", "type-in-the-event-name"}


def _case(system: System, path: Path) -> Any:
    return pytest.param(system, path, id=f"{system.name}, {path.parent.name}/{path.stem}")


CASES = [
    _case(system, path)
    for system in SYSTEMS
    if system.name in SDKS
    for path in sorted((CORPORA / "recordings" / system.dialect).glob("*.sse"))
    if path.stem not in OTHER_CALLS | UNREAD
]


def _told(data: bytes) -> tuple[list[Expected], bool]:
    """Return the calls of a stream, and whether anything was wrong with it."""
    read = list(turns([data]))
    calls = [Expected(call.name, call.arguments) for turn in read for call in turn.calls]
    return calls, len(read) > 1 or any(turn.faults or turn.dropped for turn in read)


@pytest.mark.parametrize(("system", "path"), CASES)
def test_recordings_are_read_right(system: System, path: Any) -> None:
    """A recorded stream comes to the parser's calls in the SDK's hands; a broken one may raise."""
    data = path.read_bytes()
    calls, is_broken = _told(data)
    with serve(Answer([data])) as server:
        try:
            said = verdict(system.run(server, True), calls)
        except Exception as error:
            if not is_broken:
                raise
            said = "raise" if error else "ok"

    assert said in ({"ok", "raise"} if is_broken else {"ok"})
