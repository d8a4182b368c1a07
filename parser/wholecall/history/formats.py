"""The formats of histories, and the arguments of a call in each of them.

Theory of operation. A format is the form in which a provider's request, or a framework, takes a history, and has the
name of the dialect of its answers; `otel` is the form of telemetry. It carries the arguments of a call as a *string*
(JSON text inside JSON) or as an *object*.

Arguments that were exact go back byte for byte wherever text is carried: a new dump would lose the spelling of numbers,
and thereby a prompt cache. Arguments that were executed after an edit go back as executed. The text of a dropped call
goes back unchanged, as the model wrote it, where any text is accepted. Strict formats refuse text that is not JSON, with
an error that repeats in every later turn of the conversation, and object formats accept no text. There, text that is the
JSON of an object becomes that object; so do arguments that a tool's type refused, or that had no tool, because they
were readable. Any other text is wrapped as `{"INVALID_JSON": text}`, as Anthropic advises: no bracket is closed, and no
error repaired, in a cut text; `{}` in its place would be false (quirk 84). Empty text is `{}` where text is carried.
Nothing is encoded twice: the result is the value of the message's field, and the HTTP layer writes it.

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

==========================  =============================================================================
rule of ids                 accepted ids
==========================  =============================================================================
``any``                     any text
``openai40``                up to 40 characters
``anthropic``               1 to 64 of ``a-z A-Z 0-9 _ -``
``responses``               the same; of ``call|item`` only the call is the id
``mistral9``                exactly 9 of ``a-z A-Z 0-9``
``kimi``                    any text, but the model knows its calls by ``functions.name:number``
==========================  =============================================================================

Sources: the API references of the providers, and their error responses (quirks 64, 65 and 75).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

import msgspec

from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.calls.parse import parse_arguments
from wholecall.errors import UnknownDialect, choices, meant, renamed_argument
from wholecall.history.values import copied, dumped

if TYPE_CHECKING:
    from collections.abc import Mapping


Carries = Literal["string", "object"]
IdRule = Literal["any", "openai40", "anthropic", "mistral9", "responses", "kimi"]


class HistoryFormat(msgspec.Struct, frozen=True):
    """The rules by which calls go back to a provider.

    Attributes:
        name: the dialect whose requests accept them; it also decides the shape of `encode_calls`.
        carries: whether arguments are JSON text in a `"string"`, or an `"object"`.
        strict_json_arguments: whether a string must be the text of an object. MiniMax and StepFun refuse any other
            text; so do servers that decode the history for a chat template.
        wrapper: the key under which text that is not an object is wrapped, where only an object is accepted.
        ids: the rule for accepted ids, see above.

    Raises:
        ValueError: `carries` or `ids` is not one of their words, or `wrapper` is empty.
    """

    name: str
    carries: Carries
    strict_json_arguments: bool = False
    wrapper: str = "INVALID_JSON"
    ids: IdRule = "any"

    def __post_init__(self) -> None:
        for word, words in ((self.carries, get_args(Carries)), (self.ids, get_args(IdRule))):
            if word not in words:
                raise ValueError(f"{word!r} is not one of {', '.join(words)}")
        if not self.wrapper:
            raise ValueError("a wrapper is a key, and cannot be empty")


def _table(*formats: HistoryFormat) -> Mapping[str, HistoryFormat]:
    return MappingProxyType({format.name: format for format in formats})


HISTORY_FORMATS: Final = _table(
    HistoryFormat("chat-completions", "string", ids="openai40"),
    HistoryFormat("bedrock-invoke-chat-completions", "string", ids="openai40"),
    HistoryFormat("dashscope", "string"),
    # Profiles of chat completions: providers that speak it, but refuse some content that others accept.
    HistoryFormat("kimi", "string", ids="kimi"),
    HistoryFormat("minimax", "string", strict_json_arguments=True, ids="openai40"),
    HistoryFormat("mistral", "string", ids="mistral9"),
    HistoryFormat("stepfun", "string", strict_json_arguments=True, ids="openai40"),
    HistoryFormat("responses", "string", ids="responses"),
    HistoryFormat("openai-realtime", "string", ids="responses"),
    HistoryFormat("mistral-conversations", "string", ids="mistral9"),
    HistoryFormat("cohere-v2", "string"),
    HistoryFormat("bedrock-invoke-cohere-v2", "string"),
    HistoryFormat("llama-api", "string"),
    HistoryFormat("xai-grpc", "string"),
    HistoryFormat("ag-ui", "string"),
    HistoryFormat("anthropic", "object", ids="anthropic"),
    HistoryFormat("bedrock-invoke-anthropic", "object", ids="anthropic"),
    HistoryFormat("bedrock-converse", "object", ids="anthropic"),
    HistoryFormat("bedrock-invoke-nova", "object", ids="anthropic"),
    HistoryFormat("gemini", "object"),
    HistoryFormat("gemini-live", "object"),
    HistoryFormat("gemini-interactions", "object"),
    HistoryFormat("ollama", "object"),
    HistoryFormat("cohere-v1", "object"),
    HistoryFormat("bedrock-invoke-cohere-v1", "object"),
    HistoryFormat("langchain", "object"),
    HistoryFormat("vercel-ui", "object"),
    HistoryFormat("vercel-data", "object"),
    HistoryFormat("otel", "object"),
)


def format_named(format: str | HistoryFormat) -> HistoryFormat:
    """Return the format of this name or common alias; a `HistoryFormat` is returned unchanged.

    Raises:
        UnknownDialect: no format has this name.
        TypeError: this is neither a name nor a `HistoryFormat`.
    """
    known = _known(format)
    if known is None:
        raise UnknownDialect(
            f"there is no format {format!r}; describe it as HistoryFormat(name, carries='string' or 'object'),"
            f" or: {choices(format, HISTORY_FORMATS)}"
        )
    return known


def _known(format: object) -> HistoryFormat | None:
    if isinstance(format, HistoryFormat):
        return format
    if isinstance(format, str):
        return HISTORY_FORMATS.get(meant(format, HISTORY_FORMATS) or "")
    raise TypeError(f"a format is a name or a HistoryFormat, not {type(format).__name__}")


# --- arguments ----------------------------------------------------------------------------------------


Malformed = Literal["wrap", "empty", "omit"]

# Reasons that are found in readable arguments: `{"gate": "two"}` for a number, an unknown tool.
_READ: Final = frozenset({"schema", "unknown_tool", "empty_arguments"})


@renamed_argument("transport", "format")
def encode_arguments(
    arguments: ToolCall | ToolCallDropped | str | dict[str, Any],
    format: str | HistoryFormat,
    *,
    on_malformed: Malformed = "wrap",
    strict_json_arguments: bool = False,
) -> str | dict[str, Any] | None:
    r"""Return the arguments of one call in the form in which the format accepts them back.

    Args:
        arguments: an emitted call, a dropped call, argument text (judged here, once, as after a clean end), or an
            object. It is not changed.
        format: the name of a known format, or a `HistoryFormat`.
        on_malformed: the replacement of text that is not a JSON object, in object formats and in strict string
            formats: `"wrap"` an object that contains the text under `HistoryFormat.wrapper`, `"empty"` an empty object
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
