"""The formats of histories, and their rules for calls: the carrier of arguments, strictness, allowed ids.

Theory of operation. A format is the form in which a provider's request, or a framework, takes a history, and has the
name of the dialect of its answers; `otel` is the form of telemetry. It carries the arguments of a call as a
*string* (JSON text inside JSON) or as an *object*. A string format is lenient unless `strict_json_arguments` says
otherwise: text that is not JSON goes back unchanged. Strict formats refuse it, with an error that repeats in every
later turn of the conversation; there it is wrapped. It is also wrapped in object formats, which do not accept text.
`{}` in place of lost arguments would be false (quirk 84).

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
from typing import TYPE_CHECKING, Final, Literal, get_args

import msgspec

from wholecall.errors import UnknownDialect, choices, meant

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FORMATS", "Carries", "Format", "IdRule", "format_named"]

Carries = Literal["string", "object"]
IdRule = Literal["any", "openai40", "anthropic", "mistral9", "responses", "kimi"]


class Format(msgspec.Struct, frozen=True):
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


def _table(*formats: Format) -> Mapping[str, Format]:
    return MappingProxyType({format.name: format for format in formats})


FORMATS: Final = _table(
    Format("chat-completions", "string", ids="openai40"),
    Format("bedrock-invoke-chat-completions", "string", ids="openai40"),
    Format("dashscope", "string"),
    # Profiles of chat completions: providers that speak it, but refuse some content that others accept.
    Format("kimi", "string", ids="kimi"),
    Format("minimax", "string", strict_json_arguments=True, ids="openai40"),
    Format("mistral", "string", ids="mistral9"),
    Format("stepfun", "string", strict_json_arguments=True, ids="openai40"),
    Format("responses", "string", ids="responses"),
    Format("openai-realtime", "string", ids="responses"),
    Format("mistral-conversations", "string", ids="mistral9"),
    Format("cohere-v2", "string"),
    Format("bedrock-invoke-cohere-v2", "string"),
    Format("llama-api", "string"),
    Format("xai-grpc", "string"),
    Format("ag-ui", "string"),
    Format("anthropic", "object", ids="anthropic"),
    Format("bedrock-invoke-anthropic", "object", ids="anthropic"),
    Format("bedrock-converse", "object", ids="anthropic"),
    Format("bedrock-invoke-nova", "object", ids="anthropic"),
    Format("gemini", "object"),
    Format("gemini-live", "object"),
    Format("gemini-interactions", "object"),
    Format("ollama", "object"),
    Format("cohere-v1", "object"),
    Format("bedrock-invoke-cohere-v1", "object"),
    Format("langchain", "object"),
    Format("vercel-ui", "object"),
    Format("vercel-data", "object"),
    Format("otel", "object"),
)


def format_named(format: str | Format) -> Format:
    """Return the format of this name or common alias; a `Format` is returned unchanged.

    Raises:
        UnknownDialect: no format has this name.
        TypeError: this is neither a name nor a `Format`.
    """
    known = _known(format)
    if known is None:
        raise UnknownDialect(
            f"there is no format {format!r}; describe it as Format(name, carries='string' or 'object'),"
            f" or: {choices(format, FORMATS)}"
        )
    return known


def _known(format: object) -> Format | None:
    if isinstance(format, Format):
        return format
    if isinstance(format, str):
        return FORMATS.get(meant(format, FORMATS) or "")
    raise TypeError(f"a format is a name or a Format, not {type(format).__name__}")
