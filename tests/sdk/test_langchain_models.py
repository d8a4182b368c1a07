"""LangChain's chunks of messages, as `langchain-openai` and `langchain-anthropic` make them."""

from __future__ import annotations

import pytest

from tests.support.sdks import Truth, expected, invented, swept

pytestmark = pytest.mark.sdk


SPOKEN = (
    "arguments-unicode",
    "cut-length",
    "error-event",
    "finish-never",
    "index-missing",
    "long-file",
    "parallel-interleaved",
    "single-call",
    "zero-argument-empty",
)
# A call whose arguments come next to the text that LangChain reads appears to have none.
ARGUMENTS_LOST = {"arguments-parsed-beside": (("call_parsed", "check_address", {}),)}
# LangChain puts all choices into one message, and marks the message as ended however the stream ended.
CHAT_INVENTED = {
    **ARGUMENTS_LOST,
    "choices-scatter-a-call": (("call_sc", "flood_dock", {"dock": 4, "to": "6 m"}),),
    "dropped-connection": (("call_d1", "lower_gate", {"gate": 2}),),
}


def test_chunks_over_chat_completions_tell_what_the_bytes_tell() -> None:
    """Chunks give the calls and drops of usual streams; the provider's error is raised."""
    truths = {"error-event": Truth("APIError")}

    assert expected("chat-completions", truths, only=SPOKEN) == swept(
        "langchain-chat", "chat-completions", only=SPOKEN
    )


def test_chunks_over_chat_completions_invent_what_langchain_invents() -> None:
    """In no recording comes a call out that was not on the wire, but for those that LangChain makes."""
    assert CHAT_INVENTED == invented(swept("langchain-chat", "chat-completions"), "chat-completions")


ITEMS = (
    "call-only-in-items",
    "completed-empty",
    "deltas-before-added",
    "error-event",
    "ids-on-some-events",
    "incomplete",
    "long-minutes",
    "namespace",
    "output-reordered",
    "single-call",
    "zero-argument",
)
RESPONSES_INVENTED = {
    # Arguments that come whole and not in pieces are lost, and the ids of calls with one id only.
    "done-without-deltas": (("call_da", "index_page", {}), ("call_db", "index_status", {})),
    "call-id-missing": (("call_0_0_1", "read_navtex", {"station": "P"}),),
    # Free text becomes an argument.
    "custom-tool": (("call_ca", "write_query", {"__arg1": 'MATCH (p:Port {name: "Brest"})\nRETURN p{.*}'}),),
    "dropped-connection": (("call_eb", "get_beam", {"vessel": "Tern"}),),
    # The presence of a result in the response is lost, too.
    "executed-by-the-server": (("call_ex1", "hoist", {"flag": "Q"}),),
}


def test_chunks_over_responses_tell_what_the_bytes_tell() -> None:
    """Chunks give the calls and drops of responses, and a cut; an error is raised."""
    truths = {"error-event": Truth("ValueError")}

    assert expected("responses", truths, only=ITEMS) == swept("langchain-responses", "responses", only=ITEMS)


def test_chunks_over_responses_invent_what_langchain_invents() -> None:
    """In no recording comes a call out that was not on the wire, but for those that LangChain makes."""
    assert RESPONSES_INVENTED == invented(swept("langchain-responses", "responses"), "responses")


BLOCKS = (
    "blocks-interleaved",
    "cut-max-tokens",
    "eager-input-faulty",
    "first-piece-lost",
    "long-edit",
    "refusal",
    "stop-never-sent",
    "text-and-thinking-parallel",
    "unicode-pieces",
    "zero-argument",
)
# That a block is over is lost: a call whose text is whole counts as one at the end that LangChain makes up.
MESSAGES_INVENTED = {
    "cut-max-tokens-parses": (("toolu_01Del", "delete_files", {"root": "/srv"}),),
    "dropped-connection": (("toolu_01Out", "check_out", {"guest": 9}),),
    "refusal-after-a-result": (("toolu_rf", "lay_buoy", {"at": "54.1,7.9"}),),
}


def test_chunks_over_messages_tell_what_the_bytes_tell() -> None:
    """Chunks give the calls and drops of messages; a refusal only shows that the text was cut."""
    truths = {"refusal": Truth(dropped=(("toolu_01Ref", "order_parts", "truncated", '{"part": "fuse'),))}

    assert expected("anthropic", truths, only=BLOCKS) == swept(
        "langchain-anthropic", "anthropic", only=BLOCKS
    )


def test_chunks_over_messages_invent_what_langchain_invents() -> None:
    """In no recording comes a call out that was not on the wire, but for those that LangChain makes."""
    assert MESSAGES_INVENTED == invented(swept("langchain-anthropic", "anthropic"), "anthropic")
