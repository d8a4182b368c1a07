"""The soak of Ray Data reports the faults; it needs Ray only to run."""

from __future__ import annotations

from typing import Any

import pytest

from tests.soak.ray import complaints

ROWS: list[dict[str, Any]] = [{"recording_id": id_, "n_calls": 1} for id_ in ("a", "b", "c")]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (ROWS, []),
        (ROWS[:2], ["here: 3 rows were to come"]),
        ([*ROWS, ROWS[2]], ["here: 3 rows were to come"]),
        ([ROWS[0], ROWS[0], ROWS[2]], ["here: 1 rows are wrong, such as b"]),
        ([ROWS[0], ROWS[1], {"recording_id": "c", "n_calls": 2}], ["here: 1 rows are wrong, such as c"]),
    ],
)
def test_what_is_wrong_is_told(found: list[dict[str, Any]], expected: list[str]) -> None:
    """A row that is lost, comes twice or has another value is a finding."""
    assert expected == complaints("here", ROWS, found)
