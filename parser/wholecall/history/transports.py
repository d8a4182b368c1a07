"""Rules of each transport for calls that go back: the carrier of arguments, strictness, allowed ids.

Theory of operation. A transport is a path back into a provider's request, or into the messages of a framework, and has
the name of the dialect of its answers; `otel` is the path into telemetry. It carries the arguments of a call as a
*string* (JSON text inside JSON) or as an *object*. A string transport is lenient unless `strict_json_arguments` says
otherwise: text that is not JSON goes back unchanged. Strict transports refuse it, with an error that repeats in every
later turn of the conversation; there it is wrapped. It is also wrapped on object transports, which do not accept text.
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

__all__ = ["TRANSPORTS", "Carries", "IdRule", "Transport", "transport_named"]

Carries = Literal["string", "object"]
IdRule = Literal["any", "openai40", "anthropic", "mistral9", "responses", "kimi"]


class Transport(msgspec.Struct, frozen=True):
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


def _table(*transports: Transport) -> Mapping[str, Transport]:
    return MappingProxyType({transport.name: transport for transport in transports})


TRANSPORTS: Final = _table(
    Transport("chat-completions", "string", ids="openai40"),
    Transport("bedrock-invoke-chat-completions", "string", ids="openai40"),
    Transport("dashscope", "string"),
    # Profiles of chat completions: providers that speak it, but refuse some content that others accept.
    Transport("kimi", "string", ids="kimi"),
    Transport("minimax", "string", strict_json_arguments=True, ids="openai40"),
    Transport("mistral", "string", ids="mistral9"),
    Transport("stepfun", "string", strict_json_arguments=True, ids="openai40"),
    Transport("responses", "string", ids="responses"),
    Transport("openai-realtime", "string", ids="responses"),
    Transport("mistral-conversations", "string", ids="mistral9"),
    Transport("cohere-v2", "string"),
    Transport("bedrock-invoke-cohere-v2", "string"),
    Transport("llama-api", "string"),
    Transport("xai-grpc", "string"),
    Transport("ag-ui", "string"),
    Transport("anthropic", "object", ids="anthropic"),
    Transport("bedrock-invoke-anthropic", "object", ids="anthropic"),
    Transport("bedrock-converse", "object", ids="anthropic"),
    Transport("bedrock-invoke-nova", "object", ids="anthropic"),
    Transport("gemini", "object"),
    Transport("gemini-live", "object"),
    Transport("gemini-interactions", "object"),
    Transport("ollama", "object"),
    Transport("cohere-v1", "object"),
    Transport("bedrock-invoke-cohere-v1", "object"),
    Transport("langchain", "object"),
    Transport("vercel-ui", "object"),
    Transport("vercel-data", "object"),
    Transport("otel", "object"),
)


def transport_named(transport: str | Transport) -> Transport:
    """Return the transport of this name or common alias; a `Transport` is returned unchanged.

    Raises:
        UnknownDialect: no transport has this name.
        TypeError: this is neither a name nor a `Transport`.
    """
    known = _known(transport)
    if known is None:
        raise UnknownDialect(
            f"there is no transport {transport!r}; describe it as Transport(name, carries='string' or 'object'),"
            f" or: {choices(transport, TRANSPORTS)}"
        )
    return known


def _known(transport: object) -> Transport | None:
    if isinstance(transport, Transport):
        return transport
    if isinstance(transport, str):
        return TRANSPORTS.get(meant(transport, TRANSPORTS) or "")
    raise TypeError(f"a transport is a name or a Transport, not {type(transport).__name__}")
