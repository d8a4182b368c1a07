"""The numbers of a Responses stream's events, and which of them were seen before.

Clients that do not look at the numbers must not see an event twice. A gap means that the server lost an event; code
that leaves an event out has to renumber the following ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wholecall.dialects.openai.responses.translator import is_replay

NUMBER = "sequence_number"


class Numbering:
    """The numbers of one stream, in order of arrival.

    Attributes:
        expected: the next number; -1 before the first.
    """

    def __init__(self) -> None:
        self.expected = -1

    def is_replayed(self, payload: Mapping[str, Any], response_id: str | None) -> bool:
        """Return whether an event was seen before, and take note of its number if not.

        Args:
            payload: of the event.
            response_id: of the response that began last; its repeated beginning is a replay.
        """
        number, response = payload.get(NUMBER), payload.get("response")
        if type(number) is not int or number < 0 or "stream_id" in payload:
            return False
        starts = payload.get("type") == "response.created"
        again = starts and isinstance(response, dict) and response.get("id") == response_id
        if is_replay(number, self.expected, starts=starts, again=again):
            return True
        self.expect_after(number)
        return False

    def expect_after(self, number: int) -> None:
        """Take note of the number of an event."""
        if number or self.expected != 1:  # a constant 0 counts nothing
            self.expected = number + 1
