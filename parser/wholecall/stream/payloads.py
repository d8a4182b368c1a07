"""Payloads that are decoded already: an SDK's objects, as the JSON text that they came from.

Theory of operation. No SDK is imported. How objects of a class are read is determined once, from the class: the fields
of a pydantic model are its `vars`, under their aliases; models that can serialise themselves do so; for the rest
`to_dict`, msgspec, and last the public attributes are used. A field without a value (None) is left out, and so are
additions of the SDK: its helpers repeat the stream so far with every event (`snapshot`), which would make reading it
quadratic, or repeat the content of a raw event in their own words. An SDK's wrapper for a server-sent event (`event`
and `data`) is removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import methodcaller
from typing import Any, NamedTuple

import msgspec

from wholecall.framing import Frame

_ENVELOPE = frozenset({"data", "event", "id", "retry", "comments"})  # the fields of a server-sent event
_ADDED = frozenset(  # declared fields that were never on the wire
    {"snapshot", "parsed", "parsed_arguments", "sdk_http_response", "automatic_function_calling_history"}
)
_MAX_KINDS = 1024
_RETOLD = frozenset(  # `type` of events that openai's and anthropic's helpers make of raw ones
    {
        *("text", "thinking", "citation", "signature", "input_json", "compaction"),
        *("content.delta", "content.done", "refusal.delta", "refusal.done"),
        *(
            "logprobs.content.delta",
            "logprobs.content.done",
            "logprobs.refusal.delta",
            "logprobs.refusal.done",
        ),
        *("tool_calls.function.arguments.delta", "tool_calls.function.arguments.done"),
    }
)


Fields = dict[str, Any]


class _Kind(NamedTuple):
    """The kind of a class's objects: whether they were on the wire, or wrap an event, and how they are read."""

    is_plain: bool
    is_envelope: bool
    read: Callable[[Any], object]


def frames_of(payload: object, event: str | None = None) -> Iterator[Frame]:
    """Yield the frames of one payload, or of a list with one payload after the other.

    Args:
        payload: dicts, lists and scalars, or an SDK's objects, also inside.
        event: the event's name, where the transport has one.

    Raises:
        TypeError: it contains an object that is not data.
        ValueError: the payload contains itself.
    """
    name = event or ""
    for item in payload if isinstance(payload, list) else (payload,):
        if isinstance(item, dict) or _KINDS[type(item)].is_plain:
            yield Frame(name, _json_text(item))
        else:
            yield from _frames_of_event(item, name)


def _frames_of_event(item: Any, name: str) -> Iterator[Frame]:
    """Yield the frames of an object that may be more, or less, than the wire's payload."""
    kind = getattr(item, "type", None)
    if kind == "chunk" and hasattr(item, "chunk"):
        yield from frames_of(item.chunk, name)
    elif _KINDS[type(item)].is_envelope:
        text = item.data if isinstance(item.data, str) else _json_text(item.data)
        yield Frame(str(getattr(item, "event", None) or name), text)
    elif not (type(kind) is str and kind in _RETOLD):
        yield Frame(name, _json_text(item))


def is_of_fields(cls: type) -> bool:
    """Return whether objects of a class are models whose fields were on the wire, under the same names."""
    return _KINDS[cls].read is _fields


# Text.


def quick_text(payload: dict[str, Any]) -> str | None:
    """Return the JSON text of a dict, with null for non-JSON values such as NaN; None if msgspec cannot write it."""
    try:
        return _PLAIN.encode(payload).decode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None


def _json_text(value: object) -> str:
    """Return JSON text; msgspec's if it equals that of `json`, which supports NaN and halves of characters."""
    if not isinstance(value, dict):
        try:
            text = _FAST.encode(value)
        except (UnicodeEncodeError, OverflowError):
            return _EXACT.encode(value)
        if b"null" not in text:  # a NaN would be one
            return text.decode()
    return _EXACT.encode(value)


def _dumped(value: Any) -> object:
    """Return builtins for an object, which may hold others (encoders call this for objects that they do not know)."""
    return _KINDS[type(value)].read(value)


_PLAIN = msgspec.json.Encoder()
_FAST = msgspec.json.Encoder(enc_hook=_dumped)
_EXACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_dumped)


# Classes.


class _Kinds(dict[type, _Kind]):
    """The kinds of the classes so far; a limited number, because classes can be made without end."""

    def __missing__(self, cls: type) -> _Kind:
        if len(self) >= _MAX_KINDS:
            self.clear()
        fields = _field_names(cls)
        is_plain = bool(fields) and not fields & {"type", "data"}
        kind = self[cls] = _Kind(is_plain, "data" in fields and fields <= _ENVELOPE, _reader(cls))
        return kind


_KINDS = _Kinds()


def _field_names(cls: type) -> set[str]:
    """Return the names of a class's fields as pydantic, msgspec, dataclasses, attrs or `__slots__` declare them."""
    declared = ("model_fields", "__struct_fields__", "__dataclass_fields__", "__slots__", "__annotations__")
    fields: Iterable[str] = next(filter(None, (getattr(cls, name, ()) for name in declared)), ())
    return {name for name in fields if not name.startswith("_")}


def _reader(cls: type) -> Callable[[Any], object]:
    if hasattr(cls, "__pydantic_decorators__"):
        return _model_reader(cls)
    for method in ("model_dump", "to_dict", "as_dict"):
        if hasattr(cls, method):
            return methodcaller(method)
    return _other


def _model_reader(cls: Any) -> Callable[[Any], object]:
    decorators = cls.__pydantic_decorators__
    if decorators.model_serializers or decorators.field_serializers:
        return methodcaller("model_dump", by_alias=True, exclude_none=True)
    fields = cls.model_fields
    aliases = {name: field.serialization_alias or field.alias or name for name, field in fields.items()}
    added = fields.keys() & _ADDED
    if not added and all(alias == name for name, alias in aliases.items()):
        return _fields
    return partial(_selected, aliases, added)


def _fields(model: Any) -> Fields:
    fields = {name: value for name, value in model.__dict__.items() if value is not None}
    extra = model.__pydantic_extra__
    return {**fields, **extra} if extra else fields


def _selected(aliases: dict[str, str], added: set[str], model: Any) -> Fields:
    fields = _fields(model)
    return {aliases.get(name, name): value for name, value in fields.items() if name not in added}


def _other(value: Any) -> object:
    return msgspec.to_builtins(value, enc_hook=_attributes)


def _attributes(value: Any) -> object:
    """Return the public attributes of an object that cannot be read otherwise."""
    read = _KINDS[type(value)].read
    if read is not _other:
        return read(value)
    if not hasattr(value, "__dict__") or callable(value):
        raise TypeError(f"a payload is made of data, not of {type(value).__name__}")
    return {name: each for name, each in vars(value).items() if each is not None and name[:1] != "_"}
