"""Cassettes of VCR tools and files of llm-mock, in YAML or JSON, one interaction at a time.

Theory of operation. An interaction, a request and its response, is read by its shape, independent of its file:

- vcrpy: `response.body.string` (text or bytes), `response.status.code`, `response.headers` with lists. Its
  cassettes can be YAML or JSON. Older ones for httpx: `response.content`, `response.status_code`.
- VCR for Ruby: the same, with `body.base64_string` and `body.encoding`.
- pydantic-ai's cassettes: `response.parsed_body`, decoded JSON, in place of the body.
- llm-mock 1.x: `stream_events`, each `{"event": name, "data": value}`, or `response`, decoded JSON.

For YAML, PyYAML's parser emits events (libyaml's in C, where it is available); the sequence of interactions is found
among them, and each of its items is composed separately. No constructor of YAML tags runs: leaves are text, bytes,
numbers, booleans and None. Numbers of base 60 (`1:30`) are text, because reading them costs the square of their length,
and they are never intended; numbers as keys are text, because their hashes can be chosen. An alias is the same object
as its anchor; still, its expanded size is bounded, as are depth and the number of anchors. PyYAML is in the extra
`cli`.
"""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Iterator
from typing import Any

from wholecall.errors import BadRecording
from wholecall.recordings.bodies import Response, recording_of, text_to_bytes, value_to_bytes
from wholecall.recordings.large_json import LargeJSON
from wholecall.recordings.model import Recording, Request, broken
from wholecall.recordings.source import Source

_JSON, _EVENTS = "application/json", "text/event-stream"
_FORM = "cassette"
_LISTS = ("interactions", "http_interactions")  # vcrpy and similar tools, VCR for Ruby
_MAX_DEPTH = 100
_MAX_ANCHORS = 10_000
_MAX_EXPANDED = 64 * 1024 * 1024
_LONGEST_LEAF = 1000  # characters of a number
_NUMBERS = (int, float)
_TAG = "tag:yaml.org,2002:"


def interaction_of(
    name: str, form: str, value: Any, provider: str | None = None, *, max_bytes: int | None = None
) -> Recording | str:
    """Return the recording of an interaction, or the reason to skip it.

    Args:
        name: the name of the recording.
        form: the form of the file.
        value: the interaction: dicts, lists, and leaves that are text, bytes, numbers, booleans or None.
        provider: the provider that answered, if the file states it.
        max_bytes: the largest content of its body if that is compressed.
    """
    if not isinstance(value, dict):
        return broken(name, "it is not an interaction, an object was expected", form=form)
    request = _dict(value.get("request"))
    asked = Request(_text(request.get("method")), _text(request.get("uri") or request.get("url")))
    try:
        response = _streamed(value) or _stored(value)
    except ValueError as error:
        return broken(name, str(error), form=form)
    response.request = asked if asked != Request() else None
    response.provider = provider
    recorded_at = _text(value.get("recorded_at"))
    response.meta = {"recorded_at": recorded_at} if recorded_at else {}
    return recording_of(name, form, response, max_bytes)


def _streamed(value: dict[str, Any]) -> Response | None:
    """Return the stream events that llm-mock stored: an event for each chunk."""
    events = value.get("stream_events")
    if not isinstance(events, list) or not events:
        return None
    return Response(body=[(None, _event(event)) for event in events], content_type=_EVENTS)


def _event(event: Any) -> bytes:
    name = _text(_dict(event).get("event"))
    data = _dict(event).get("data")
    line = b"" if name is None else b"event: " + text_to_bytes(name) + b"\n"
    body = text_to_bytes(data) if isinstance(data, str) else value_to_bytes(data)
    return line + b"data: " + body + b"\n\n"


def _stored(value: dict[str, Any]) -> Response:
    response = _dict(value.get("response"))
    if "stream_events" in value:
        return Response(body=value_to_bytes(response) if response else None, content_type=_JSON)
    headers = {str(key).lower(): _first(one) for key, one in _dict(response.get("headers")).items()}
    status = response.get("status")
    code = status.get("code") if isinstance(status, dict) else status
    found = Response(
        content_type=headers.get("content-type"),
        coding=headers.get("content-encoding"),
        status=_number(response.get("status_code") if code is None else code),
    )
    _fill(found, response)
    return found


def _fill(found: Response, response: dict[str, Any]) -> None:
    """Find the body among its possible places."""
    body = response.get("body", response.get("content"))
    if isinstance(body, dict):
        base64 = body.get("base64_string")
        found.encoding = "base64" if base64 is not None else (_text(body.get("encoding")) or "").lower()
        body = body.get("string") if base64 is None else base64
    if isinstance(body, (str, bytes)):
        found.body = body
    elif response.get("parsed_body") is not None:
        found.body = value_to_bytes(response["parsed_body"])
        found.content_type = found.content_type or _JSON
        found.coding = None


def _first(value: Any) -> str | None:
    """Return a header's value, the first if there are several."""
    values: Iterator[Any] = iter(value if isinstance(value, list) else [value])
    return _text(next(values, None))


def _dict(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


# Files of interactions.


def read_cassette(source: Source, skipped: Counter[str]) -> Iterator[Recording]:
    """Yield the recordings of a cassette; `#n` counts its interactions.

    Raises:
        BadRecording: it is not YAML or not a cassette, from the place that the message names; or PyYAML is missing.
    """
    yaml = _yaml(source.path)
    place = None
    try:
        for number, value in enumerate(_Cassette(yaml, source).interactions(), 1):
            found = interaction_of(f"{source.path}#{number}", _FORM, value, max_bytes=source.place.max_bytes)
            if isinstance(found, str):
                skipped[found] += 1
            else:
                yield found
    except yaml.YAMLError as error:
        place = _place(error)
    if place is not None:  # outside the handler: PyYAML's error holds the text
        raise BadRecording(f"{source.path}: it is not YAML ({place})")


def read_interactions(source: Source, skipped: Counter[str]) -> Iterator[Recording]:
    """Yield the recordings of a JSON file with `interactions`: a cassette of vcrpy, or llm-mock's.

    Raises:
        BadRecording: it is not JSON from the place that the message names, or has no interactions.
    """
    file = LargeJSON(source, ("interactions",), ("provider",))
    for number, value in enumerate(file.items(), 1):
        provider = file.found.get("provider")
        name = f"{source.path}#{number}"
        who = provider if isinstance(provider, str) else None
        found = interaction_of(name, "interactions", value, who, max_bytes=source.place.max_bytes)
        if isinstance(found, str):
            skipped[found] += 1
        else:
            yield found


def _yaml(path: str) -> Any:
    try:
        import yaml  # noqa: PLC0415 - an extra
    except ImportError:
        raise BadRecording(f"{path}: cassettes need PyYAML: pip install 'wholecall[cli]'") from None
    return yaml


def _place(error: Any) -> str:
    """Return the place; the contents are not quoted."""
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return f"at line {mark.line + 1}"
    return f"at character {getattr(error, 'position', 0)}"


class _Reading:
    """A file as the parser needs it: an object with a `read` method."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; the parser takes at most `size`."""
        piece = self._source.take()
        return piece if size < 0 or len(piece) <= size else self._source.put_back(piece, size)


class _Cassette:
    """The events of a cassette, and the values composed of them."""

    def __init__(self, yaml: Any, source: Source) -> None:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self._yaml = yaml
        self._path = source.path
        self._events: Iterator[Any] = yaml.parse(_Reading(source), Loader=loader)
        self._resolver = yaml.resolver.Resolver()
        self._constructor = yaml.constructor.SafeConstructor()
        self._anchors: dict[str, tuple[Any, int]] = {}  # values, and their expanded sizes
        self._size = 0  # of all values so far, aliases expanded
        self._expanded = 0  # the size that aliases would add to this interaction

    def interactions(self) -> Iterator[Any]:
        """Yield each interaction once it is composed."""
        yaml = self._yaml
        event = self._next()
        while isinstance(event, (yaml.StreamStartEvent, yaml.DocumentStartEvent)):
            event = self._next()
        if not isinstance(event, yaml.MappingStartEvent):
            raise self._refused(event, "a cassette is a mapping")
        found = False
        while not isinstance(key := self._next(), yaml.MappingEndEvent):
            name = self._compose(key, 1)
            event = self._next()
            if name in _LISTS and isinstance(event, yaml.SequenceStartEvent):
                found = True
                yield from self._items()
            else:
                self._compose(event, 1)
        if not found:
            raise BadRecording(f"{self._path}: it holds no interactions")

    def _items(self) -> Iterator[Any]:
        while not isinstance(event := self._next(), self._yaml.SequenceEndEvent):
            self._expanded = 0
            yield self._compose(event, 1)

    def _next(self) -> Any:
        return next(self._events)

    def _refused(self, event: Any, why: str) -> BadRecording:
        return BadRecording(f"{self._path}: {why} (at line {event.start_mark.line + 1})")

    def _compose(self, event: Any, depth: int) -> Any:
        """Return the value that begins with an event."""
        yaml = self._yaml
        if depth > _MAX_DEPTH:
            raise self._refused(event, f"it nests deeper than {_MAX_DEPTH}")
        if isinstance(event, yaml.AliasEvent):
            return self._named(event)
        before = self._size
        self._size += 1
        if isinstance(event, yaml.ScalarEvent):
            self._size += len(event.value)
            value = self._scalar(event)
        else:
            is_sequence = isinstance(event, yaml.SequenceStartEvent)
            value = self._sequence(depth) if is_sequence else self._mapping(depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = value, self._size - before
            if len(self._anchors) > _MAX_ANCHORS:
                raise self._refused(event, f"it has more than {_MAX_ANCHORS:,} anchors")
        return value

    def _named(self, event: Any) -> Any:
        """Return the value of an alias."""
        if event.anchor not in self._anchors:
            raise self._refused(event, "an alias without an anchor before it")
        value, size = self._anchors[event.anchor]
        self._size += size
        self._expanded += size
        if self._expanded > _MAX_EXPANDED:
            raise self._refused(event, f"its aliases stand for more than {_MAX_EXPANDED:,} characters")
        return value

    def _sequence(self, depth: int) -> list[Any]:
        values: list[Any] = []
        while not isinstance(event := self._next(), self._yaml.SequenceEndEvent):
            values.append(self._compose(event, depth + 1))
        return values

    def _mapping(self, depth: int) -> dict[Any, Any]:
        members: dict[Any, Any] = {}
        while not isinstance(event := self._next(), self._yaml.MappingEndEvent):
            key = self._compose(event, depth + 1)
            if isinstance(key, (list, dict)):
                raise self._refused(event, "a key is not a scalar")
            members[str(key) if type(key) in _NUMBERS else key] = self._compose(self._next(), depth + 1)
        return members

    def _scalar(self, event: Any) -> Any:
        """Return a leaf by its tag, or a plain leaf by its form; text where nothing else fits."""
        tag = event.tag
        if tag is None:
            tag = self._resolver.resolve(self._yaml.ScalarNode, event.value, event.implicit)
        kind = tag.removeprefix(_TAG)
        if kind == "binary":
            return self._binary(event)
        is_known = kind in {"null", "bool", "int", "float"}
        if not is_known or ":" in event.value or len(event.value) > _LONGEST_LEAF:
            return event.value
        construct = getattr(self._constructor, f"construct_yaml_{kind}")
        try:
            return construct(self._yaml.ScalarNode(tag, event.value))
        except (ValueError, LookupError):  # a tag that does not fit, no digits, too many of them
            return event.value

    def _binary(self, event: Any) -> bytes:
        try:
            return base64.b64decode("".join(event.value.split()), validate=True)
        except (binascii.Error, ValueError):
            raise self._refused(event, "its base64 is damaged") from None
