"""Which answer a chat chunk belongs to: the current one, or another one on the same connection.

Theory of operation. The chunks of an answer bear its id and its model. But some servers give each chunk an id of its
own (quirk 14), and relays put one of their own on the first chunk. So labels name an answer once two chunks in a row
had them, and another name begins another answer, unless the chunk only continues a call. Before that it does so
with a chunk that says who speaks and nothing else, or where the one chunk so far brought a call; and where labels that
varied prove to be a name. Who speaks is said again under the same labels by another answer only: not by servers that
say it with each call. A chunk that says nothing is of no answer; pieces of text are not looked at: most chunks are such.
"""

from __future__ import annotations

from typing import Any

from wholecall.dialects.labels import id_label, text_label
from wholecall.dialects.openai.chat_calls import has_calls, listed, name_of, only_opens
from wholecall.dialects.openai.chat_views import ChoiceView, Chunk, DeltaView

__all__ = ["Answer"]

_VARY = 2  # after so many changes in a row more are expected


class Answer:
    """What distinguishes the current answer from others.

    Attributes:
        id, model: those of its latest chunk.
        named: two chunks in a row had both, and so does each that follows.
        foreign: the latest chunk had another id than those that name the answer, or none where all others had one.
    """

    id: Any
    model: Any
    named: bool
    foreign: bool
    _nameless: bool
    _n_others: int
    _calls_first: bool
    _spoken: bool
    _roles_once: bool
    _filters: bool

    def __init__(self) -> None:
        self.id = self.model = None
        self.named = self.foreign = False
        self._nameless = False  # a chunk had no id
        self._spoken = self._roles_once = False  # who speaks was said; and then a call came without it
        self._n_others = -1  # chunks that had other labels than those before them; -1 before the first one
        self._calls_first = False  # the first chunk brought a call
        self._filters = False  # a filter judged a prompt, which it does before its answer begins

    def is_named(self) -> bool:
        """Note that a chunk has the labels of the one before; return whether they name the answer."""
        self.named = self._n_others < _VARY
        return self.named

    def is_another(self, chunk: Chunk, choices: list[ChoiceView]) -> bool:
        """Take the labels of a chunk; return whether its choices belong to a new answer."""
        if not choices:
            self._filters = self._filters or bool(chunk.prompt_filter_results)
        if all(map(_is_silent, choices)):
            return False
        self._judge(id_label(chunk.id))
        id, model = id_label(chunk.id) or self.id, text_label(chunk.model) or self.model
        same = id == self.id and model == self.model
        changed = self.id not in (None, id) or self.model not in (None, model)
        another = self._n_others >= 0 and self._has_begun(choices, same=same, changed=changed)
        if another or self._n_others < 0:
            self._n_others, self._calls_first = 0, any(map(_calls, choices))
            self._spoken = self._roles_once = self._nameless = self.foreign = False
        elif changed:
            self._n_others += 1
        self._filters = False
        self.named = same and not (another and changed)
        self.id, self.model = id, model
        views = [choice.delta for choice in choices if choice.delta is not None]
        if any(view.role is None and listed(view) for view in views):
            self.call_without_role()
        self._spoken = self._spoken or any(view.role is not None for view in views)
        return another

    def without_labels(self) -> None:
        """Take a chunk without labels: it is of the current answer."""
        self._judge(None)

    def _judge(self, id_: str | None) -> None:
        """Decide whether a chunk is foreign, by its id."""
        lacks = id_ is None and not self._nameless
        self.foreign = self.named and self.id is not None and (lacks or id_ not in (None, self.id))
        self._nameless = self._nameless or id_ is None

    def call_without_role(self) -> None:
        """Note that a call came without saying who speaks."""
        self._roles_once = self._roles_once or self._spoken

    def _has_begun(self, choices: list[ChoiceView], *, same: bool, changed: bool) -> bool:
        """Return whether a chunk begins another answer."""
        if self._filters:
            return True
        if all(map(_opens, choices)):
            return changed or self._roles_once
        if not changed:
            return same and not self.named and self._n_others >= _VARY
        is_name = self.named or (self._calls_first and self._n_others == 0)
        return is_name and not all(map(_goes_on, choices))


def _calls(choice: ChoiceView) -> bool:
    legacy = choice.delta is not None and choice.delta.function_call is not None
    return legacy or has_calls(choice)


def _is_silent(choice: ChoiceView) -> bool:
    """Return whether a choice says nothing, as those of relays that only keep a connection open."""
    view = choice.delta
    if choice.message is not None or choice.finish_reason or view is None:
        return not (choice.message or choice.finish_reason)
    return not (view.role or view.content or _calls(choice) or _reasons(view))


def _reasons(view: DeltaView) -> bool:
    return bool(view.reasoning_content or view.reasoning or view.reasoning_details or view.refusal)


def _opens(choice: ChoiceView) -> bool:
    view = choice.delta
    return view is not None and only_opens(view) and not _reasons(view) and not choice.finish_reason


def _goes_on(choice: ChoiceView) -> bool:
    """Return whether a choice can only be more of a call, or its end."""
    view = choice.delta or choice.message
    if view is None:
        return True
    begins = any(id_label(call.id) or name_of(call) for call in listed(view))
    return not (begins or view.content or _reasons(view))
