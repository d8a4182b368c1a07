"""The exceptions for a caller's mistakes, and the base of uncopyable objects; wire faults are events and never raise.

::

    WholecallError
    ├── StreamClosed     feeding a parser after `close` or `abort`
    ├── StreamUnread     asking a shell for its findings before it has read the stream
    ├── UnknownDialect   a dialect (framing, format) name that no record in the table has
    ├── StreamFailed     only from `Turn.raise_for_fault`
    ├── BadRecording     a recording that cannot be read
    └── BadSnapshot      a snapshot of a parser that cannot be read

No message and no repr holds argument text.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any, ClassVar, Final, NoReturn, SupportsIndex, TypeVar, cast

_private = True

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_QUOTED = re.compile(r"[{\[]")


class WholecallError(Exception):
    """The root of all exceptions that wholecall raises on purpose."""


class StreamClosed(WholecallError):
    """`feed` or `feed_event` was called after `close` or `abort`."""


class StreamUnread(WholecallError):
    """A stream was asked for its turn before it was over, or for its findings before anything was read."""


class UnknownDialect(WholecallError, ValueError):
    """The name of a dialect, framing or format that is not in its table; the message suggests known names."""


# Common names for dialects. Each table has its own names first: `mistral` is a format, too.
ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "anthropic-messages": "anthropic",
        "azure": "chat-completions",
        "bedrock": "bedrock-converse",
        "chat": "chat-completions",
        "chat-completion": "chat-completions",
        "claude": "anthropic",
        "cohere": "cohere-v2",
        "converse": "bedrock-converse",
        "deepseek": "chat-completions",
        "google": "gemini",
        "groq": "chat-completions",
        "mistral": "chat-completions",
        "openai": "chat-completions",
        "openai-chat": "chat-completions",
        "openai-responses": "responses",
        "openrouter": "chat-completions",
        "realtime": "openai-realtime",
        "vercel": "vercel-ui",
        "vertex": "gemini",
        "vllm": "chat-completions",
        "xai": "chat-completions",
    }
)


def meant(name: str, known: Collection[str]) -> str | None:
    """Return the name in a table that a word means, None if it means none.

    It is the name itself, also in capitals or with `_` for `-`, or one of its `ALIASES`.
    """
    if name in known:
        return name
    asked = _spelt(name)
    return next((one for one in (asked, ALIASES.get(asked)) if one in known), None)


def choices(name: object, known: Iterable[str], of_model: str | None = None) -> str:
    """Return the end of a message about an unknown name: suggestions, and all known names.

    Args:
        name: the name that was given.
        known: the names of the table.
        of_model: the suggestion if no name is similar, and the word names a model.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - for messages only

    names = sorted(known)
    near = get_close_matches(_spelt(str(name)), [*names, *ALIASES], 1, 0.7)
    found = meant(near[0], names) if near else of_model
    hint = "use" if found is None else f"did you mean {found!r}? Use"
    return f"{hint} one of: {', '.join(names)}"


def _spelt(name: str) -> str:
    return name.strip().lower().replace("_", "-")


class StreamFailed(WholecallError):
    """Raised by `Turn.raise_for_fault` when the turn holds a fatal fault, or is empty.

    Some servers quote the model's arguments in their errors, so the message shows the provider's words only up to the
    first brace or bracket; `detail` and `error` hold all of them.

    Attributes:
        kind: the fault's kind, one of `wholecall.types.FaultKind`; `nothing_came` if there was no fault either.
        detail: the fault's detail, with the provider's words.
        error: the provider's error object, or None.
    """

    def __init__(self, kind: str, detail: str, error: object = None) -> None:
        super().__init__(kind, detail, error)
        self.kind = kind
        self.detail = detail
        self.error = error

    def __str__(self) -> str:
        shown = _QUOTED.split(self.detail, maxsplit=1)[0]
        rest = len(self.detail) - len(shown)
        return f"{self.kind}: {shown}" + (f"<{rest} more characters>" if rest else "")

    def __repr__(self) -> str:
        return f"StreamFailed({str(self)!r})"


class BadRecording(WholecallError):
    """A recording file that cannot be read; the message names the file and the position."""


class BadSnapshot(WholecallError, ValueError):
    """A snapshot that `ToolCallParser.restore` cannot read; the message states why, and quotes nothing of it."""


class Uncopyable:
    """An object that can neither be copied nor pickled.

    Half a copy is worse than none: it would share state with its original, or a stream that only one of them can read.
    """

    INSTEAD: ClassVar = "it stands for one stream"  # the message for the caller

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Refuse `pickle`, `copy.copy` and `copy.deepcopy`.

        Raises:
            TypeError: always; the message names the alternative.
        """
        raise TypeError(f"a {type(self).__name__} can be neither copied nor pickled: {self.INSTEAD}")


def renamed(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module: former names give a `DeprecationWarning`, and work for one minor version.

    Args:
        module: the name of the module.
        names: the former names of its members, and the present ones, with the module if that is another.
    """

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        now = names[name]
        _warn_of(f"{module}.{name}", now)
        place, _, present = now.rpartition(".")
        return getattr(sys.modules[place or module], present)

    return find


def renamed_argument(former: str, present: str) -> Callable[[F], F]:
    """Return a decorator: the former name of an argument gives a `DeprecationWarning`, and works for one minor version."""

    def mark(function: F) -> F:
        place = function.__qualname__.removesuffix(".__init__")

        @wraps(function)
        def taking_both(*args: Any, **options: Any) -> Any:
            if former in options and present not in options:
                _warn_of(f"the argument {former}= of {place}", f"{present}=")
                options[present] = options.pop(former)
            return function(*args, **options)

        return cast("F", taking_both)

    return mark


def renamed_field(former: str, present: str) -> Callable[[type[T]], type[T]]:
    """Return the same decorator for a field of a dataclass: its argument, and its attribute."""

    def mark(kind: type[T]) -> type[T]:
        members: Any = kind

        def read(self: T) -> Any:
            _warn_of(f"{kind.__name__}.{former}", present)
            return getattr(self, present)

        setattr(kind, former, property(read))
        members.__init__ = renamed_argument(former, present)(members.__init__)
        return kind

    return mark


def _warn_of(former: str, present: str) -> None:
    warnings.warn(f"{former} is now called {present}", DeprecationWarning, stacklevel=3)
