"""Streams of `litellm`, which converts every provider's chunks to Chat Completions.

They have a separate environment: litellm's requirements and those of the SDKs exclude each other.
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from tests.hygiene.source_tree import DOCS
from tests.support.loopback import serve
from tests.support.sdks import Truth, answer, expected, from_bytes, invented, read, swept
from tests.support.surfaces import CLIENTS, MESSAGES
from wholecall import wrap

pytestmark = [
    pytest.mark.sdk,
    # The sockets that frameworks of earlier tests have left open; a test here collects them.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PAGE = DOCS / "sdks.md"


RETOLD = (
    "arguments-unicode",
    "content-among-calls",
    "cut-length",
    "cut-relabelled",
    "error-event",
    "finish-never",
    "index-missing",
    "long-file",
    "parallel-interleaved",
    "single-call",
    "zero-argument-empty",
)
# A call whose arguments come in a member that litellm does not know appears to have none.
CHAT_INVENTED = {"arguments-parsed-beside": (("call_parsed", "check_address", {}),)}


def test_chunks_of_chat_tell_what_the_bytes_tell() -> None:
    """Chunks of a Chat Completions server give the calls and drops of its bytes; its error or a missing end raises."""
    unfinished = {"calls": (), "dropped": (("call_nofinish", "ring_bell", "aborted", '{"times":3}'),)}
    truths = {
        "error-event": Truth("MidStreamFallbackError"),
        "finish-never": Truth("MidStreamFallbackError", **unfinished),
    }

    assert expected("chat-completions", truths, only=RETOLD) == swept(
        "litellm-chat", "chat-completions", only=RETOLD
    )


def test_chunks_of_chat_invent_what_litellm_invents() -> None:
    """In no recording comes a call out that was not on the wire, but for those that litellm makes."""
    assert CHAT_INVENTED == invented(swept("litellm-chat", "chat-completions"), "chat-completions")


BLOCKS = ("cut-max-tokens", "long-edit", "text-and-thinking-parallel", "unicode-pieces", "zero-argument")
MESSAGES_INVENTED = {
    # Arguments that come with the start of a block are lost.
    "input-at-start": (("toolu_01Start", "rotate_logs", {}),),
    # That a block is over is lost.
    "cut-max-tokens-parses": (("toolu_01Del", "delete_files", {"root": "/srv"}),),
    "refusal-after-a-result": (("toolu_rf", "lay_buoy", {"at": "54.1,7.9"}),),
}


def test_chunks_of_messages_tell_what_the_bytes_tell() -> None:
    """Chunks of Anthropic's messages give the calls and drops of usual streams."""
    assert expected("anthropic", {}, only=BLOCKS) == swept("litellm-anthropic", "anthropic", only=BLOCKS)


def test_chunks_of_messages_invent_what_litellm_invents() -> None:
    """In no recording comes a call out that was not on the wire, but for those that litellm makes."""
    assert MESSAGES_INVENTED == invented(swept("litellm-anthropic", "anthropic"), "anthropic")


def test_the_line_of_the_readme_gives_the_calls() -> None:
    """The page's unchanged line gives the calls of the bytes."""
    (line,) = re.findall(r"^\| litellm \| `(stream = [^`]+)` \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    recording = ("chat-completions", "parallel-interleaved")
    with serve(answer(*recording)) as server, CLIENTS["litellm-chat"](server.url) as complete:
        names: dict[str, Any] = {"wrap": wrap, "litellm": SimpleNamespace(completion=complete)}
        names |= {"model": "openai/m", "messages": MESSAGES}
        exec(line, names)  # noqa: S102 - the page is ours
        found = read(names["stream"])

    assert from_bytes(*recording).calls == found.told.calls
