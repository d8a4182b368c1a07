"""Recordings for the recipes, and a folder to cook in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.engines import Kitchen, kitchen

_COUNT = 400


@pytest.fixture
def cook(tmp_path: Path) -> Iterator[Kitchen]:
    """Give a folder with a few hundred recordings, and who runs recipes in it."""
    with kitchen(tmp_path, _COUNT) as made:
        yield made
