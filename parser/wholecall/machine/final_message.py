"""Matches the calls of a final message with the calls that an oddly labelled choice was read as.

Theory of operation. Some streams end with a final message that restates all calls. Where the labels of the fragments
were odd, the calls have been found by reading them in all ways (see `readings`), and the final message is more
reliable. Each restated call is matched with one call of the reading by the first rule that finds one: it names its id;
it has the same text; it has the same value; it continues its text; the call of the reading is not sure. No match may
contradict an id or a name. Restated calls that are left are new calls; calls of the reading that are left are not sure,
unless they were emitted already.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from wholecall.calls.arguments import placeholders
from wholecall.machine.matching import Listed, first_of, pairs
from wholecall.machine.readings.partitions import final_name
from wholecall.machine.sameness import Said

if TYPE_CHECKING:
    from collections.abc import Callable

    from wholecall.deltas import CallWhole
    from wholecall.machine.readings.solve import ReadCall
    from wholecall.machine.record import Record

    _Test = Callable[[Listed, "_Known"], bool]


class Meant(NamedTuple):
    """One call of the reading, and its restatement in a final message; `comes_again`: it was there more than once."""

    read: ReadCall | None
    whole: CallWhole | None
    is_sure: bool
    comes_again: bool = False

    @property
    def pieces(self) -> list[int]:
        """The places of its pieces in the record."""
        return [] if self.read is None else self.read.pieces

    @property
    def text(self) -> str:
        """The text of its pieces in force."""
        return "" if self.read is None else self.read.text

    @property
    def name(self) -> str | None:
        """Its name: the restated one, else that of its pieces."""
        restated = self.whole.name if self.whole is not None else None
        return restated or (self.read.name if self.read is not None else None)

    @property
    def is_restated(self) -> bool:
        """Whether a final message restates the call's text, so that nothing of it is lost."""
        return (
            self.whole is not None
            and bool(self.whole.text)
            and not placeholders.is_placeholder(self.whole.text)
        )


class _Known(NamedTuple):
    """One call of the reading, by its number; `own` are those of its ids that distinguish calls."""

    number: int
    one: Meant
    said: Said
    ids: set[str]
    own: set[str]


def restated(record: Record, meant: list[Meant]) -> list[Meant]:
    """Return the calls of the reading as the final message corrects them, and those that only the message has."""
    restated_ids = Counter(whole.id for whole in record.restated if whole.id is not None)
    read_ids = Counter(id for one in meant for id in _ids(record, one))
    ids = {id for id, n in restated_ids.items() if n == 1 and read_ids[id] < 2}  # that distinguish calls
    known = [
        _Known(n, one, Said(None, one.name, one.text), own := _ids(record, one), own & ids)
        for n, one in enumerate(meant)
    ]
    rules = [first_of(_tested(test, ids)) for test in _TESTS]
    pairs_found = pairs([*map(Listed.of, record.restated)], known, rules)
    found = {call.number: record.restated[n] for n, call in pairs_found.items()}
    corrected = [
        Meant(_believed(record, one, found.get(n), ids), found.get(n), n in found or _is_fact(record, one))
        for n, one in enumerate(meant)
    ]
    left = [whole for n, whole in enumerate(record.restated) if n not in pairs_found]
    return corrected + [Meant(None, whole, True) for whole in left]


def _ids(record: Record, one: Meant) -> set[str]:
    return {id for at in one.pieces if (id := record.pieces[at].id) is not None}


def _believed(record: Record, one: Meant, whole: CallWhole | None, ids: set[str]) -> ReadCall | None:
    """Return the credible part of a restated call; if the message splits the call in several, only its label."""
    read = one.read
    if read is None or whole is None or len(_ids(record, one) & ids) < 2:
        return read
    mine = [at for at in read.pieces if record.pieces[at].id == whole.id]
    return read._replace(pieces=mine or read.pieces[:1], text="", way="pieces")


def _is_fact(record: Record, one: Meant) -> bool:
    return record.shown[one.pieces[0]].is_over


def _tested(test: _Test, ids: set[str]) -> _Test:
    """Return a test that a call passes only if neither an id nor a name contradicts the listed call."""
    return lambda listed, call: _may_be(listed, call, ids) and test(listed, call)


def _may_be(listed: Listed, call: _Known, ids: set[str]) -> bool:
    whole = listed.whole
    if call.own:
        return whole.id in call.own
    if whole.id in ids and call.ids:
        return False
    return call.one.name is None or whole.name is None or call.one.name == final_name(whole.name)


def _has_id(listed: Listed, call: _Known) -> bool:
    return listed.whole.id in call.own


def _has_text(listed: Listed, call: _Known) -> bool:
    return call.one.text == listed.whole.text


def _has_value(listed: Listed, call: _Known) -> bool:
    return listed.said.is_equal(call.said)


def _is_begun(listed: Listed, call: _Known) -> bool:
    return listed.continues(call.one.text)


def _is_unsure(_: Listed, call: _Known) -> bool:
    return not call.one.is_sure


_TESTS = (_has_id, _has_text, _has_value, _is_begun, _is_unsure)  # best first
