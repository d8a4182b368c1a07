"""Calls in texts that a plain parse takes for text: their number, and the format that reads them.

Theory of operation. The texts of a choice are gathered from its events until it ends. Texts without a *strong opener*
of a known format (a tag or a special token; braces and brackets do not count) hold no leak. Otherwise each format that
has one of those openers reads the text, and the format that reads most of it names the leak; a marker that is only
quoted, in a code span, a fence or prose, is not a leak. Reasoning counts only where nothing else came in the choice: if
the model continued after it, it was thoughts.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from wholecall.calls.output.events import TERMINAL, Event, ReasoningDelta, TextDelta, TurnFinished
from wholecall.limits import Limits
from wholecall.text import formats, rules
from wholecall.text.engine import TextEngine
from wholecall.text.outputs import Shown, Unread, Written
from wholecall.text.tools import Declared
from wholecall.types import CUT_REASONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wholecall.text.records import Format
    from wholecall.text.source import Ended

# Text that distinguishes formats with the same openers: where a text contains it, the format comes first.
_TELLING: Final = (("<function=", "qwen_xml"), ("<arg_key>", "glm"))


class _AnyTool(Declared):
    """Tools of every name: a tag that counts for declared tools only is a leak, too."""

    def __init__(self) -> None:
        super().__init__(None)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)


class Leaks:
    """The texts of one stream, gathered.

    Attributes:
        found: the number of calls and beginnings of calls in its texts, by format name.
    """

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()
        self._choices: dict[tuple[int, int], _Said] = {}

    def add(self, event: Event[Any]) -> None:
        """Add an event of a plain parse, which takes text for text."""
        if isinstance(event, (TextDelta, ReasoningDelta)):
            said = self._choices.setdefault((event.turn, event.choice), _Said())
            (said.text if isinstance(event, TextDelta) else said.reasoning).append(event.text)
        elif isinstance(event, TERMINAL):
            self._choices.setdefault((event.turn, event.choice), _Said()).has_calls = True
        elif isinstance(event, TurnFinished):
            said = self._choices.pop((event.turn, event.choice), _Said())
            ended: Ended = (
                "length" if event.reason in CUT_REASONS else "clean" if event.provider_reason else "open"
            )
            self.found.update(leak_in(said.counted, ended))


class _Said:
    """The output of one choice."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.has_calls = False

    @property
    def counted(self) -> str:
        text = "".join(self.text)
        return text if text.strip() or self.has_calls else "".join(self.reasoning)


def leak_in(text: str, ended: Ended = "clean") -> dict[str, int]:
    """Return the format of the calls in a text with their number, cut and unreadable calls included; empty for none."""
    found = {opener for opener in _STRONG if opener in text}
    readings = [_reading(format_, text, ended) for format_ in _asked(found, text)] if found else []
    best = max((one for one in readings if one.n_found), key=_Reading.worth, default=None)
    return {} if best is None else {best.format: best.n_found}


class _Reading(NamedTuple):
    """One format's reading of a text: its calls, its unreadable calls, and the size of the text that is shown."""

    format: str
    n_calls: int
    n_unread: int
    n_shown: int

    @property
    def n_found(self) -> int:
        return self.n_calls + self.n_unread

    def worth(self) -> tuple[int, int, int]:
        """Return the sort key: most calls, then fewest unreadable calls, then least remaining text."""
        return self.n_calls, -self.n_unread, -self.n_shown


def _asked(found: set[str], text: str) -> Iterator[Format]:
    """Yield the formats that have one of these openers; formats that the text distinguishes come first."""
    names = [name for literal, name in _TELLING if literal in text]
    for name in dict.fromkeys([*names, *formats.FORMATS]):
        if not found.isdisjoint(_openers(formats.FORMATS[name])):
            yield formats.FORMATS[name]


def _reading(format_: Format, text: str, ended: Ended) -> _Reading:
    engine = TextEngine(rules.rules_of(format_, frozenset()), _AnyTool(), Limits())
    outputs = [*engine.feed(text), *engine.close(ended)]
    n_calls, n_unread = (sum(isinstance(one, kind) for one in outputs) for kind in (Written, Unread))
    n_shown = sum(len(one.text) for one in outputs if isinstance(one, Shown))
    return _Reading(format_.name, n_calls, n_unread, n_shown)


def _openers(format_: Format) -> list[str]:
    starts = format_.messages.starts if format_.messages is not None else ()
    return [opener for opener in (*format_.openers(), *starts) if _is_strong(opener)]


def _is_strong(opener: str) -> bool:
    """Return whether an opener looks like a tag or a token: it starts with a sign, not Markdown's, and has a word."""
    return not opener[0].isalpha() and opener[0] != "*" and any(map(str.isalpha, opener))


_STRONG: Final = tuple(
    dict.fromkeys(opener for format_ in formats.FORMATS.values() for opener in _openers(format_))
)
