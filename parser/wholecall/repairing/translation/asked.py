"""A request in no wire's words: the conversation, its tools, and the wishes for the answer.

Theory of operation. A reader turns the request of its wire into this form, and a writer says the form in its own. A
member of the form exists if at least two wires can say it; everything else is between a reader and its notes. Members
that OpenAI's two wires share by name are kept as they are (`shared`).
"""

from __future__ import annotations

from typing import Any, Final, Literal, Optional, Union

import msgspec

from wholecall.discreet import discreet_repr

_private = True

Role = Literal["system", "user", "assistant"]
# The words of OpenAI's two wires for them.
ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}


class Text(msgspec.Struct, frozen=True):
    """A text."""

    text: str

    __repr__ = discreet_repr


class Image(msgspec.Struct, frozen=True):
    """A picture: base64 data of a type, or a URL; `detail` is the wanted resolution."""

    data: str = ""
    media_type: str = ""
    url: str = ""
    detail: str = ""

    __repr__ = discreet_repr


class File(msgspec.Struct, frozen=True):
    """A document: base64 data of a type, or a URL."""

    data: str = ""
    media_type: str = ""
    url: str = ""
    name: str = ""

    __repr__ = discreet_repr


class Thought(msgspec.Struct, frozen=True):
    """Reasoning of the model, and its signature where it has one."""

    text: str
    signature: str = ""

    __repr__ = discreet_repr


class Call(msgspec.Struct, frozen=True):
    """A call of the model; `arguments` is JSON text, of a free-text call its input."""

    id: str
    name: str
    arguments: str
    is_custom: bool = False

    __repr__ = discreet_repr


class Result(msgspec.Struct, frozen=True):
    """The result of a call."""

    id: str
    parts: tuple[Union[Text, Image, File], ...] = ()
    failed: bool = False
    is_custom: bool = False

    __repr__ = discreet_repr


Medium = Union[Text, Image, File]
Part = Union[Text, Image, File, Thought, Call, Result]


class Said(msgspec.Struct, frozen=True):
    """A message; results are parts of the user's."""

    role: Role
    parts: tuple[Part, ...]

    __repr__ = discreet_repr


class Tool(msgspec.Struct, frozen=True):
    """A tool that the client runs; `schema` describes arguments, `grammar` the input of a free-text tool."""

    name: str
    description: Optional[str] = None
    schema: Optional[dict[str, Any]] = None
    strict: Optional[bool] = None
    is_custom: bool = False
    grammar: Optional[dict[str, Any]] = None


class Choice(msgspec.Struct, frozen=True):
    """Whether a tool has to be called, and which: `named` has a name."""

    mode: Literal["auto", "required", "none", "named"]
    name: str = ""
    is_custom: bool = False


class Form(msgspec.Struct, frozen=True):
    """The form of the answer's text: JSON, of a schema unless that is None."""

    schema: Optional[dict[str, Any]] = None
    name: str = ""
    strict: Optional[bool] = None
    description: str = ""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request; None and empty members say nothing."""

    model: str
    said: tuple[Said, ...]
    tools: tuple[Tool, ...] = ()
    choice: Optional[Choice] = None
    parallel: Optional[bool] = None
    max_tokens: Optional[int] = None
    temperature: Optional[float] = None
    top_p: Optional[float] = None
    stop: tuple[str, ...] = ()
    stream: bool = False
    wants_usage: bool = True
    effort: str = ""
    form: Optional[Form] = None
    user: str = ""
    verbosity: str = ""
    shared: dict[str, Any] = {}

    __repr__ = discreet_repr


# The members with the same name and meaning in Chat Completions and Responses.
SHARED: Final = (
    "metadata",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "store",
)
# The words for the effort of reasoning that all wires have.
EFFORTS: Final = frozenset({"low", "medium", "high", "xhigh"})
