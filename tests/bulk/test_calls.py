from __future__ import annotations

import json
from typing import Any

from tests.support import events
from tests.support.together import together
from wholecall import Policy
from wholecall.bulk.rows import CALL_OF, Judging

RAW = '{"n": 12345678901234567890}'


def row(event: Any, **judging: Any) -> dict[str, Any]:
    """Return the row of an event."""
    return CALL_OF[type(event)](event, Judging(**judging))


@together(
    ("event", "arguments", "raw", "size"),
    [
        (events.call(RAW), RAW, None, len(RAW)),
        (events.call("{'é': 1}"), '{"é":1}', "{'é': 1}", 9),
        (events.call(""), "{}", "", 0),
        (events.custom("free é"), None, "free é", 7),
        (events.builtin("shell", {"n": "é"}), '{"n":"é"}', None, 10),
        (events.server("search", {"n": 1}, raw='{"n": 1}'), '{"n": 1}', None, 8),
        (events.server("search", {"n": 1}, raw="{'n': 1}"), '{"n":1}', "{'n': 1}", 8),
        (events.drop('{"n'), None, '{"n', 3),
    ],
)
def test_texts_of_arguments(event: Any, arguments: str | None, raw: str | None, size: int) -> None:
    """The model's own bytes where they are strict JSON; the text as it came only where it is another one."""
    found, bare = row(event), row(event, arguments=False)

    assert (arguments, raw, size) == tuple(
        found[name] for name in ("arguments", "raw_arguments", "n_arguments_bytes")
    )
    assert (None, None, size) == tuple(
        bare[name] for name in ("arguments", "raw_arguments", "n_arguments_bytes")
    )


def test_numbers_of_javascript() -> None:
    """A policy that changes arguments changes the text, and the original is next to it."""
    event = events.call(RAW)
    event.arguments["n"] = str(event.arguments["n"])
    found = row(event, policy=Policy(json_safe_ints=True))

    assert ({"n": "12345678901234567890"}, RAW) == (json.loads(found["arguments"]), found["raw_arguments"])


def test_half_a_surrogate_pair_stays_an_escape() -> None:
    """Rewritten text is UTF-8 also where its strings are not."""
    found = row(events.call("{'a': '\\ud800', 'b': '\ud800'}", keep=True))

    assert '{"a":"\\ud800","b":"\\ud800"}' == found["arguments"]


def test_ids_that_were_made_are_null() -> None:
    """An id that the wire did not send is null; other oddities do not change it."""
    odd = [("id_generated",), ("duplicate_id",), ()]

    assert [None, "c1", "c1"] == [row(events.call(flags=flags))["call_id"] for flags in odd]


def test_words_of_a_drop() -> None:
    """A drop has a reason and perhaps a sentence, and no status."""
    found = row(events.drop("{", reason="truncated"))

    assert ("dropped", "truncated", None, None) == tuple(
        found[name] for name in ("outcome", "reason", "detail", "status")
    )
