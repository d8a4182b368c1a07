"""Tests of a project's own client against the conformance suite, with pytest."""

from __future__ import annotations

from wholecall.grading.conform.testing import ConformanceCase, conformance_cases

__all__ = ["ConformanceCase", "conformance_cases"]
