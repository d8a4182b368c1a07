"""Recordings without their contents: the same stream with other letters.

Theory of operation
-------------------
The strings of the stream are found in its bytes (`leaves`), and each is kept, or replaced by its substitute (`rules`,
`letters`) of the same size; the text of a call is replaced as one text (`texts`). Then the result is parsed as the
original was: the events must be the same except for the letters, or the recording is refused. Therefore no published
recording behaves differently, and content that this module does not understand does no harm.

To compare events without their letters, words of this package and of the protocol are compared as they are, ids and
names by which of them are equal, all other text by its number of characters, and other values as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec

from wholecall import BadRecording, Event
from wholecall.framing.opening import sniff
from wholecall.recordings import replay, secrets
from wholecall.recordings.model import Chunk, Recording, Request
from wholecall.recordings.redacting import rules
from wholecall.recordings.redacting.leaves import Leaf, Messages, Region, scan_lines, scan_value
from wholecall.recordings.redacting.letters import Alphabets, Field, Letters, respelled
from wholecall.recordings.redacting.texts import Text, texts_of
from wholecall.recordings.timeline.steps import Step, timeline

_HEAD = 4096
_TIME = re.compile(r"[\d\-+:.TZ ]+")
_NAME = re.compile(r"[A-Za-z_$][\w.$-]{0,40}")
_MOST_MEMBERS = 64  # members that are tried, to name the one that a refusal is about
_DIGITS_OF_PATH = re.compile(r"(\[\d+\])")
_WORDS = frozenset(
    [
        "type",
        "kind",
        "dialect",
        "reason",
        "provider_reason",
        "status",
        "flags",
        "edits",
        "anomalies",
        "usage",
    ]
)
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LABELS = frozenset({"id", "name", "namespace", "model"})


class Redaction(msgspec.Struct, frozen=True):
    """The choice of replaced strings, and the key of their substitutes.

    Attributes:
        seed: the key of the substitution; equal seeds give equal letters, and anyone who knows it can read the result.
        names: whether names of tools are replaced, too.
        keep_text: whether the model's text and reasoning are kept.
    """

    seed: str
    names: bool = False
    keep_text: bool = False


def redact(recording: Recording, redaction: Redaction) -> Recording:
    """Return a recording with other letters, in the same chunks at the same times.

    Args:
        recording: the original; its chunks are taken.
        redaction: the choice of replaced strings.

    Raises:
        BadRecording: the recording is damaged, or would no longer be the same stream; the message names it.
    """
    chunks = list(recording.chunks)
    data = b"".join(chunk for _, chunk in chunks)
    alphabets = Alphabets(redaction.seed)
    try:
        other = _other(data, replay.dialect_of(recording), alphabets, redaction)
    except ValueError as error:
        raise BadRecording(f"{recording.name}: it cannot be redacted, {error}") from None
    return Recording(
        name=recording.name,
        chunks=_cut(other, chunks),
        form=recording.form,
        dialect=recording.dialect,
        provider=recording.provider,
        request=_asked(recording.request),
        status=recording.status,
        content_type=secrets.plain_type(recording.content_type),
        meta=_meta(recording.meta, alphabets.of("meta")),
    )


def _other(data: bytes, dialect: str, alphabets: Alphabets, redaction: Redaction) -> bytes:
    """Return other bytes that behave the same.

    Raises:
        ValueError: they would not; the message names the wire's member that makes the difference, if one member does.
    """
    before = list(timeline([(None, data)], dialect))
    shapes = _shapes(before)

    def behaves(other: bytes) -> bool:
        return len(other) == len(data) and shapes == _shapes(timeline([(None, other)], dialect))

    def stream(spared: str | None = None) -> _Stream:
        return _Stream(data, before, alphabets, redaction, spared)

    first = stream()
    other = first.substituted()
    if behaves(other):
        return other
    cause = next((name for name in first.members() if behaves(stream(name).substituted())), None)
    more = "" if cause is None else f": redaction does not know what {cause!r} means there"
    raise ValueError(f"its events would be others{more}")


def _cut(data: bytes, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    start = 0
    for at, chunk in chunks:
        yield at, data[start : start + len(chunk)]
        start += len(chunk)


def _shapes(steps: Iterable[Step]) -> list[Any]:
    return shape(event for step in steps for event in step.events)


def _asked(request: Request | None) -> Request | None:
    """Return a request without the user, the query and the fragment of its URL."""
    if request is None or request.url is None:
        return request
    try:
        parts = urlsplit(request.url)
        host = parts.netloc.rpartition("@")[2]
        return Request(
            request.method, urlunsplit((parts.scheme, host, secrets.keyless_path(parts.path), "", ""))
        )
    except ValueError:
        return Request(request.method, None)


def _meta(value: Any, letters: Letters) -> Any:
    """Return JSON with other letters in all texts but times."""
    if isinstance(value, dict):
        return {key: _meta(one, letters) for key, one in value.items()}
    if isinstance(value, list):
        return [_meta(one, letters) for one in value]
    if isinstance(value, str) and not _TIME.fullmatch(value):
        return letters.plain(value)
    return value


class _Stream:
    """The bytes of a stream and the strings in it."""

    def __init__(
        self,
        data: bytes,
        steps: list[Step],
        alphabets: Alphabets,
        redaction: Redaction,
        spared: str | None = None,
    ) -> None:
        self._data = bytearray(data)
        self._steps = steps
        self._alphabets = alphabets
        self._redaction = redaction
        self._spared = spared
        changes = (change for step in steps for change in step.changes)
        self._tools = {change.name for change in changes if change.name is not None}
        self._members: dict[str, None] = {}  # the names of members whose strings were replaced

    def members(self) -> list[str]:
        """Return the wire's members whose names or values were replaced, except those of arguments."""
        return [name for name in self._members if _NAME.fullmatch(name)][:_MOST_MEMBERS]

    def substituted(self) -> bytes:
        """Return the bytes with other letters.

        Raises:
            ValueError: the strings cannot be found.
        """
        framing = sniff(bytes(self._data[:_HEAD])) or "sse"
        messages = Messages(self._data) if framing == "eventstream" else None
        found = messages.leaves() if messages else scan_lines(Region(self._data), framing)
        leaves = [leaf for leaf in found if leaf.text and not self._is_kept(leaf)]
        if self._spared is not None:
            leaves = [leaf for leaf in leaves if leaf.deep or _member(leaf) != self._spared]
        self._members = dict.fromkeys(_member(leaf) for leaf in leaves if not leaf.deep)
        self._replace(sorted(leaves, key=lambda leaf: leaf.place))
        for region in {leaf.region: None for leaf in leaves}:
            region.close()
        if messages:
            messages.close()
        return bytes(self._data)

    def _is_kept(self, leaf: Leaf) -> bool:
        if leaf.deep:
            return False
        if leaf.is_key:
            return rules.is_key_word(leaf.text)
        if leaf.counts and rules.is_counted(leaf.text):
            return True
        if rules.is_name(leaf.key, leaf.text):
            return not self._redaction.names or leaf.around == "error"  # the name of an error is no tool's
        named = self._redaction.names and rules.named_type(leaf.key, leaf.around, leaf.text)
        key = "model" if (leaf.around, leaf.key) == ("model", "id") else leaf.key  # `"model": {"id": "m"}`
        return not named and rules.is_word(key, leaf.text)

    def _replace(self, leaves: list[Leaf]) -> None:
        values = [leaf for leaf in leaves if not (leaf.is_key or leaf.deep or leaf.bare)]
        texts = texts_of(self._steps, values)
        free = {"".join(text.pieces) for text in texts if text.free}
        found = {leaf: other for text in texts for leaf, other in self._as_one(text)}
        for leaf in leaves:
            _put(leaf, found[leaf] if leaf in found else self._alone(leaf, free))

    def _as_one(self, text: Text) -> list[tuple[Leaf, str]]:
        """Return the strings of one text with their substitutes."""
        if text.kind is not None:
            return text.substituted(self._alphabets.of("argument"))
        return [] if self._redaction.keep_text else text.substituted(self._alphabets.of("text"))

    def _alone(self, leaf: Leaf, free: set[str]) -> str:
        """Return the substitute of a string that is not a piece of a call's text."""
        letters, text = self._alphabets.of(_field(leaf)), leaf.text
        if leaf.bare and rules.is_long_number(text):
            return letters.number(text)
        if leaf.deep or leaf.bare or leaf.is_key:
            return letters.plain(text)
        if (described := self._described(leaf, free)) is not None:
            return described
        if rules.is_named(leaf.key):
            return ";".join(map(letters.plain, text.split(";")))
        if kept := rules.named_type(leaf.key, leaf.around, text):
            return text[:kept] + letters.plain(text[kept:])
        if leaf.key == "jsonPath":
            return "".join(
                part if _DIGITS_OF_PATH.fullmatch(part) else letters.other(part)
                for part in _DIGITS_OF_PATH.split(text)
            )
        if _is_arguments(leaf) and text not in free:
            return letters.arguments(text)
        return text if self._redaction.keep_text and rules.is_text(leaf.key) else letters.plain(text)

    def _described(self, leaf: Leaf, free: set[str]) -> str | None:
        """Return the substitute of a string that is a JSON object about calls of the stream; None for any other.

        Such are a call, `{"name": "tide", "arguments": {…}}` (Coze), and arguments by tools, `{"tide": {…}}` (Dify).
        """
        members = _members_of(leaf.text)
        if members and members.keys() <= self._tools:
            return self._by_tool(leaf.text, members)
        if _decoded(members.get("name")) not in self._tools:
            return None
        region = Region(bytearray(leaf.text.encode("utf-8", "surrogateescape")))
        for inner in scan_value(region, leaf.frame):
            if inner.text and not self._is_kept(inner):
                _put(inner, self._alone(inner, free))
        return region.data.decode("utf-8", "surrogateescape")

    def _by_tool(self, text: str, members: dict[str, str]) -> str:
        """Return an object of arguments by the names of tools with other letters in the arguments."""
        names, letters = self._alphabets.of("name"), self._alphabets.of("argument")
        parts, end = [], 0
        for name, raw in members.items():
            at = text.index(raw, text.index(name, end) + len(name))
            before = text[end:at]
            parts.append(before.replace(name, names.plain(name)) if self._redaction.names else before)
            parts.append(letters.arguments(raw))
            end = at + len(raw)
        return "".join([*parts, text[end:]])


def _members_of(text: str) -> dict[str, str]:
    """Return the members of a JSON object with their values as texts, none if it is no object."""
    if text[:1] != "{":
        return {}
    try:
        return {name: bytes(raw).decode() for name, raw in _OBJECT.decode(text).items()}
    except (msgspec.MsgspecError, UnicodeError):
        return {}


def _decoded(raw: str | None) -> Any:
    return None if raw is None else msgspec.json.decode(raw)


def _member(leaf: Leaf) -> str:
    """Return the name of the member whose name or value a string is."""
    return leaf.text if leaf.is_key else leaf.key


def _field(leaf: Leaf) -> Field:
    """Return the kind of a string's field; a member's name counts as an id, or as an argument inside arguments."""
    if leaf.deep or leaf.key == "jsonPath" or leaf.around in rules.CODE or _is_arguments(leaf):
        return "argument"
    if leaf.is_key or rules.is_id(leaf.key):
        return "id"
    if rules.is_named(leaf.key) or rules.named_type(leaf.key, leaf.around, leaf.text):
        return "name"
    return "comment" if leaf.bare and leaf.key == "comment" else "text"


def _is_arguments(leaf: Leaf) -> bool:
    if leaf.around in rules.CODE:
        return False
    return leaf.key in rules.ARGUMENTS or (leaf.key == "delta" and rules.is_of_call(leaf.frame.event))


def _put(leaf: Leaf, other: str) -> None:
    """Replace a string by its substitute."""
    raw = other if leaf.spelled is None else respelled(leaf.spelled, other)
    leaf.region.data[leaf.start : leaf.end] = raw.encode("utf-8", "surrogateescape")


def shape(events: Iterable[Event[Any]]) -> list[Any]:
    """Return the events of one stream without their letters."""
    labels: dict[tuple[str, str], int] = {}
    return [
        {key: _of(key, value, labels) for key, value in msgspec.to_builtins(event).items()}
        for event in events
    ]


def _of(key: str, value: Any, labels: dict[tuple[str, str], int]) -> Any:
    if key in _WORDS:
        return value if key != "usage" else _counted(value)
    if key in _LABELS and isinstance(value, str):
        return labels.setdefault((key, value), len(labels)), len(value)
    return _sizes(value)


def _sizes(value: Any) -> Any:
    """Return a value of JSON with the sizes of its texts."""
    if isinstance(value, str):
        return ("text", len(value))
    if isinstance(value, dict):
        return [(len(key), _sizes(one)) for key, one in value.items()]
    if isinstance(value, list):
        return [_sizes(one) for one in value]
    return _number(value)


def _counted(value: Any) -> Any:
    """Return usage counts with the sizes of their long numbers."""
    if isinstance(value, dict):
        return {key: _counted(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_counted(one) for one in value]
    return _number(value)


def _number(value: Any) -> Any:
    is_long = type(value) is int and rules.is_long_number(str(value))
    return ("number", len(str(value))) if is_long else value
