"""The comparison of calls with those that were asked for, and the marks that servers leave on values they change.

Theory of operation. A model may copy a text wrongly; that is no fault of the wire. A change is the wire's where it is
exactly what a known step of servers does to every text: a wrong charset, a second round of escapes, markers taken
out, numbers read as floating point. Any other difference is the model's.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from wholecall.calls.arguments.equal import same_value
from wholecall.discreet import compact
from wholecall.grading.probe.exchange import AskedCall
from wholecall.grading.probe.reading.model import UNSET, CallSeen
from wholecall.grading.probe.sight import Sight

_MARKERS = re.compile(r"<\|[^|<>]*\|>|</?tool_call>|\[TOOL_CALLS\]|\[/TOOL_CALLS\]")
_REPLACED = "\ufffd"


def _mojibake(text: str) -> str:
    return text.encode("utf-8", "replace").decode("cp1252", "replace")


def _latin(text: str) -> str:
    return text.encode("utf-8", "replace").decode("latin-1")


# Steps of servers that change a text, by the word for them.
_STEPS: Mapping[str, Callable[[str], str]] = {
    "read as Windows-1252": _mojibake,
    "read as Latin-1": _latin,
    "other letters than ASCII's replaced": lambda text: text.encode("ascii", "replace").decode(),
    "other letters than ASCII's left out": lambda text: text.encode("ascii", "ignore").decode(),
    "escapes written twice": lambda text: compact(text)[1:-1],
    "escapes of other letters written twice": lambda text: text.encode("ascii", "backslashreplace").decode(),
    "HTML entities": html.escape,
    "HTML entities without quotes": lambda text: html.escape(text, quote=False),
    "trimmed": str.strip,
    "end trimmed": str.rstrip,
    "composed": lambda text: unicodedata.normalize("NFC", text),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "compatibility forms": lambda text: unicodedata.normalize("NFKC", text),
    "markers taken out": lambda text: _MARKERS.sub("", text),
    "line ends changed": lambda text: text.replace("\n", "\r\n"),
    "rare line ends changed": lambda text: text.replace("\u2028", "\n").replace("\u2029", "\n"),
    "rare line ends left out": lambda text: text.replace("\u2028", "").replace("\u2029", ""),
}


def mangled(asked: object, given: object) -> str | None:
    """Return the word for the step of a server that made one value of another; None where no step did."""
    if same_value(asked, given):
        return None
    for word, step in _STEPS.items():
        if same_value(_stepped(asked, step), given):
            return word
    return "letters lost" if _lost(asked, given) else None


def _stepped(value: object, step: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return step(value)
    if isinstance(value, list):
        return [_stepped(each, step) for each in value]
    if isinstance(value, dict):
        return {key: _stepped(each, step) for key, each in value.items()}
    return value


def _lost(asked: object, given: object) -> bool:
    """Return whether U+FFFD stands where the asked text has other letters, and all else is equal."""
    if isinstance(asked, dict) and isinstance(given, dict) and asked.keys() == given.keys():
        pairs = [(asked[key], given[key]) for key in asked]
        changed = [pair for pair in pairs if not same_value(*pair)]
        return bool(changed) and all(_lost(*pair) for pair in changed)
    if not isinstance(asked, str) or not isinstance(given, str) or _REPLACED not in given:
        return False
    parts = re.split(f"{_REPLACED}+", given)
    return re.fullmatch("[^\0-\x7f]+?".join(map(re.escape, parts)), asked, re.DOTALL) is not None


def rounded(asked: object, given: object) -> bool:
    """Return whether a whole number was read as floating point, and all else is equal."""
    return not same_value(asked, given) and same_value(_floats(asked), given)


def _floats(value: object) -> object:
    if type(value) is int:
        return int(float(value)) if abs(value) < 10**300 else value
    if isinstance(value, list):
        return [_floats(each) for each in value]
    if isinstance(value, dict):
        return {key: _floats(each) for key, each in value.items()}
    return value


def is_shorter(asked: object, given: object) -> bool:
    """Return whether a value is a true beginning of the asked one: texts are cut, members missing."""
    return not same_value(asked, given) and _is_beginning(asked, given)


def _is_beginning(asked: object, given: object) -> bool:
    if isinstance(asked, str) and isinstance(given, str):
        return asked.startswith(given)
    if isinstance(asked, dict) and isinstance(given, dict):
        return all(key in asked and _is_beginning(asked[key], each) for key, each in given.items())
    if isinstance(asked, list) and isinstance(given, list):
        return len(given) <= len(asked) and all(map(_is_beginning, asked, given))
    return same_value(asked, given)


def pairs(sight: Sight) -> list[tuple[CallSeen, AskedCall, Any]]:
    """Return each readable call with the call that asked for it and its arguments: equal ones first, then by order."""
    seen = [
        (call, value)
        for call in (sight.answer.calls if sight.answer else [])
        if (value := sight.value_of(call)) is not UNSET
    ]
    asked = [each for each in sight.exchange.asked.calls if each.arguments is not None]
    found: list[tuple[CallSeen, AskedCall, Any]] = []
    for is_equal in (True, False):
        for call, value in list(seen):
            match = next((each for each in asked if _fits(call, value, each, is_equal=is_equal)), None)
            if match is not None:
                asked.remove(match)
                seen.remove((call, value))
                found.append((call, match, value))
    return found


def _fits(call: CallSeen, value: Any, asked: AskedCall, *, is_equal: bool) -> bool:
    return call.name == asked.name and (not is_equal or same_value(asked.arguments, value))
