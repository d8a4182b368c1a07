"""The published schemas of four wires: the language of their tables, the completion of objects, and the tables.

Theory of operation. Strict clients check each frame against the published schema of its wire, and fail on `"created":
""` or `"usage": {"total_tokens": null}` as if the answer were lost. A schema lists the members of an object with their
types. A value that does not match counts as absent, as it does for the parser; a required member that is absent gets
its stand-in. A member without a stand-in was either sent in earlier frames (ids, the model), which the rewriter knows, or
cannot be made up (a text): then the object cannot be written. Members that are not in the schema stay. A valid object
is returned itself: its frame passes byte for byte.

The tables list required members, the types and words of other members that clients check, and stand-ins for members
that servers leave out. If a published schema requires a member that no client needs and most servers leave out
(`finish_reason` before the end, `logprobs` of a piece of text, the details of `usage`), it is left out here. Calls are
not listed: rewriters compare clients' readings of them with the parser. The words for the end of an answer are here,
too.

Sources, read in November 2026: OpenAI API reference, "The chat completion chunk object", "The chat completion object",
"Responses: streaming events" and "The response object"; Anthropic API reference, "Messages" and "Streaming messages";
Gemini API reference, "GenerateContentResponse".
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_
from typing import Any, Final, NamedTuple, Union

import msgspec
from msgspec.structs import replace

from wholecall.types import TurnReason

Payload = dict[str, Any]
_MOST_WHOLE: Final = 2.0**53  # beyond it, no number has a fraction


class Member(msgspec.Struct, frozen=True):
    """A member of an object.

    Attributes:
        types: its allowed types.
        stand_in: its value for clients where it is absent; None where nothing can be made up.
        needed: whether it must be there.
        is_told: whether earlier frames may have sent it, so that a stand-in is the last resort.
        is_id: whether it is an id, which must not be empty.
        is_label: whether the rewriter reads values of other types, such as `"index": "0"`.
        words: the allowed texts; none for any.
        inside: the schema of the object, or of each object of the list.
        sums: the members whose sum it is, where it is absent.
    """

    types: tuple[type, ...]
    stand_in: Any = None
    needed: bool = True
    is_told: bool = False
    is_id: bool = False
    is_label: bool = False
    words: frozenset[str] = frozenset()
    inside: Schema | Kinds | None = None
    sums: tuple[str, ...] = ()


class Schema:
    """The members of an object.

    Args:
        members: by their names; a sum of other members comes after them.
    """

    __slots__ = ("members", "needed", "told", "types", "untold")

    def __init__(self, members: Mapping[str, Member]) -> None:
        self.members = dict(members)
        self.needed = frozenset(name for name, member in members.items() if member.needed)
        self.told = frozenset(name for name in self.needed if members[name].is_told)
        self.untold = self.needed - self.told
        # Types that need no further look, by member.
        self.types = {
            name: () if member.words or member.is_id or member.inside is not None else member.types
            for name, member in members.items()
        }


class Kinds:
    """Objects that are distinguished by their `type`; for an unknown type only the common members are known.

    Args:
        of: the members of each type.
        common: the members of each of them, including unknown ones.
    """

    __slots__ = ("common", "of")

    def __init__(
        self, of: Mapping[str, Mapping[str, Member]], common: Mapping[str, Member] | None = None
    ) -> None:
        self.of = {kind: Schema(members) for kind, members in of.items()}
        self.common = Schema(common or {})


_Asked = Union[Schema, Kinds]


def conformed(value: Payload, asked: _Asked, *, is_first: bool = False) -> Payload | None:
    """Return an object that matches its schema: itself, if it does; None where a needed member cannot be made up.

    Args:
        value: the object.
        asked: its schema, or those of its possible kinds.
        is_first: whether nothing was sent before: members of earlier frames then get their stand-ins, too.
    """
    schema = _schema_of(value, asked) if isinstance(asked, Kinds) else asked
    if schema is None:
        return None
    edits = _edits(value, schema, is_first)
    needed = schema.needed if is_first else schema.untold
    if not edits and needed <= value.keys():
        return value
    whole = {**value, **edits}
    for name, member in schema.members.items():
        if name in needed and whole.get(name) is None:
            if member.stand_in is None:
                return None
            whole[name] = sum(whole[each] for each in member.sums) if member.sums else member.stand_in
    return {name: each for name, each in whole.items() if each is not None or name not in edits}


def _edits(value: Payload, schema: Schema, is_first: bool) -> Payload:
    """Return the new values of members that do not match the schema; None for those that count as absent."""
    edits: Payload = {}
    for name, given in value.items():
        types = schema.types.get(name)
        if types is None or type(given) in types:
            continue
        member = schema.members[name]
        if given is None:
            if name in schema.needed and (is_first or not member.is_told):
                edits[name] = None
            continue
        found = _fitting(given, member, is_first)
        if found is not given and (is_first or not member.is_label):
            edits[name] = found
    return edits


def stand_ins(schema: Schema) -> Payload:
    """Return the stand-ins for the members of earlier frames, for use when there were none."""
    return {name: member.stand_in for name, member in schema.members.items() if name in schema.told}


def _schema_of(value: Payload, kinds: Kinds) -> Schema | None:
    kind = value.get("type")
    return kinds.of.get(kind, kinds.common) if type(kind) is str and kind else None


def _fitting(given: Any, member: Member, is_first: bool) -> Any:
    """Return a value that matches a member: itself, if it does; None where it counts as absent."""
    kind, inside = type(given), member.inside
    if kind in member.types:
        if kind is str:
            is_word = given in member.words if member.words else not (member.is_id and given == "")
            return given if is_word else None
        if kind is dict and inside is not None:
            return conformed(given, inside, is_first=is_first)
        return given if inside is None else _listed(given, inside, is_first)
    if kind is float and int in member.types:
        return int(given) if abs(given) < _MOST_WHOLE else None
    if kind is dict and given and list in member.types and inside is not None:
        return _listed([given], inside, is_first)  # one object is a list of one (quirk 39)
    return None


def _listed(given: list[Any], asked: _Asked, is_first: bool) -> list[Any]:
    """Return a list of objects without those that cannot match; itself, if all match."""
    found = [conformed(each, asked, is_first=is_first) if type(each) is dict else None for each in given]
    if len(found) == len(given) and all(map(is_, found, given)):
        return given
    return [each for each in found if each is not None]


# The tables.

_Members = Mapping[str, Member]
_Inside = Union[_Members, Kinds]

_TEXT: Final = Member((str,))
_COUNT: Final = Member((int,), 0)
_INDEX: Final = Member((int,), is_told=True, is_label=True)
_OBJECT: Final = Member((dict,))
_ANY: Final = Kinds({})
_TOKENS: Final[_Members] = {"input_tokens": _COUNT, "output_tokens": _COUNT}
_ID: Final = Member((str,), is_id=True, is_told=True)
_MAY: Final[dict[type, Member]] = {
    kind: Member((kind,), needed=False) for kind in (str, int, bool, dict, list)
}


def _word(*words: str) -> Member:
    """Return a member that is one of these words; the first is its stand-in."""
    return Member((str,), words[0], words=frozenset(words))


def _list(inside: _Inside, *, needed: bool = True) -> Member:
    return Member((list,), [] if needed else None, needed, inside=_schema(inside))


def _object(inside: _Inside, stand_in: object = None, *, needed: bool = True) -> Member:
    return Member((dict,), stand_in, needed, inside=_schema(inside))


def _schema(inside: _Inside) -> Schema | Kinds:
    return inside if isinstance(inside, Kinds) else Schema(inside)


def _perhaps(member: Member) -> Member:
    return replace(member, stand_in=None, needed=False)


# Chat Completions.

ROLES: Final = ("assistant", "developer", "system", "user", "tool")
_LOGPROB: Final = {"token": _TEXT, "logprob": Member((float, int)), "bytes": _MAY[list]}
_LOGPROBS: Final = _object(
    {
        name: _list({**_LOGPROB, "top_logprobs": _list(_LOGPROB)}, needed=False)
        for name in ("content", "refusal")
    },
    needed=False,
)
_CHAT_COUNTS: Final = ("prompt_tokens", "completion_tokens")
_CHAT_USAGE: Final = _object(
    {
        **dict.fromkeys(_CHAT_COUNTS, _COUNT),
        "total_tokens": replace(_COUNT, sums=_CHAT_COUNTS),
        "prompt_tokens_details": _MAY[dict],
        "completion_tokens_details": _MAY[dict],
    },
    needed=False,
)
_CHAT_HEAD: Final[_Members] = {
    "id": Member((str,), "chatcmpl-0", is_told=True),
    "created": Member((int,), 0, is_told=True),
    "model": Member((str,), "", is_told=True),
    "service_tier": _MAY[str],
    "system_fingerprint": _MAY[str],
    "usage": _CHAT_USAGE,
}
_DELTA: Final[_Members] = {
    "role": replace(_perhaps(_word(*ROLES)), is_label=True),
    "content": Member((str, list), needed=False, inside=_ANY),  # parts of text are joined later (quirk 95)
    "refusal": _MAY[str],
    "tool_calls": _list({}, needed=False),
}
_CHOICE: Final[_Members] = {
    "index": _INDEX,
    "delta": Member((dict,), is_told=True, inside=Schema(_DELTA)),  # its text may be elsewhere in the frame
    "message": _object(
        {"role": _perhaps(_word(*ROLES))}, needed=False
    ),  # some chunks hold a whole message (quirk 40)
    "finish_reason": replace(_MAY[str], is_label=True),
    "logprobs": _LOGPROBS,
}
CHUNK: Final = Schema(
    {
        **_CHAT_HEAD,
        "object": _word("chat.completion.chunk"),
        "choices": _list(_CHOICE),
    }
)
_ANSWER: Final[_Members] = {
    **_DELTA,
    "role": _word("assistant"),
    "content": _MAY[str],
    "annotations": _MAY[list],
}
_COMPLETION: Final[_Members] = {
    **_CHAT_HEAD,
    "object": _word("chat.completion"),
    "choices": _list(
        {
            "index": _COUNT,
            "message": _object(_ANSWER, {"role": "assistant", "content": None}),
            "finish_reason": Member((str,), "stop"),
            "logprobs": _LOGPROBS,
        }
    ),
}

# Responses.

_PLACE: Final[_Members] = {
    "output_index": _INDEX,
    "sequence_number": _INDEX,
}
_OF_ITEM: Final[_Members] = {"item_id": _ID, **_PLACE}
_PART: Final[_Members] = {"content_index": _COUNT, **_OF_ITEM}
_SUMMARY: Final[_Members] = {"summary_index": _COUNT, **_OF_ITEM}
_CONTENT: Final = Kinds(
    {
        "output_text": {
            "text": Member((str,), ""),
            "annotations": _list(_ANY),
            "logprobs": _MAY[list],
        },
        "refusal": {"refusal": Member((str,), "")},
        "reasoning_text": {"text": Member((str,), "")},
        "summary_text": {"text": Member((str,), "")},
    }
)


def _items(*, status: str) -> Kinds:
    """Return the schemas of items; `status` is that of a message without one."""
    statuses = (status, "in_progress", "completed", "incomplete")
    call = {"id": _ID, "call_id": _TEXT, "name": _TEXT, "status": _perhaps(_word(*statuses))}
    return Kinds(
        {
            "function_call": {**call, "arguments": Member((str,), "")},
            "custom_tool_call": {**call, "input": Member((str,), "")},
            "message": {
                "id": _ID,
                "role": _word("assistant"),
                "status": _word(*statuses),
                "content": _list(_CONTENT),
            },
            "reasoning": {
                "id": _ID,
                "summary": _list(_CONTENT),
                "content": _list(_CONTENT, needed=False),
                "encrypted_content": _MAY[str],
            },
        },
        {"id": _perhaps(_ID)},
    )


_ITEM: Final = _items(status="completed")
_RESPONSE_USAGE: Final = _object(
    {
        **_TOKENS,
        "total_tokens": replace(_COUNT, sums=tuple(_TOKENS)),
        "input_tokens_details": _object({"cached_tokens": _COUNT}, needed=False),
        "output_tokens_details": _object({"reasoning_tokens": _COUNT}, needed=False),
    },
    needed=False,
)
_CHOICES: Final = frozenset({"none", "auto", "required"})
_RESPONSE: Final[_Members] = {
    "id": Member((str,), "resp_0", is_id=True, is_told=True),
    "object": _word("response"),
    "created_at": Member((int, float), 0, is_told=True),
    "model": Member((str,), "", is_told=True),
    "status": _perhaps(_word("completed", "failed", "in_progress", "cancelled", "queued", "incomplete")),
    "output": Member((list,), [], is_told=True, inside=_ITEM),
    "parallel_tool_calls": _MAY[bool],
    "tool_choice": Member((str, dict), needed=False, words=_CHOICES, inside=_ANY),
    "tools": _list(_ANY, needed=False),
    "usage": _RESPONSE_USAGE,
    "error": _MAY[dict],
    "incomplete_details": _MAY[dict],
}
RESPONSE: Final = Schema(_RESPONSE)

# Anthropic.

_BLOCK: Final = Kinds(
    {
        "text": {"text": Member((str,), ""), "citations": _MAY[list]},
        "thinking": {"thinking": Member((str,), ""), "signature": Member((str,), "")},
        "redacted_thinking": {"data": Member((str,), "")},
        "tool_use": {"id": _TEXT, "name": _TEXT, "input": Member((dict,), {})},
    }
)
_DELTAS: Final = Kinds(
    {
        "text_delta": {"text": _TEXT},
        "thinking_delta": {"thinking": _TEXT},
        "signature_delta": {"signature": _TEXT},
        "input_json_delta": {"partial_json": _TEXT},
        "citations_delta": {"citation": _OBJECT},
    }
)
_STOP: Final[_Members] = {"stop_reason": _MAY[str], "stop_sequence": _MAY[str], "container": _MAY[dict]}
_MESSAGE: Final[_Members] = {
    "id": Member((str,), "msg_0", is_id=True),
    "type": _word("message"),
    "role": _word("assistant"),
    "model": Member((str,), ""),
    "content": _list(_BLOCK),
    "usage": _object(_TOKENS, {"input_tokens": 0, "output_tokens": 0}),
    **_STOP,
}
_STOP_WORD: Final = _word("end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal")

# Events of Responses and of Anthropic's, by type.
EVENTS: Final = Kinds(
    {
        **{
            f"response.{word}": {"response": _object(_RESPONSE), "sequence_number": _PLACE["sequence_number"]}
            for word in ("created", "in_progress", "queued", "completed", "incomplete", "failed", "cancelled")
        },
        "response.output_item.added": {"item": _object(_items(status="in_progress")), **_PLACE},
        "response.output_item.done": {"item": _object(_ITEM), **_PLACE},
        "response.content_part.added": {"part": _object(_CONTENT), **_PART},
        "response.content_part.done": {"part": _object(_CONTENT), **_PART},
        "response.output_text.delta": {"delta": _TEXT, "logprobs": _list(_LOGPROB, needed=False), **_PART},
        "response.output_text.done": {"text": _TEXT, "logprobs": _list(_LOGPROB, needed=False), **_PART},
        "response.refusal.delta": {"delta": _TEXT, **_PART},
        "response.refusal.done": {"refusal": _TEXT, **_PART},
        "response.reasoning_summary_part.added": {"part": _object(_CONTENT), **_SUMMARY},
        "response.reasoning_summary_part.done": {"part": _object(_CONTENT), **_SUMMARY},
        "response.reasoning_summary_text.delta": {"delta": _TEXT, **_SUMMARY},
        "response.reasoning_summary_text.done": {"text": _TEXT, **_SUMMARY},
        "response.reasoning_text.delta": {"delta": _TEXT, **_PART},
        "response.reasoning_text.done": {"text": _TEXT, **_PART},
        "message_start": {"message": _object({**_MESSAGE, "stop_reason": _perhaps(_STOP_WORD)})},
        "content_block_start": {"index": _INDEX, "content_block": _object(_BLOCK)},
        "content_block_delta": {"index": _INDEX, "delta": _object(_DELTAS)},
        "content_block_stop": {"index": _INDEX},
        "message_delta": {
            "delta": _object(_STOP, {}),
            "usage": _object({"output_tokens": _COUNT}, {"output_tokens": 0}),
        },
    }
)

# Gemini.

_COUNTS: Final[_Members] = {
    f"{name}TokenCount": _MAY[int]
    for name in ("prompt", "candidates", "total", "thoughts", "cachedContent", "toolUsePrompt")
}
_PARTS: Final = _list({"text": _MAY[str], "thought": _MAY[bool], "thoughtSignature": _MAY[str]}, needed=False)
GEMINI: Final = Schema(
    {
        "candidates": _list(
            {
                "content": _object({"role": _MAY[str], "parts": _PARTS}, needed=False),
                "index": _MAY[int],
                "finishReason": _MAY[str],
                "finishMessage": _MAY[str],
                "safetyRatings": _MAY[list],
            },
            needed=False,
        ),
        "usageMetadata": _object(_COUNTS, needed=False),
        "promptFeedback": _MAY[dict],
        "responseId": _MAY[str],
        "modelVersion": _MAY[str],
    }
)

# Whole bodies, by dialect.
BODIES: Final[Mapping[str, Schema]] = {
    "anthropic": Schema(_MESSAGE),
    "chat-completions": Schema(_COMPLETION),
    "gemini": GEMINI,
    "responses": RESPONSE,
}


class EndWords(NamedTuple):
    """The words for why an answer ended.

    Attributes:
        own: all words of the published schema.
        says: the word for a reason of ours, where the schema has one.
    """

    own: frozenset[str]
    says: Mapping[TurnReason, str]

    def word(self, came: str, reason: TurnReason) -> str:
        """Return a reason in the wire's words; the wire's own word, if it is one of them or the reason has none.

        No word of chat completions says that a server failed: any word written instead would be a false statement.
        """
        return came if came in self.own else self.says.get(reason, came)

    def fitting(self, came: str, claimed: TurnReason, reason: TurnReason) -> str:
        """Return the word for a reason of ours; the wire's own word for the claimed one, if both are called the same."""
        is_same = reason == claimed or self.says.get(reason) == self.says.get(claimed)
        return self.word(came if is_same else "", reason)


END_WORDS: Final[Mapping[str, EndWords]] = {
    "chat-completions": EndWords(
        frozenset({"stop", "length", "tool_calls", "content_filter", "function_call"}),
        {
            "stop": "stop",
            "length": "length",
            "tool_calls": "tool_calls",
            "content_filter": "content_filter",
            "pause": "stop",
        },
    ),
    "anthropic": EndWords(
        frozenset(
            {
                *("end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"),
                *("compaction", "model_context_window_exceeded"),
            }
        ),
        {
            "stop": "end_turn",
            "length": "max_tokens",
            "tool_calls": "tool_use",
            "content_filter": "refusal",
            "pause": "pause_turn",
        },
    ),
    "gemini": EndWords(
        frozenset(
            {
                *(
                    "FINISH_REASON_UNSPECIFIED",
                    "STOP",
                    "MAX_TOKENS",
                    "SAFETY",
                    "RECITATION",
                    "LANGUAGE",
                    "OTHER",
                ),
                *("BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY"),
                *("UNEXPECTED_TOOL_CALL", "IMAGE_PROHIBITED_CONTENT", "NO_IMAGE", "IMAGE_RECITATION"),
                *("IMAGE_OTHER", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE"),
                *("ESCALATION", "PUP_LIMITED_DISABLED", "CONTINUATION", "MODEL_ARMOR"),
            }
        ),
        {
            "stop": "STOP",
            "tool_calls": "STOP",
            "length": "MAX_TOKENS",
            "content_filter": "SAFETY",
            "malformed": "MALFORMED_FUNCTION_CALL",
            **dict.fromkeys(("error", "aborted", "pause", "unknown"), "OTHER"),
        },
    ),
}
