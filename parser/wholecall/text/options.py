"""Options for calls that a model writes as text."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Literal, Union, get_args

import msgspec
from msgspec.structs import force_setattr

from wholecall.errors import UnknownDialect, choices
from wholecall.text import formats, models, records

InReasoning = Literal["ignore", "unclosed", "call"]
InFence = Literal["text", "call"]


class _Named(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A choice of calls in text by the name of its format, which may be given without its keyword."""

    format: Union[str, records.Format] = "auto"


class TextCalls(_Named, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The calls written as text that count, and their places.

    Attributes:
        format: a format's name (`text_formats()` lists them), `"auto"` for all that can be distinguished, or your own
            `Format`.
        model: the name of a model, such as `"Qwen/Qwen3-Coder-30B"`, in place of the format that it writes.
        prompt: the end of the prompt that the model continues, if it opens something: `"<think>"`,
            `"<|start|>assistant"`, `">>>"`. It is read first, and nothing of it is shown.
        in_reasoning: the treatment of a call in reasoning: none (`"ignore"`), one if the reasoning never closes and the
            text ended cleanly (`"unclosed"`), or the end of the reasoning (`"call"`).
        in_fence: the treatment of a marker in code or in a block quote: `"text"`, or a `"call"`.
        weak: the shapes without a marker that count: a set of `"json"`, `"python"`, `"calls"`, `"fenced"`,
            `"relaxed"`, `"action"` and `"react"`; None for those of the format, which for `"auto"` are none. They
            always need tools.

    Raises:
        UnknownDialect: there is no format of this name.
        ValueError: no format is known for the model, both it and a format are given, or an option has no such word.
    """

    model: Union[str, None] = None
    prompt: str = ""
    in_reasoning: InReasoning = "unclosed"
    in_fence: InFence = "text"
    weak: Union[AbstractSet[records.Weak], None] = None

    def __post_init__(self) -> None:
        self._checked("in_reasoning", InReasoning)
        self._checked("in_fence", InFence)
        unknown = sorted((self.weak or frozenset()) - set(get_args(records.Weak)))
        if unknown:
            raise ValueError(
                f"there is no weak shape {unknown[0]!r}; {choices(unknown[0], get_args(records.Weak))}"
            )
        if self.weak is not None:
            force_setattr(self, "weak", frozenset(self.weak))
        if self.model is not None:
            force_setattr(self, "format", self._of_model(self.model))
        self.read_as()

    def _checked(self, name: str, words: object) -> None:
        value = getattr(self, name)
        if value not in get_args(words):
            raise ValueError(f"{name} is {' or '.join(map(repr, get_args(words)))}, not {value!r}")

    def _of_model(self, model: str) -> str:
        found = models.format_named(model)
        if found is None:
            raise ValueError(
                f"no format of calls in text is known for the model {model!r}; take format='auto'"
            )
        if self.format not in (formats.AUTO.name, found):
            raise ValueError(
                f"the model {model!r} writes {found!r}; give the model or another format, not both"
            )
        return found

    def read_as(self) -> records.Format:
        """Return the format.

        Raises:
            UnknownDialect: there is no format of this name.
        """
        if isinstance(self.format, records.Format):
            return self.format
        if self.format == formats.AUTO.name:
            return formats.AUTO
        found = formats.FORMATS.get(self.format)
        if found is None:
            hint = choices(self.format, formats.text_formats(), of_model=models.format_named(self.format))
            raise UnknownDialect(f"there is no format {self.format!r} of calls in text; {hint}")
        return found

    def weak_shapes(self) -> frozenset[records.Weak]:
        """Return the shapes without a marker that count."""
        return frozenset(self.read_as().weak if self.weak is None else self.weak)


TextWanted = Union[str, records.Format, TextCalls, None]


def text_calls(wanted: TextWanted) -> TextCalls | None:
    """Return the options for a caller's value: None for none, a format or its name, or the options themselves.

    Raises:
        UnknownDialect: there is no format of this name.
    """
    return TextCalls(wanted) if isinstance(wanted, (str, records.Format)) else wanted
