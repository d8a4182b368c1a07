"""Options from the environment, for servers that pass none to a middleware."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from wholecall import Limits, TextCalls
from wholecall.repairing import answers
from wholecall.repairing.withholding import Withheld, checked

__all__ = ["DEFAULTS", "checked_paths", "from_environment"]

_PREFIX: Final = "WHOLECALL_ASGI_"


def _switch(value: str) -> bool:
    if value.lower() not in _SWITCHES:
        raise ValueError(f"it is 1 or 0, and not {value!r}")
    return _SWITCHES[value.lower()]


def _limits(value: str) -> Limits:
    if value.lower() not in _LIMITS:
        raise ValueError(f"there are no limits {value!r}; use one of: {', '.join(_LIMITS)}")
    return _LIMITS[value.lower()]()


def _withheld(value: str) -> Withheld:
    return checked(value.lower())  # type: ignore[arg-type]  # it is what is checked


def _paths(value: str) -> Sequence[str]:
    return checked_paths([path.strip() for path in value.split(",")])


def checked_paths(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the ends of paths without their last slashes."""
    if isinstance(paths, str):
        raise TypeError(f"paths is a list of strings; give [{paths!r}]")
    ends = tuple(path.rstrip("/") for path in paths)
    for end in ends:
        if not end.startswith(("/", ":")):
            raise ValueError(
                f"an end of paths begins with a slash or a colon and names something: '/messages', not {end!r}"
            )
    return ends


_SWITCHES: Final = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
_LIMITS: Final = {
    "default": Limits,
    "desktop": Limits.desktop,
    "gateway": Limits.gateway,
    "none": Limits.none,
}
DEFAULTS: Final[dict[str, Any]] = {
    "live": False,
    "withheld": "auto",
    "text": None,
    "limits": Limits.gateway(),
    "paths": answers.ENDPOINTS,
}
_READERS: Final[dict[str, Callable[[str], Any]]] = {
    "live": _switch,
    "withheld": _withheld,
    "text": TextCalls,
    "limits": _limits,
    "paths": _paths,
}


def from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the options that variables give; an empty variable gives none."""
    found: dict[str, Any] = {}
    for variable, value in environ.items():
        if not variable.startswith(_PREFIX) or not value.strip():
            continue
        reader = _READERS.get(variable.removeprefix(_PREFIX).lower())
        if reader is None:
            known = [_PREFIX + name.upper() for name in _READERS]
            raise ValueError(f"there is no variable {variable}; use one of: {', '.join(known)}")
        try:
            found[variable.removeprefix(_PREFIX).lower()] = reader(value.strip())
        except ValueError as error:
            raise ValueError(f"{variable}: {error}") from error
    return found
