"""The number of examples of a law: the profile's, or a share; a long run tries no less than all."""

from __future__ import annotations

from hypothesis import settings

_LONG = 2000  # examples of the profile `long`


def examples(share: float = 1, *, long: float = 1, **kept: int) -> settings:
    """Return settings with a share of the profile's examples.

    Args:
        share: the share of the usual profiles; less for laws with costly examples.
        long: the share of the profile `long`, where it may be more than 1 but not less.
        kept: other settings, as hypothesis names them.
    """
    usual = settings().max_examples
    count = usual * max(long, 1) if usual >= _LONG else max(usual * share, 1)
    return settings(max_examples=int(count), **kept)  # type: ignore[arg-type]
