"""Rules of the published schemas: each frame and body, by the tables that the repairer completes objects with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, Union

from wholecall.grading.probe.reading.model import member, objects, word
from wholecall.grading.probe.rules import rule
from wholecall.grading.probe.sight import Sight
from wholecall.repairing.schema import BODIES, CHUNK, EVENTS, Kinds, Member, Schema

FlawKind = Literal["missing", "type", "word"]
# Events that the tables leave out, because they hold calls, or nothing.
_PLAIN_EVENTS = frozenset(
    {
        *("response.function_call_arguments.delta", "response.function_call_arguments.done"),
        *("message_stop", "ping", "error"),
    }
)
_CHUNKS: Mapping[str, Schema] = {"chat-completions": CHUNK, "gemini": BODIES["gemini"]}
# Members of the published chunk; others are noted.
_HEAD = frozenset(
    {
        *("id", "object", "created", "model", "choices", "usage", "service_tier", "system_fingerprint"),
        *("obfuscation", "error"),
    }
)
_CHOICE = frozenset({"index", "delta", "message", "finish_reason", "logprobs"})
_DELTA = frozenset({"role", "content", "refusal", "tool_calls", "function_call", "annotations", "audio"})


class Flaw(NamedTuple):
    """A departure from a schema.

    Attributes:
        kind: a required member that is not there, a value of another type, or a word that is none of the wire's.
        path: the members from the top, joined by dots: names of the schema, never of the answer.
    """

    kind: FlawKind
    path: str


def flaws(value: dict[str, Any], asked: Union[Schema, Kinds], path: str = "") -> Iterator[Flaw]:
    """Yield the departures of an object from its schema, at any depth; members that are not in it are passed over."""
    schema = _schema_of(value, asked)
    for name, wanted in schema.members.items():
        yield from _member_flaws(value.get(name), wanted, f"{path}.{name}" if path else name)


def _schema_of(value: dict[str, Any], asked: Union[Schema, Kinds]) -> Schema:
    if isinstance(asked, Schema):
        return asked
    kind = value.get("type")
    return asked.of.get(kind, asked.common) if isinstance(kind, str) else asked.common


def _member_flaws(given: Any, wanted: Member, path: str) -> Iterator[Flaw]:
    is_nullable = not wanted.needed or (
        wanted.stand_in is None and not wanted.is_told and str not in wanted.types
    )
    if given is None:
        if wanted.needed and not is_nullable:
            yield Flaw("missing", path)
    elif type(given) not in wanted.types:
        yield Flaw("type", path)
    elif isinstance(given, str):
        if wanted.words and given not in wanted.words:
            yield Flaw("word", path)
        elif wanted.is_id and not given:
            yield Flaw("missing", path)
    elif wanted.inside is not None:
        for each in [given] if isinstance(given, dict) else objects(given):
            yield from flaws(each, wanted.inside, path)


def _found(sight: Sight) -> list[tuple[int, Flaw]] | None:
    """Return the flaws of an answer with their frames; None where there is nothing to compare."""
    if "schema" not in sight.memo:
        sight.memo["schema"] = None if sight.is_error else _all_flaws(sight)
    found: list[tuple[int, Flaw]] | None = sight.memo["schema"]
    return found


def _all_flaws(sight: Sight) -> list[tuple[int, Flaw]] | None:
    if isinstance(sight.whole, dict):
        return [(0, flaw) for flaw in flaws(sight.whole, BODIES[sight.wire])]
    asked = _CHUNKS.get(sight.wire, EVENTS)
    values = [frame for frame in sight.frames if isinstance(frame.value, dict)]
    found = [
        (frame.number, flaw)
        for frame in values
        for flaw in (*flaws(frame.value, asked), *_of_call(frame.value))
    ]
    return found if values else None


def _of_call(value: dict[str, Any]) -> Iterator[Flaw]:
    """Yield the flaws of an event that brings argument text (Responses)."""
    kind = value.get("type")
    if not isinstance(kind, str) or not kind.startswith("response.function_call_arguments."):
        return
    text = "delta" if kind.endswith("delta") else "arguments"
    for name, types in (
        ("item_id", (str,)),
        ("output_index", (int,)),
        ("sequence_number", (int,)),
        (text, (str,)),
    ):
        given = value.get(name)
        if given is None or (given == "" and name == "item_id"):
            yield Flaw("missing", name)
        elif type(given) not in types:
            yield Flaw("type", name)


def _by_kind(kind: FlawKind) -> Callable[[Sight], rule.Hits]:
    """Return the check for one kind of flaws, one breach for each member."""

    def check(sight: Sight) -> rule.Hits:
        found = _found(sight)
        if found is None:
            return None
        first: dict[str, int] = {}
        for frame, flaw in found:
            if flaw.kind == kind:
                first.setdefault(flaw.path, frame)
        return [rule.Hit(frame, path) for path, frame in first.items()]

    return check


def _role(sight: Sight) -> rule.Hits:
    if sight.answer is None or sight.answer.is_whole or not sight.answer.contents or sight.is_error:
        return None
    is_early = any(label.frame <= sight.answer.contents[0] for label in sight.answer.roles if label.value)
    return [] if is_early else [rule.Hit(sight.answer.contents[0])]


def _whole_object(sight: Sight) -> rule.Hits:
    values = [frame for frame in sight.frames if isinstance(frame.value, dict)]
    choices = [(frame.number, choice) for frame in values for choice in objects(frame.value.get("choices"))]
    return [rule.Hit(number) for number, choice in choices if member(choice, "message")] if choices else None


def _unknown_event(sight: Sight) -> rule.Hits:
    values = [frame for frame in sight.frames if isinstance(frame.value, dict)]
    kinds = [(frame.number, word(frame.value.get("type"))) for frame in values]
    if not kinds:
        return None
    return [rule.Hit(number) for number, kind in kinds if kind not in EVENTS.of and kind not in _PLAIN_EVENTS]


def _unknown_member(sight: Sight) -> rule.Hits:
    values = [frame for frame in sight.frames if isinstance(frame.value, dict)]
    if not values or sight.is_error:
        return None
    return [rule.Hit(frame.number) for frame in values if _has_unknown(frame.value)][:1]


def _has_unknown(value: dict[str, Any]) -> bool:
    choices = objects(value.get("choices"))
    deltas = [member(choice, "delta") for choice in choices]
    return not (
        value.keys() <= _HEAD
        and all(choice.keys() <= _CHOICE for choice in choices)
        and all(delta.keys() <= _DELTA for delta in deltas)
    )


RULES = (
    rule.Rule(
        id="schema.missing",
        severity="minor",
        source=rule.CHAT_STREAM,
        check=_by_kind("missing"),
        says="A member that the published schema requires is missing or null.",
    ),
    rule.Rule(
        id="schema.type",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_by_kind("type"),
        quirks=(39, 95),
        says="A member is of another type than in the published schema: typed clients refuse the frame.",
    ),
    rule.Rule(
        id="schema.word",
        severity="minor",
        source=rule.CHAT_STREAM,
        check=_by_kind("word"),
        quirks=(90, 95),
        says="A member has a word that the published schema does not list.",
    ),
    rule.Rule(
        id="schema.role",
        severity="minor",
        source=rule.CHAT_STREAM,
        check=_role,
        quirks=(95,),
        wires=rule.CHAT_ONLY,
        says="The role does not come before the first content.",
    ),
    rule.Rule(
        id="schema.message-in-stream",
        severity="major",
        source=rule.CHAT_STREAM,
        check=_whole_object,
        quirks=(40, 90),
        wires=rule.CHAT_ONLY,
        says="A chunk holds a whole message.",
    ),
    rule.Rule(
        id="schema.unknown-event",
        severity="note",
        source=rule.RESPONSES,
        check=_unknown_event,
        wires=rule.BLOCKS,
        says="The type of an event is not known here.",
    ),
    rule.Rule(
        id="schema.unknown-member",
        severity="note",
        source=rule.CHAT_STREAM,
        check=_unknown_member,
        wires=rule.CHAT_ONLY,
        says="Chunks hold members that are not in the published schema.",
    ),
)
