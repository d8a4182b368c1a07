"""The arguments of a call in the form in which a format accepts them back: their own text where possible.

Theory of operation. Arguments that were exact go back byte for byte wherever text is carried: a new dump would lose the
spelling of numbers, and thereby a prompt cache. Arguments that were executed after an edit go back as executed. The
text of a dropped call goes back unchanged, as the model wrote it. Where only an object is accepted, text that is the
JSON of an object becomes that object; so do arguments that a tool's type refused, or that had no tool, because they
were readable. Any other text is wrapped as `{"INVALID_JSON": text}`, as Anthropic advises: no bracket is closed, and no
error repaired, in a cut text. Empty text is replaced by `{}` where text is carried. Nothing is encoded twice: the
result is the value of the message's field, and the HTTP layer writes it.

===================================  ==============================  ========================  ==========
the call                             string                          strict string             object
===================================  ==============================  ========================  ==========
``exact``                            its raw text                    its raw text              arguments
``normalised``, ``recovered``        arguments, dumped               arguments, dumped         arguments
``empty``                            ``{}``                          ``{}``                    ``{}``
dropped, an object's JSON            its raw text                    its raw text              the object
dropped by its tool, read otherwise  its raw text                    arguments, dumped         arguments
dropped, anything else               its raw text                    `on_malformed`            `on_malformed`
===================================  ==============================  ========================  ==========
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, get_args

from wholecall.errors import renamed_argument
from wholecall.history.formats import Format, format_named
from wholecall.history.values import copied, dumped
from wholecall.output.events import ToolCall, ToolCallDropped
from wholecall.parse import parse_arguments

__all__ = ["Malformed", "encode_arguments"]

Malformed = Literal["wrap", "empty", "omit"]

# Reasons that are found in readable arguments: `{"gate": "two"}` for a number, an unknown tool.
_READ: Final = frozenset({"schema", "unknown_tool", "empty_arguments"})


@renamed_argument("transport", "format")
def encode_arguments(
    arguments: ToolCall | ToolCallDropped | str | dict[str, Any],
    format: str | Format,
    *,
    on_malformed: Malformed = "wrap",
    strict_json_arguments: bool = False,
) -> str | dict[str, Any] | None:
    r"""Return the arguments of one call in the form in which the format accepts them back.

    Args:
        arguments: an emitted call, a dropped call, argument text (judged here, once, as after a clean end), or an
            object. It is not changed.
        format: the name of a known format, or a `Format`.
        on_malformed: the replacement of text that is not a JSON object, in object formats and in strict string
            formats: `"wrap"` an object that contains the text under `Format.wrapper`, `"empty"` an empty object
            (the text is lost), `"omit"` nothing: leave out the call and its result.
        strict_json_arguments: treat a string format as strict, whatever its own setting.

    Returns:
        JSON text for a string format, to be put into the message unchanged; a new dict for an object format; None
        only for `"omit"`. Texts written here are compact, with non-ASCII kept and lone surrogates as `\udXXX`.

    Raises:
        UnknownDialect: the format's name is not known.
        TypeError: `arguments` is of another type, or contains a value that JSON lacks.
        ValueError: `on_malformed` is not one of its words, or `arguments` contains NaN, an infinity or itself.
    """
    target = format_named(format)
    if on_malformed not in get_args(Malformed):
        raise ValueError(f"on_malformed is one of {', '.join(get_args(Malformed))}, not {on_malformed!r}")
    as_text = target.carries == "string"
    is_strict = strict_json_arguments or target.strict_json_arguments
    if isinstance(arguments, ToolCallDropped) and as_text and not is_strict:
        return arguments.raw_arguments if arguments.raw_arguments.strip() else "{}"
    raw, value = _reading(arguments)
    if value is None:
        if raw is not None and as_text and not is_strict:
            return raw
        if on_malformed == "omit":
            return None
        value = {target.wrapper: raw} if on_malformed == "wrap" else {}
        raw = None
    if as_text:
        return dumped(value) if raw is None else raw
    new: dict[str, Any] = copied(value)
    return new


class _Reading(NamedTuple):
    """The text that may go back unchanged, if any, and the object that it means, if any."""

    raw: str | None
    value: dict[str, Any] | None


def _reading(arguments: object) -> _Reading:
    if isinstance(arguments, ToolCall):
        exact = arguments.status == "exact" and arguments.raw_arguments != ""
        return _Reading(arguments.raw_arguments if exact else None, arguments.arguments)
    if isinstance(arguments, ToolCallDropped):
        return _dropped(arguments)
    if isinstance(arguments, str):
        verdict = parse_arguments(arguments)
        as_it_is = verdict.status in ("exact", "dropped")
        return _Reading(arguments if as_it_is else None, verdict.arguments)
    if isinstance(arguments, dict):
        return _Reading(None, arguments)
    kind = type(arguments).__name__
    raise TypeError(f"arguments are a ToolCall, a ToolCallDropped, JSON text or a dict, not {kind}")


def _dropped(call: ToolCallDropped) -> _Reading:
    text = call.raw_arguments
    verdict = parse_arguments(text)
    if verdict.status == "exact" or verdict.arguments is None:
        return _Reading(text, verdict.arguments)
    return _Reading(None, verdict.arguments) if call.reason in _READ else _Reading(text, None)
