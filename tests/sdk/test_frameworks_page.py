"""The lines of docs/frameworks.md under the newest SDKs."""

from __future__ import annotations

from tests.support.framework_tests import MARKS, Lines
from tests.support.frameworks import FRAMEWORKS, LINES, NEWEST, TOLD

pytestmark = MARKS


def test_every_row_is_tried() -> None:
    """The page has a line and a row of behaviour for each framework that is tried, here or in `tests/sdk_other`."""
    assert (FRAMEWORKS.keys(), FRAMEWORKS.keys()) == (LINES.keys(), TOLD.keys())


class TestLines(Lines):
    """Of the frameworks that run with the newest SDKs."""

    names = NEWEST
