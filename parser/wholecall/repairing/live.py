"""Calls that are shown while they arrive: names and pieces of arguments, in the strict form of the dialect.

Theory of operation. A call is shown as soon as its id is known; a call whose id comes last is written whole. A shown
call cannot be taken back: if the verdict differs from it, the stream has to end with an error.

Therefore only the part of an argument text is shown that no correction can change any more. A grammar of strict JSON
reads along. Accepted text may be shown, except where a slip could begin: a comma and white space, which may be
trailing, a number or a literal that has not ended, and the outermost closing brace, which may be that of a placeholder.
From the first slip on nothing is shown before the verdict. If a server restates the whole text, showing continues as
soon as the restated text repeats the shown text and is longer.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from wholecall.calls.arguments.grammar import Grammar, Table
from wholecall.calls.arguments.tokens import JSON_SPACE
from wholecall.calls.output import call_events
from wholecall.calls.output.events import Event
from wholecall.limits import Limits
from wholecall.repairing.encoders.base import Encoder, Executable, OpenCall, argument_text

_STRING_OR_SPACE: Final = re.compile(rf'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{JSON_SPACE}]+', re.DOTALL)
# The events of a shown call.
LIVE = frozenset(
    {
        call_events.ArgumentsDelta,
        call_events.ArgumentsReset,
        call_events.ToolCall,
        call_events.CustomToolCall,
        call_events.BuiltinToolCall,
        call_events.ToolCallDropped,
    }
)
Key = tuple[int, int, int]  # turn, choice, index


class _Strict(Grammar):
    """A strict reader of JSON text.

    Attributes:
        n_safe: the number of characters that no correction would change.
    """

    __slots__ = ("_n_read", "n_safe")

    _START: ClassVar[Table] = Grammar._OBJECT  # noqa: SLF001 - a mark before the object is a slip

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self.n_safe = 0
        self._n_read = 0

    def read(self, piece: str) -> None:
        """Read one more piece of the text."""
        text, self._held = self._held + piece, ""
        at = 0
        while at < len(text):
            at = self._step(self, text, at)
            if self.stopped:
                return
            if self._is_safe(text[at - 1 : at]):
                self.n_safe = self._n_read + at - len(self._held)
        self._n_read += len(text) - len(self._held)

    def _is_safe(self, last: str) -> bool:
        """Return whether the text up to this character, or up to the last end, is safe."""
        if self._step is Grammar._read_scalar or not self._stack:  # noqa: SLF001
            return False
        if self._step is Grammar._between and last:  # noqa: SLF001
            return last not in JSON_SPACE and last != ","
        return True


class LiveText:
    """The shown text of one call's arguments.

    Args:
        limits: for nesting and numbers.
        is_json: False for free text, all of which is shown at once.
    """

    def __init__(self, limits: Limits, *, is_json: bool) -> None:
        self._limits = limits
        self._strict = _Strict(limits) if is_json else None
        self._shown: list[str] = []
        self._waiting = ""  # received text that was not read yet
        self._n_seen = 0  # characters of the text before it
        self._owed = ""  # text that a restated text has to repeat
        self._is_lost = False  # it was not repeated

    def add(self, delta: str) -> str:
        """Take more text; return the text that may be shown now."""
        strict = self._strict
        if strict is None:
            return self._show(delta)
        if strict.stopped or self._is_lost:
            return ""
        strict.read(delta)
        self._waiting += delta
        n_safe = strict.n_safe - self._n_seen
        safe, self._waiting = self._waiting[:n_safe], self._waiting[n_safe:]
        self._n_seen = strict.n_safe
        return self._show(safe)

    def reset(self, text: str) -> str:
        """Take the restated whole text; return the text that may be shown now."""
        self._owed, self._waiting, self._n_seen = "".join(self._shown), "", 0
        self._is_lost = False
        if self._strict is not None:
            self._strict = _Strict(self._limits)
        return self.add(text)

    def rest(self, text: str) -> str | None:
        """Return the text that must follow the shown text to make this whole text; None if none can.

        White space that was shown and is not in the text does not matter outside of strings.
        """
        shown = "".join(self._shown)
        if text.startswith(shown):
            return text[len(shown) :]
        if self._strict is None:
            return None
        squeezed = _STRING_OR_SPACE.sub(lambda match: match[0] if match[0][0] == '"' else "", shown)
        return text[len(squeezed) :] if text.startswith(squeezed) else None

    def _show(self, text: str) -> str:
        """Return the new part of a text that may be shown."""
        common = min(len(text), len(self._owed))
        if text[:common] != self._owed[:common]:
            self._is_lost = True
            return ""
        self._owed, text = self._owed[common:], text[common:]
        if text:
            self._shown.append(text)
        return text


class Void(Exception):
    """The error for a shown call that is not valid any more; the message says why, without argument text."""


class _Shown:
    """A call that was begun: its shown part."""

    def __init__(self, call: OpenCall, limits: Limits) -> None:
        self.call = call
        self.text = LiveText(limits, is_json=call.kind == "function")


class LiveCalls:
    """The writer of calls while their events come.

    Attributes:
        n_begun: how many were begun so far.
    """

    def __init__(self, encoder: Encoder, limits: Limits) -> None:
        self.n_begun = 0
        self._limits = limits
        self._encoder = encoder
        self._shown: dict[Key, _Shown] = {}

    def begin(self, event: call_events.ToolCallStarted) -> bytes:
        """Return the beginning of a call; nothing if it cannot be shown before its verdict."""
        if not event.id or event.kind not in ("function", "custom"):
            return b""
        call, data = self._encoder.begin(event.choice, event.id, event.name, "", event.kind)
        self.n_begun += 1
        self._shown[event.turn, event.choice, event.index] = _Shown(
            replace(call, id=event.id, name=event.name), self._limits
        )
        return data

    def is_shown(self, event: Any) -> bool:
        """Return whether the call of an event was begun and not ended."""
        return (event.turn, event.choice, event.index) in self._shown

    def go_on(self, event: Event[Any]) -> bytes:
        """Return the bytes that an event adds to a shown call.

        Raises:
            Void: the shown part is not valid.
        """
        key = event.turn, event.choice, event.index  # type: ignore[union-attr]
        shown = self._shown[key]
        if isinstance(event, (call_events.ArgumentsDelta, call_events.ArgumentsReset)):
            text = shown.text
            new = (
                text.add(event.delta)
                if isinstance(event, call_events.ArgumentsDelta)
                else text.reset(event.raw_arguments)
            )
            return self._encoder.more(shown.call, new) if new else b""
        del self._shown[key]
        if isinstance(event, call_events.ToolCallDropped):
            raise Void(f"a tool call must not be executed: {event.reason}")
        return self._end(shown, event)  # type: ignore[arg-type]

    def _end(self, shown: _Shown, call: Executable) -> bytes:
        if isinstance(call, call_events.BuiltinToolCall) or (call.id, call.name) != (
            shown.call.id,
            shown.call.name,
        ):
            raise Void("a tool call was relabelled after it was shown")
        rest = shown.text.rest(argument_text(call))
        if rest is None:
            raise Void("the arguments of a tool call were corrected after they were shown")
        more = self._encoder.more(shown.call, rest) if rest else b""
        return more + self._encoder.end(shown.call, call)
