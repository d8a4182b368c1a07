"""Assign chat chunks to answers: the current one, or another one on the same connection.

Theory of operation. The chunks of an answer bear its id and its model. But some servers give each chunk a separate id
(quirk 14), some each choice (quirk 138), and relays put their own id on the first chunk. Therefore each choice has its
own `Opening`, and only a change for a choice that came before can begin another answer: a choice is opened whenever its
first token comes (`n` of SGLang), next to others that are in the middle of a call.

Labels name an answer once two chunks in a row had them, or where the one chunk so far brought a call. Then another name
begins another answer, unless the chunk only continues a call. Another name also begins another answer where labels that
varied prove to be a name. Some servers repeat the role to keep a connection open (quirk 137): that alone begins
nothing. The next chunk may begin an answer: by a call with another id, on an index that is used; or by anything, where
the choice had finished. An empty chunk belongs to no answer; pieces of text are not looked at: most chunks are such.
"""

from __future__ import annotations

from typing import Any

from wholecall.deltas import INVALID_INDEX, Index
from wholecall.dialects.labels import choice_label, id_label, index_label, text_label
from wholecall.dialects.openai.chat import chunks

_VARY = 2  # after so many changes in a row more are expected


class Opening:
    """The labels that distinguish the current answer from others, in one choice.

    Attributes:
        id, model: those of its latest chunk.
        named: two chunks in a row had both, and so does each that follows.
        foreign: the latest chunk had another id than those that name the answer, or no id where all others had one.
        again: the role was repeated, and nothing of a call came since.
        finished: the choice's reason came.
        heads: the ids of the calls at each index.
    """

    id: Any
    model: Any
    named: bool
    foreign: bool
    _nameless: bool
    again: bool
    finished: bool
    heads: dict[Index, str]
    _n_others: int
    _calls_first: bool
    _spoken: bool
    _roles_once: bool

    def __init__(self, *, calls_first: bool) -> None:
        self.id = self.model = None
        self.named = self.foreign = self.again = self.finished = False
        self._nameless = False  # a chunk had no id
        self.heads = {}
        self._spoken = self._roles_once = False  # the role was sent; and then a call came without it
        self._n_others = -1  # chunks that had other labels than those before them; -1 before the first one
        self._calls_first = calls_first  # the first chunk brought a call

    def is_named(self) -> bool:
        """Note that a chunk has the labels of the one before; return whether they name the answer."""
        self.named = self._n_others < _VARY
        return self.named

    def without_labels(self) -> None:
        """Take a chunk without labels: it is of the current answer."""
        self._judge(None)

    def _judge(self, id_: str | None) -> None:
        """Decide whether a chunk is foreign, by its id."""
        lacks = id_ is None and not self._nameless
        self.foreign = self._is_name and self.id is not None and (lacks or id_ not in (None, self.id))
        self._nameless = self._nameless or id_ is None

    def call_without_role(self) -> None:
        """Note that a call came without the role."""
        self._roles_once = self._roles_once or self._spoken

    def is_left_by(self, choice: chunks.ChoiceView, id: str | None, model: str | None) -> bool:
        """Return whether a chunk with these labels begins another answer."""
        changed = self._is_changed(id, model)
        if _opens(choice):
            return changed and self._is_name
        if self.again and (self.finished or self._is_used(choice)):
            return True
        if not changed:
            same = id in (None, self.id) and model in (None, self.model)
            return same and not self.named and self._n_others >= _VARY
        return self._is_name and not (_goes_on(choice) or (not self.named and self._is_next(choice)))

    @property
    def _is_name(self) -> bool:
        """Return whether the labels so far name the answer."""
        return self.named or (self._calls_first and self._n_others == 0)

    def take(self, choice: chunks.ChoiceView, id: str | None, model: str | None) -> None:
        """Take the labels of a chunk of this answer, and the labels of its calls."""
        self._judge(id)
        id, model = id or self.id, model or self.model
        changed = self._is_changed(id, model)
        self.named = id == self.id and model == self.model
        self._n_others = max(0, self._n_others + changed)
        self.id, self.model = id, model
        view = choice.delta
        if view is None:
            return
        if _opens(choice):
            self.again = self.again or self._roles_once or self.finished
        calls = chunks.listed(view)
        if calls:
            self.again = False
            if view.role is None:
                self.call_without_role()
        for call in calls:
            if (head := _head(call)) is not None:
                self.heads[head[0]] = head[1]
        self._spoken = self._spoken or view.role is not None

    def _is_changed(self, id: str | None, model: str | None) -> bool:
        return (id is not None and self.id not in (None, id)) or (
            model is not None and self.model not in (None, model)
        )

    def _is_used(self, choice: chunks.ChoiceView) -> bool:
        """Return whether a call begins at an index at which another one began."""
        calls = chunks.listed(choice.delta) if choice.delta is not None else []
        heads = filter(None, map(_head, calls))
        return any(self.heads.get(index, id) != id for index, id in heads)

    def _is_next(self, choice: chunks.ChoiceView) -> bool:
        """Return whether a choice only begins calls at indices after the used ones: another answer begins at the first.

        {"id":"c1","choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}
        {"id":"c2","choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}]}}]}
        """
        view = choice.delta
        if view is None or not self.heads or view.role or view.content or _reasons(view):
            return False
        heads = [_head(call) for call in chunks.listed(view)]
        begun = [head[0] for head in heads if head is not None and isinstance(head[0], int)]
        used = [index for index in self.heads if isinstance(index, int)]
        return 0 < len(begun) == len(heads) and len(used) == len(self.heads) and min(begun) > max(used)


class Answer:
    """The current answer.

    Attributes:
        openings: of its choices, by their numbers.
    """

    openings: dict[int, Opening]
    _filters: bool

    def __init__(self) -> None:
        self.openings = {}
        self._filters = False  # a filter judged a prompt, which happens before the answer begins

    def is_another(self, chunk: chunks.Chunk, choices: list[chunks.ChoiceView]) -> bool:
        """Take the labels of a chunk; return whether its choices belong to a new answer."""
        if not choices and chunk.prompt_filter_results:
            self._filters = id_label(chunk.id) not in {opening.id for opening in self.openings.values()}
        speaking = [choice for choice in choices if not _is_silent(choice)]
        if not speaking:
            return False
        id, model = id_label(chunk.id), text_label(chunk.model)
        openings = self.openings
        another = bool(openings) and (self._filters or self._is_left(speaking, id, model))
        if another:
            openings.clear()
        self._filters = False
        for choice in speaking:
            number = choice_label(choice.index)
            known = openings.get(number)
            if known is None:
                known = openings[number] = Opening(calls_first=_calls(choice))
            known.take(choice, id, model)
        return another

    def _is_left(self, choices: list[chunks.ChoiceView], id: str | None, model: str | None) -> bool:
        """Return whether a chunk with these labels begins another answer, by one of its choices."""
        known = ((self.openings.get(choice_label(choice.index)), choice) for choice in choices)
        return any(one is not None and one.is_left_by(choice, id, model) for one, choice in known)

    def is_said_again(self, choice: chunks.ChoiceView) -> bool:
        """Return whether a choice that did not finish only repeats the role."""
        known = self.openings.get(choice_label(choice.index))
        return known is not None and known.again and not known.finished and _opens(choice)

    def goes_on(self, choice: int) -> None:
        """Note that text of a call came in a choice."""
        known = self.openings.get(choice)
        if known is not None:
            known.again = False

    def finish(self, choice: int | None = None) -> None:
        """Note that a choice has its reason, or that all choices are over."""
        for number, opening in self.openings.items():
            opening.finished = opening.finished or choice in (None, number)


def _head(call: chunks.ToolCallView) -> tuple[Index, str] | None:
    """Return the index and the id at which a call begins; None where one of them, or the name, is missing."""
    index, id = index_label(call.index), id_label(call.id)
    if index is None or index == INVALID_INDEX or id is None or chunks.name_of(call) is None:
        return None
    return index, id


def _calls(choice: chunks.ChoiceView) -> bool:
    legacy = choice.delta is not None and choice.delta.function_call is not None
    return legacy or chunks.has_calls(choice)


def _is_silent(choice: chunks.ChoiceView) -> bool:
    """Return whether a choice is empty, as those of relays that only keep a connection open."""
    view = choice.delta
    if choice.message is not None or choice.finish_reason or view is None:
        return not (choice.message or choice.finish_reason)
    return not (view.role or view.content or _calls(choice) or _reasons(view))


def _reasons(view: chunks.DeltaView) -> bool:
    return bool(view.reasoning_content or view.reasoning or view.reasoning_details or view.refusal)


def _opens(choice: chunks.ChoiceView) -> bool:
    view = choice.delta
    return view is not None and chunks.only_opens(view) and not _reasons(view) and not choice.finish_reason


def _goes_on(choice: chunks.ChoiceView) -> bool:
    """Return whether a choice can only be more of a call, or its end."""
    view = choice.delta or choice.message
    if view is None:
        return True
    begins = any(id_label(call.id) or chunks.name_of(call) for call in chunks.listed(view))
    return not (begins or view.content or _reasons(view))
