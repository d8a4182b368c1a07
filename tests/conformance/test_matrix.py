"""The matrix of clients in the documentation."""

from __future__ import annotations

from tests.support.conformance_matrix import PAGE, clients, page


def test_the_matrix_is_that_of_the_results() -> None:
    """`docs/conformance.md` shows every published result; `python -m tests.support.conformance_matrix` writes it."""
    assert page() == PAGE.read_text("utf-8")
    assert len({client.name for client in clients()}) >= 12
