"""A repair that knows the last repair: it gives the result of a fresh one, however the list has grown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.test_encoded_is_sound import FORMATS, conversation, talks
from tests.support.examples import examples
from tests.support.histories import SHAPES, Happening, happenings, render
from wholecall import UnknownDialect
from wholecall.history import Repaired, repair_transcript
from wholecall.history.checking import RULES

JSON = dict[str, Any]
# Most growing lists are read anew; the long run looks at enough of those that are not.
MANY = examples(1 / 2, long=2.5)

options = st.fixed_dictionaries(
    {
        "unanswered": st.sampled_from(("synthesise", "keep")),
        "nameless": st.sampled_from(("strip", "rename")),
        "names": st.sampled_from((None, None, frozenset({"read", "f"}))),
        "strict_json_arguments": st.booleans(),
    }
)


def answer(messages: list[JSON], **chosen: Any) -> tuple[Any, ...]:
    """Return the result of a repair: the messages, which of them are the same objects, the report; or the refusal."""
    try:
        found = repair_transcript(messages, **chosen)
    except UnknownDialect as error:
        return (str(error),)
    same = [any(one is given for given in messages) for one in found.messages]
    return found, found.messages, same, found.messages is messages, found.report


def differences(lists: Iterable[list[JSON]], chosen: dict[str, Any]) -> list[str]:
    """Return where a repair of lists, one after the other, gives something else when it knows the one before."""
    last: Repaired | None = None
    wrong: list[str] = []
    for messages in lists:
        known, anew = answer(messages, after=last, **chosen), answer(messages, **chosen)
        if known[1:] != anew[1:] or len(known) != len(anew):
            wrong.append(f"{len(messages)} messages: {known[-1]} instead of {anew[-1]}")
        last = known[0] if len(known) > 1 else last
    return wrong


def growing(messages: list[JSON], tail: list[JSON]) -> Iterator[list[JSON]]:
    """Yield the beginnings of a list, and after each a list that continues differently."""
    for n in range(len(messages) + 1):
        yield messages[:n]
    for n in reversed(range(len(messages) + 1)):
        yield messages
        yield [*messages[:n], *tail]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("shape", sorted(SHAPES))
@MANY
@given(
    parts=st.lists(happenings, min_size=1, max_size=3),
    tail=happenings,
    other=st.sampled_from(sorted(SHAPES)),
    chosen=options,
    auto=st.booleans(),
)
def test_what_is_known_changes_nothing(
    shape: str,
    parts: list[list[Happening]],
    tail: list[Happening],
    other: str,
    chosen: dict[str, Any],
    auto: bool,
) -> None:
    """Sound conversations whose ids meet, and any tail, also of another shape: the same at each length (law 127)."""
    named = {**chosen, "shape": shape}
    messages = [one for part in parts for one in repair_transcript(render(shape, part), **named).messages]
    messages = list(repair_transcript(messages, **named).messages)
    last = render(other if auto else shape, tail)

    assert [] == differences(growing(messages, last), {**chosen, "shape": "auto"} if auto else named)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("format", FORMATS)
@examples(1 / 4)
@given(first=talks, then=talks, chosen=options, auto=st.booleans())
def test_turns_that_were_encoded_grow(
    format: str, first: Any, then: Any, chosen: dict[str, Any], auto: bool
) -> None:
    """Encoded turns and other turns after them, in every written shape: the same at each length (law 127)."""
    chosen = {**chosen, "shape": "auto" if auto else RULES[format].view.name}
    messages, tail = (conversation(talk[0], format, *talk[1:]) for talk in (first, then))

    assert [] == differences(growing([*messages, *tail[1:]], tail), chosen)


class Once(dict[str, Any]):
    """A message that counts its reads."""

    reads = 0

    def get(self, *key: Any) -> Any:
        """Count, and return a member."""
        self.reads += 1
        return super().get(*key)


def turns(n: int, start: int = 0) -> list[Any]:
    """Return turns of chat: a call each, with its result."""
    return [
        message
        for number in range(start, start + n)
        for message in (
            Once(
                role="assistant",
                content=None,
                tool_calls=[
                    {
                        "id": f"c{number}",
                        "type": "function",
                        "function": {"name": "f", "arguments": '{"x":1}'},
                    }
                ],
            ),
            Once(role="tool", tool_call_id=f"c{number}", content="ok"),
        )
    ]


def test_settled_messages_are_not_read() -> None:
    """Sound messages before the last answer are not read again; those after it are."""
    messages = [Once(role="user", content="go"), *turns(5)]
    last = repair_transcript(messages)
    before = [message.reads for message in messages]
    messages += turns(1, 5)
    found = repair_transcript(messages, after=last)

    assert found.messages is messages
    assert [0] * 9 == [now.reads - then for now, then in zip(messages[:9], before[:9], strict=True)]
    assert all(now.reads > then for now, then in zip(messages[9:11], before[9:], strict=True))


def test_another_object_is_read() -> None:
    """A replaced message is read, and so are all messages after it."""
    messages = [Once(role="user", content="go"), *turns(3)]
    last = repair_transcript(messages)
    messages[2] = Once(role="tool", tool_call_id="c9", content="ok")

    assert ["c0"] == repair_transcript(messages, after=last).report.synthesised


@pytest.mark.parametrize("changed", [{"strict_json_arguments": True}, {"names": ["g"]}, {"shape": "ollama"}])
def test_other_rules_read_all(changed: dict[str, Any]) -> None:
    """A list that was sound by other rules, or in another shape, is judged anew."""
    messages = [{"role": "user", "content": "go"}, *turns(2)]
    messages[1]["tool_calls"][0]["function"]["arguments"] = "{"
    known = repair_transcript(messages)

    assert (
        repair_transcript(messages, **changed).report
        == repair_transcript(messages, after=known, **changed).report
    )
