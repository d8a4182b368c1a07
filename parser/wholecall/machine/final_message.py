"""What a final message says of an oddly labelled choice: which call of the reading each restated one is.

Theory of operation. A final message knows which calls there are better than any reading of labels does. Each restated
call is the one that it names by an id, else one that says the same or begins so, else one that is not sure
otherwise; no id nor name may speak against it. What is left over in the message is new, and what is left over in
the reading is not sure.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from wholecall.arguments.equal import same_value
from wholecall.arguments.ladder import read_arguments
from wholecall.arguments.placeholders import is_placeholder
from wholecall.machine.readings import final_name

if TYPE_CHECKING:
    from wholecall.deltas import CallWhole
    from wholecall.machine.choice import Choice
    from wholecall.machine.readings import ReadCall
    from wholecall.machine.record import Record

__all__ = ["Meant", "restated"]


class Meant(NamedTuple):
    """One call of the reading, and what a final message says of it."""

    read: ReadCall | None
    whole: CallWhole | None
    is_sure: bool

    @property
    def pieces(self) -> list[int]:
        """The places of its pieces in the record."""
        return [] if self.read is None else self.read.pieces

    @property
    def text(self) -> str:
        """The text that its pieces have in force."""
        return "" if self.read is None else self.read.text

    @property
    def name(self) -> str | None:
        """Its name: the restated one, else that of its pieces."""
        told = self.whole.name if self.whole is not None else None
        return told or (self.read.name if self.read is not None else None)

    @property
    def is_told(self) -> bool:
        """Whether a final message tells the call's text, so that nothing of it is lost."""
        return self.whole is not None and bool(self.whole.text) and not is_placeholder(self.whole.text)


def restated(choice: Choice, record: Record, meant: list[Meant]) -> list[Meant]:
    """Match what a final message restates with the calls of the reading; it knows better which there are."""
    told_ids = Counter(whole.id for whole in record.told if whole.id is not None)
    read_ids = Counter(id for one in meant for id in _ids(record, one))
    ids = {id for id, n in told_ids.items() if n == 1 and read_ids[id] < 2}  # that tell calls apart
    left = list(record.told)
    found: dict[int, CallWhole] = {}
    for match in _MATCHES:
        for whole in list(left):
            fits = (
                n
                for n, one in enumerate(meant)
                if n not in found
                and _may_be(one, whole, told := _ids(record, one), ids)
                and match(choice, one, whole, told & ids)
            )
            n = next(fits, None)
            if n is not None:
                found[n] = whole
                left.remove(whole)
    restated = [
        Meant(_believed(record, one, found.get(n), ids), found.get(n), n in found or _is_fact(record, one))
        for n, one in enumerate(meant)
    ]
    return restated + [Meant(None, whole, True) for whole in left]


def _ids(record: Record, one: Meant) -> set[str]:
    return {id for at in one.pieces if (id := record.pieces[at].id) is not None}


def _believed(record: Record, one: Meant, whole: CallWhole | None, ids: set[str]) -> ReadCall | None:
    """Return what of a call is to be believed: of one that the message tells apart only its label."""
    read = one.read
    if read is None or whole is None or len(_ids(record, one) & ids) < 2:
        return read
    mine = [at for at in read.pieces if record.pieces[at].id == whole.id]
    return read._replace(pieces=mine or read.pieces[:1], text="", way="pieces")


def _is_fact(record: Record, one: Meant) -> bool:
    return record.shown[one.pieces[0]].is_over


def _may_be(one: Meant, whole: CallWhole, told: set[str], ids: set[str]) -> bool:
    """Whether a restated call can be this one: no id says otherwise, nor a name."""
    if told & ids:
        return whole.id in told & ids
    if whole.id in ids and told:
        return False
    return one.name is None or whole.name is None or one.name == final_name(whole.name)


def _has_id(_: Choice, __: Meant, whole: CallWhole, told: set[str]) -> bool:
    return whole.id in told


def _has_text(_: Choice, one: Meant, whole: CallWhole, __: set[str]) -> bool:
    return one.text == whole.text


def _has_value(choice: Choice, one: Meant, whole: CallWhole, _: set[str]) -> bool:
    says = [
        read_arguments(text, "clean", choice.policy, choice.limits).arguments
        for text in (one.text, whole.text)
    ]
    return None not in says and same_value(*says)


def _is_begun(_: Choice, one: Meant, whole: CallWhole, __: set[str]) -> bool:
    return whole.text.startswith(one.text)


def _is_unsure(_: Choice, one: Meant, __: CallWhole, ___: set[str]) -> bool:
    return not one.is_sure


_MATCHES = (_has_id, _has_text, _has_value, _is_begun, _is_unsure)  # best first
