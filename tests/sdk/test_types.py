"""The types of examples and integrations under the newest SDKs, with the frameworks' own types."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import share
from tests.support.type_checks import CHECKERS, complaints

pytestmark = pytest.mark.sdk


@pytest.mark.parametrize("checker", share.every(2, CHECKERS, "checkers"))
def test_types_are_strict(checker: str, tmp_path: Path) -> None:
    """Under mypy and pyright (in CI one of them), both as strict as they can be, no example and no integration has a fault."""
    assert "" == complaints(checker, "sdk", tmp_path)
