"""A test skips only by marker, so that a run's number of skips can be explained."""

from __future__ import annotations

import ast
import re

from tests.hygiene.source_tree import PROJECT

_SKIPPING = {"skip", "skipif", "skipTest", "SkipTest", "importorskip", "exit"}
_SUSPICIOUS = re.compile("|".join(_SKIPPING))


def test_nothing_skips_by_itself() -> None:
    """No test calls a skipping function, and no test carries a skip mark."""
    found = [
        f"{path.relative_to(PROJECT)}:{node.lineno} {ast.unparse(node)}"
        for path in sorted((PROJECT / "tests").rglob("*.py"))
        if path != PROJECT / "tests" / "conftest.py"
        if _SUSPICIOUS.search(text := path.read_text("utf-8"))  # to parse all takes seconds
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute)
        and node.attr in _SKIPPING
        and ast.unparse(node).startswith(("pytest.", "unittest.", "self."))
    ]

    assert [] == found
