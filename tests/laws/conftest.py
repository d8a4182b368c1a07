"""How many examples the laws try: the profile decides, a law that is dear asks for a part of it.

Default runs stay under a minute on one core; `HYPOTHESIS_PROFILE=long` tries thousands.
"""

from __future__ import annotations

import random

import pytest


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Randomness that is the same in each run of one test."""
    return random.Random(request.node.nodeid)
