"""Gemini through the `google-genai` SDK."""

from __future__ import annotations

import pytest

from tests.support.sdks import Truth, expected, swept

pytestmark = pytest.mark.sdk


TRUTHS = {
    # A chunk that is no JSON is raised, and an error among the chunks; the chunk before it is lost with it.
    "cut-stream": Truth("UnknownApiResponseError", dropped=((None, "list_ports", "aborted", ""),)),
    "error-among-the-lines": Truth("ServerError", dropped=((None, "book_berth", "aborted", ""),)),
    "streamed-arguments-lost-frame": Truth(
        "UnknownApiResponseError", dropped=((None, "run_shell", "aborted", ""),)
    ),
    # `finishMessage` is lost, and with it the text of a malformed call.
    "malformed-call": Truth(dropped=((None, None, "unparseable", ""),)),
}


def test_chunks_tell_what_the_bytes_tell() -> None:
    """Chunks tell all calls and drops of the bytes, arguments that were streamed in parts among them."""
    assert expected("gemini", TRUTHS) == swept("gemini", "gemini")
