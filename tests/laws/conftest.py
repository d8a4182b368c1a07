"""The number of examples for the laws: the profile's, or a part of it for an expensive law.

Default runs stay under a minute on one core; `HYPOTHESIS_PROFILE=long` tries thousands.
"""

from __future__ import annotations

import random

import pytest


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Randomness that is the same in each run of one test."""
    return random.Random(request.node.nodeid)
