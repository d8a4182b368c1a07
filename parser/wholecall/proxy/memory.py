"""The memory that bodies may take together: requests that are read, and answers that are judged whole.

Theory of operation. Each body has its own bound, which does not limit many simultaneous bodies. Therefore each takes
its bytes out of one `BodyMemory` as they arrive, and gives them back when its exchange is over. If too little is left, a
request is refused for now (503), and an answer ends as an error.
"""

from __future__ import annotations

_private = True


class NoMemoryError(Exception):
    """The bodies that are held take all the memory."""


class BodyMemory:
    """The bytes that may be held at one time.

    Args:
        most: the number of bytes.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._taken = 0

    def __repr__(self) -> str:
        return f"<BodyMemory {self._taken} of {self.most}>"

    @property
    def taken(self) -> int:
        """The number of bytes that are held."""
        return self._taken

    def take(self, size: int) -> None:
        """Take a number of bytes.

        Raises:
            NoMemoryError: fewer bytes are left; nothing was taken.
        """
        if self._taken + size > self.most:
            raise NoMemoryError
        self._taken += size

    def give(self, size: int) -> None:
        """Give a number of bytes back."""
        self._taken -= size


class Held:
    """The share of one exchange."""

    def __init__(self, memory: BodyMemory) -> None:
        self._memory = memory
        self._size = 0

    def take(self, size: int) -> None:
        """Take a number of further bytes.

        Raises:
            NoMemoryError: fewer bytes are left.
        """
        self._memory.take(size)
        self._size += size

    def give_all(self) -> None:
        """Give back all bytes; a repeated call does nothing."""
        self._memory.give(self._size)
        self._size = 0
