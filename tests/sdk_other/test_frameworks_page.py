"""The lines of docs/frameworks.md that need older SDKs."""

from __future__ import annotations

from tests.support.framework_tests import MARKS, Lines
from tests.support.frameworks import FRAMEWORKS, NEWEST

pytestmark = MARKS


class TestLines(Lines):
    """Of the frameworks that need older SDKs."""

    names = tuple(name for name in FRAMEWORKS if name not in NEWEST)
