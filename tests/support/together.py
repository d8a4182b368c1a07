"""A test of many small cases as one test: a test of its own for each costs pytest more than the case does.

`together` is used like `pytest.mark.parametrize`. All cases are tried, and the failure names each that fails.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from tests.support import share

_ALL = share.Part(1, is_rest=False)
_PARAM: Any = type(pytest.param())
_FAILURES = (Exception, pytest.fail.Exception)
_LONGEST = 200  # characters of a case without a name


def together(
    names: str | Sequence[str],
    cases: Iterable[Any],
    *,
    ids: Iterable[object] | Callable[[Any], object] | None = None,
    one_in: int = 1,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that lets one test run all cases.

    Args:
        names: the parameters that a case sets, as a list or separated by commas.
        cases: a value for each parameter; with one parameter the value itself. `pytest.param` may give a name, but
            no marks: these are about a whole test.
        ids: the names of the cases, or a function that makes them of a value; else they are called by their values.
        one_in: of the cases the quick tests take every so-manieth, the slow tests a share of the others.
    """
    parameters = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    rows = [_row(case, is_single=len(parameters) == 1) for case in cases]
    if any(row.marks for row in rows):
        raise TypeError("cases of one test have no marks of their own")
    given = [None] * len(rows) if ids is None or callable(ids) else [*ids]
    named = ids if callable(ids) else repr

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*args: Any, portion: share.Part = _ALL, **others: Any) -> None:
            __tracebackhide__ = True
            failures = []
            tried = portion.of(zip(rows, given, strict=True), f"{test.__module__}.{test.__qualname__}")
            for row, name in tried:
                failure = _failure(test, args, others | dict(zip(parameters, row.values, strict=True)))
                if failure is not None:
                    shown = name or row.id or ", ".join(str(named(value)) for value in row.values)
                    failures.append((str(shown)[:_LONGEST], failure))
            if failures:
                told = "\n".join(f"[{shown}] {type(why).__name__}: {why}" for shown, why in failures)
                first = failures[0][1]
                raise AssertionError(f"{len(failures)} of {len(tried)} cases fail\n{told}") from first

        signature = inspect.signature(test)
        kept = [one for name, one in signature.parameters.items() if name not in parameters]
        if one_in == 1:
            run.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
            return run
        which = inspect.Parameter("portion", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = signature.replace(parameters=[*kept, which])  # type: ignore[attr-defined]
        parted: Callable[..., None] = share.in_parts(one_in, argument="portion")(run)
        return parted

    return decorate


def _row(case: Any, *, is_single: bool) -> Any:
    """Return the values of a case, with its name if it has one."""
    return case if isinstance(case, _PARAM) else pytest.param(*([case] if is_single else case))


def _failure(test: Callable[..., None], args: Any, kwargs: dict[str, Any]) -> BaseException | None:
    """Return how a case of a test fails, if it does."""
    try:
        test(*args, **kwargs)
    except _FAILURES as failure:
        return failure
    return None
