"""The table of JavaScript clients as the pages show it, made from the expectations of `pytest -m node`.

python -m tests.support.javascript_table     prints it, to be pasted between the markers
"""

from __future__ import annotations

import json
from typing import NamedTuple

from benchmarks.rivals.quirks import STREAMS
from tests.support.javascript import FOLDER, Client

CHAT, ANTHROPIC, RESPONSES = "chat-completions", "anthropic", "responses"
_LATE, _TWICE = "the call only in a last whole message", "deltas, then the whole call again"


class Row(NamedTuple):
    """A client's results on the streams as they are; through the proxy it gets all of them right.

    Attributes:
        client: the client.
        right: the number of its dialect's streams that it gets right.
        wrong: titles of the streams of which it runs, or would run, an invented call.
        lost: titles of the streams of which it silently loses a call.
    """

    client: Client
    right: int
    wrong: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


ROWS: tuple[Row, ...] = (
    Row(Client("openai `.stream()`", CHAT), 14, ("the name in pieces",)),
    Row(Client("openai `.runTools()`", CHAT), 14),
    Row(
        Client("openai, own loop", CHAT),
        13,
        ("the name in pieces", "the name after arguments began"),
        (_LATE,),
    ),
    Row(Client("ai + @ai-sdk/openai", CHAT), 16, (_TWICE,), (_LATE,)),
    Row(Client("ai + @ai-sdk/openai-compatible", CHAT), 18, (_TWICE,), (_LATE,)),
    Row(
        Client("@anthropic-ai/sdk `.stream()`", ANTHROPIC),
        10,
        ("cut text, called finished", "cut at the token limit"),
    ),
    Row(
        Client("@anthropic-ai/sdk, own loop", ANTHROPIC),
        11,
        ("dropped after the name",),
        ("index 0 for every block",),
    ),
    Row(
        Client("ai + @ai-sdk/anthropic", ANTHROPIC),
        11,
        ("a delta that is an object",),  # it runs the tool with {}, after the error
        ("no stop of the block",),
    ),
    Row(Client("openai `responses.stream()`", RESPONSES), 14, (), ("the final response is empty",)),
    Row(
        Client("openai responses, own loop", RESPONSES),
        11,
        (),
        ("position 0 for every item", "the call only in the final response"),
    ),
    Row(
        Client("ai + @ai-sdk/openai", RESPONSES),
        14,
        ("the whole text done twice",),
        ("the item is never done", "the call only in the final response"),
    ),
)


def markdown() -> str:
    """Return the table, and with which versions it was measured."""
    lines = [
        "| client | wire | right as it is | silently wrong | lost, nothing said | right through the proxy |",
        "|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        client, n = row.client, len(STREAMS[row.client.dialect])
        lines.append(
            f"| {client.name} | {client.dialect} | {row.right} of {n} | {len(row.wrong)} | {len(row.lost)} | **{n} of {n}** |"
        )
    return "\n".join([*lines, "", f"Node with {_versions()}.", ""])


def _versions() -> str:
    """Return the packages that were measured, as `package.json` pins them."""
    package = json.loads((FOLDER / "package.json").read_text("utf-8"))
    return ", ".join(f"{name} {version}" for name, version in sorted(package["dependencies"].items()))


if __name__ == "__main__":
    print(markdown(), end="")  # noqa: T201 - that is what it is for
