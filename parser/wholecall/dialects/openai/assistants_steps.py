"""One step of a run: the calls in it, and their deltas."""

from __future__ import annotations

import json

from wholecall.deltas import HYDRATION, ITEM_DONE, CallClosed, CallSeen, CallWhole, Delta, Index, Slot
from wholecall.dialects import report
from wholecall.dialects.decode import value_text, wire_text
from wholecall.dialects.labels import id_label, index_label, name_label, text_label
from wholecall.dialects.openai.assistants_views import Call, Function
from wholecall.dialects.restated import restated_together

__all__ = ["SERVER_TOOLS", "Step", "restated_code"]

# Tools that OpenAI runs, identified by the type of the call.
SERVER_TOOLS = frozenset({"code_interpreter", "file_search", "retrieval"})


class Step:
    """The state of one step.

    Attributes:
        key: the step's id.
        ended, spoken: whether its turn was ended, and whether text was reported.
    """

    key: str | None
    ended: bool
    spoken: bool
    _codes: list[Index | None]
    _named: set[Index | None]

    def __init__(self, key: str | None) -> None:
        self.key = key
        self.ended = self.spoken = False
        self._codes = []  # the slots of code that is not whole yet
        self._named = set()  # the slots of OpenAI's tools, whose name is known by their type

    def piece(self, call: Call) -> list[Delta]:
        """Return the deltas of an entry of a delta: labels, a piece of text, or both."""
        index, id_ = index_label(call.index), id_label(call.id)
        kind = text_label(call.type)
        if kind in SERVER_TOOLS:
            known = id_ is None and index in self._named
            self._named.add(index)
            seen: list[Delta] = [] if known else [CallSeen(0, index, None, id_, kind, "server")]
            return seen + self._code(index, call)
        function = call.function or Function()
        text, whole = value_text(function.arguments)
        return report.seen(index, id_, name_label(function.name)) + report.piece(index, text, whole=whole)

    def _code(self, index: Index | None, call: Call) -> list[Delta]:
        code = call.code_interpreter.input if call.code_interpreter is not None else None
        if type(code) is not str or not code:
            return []
        text = _escaped(code)
        if index not in self._codes:
            self._codes.append(index)
            text = '{"input":"' + text
        return [Slot(0, index, None, text)]

    def close_codes(self) -> list[Delta]:
        """Report that all code that came is whole."""
        closed: list[Delta] = [Slot(0, index, None, '"}') for index in self._codes]
        self._codes.clear()
        return closed

    def asked(self, calls: list[Call]) -> list[Delta]:
        """Report which calls the run waits for: these are whole."""
        deltas: list[Delta] = []
        for call in calls:
            function = call.function or Function()
            id_, name, text = id_label(call.id), name_label(function.name), wire_text(function.arguments)
            if text:
                deltas.append(CallWhole(0, None, None, id_, name, text, HYDRATION))
            else:
                deltas.append(CallSeen(0, None, None, id_, name))
        ids = [id_ for call in calls if (id_ := id_label(call.id)) is not None]
        return [*restated_together(deltas), *(CallClosed(0, None, id_) for id_ in ids)]


def restated_code(call: Call) -> list[Delta]:
    """Report a completed step's content about a call that OpenAI ran."""
    id_ = id_label(call.id)
    code = call.code_interpreter.input if call.code_interpreter is not None else None
    if type(code) is not str or not code:
        return [CallSeen(0, None, None, id_, call.type, "server")]
    text = '{"input":"' + _escaped(code) + '"}'
    return [CallWhole(0, None, None, id_, call.type, text, ITEM_DONE, "server")]


def _escaped(code: str) -> str:
    """Return the code as the inside of a JSON string; pieces that are joined are the whole."""
    return json.dumps(code, ensure_ascii=False)[1:-1]
