"""The public ids of a choice: which are taken, and a free one for a call that has none of its own.

Theory of operation. Most calls keep the id that the wire sent. A call without an id, a call whose id another call has,
and a call that was written as text get an id that no call of the choice has: a stem, or the stem with a number, such as
`call_0_0_1#2`. Every replay gives the same ids.
"""

from __future__ import annotations

from collections.abc import Container


class PublicIds:
    """The ids that were given.

    Attributes:
        taken: those that no label of the wire shows.
        numbered: the last number that was appended to each stem.
    """

    taken: set[str]
    numbered: dict[str, int]

    __slots__ = tuple(__annotations__)

    def __init__(self) -> None:
        self.taken, self.numbered = set(), {}

    def free(self, stem: str, known: Container[str]) -> str:
        """Take and return the stem, or the stem with the first number that makes an id that is not known."""
        n, id = self.numbered.get(stem, 1), stem
        while id in self.taken or id in known:
            n += 1
            id = f"{stem}#{n}"
        self.numbered[stem] = n
        self.taken.add(id)
        return id
