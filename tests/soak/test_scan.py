"""The soak of scans, short."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.scan import soak


@pytest.mark.slow
def test_a_scan_that_is_killed_twice(tmp_path: Path) -> None:
    """Two thousand recordings, killed twice in between: the same parts, and each recording once."""
    assert [] == soak(tmp_path, 2_000, n_kills=2, workers=2, seed=1)
