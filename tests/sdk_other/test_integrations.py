"""The integrations of docs/frameworks.md that need older SDKs."""

from __future__ import annotations

from tests.support.framework_tests import MARKS, Integrations
from tests.support.integrations import FRAMEWORKS, NEWEST

pytestmark = MARKS


class TestIntegrations(Integrations):
    """Of the frameworks that need older SDKs."""

    names = tuple(name for name in FRAMEWORKS if name not in NEWEST)
