"""Ways in which servers send the text of a call, the cost of each, and the meaning of the texts.

Theory of operation. A text is *whole* if it is a JSON object, a null, a string that holds an object, or nothing. A text
can come by several *habits*: in pieces, repeated, as snapshots, after a placeholder. A habit fits a call if the text
that it leaves in force is whole. If none does, the recovery ladder may read a text that has a slip; else the call's
text is *broken*. If the turn was cut, a call may be *open*: then a text that is not whole fits every habit. As with
labels, `texts_of` finds the habit that fits all calls at the lowest cost. `Values` reads each text once.
"""

from __future__ import annotations

from itertools import pairwise, starmap
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from wholecall.calls.arguments import equal, placeholders
from wholecall.calls.arguments.lexical import Scan, is_object
from wholecall.machine.readings.labels import Calls, Costs, pooled

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from wholecall.calls.arguments.verdict import Verdict
    from wholecall.machine.readings.partitions import Piece

TEXT: Costs = {
    "pieces": 0,
    "repeated": 1,  # the last equals all before it (23)
    "snapshots": 1,  # each begins with the one before, the last counts (24)
    "closed": 1,  # the same, but the server closes all open brackets in each (24)
    "placeholder": 1,  # an empty object or a null first (25, 87)
}
SLIP = 1  # a text that only the recovery ladder reads (28, 33)
BROKEN = 1.5, 0.5  # broken texts, once and for each of them, where all others come in pieces
BROKEN_AMONG = 2, 1  # the same, in addition to the cost of the others
SEPARATE = 1  # a broken text whose pieces are whole by themselves: calls that nothing distinguishes
MOST_BROKEN = 7  # beyond it nothing would be believed

_ENVELOPE = frozenset({"whitespace", "bom", "double_encoded"})
_SEAMS = frozenset({"placeholder", "duplicate_object", "leading_text"})  # where texts of two calls can meet
_READ = frozenset({"duplicate_key", "lone_surrogate"})  # found in text that is JSON
_LIMITS = frozenset({"nesting_too_deep", "number_too_long", "number_out_of_range", "arguments_too_large"})


class Values:
    """The meanings of texts; each is read once, by `read`."""

    def __init__(self, read: Callable[[str], Verdict[Any]]) -> None:
        self._read = read
        self._verdicts: dict[str, Verdict[Any]] = {}
        self._keys: dict[str, str] = {}

    def _verdict(self, text: str) -> Verdict[Any]:
        verdict = self._verdicts.get(text)
        if verdict is None:
            verdict = self._verdicts[text] = self._read(text)
        return verdict

    def is_whole(self, text: str) -> bool:
        """Return whether the text is exactly one whole value of arguments."""
        verdict = self._verdict(text)
        if verdict.status == "normalised":
            return all(edit.kind in _ENVELOPE for edit in verdict.edits)
        if verdict.reason in _LIMITS:
            return is_object(text)
        return verdict.status in ("exact", "empty") or verdict.reason in _READ

    def has_slip(self, text: str) -> bool:
        """Return whether the recovery ladder reads the text, as one object."""
        return self.is_readable(text) and not any(edit.kind in _SEAMS for edit in self._verdict(text).edits)

    def is_readable(self, text: str) -> bool:
        """Return whether the text would give arguments, by any way of reading."""
        return self._verdict(text).reason is None

    def value(self, text: str) -> str:
        """Return a string that is equal for two texts of the same meaning."""
        key = self._keys.get(text)
        if key is None:
            arguments = self._verdict(text).arguments
            key = self._keys[text] = f"raw {text}" if arguments is None else equal.key_of(arguments)
        return key


class FoundText(NamedTuple):
    """A call's text in force under one habit.

    Attributes:
        way: the habit; for a text that is not whole `open`, `cut` (only its end is missing) or `broken`; `spliced` if it
            must not be read at all.
    """

    text: str
    way: str
    slips: bool = False


def joined(texts: list[str]) -> str:
    """Join texts, and the halves of surrogate pairs that the wire cut in two (quirk 35)."""
    text = "".join(texts)
    return (
        text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    )


def texts_of(
    calls: Calls, values: Values, may_be_open: AbstractSet[int]
) -> tuple[list[FoundText], float] | None:
    """Return the calls' texts under the cheapest habit, and its cost; None if too many are broken."""
    found: list[dict[str, FoundText]] = []
    broken, separate = 0, False
    for number, call in enumerate(calls):
        ways = _ways(call, values, may_be_open=number in may_be_open)
        found.append(ways)
        broken += not ways
        separate = separate or (not ways and _are_separate(call, values))
        if broken > MOST_BROKEN:
            return None
    whole = [ways for ways in found if ways]
    costs = pooled(TEXT, [ways.keys() for ways in whole])
    for habit in costs:
        costs[habit] += SLIP * any(_under(habit, ways).slips for ways in whole)
    habit = min(costs, key=costs.__getitem__)
    cost = costs[habit]
    if broken:
        once, each = BROKEN if habit == "pieces" and cost == 0 else (cost + BROKEN_AMONG[0], BROKEN_AMONG[1])
        cost = once + each * broken + SEPARATE * separate
    texts = [_under(habit, ways) if ways else _broken(call) for ways, call in zip(found, calls, strict=True)]
    return texts, cost


def _are_separate(call: list[Piece], values: Values) -> bool:
    """Return whether the text is several objects in a row, none of which extends the object before."""
    texts = _objects(call, values)
    return len(texts) > 1 and not any(old != new and _is_in(old, new) for old, new in pairwise(texts))


def _closed(call: list[Piece], values: Values) -> str | None:
    """Return the last of the objects in the text if each extends or repeats the object before.

    An empty object alone proves nothing.
    """
    texts = _objects(call, values)
    grows = len(texts) > 1 and all(starmap(_is_in, pairwise(texts)))
    first = next((text for text in texts if not placeholders.is_placeholder(text)), None)
    return texts[-1] if grows and first not in (None, texts[-1]) else None


def _objects(call: list[Piece], values: Values) -> list[str]:
    """Return the objects in a call's text, if it is nothing else and each begins with a piece."""
    if sum(piece.text[:1] == "{" for piece in call) < 2:
        return []
    found: list[str] = []
    parts: list[str] = []
    scan = Scan()
    for piece in call:
        if piece.text:
            scan.feed(piece.text)
            parts.append(piece.text)
        if scan.complete:
            found.append("".join(parts))
            parts, scan = [], Scan()
    whole = not parts and all(text.startswith("{") and values.is_whole(text) for text in found)
    return found if whole else []


def _is_in(old: str, new: str) -> bool:
    """Return whether an object, without its closing brackets, is the beginning of another object."""
    return new.startswith(old.rstrip('"]} '))


def _broken(call: list[Piece]) -> FoundText:
    """Return a text as it came, for the verdict to judge, or `spliced` if whole values would be joined."""
    texts = [piece.text for piece in call if piece.text]
    spliced = len(texts) > 1 and any(piece.whole for piece in call)
    text = joined(texts)
    return FoundText(text, "spliced" if spliced else "cut" if _begins_json(text) else "broken")


def _under(habit: str, ways: dict[str, FoundText]) -> FoundText:
    """Return a text under the habit of all calls, or under its own cheapest one."""
    return ways[habit] if habit in ways else ways[min(ways, key=TEXT.__getitem__)]


def _ways(call: list[Piece], values: Values, *, may_be_open: bool) -> dict[str, FoundText]:
    """Return the habits that the call's text can have, with the text in force."""
    if any(piece.custom for piece in call):
        return {"pieces": FoundText(joined([piece.text for piece in call]), "pieces")}
    texts = _texts_in_force(call)
    closed = _closed(call, values)
    if closed is not None:
        texts["closed"] = closed
    ways = {habit: FoundText(text, habit) for habit, text in texts.items() if values.is_whole(text)}
    if "pieces" in ways:
        if may_be_open:
            ways.setdefault("repeated", ways["pieces"])  # the cut may have removed a repetition of the text
        return ways
    if not may_be_open:
        slips = ((habit, text) for habit, text in texts.items() if not ways and values.has_slip(text))
        return ways or {habit: FoundText(text, habit, slips=True) for habit, text in slips}
    plain = texts.get("pieces")
    if plain is not None and not ways:
        others = {habit: FoundText(text, "open") for habit, text in texts.items() if text != plain}
        return {**dict.fromkeys(TEXT, FoundText(plain, "open")), **others}
    if plain is not None and _begins_json(plain):
        ways["pieces"] = FoundText(plain, "open")
    return ways


def _texts_in_force(call: list[Piece]) -> dict[str, str]:
    """Return the text that each habit leaves in force, where the pieces can have come by it."""
    texts = [piece.text for piece in call if piece.text]
    if len(texts) < 2:
        text = texts[0] if texts else ""
        single = {"pieces": text, "snapshots": text}
        if not texts:
            return {**single, "repeated": ""}
        return {**single, "placeholder": text} if placeholders.is_placeholder(text) else single
    whole = any(piece.whole for piece in call)  # is never joined to another
    found: dict[str, str] = {} if whole else {"pieces": joined(texts)}
    if all(map(str.startswith, texts[1:], texts)):
        found["snapshots"] = texts[-1]
    if texts[-1].startswith(texts[0][:-1]) and not (whole and len(texts) > 2):
        before = joined(texts[:-1])
        if before == texts[-1]:
            found["repeated"] = before
    if placeholders.is_placeholder(texts[0]) and not (whole and len(texts) > 2):
        found["placeholder"] = joined(texts[1:])
    return found


_check = msgspec.json.Decoder(msgspec.Raw).decode  # reads all of the text and builds nothing


def _begins_json(text: str) -> bool:
    """Return whether more text could make it valid JSON: the decoder only misses an end."""
    try:
        _check(text)
    except msgspec.DecodeError as error:
        return "truncated" in str(error)
    except (UnicodeEncodeError, RecursionError):
        pass
    return True
