"""Objects that stand for a stream and cannot be copied, because a copy would read the stream twice."""

from __future__ import annotations

from typing import ClassVar, NoReturn, SupportsIndex

__all__ = ["Uncopyable"]
_private = True


class Uncopyable:
    """An object that can neither be copied nor pickled.

    Half a copy is worse than none: it would share what it was copied from, or a stream that only one can read.
    """

    INSTEAD: ClassVar = "it stands for one stream"  # what the caller is told

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Refuse `pickle`, `copy.copy` and `copy.deepcopy`.

        Raises:
            TypeError: always; the message says what to do instead.
        """
        raise TypeError(f"a {type(self).__name__} can be neither copied nor pickled: {self.INSTEAD}")
