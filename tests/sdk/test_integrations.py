"""The integrations of docs/frameworks.md under the newest SDKs."""

from __future__ import annotations

from tests.support.framework_tests import MARKS, Integrations
from tests.support.integrations import FRAMEWORKS, LINES, NEWEST

pytestmark = MARKS


def test_every_row_is_tried() -> None:
    """The page has a line for each framework that is tried, here or in `tests/sdk_other`."""
    assert FRAMEWORKS.keys() == LINES.keys()


class TestIntegrations(Integrations):
    """Of the frameworks that run with the newest SDKs."""

    names = NEWEST
