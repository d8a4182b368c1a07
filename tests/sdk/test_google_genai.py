"""Gemini through the `google-genai` SDK."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import wholecall.transport
from tests.support.conforming import STREAMS, stream_of
from tests.support.loopback import serve
from tests.support.sdks import Truth, expected, swept
from wholecall.serving import Answer

pytestmark = pytest.mark.sdk


TRUTHS = {
    # A chunk that is not JSON is raised, and an error among the chunks; the chunk before it is lost with it.
    "cut-stream": Truth("UnknownApiResponseError", dropped=((None, "list_ports", "aborted", ""),)),
    "error-among-the-lines": Truth("ServerError", dropped=((None, "book_berth", "aborted", ""),)),
    "streamed-arguments-lost-frame": Truth(
        "UnknownApiResponseError", dropped=((None, "run_shell", "aborted", ""),)
    ),
    # `finishMessage` is lost, and with it the text of a malformed call.
    "malformed-call": Truth(dropped=((None, None, "unparseable", ""),)),
}


def test_chunks_tell_what_the_bytes_tell() -> None:
    """Chunks give all calls and drops of the bytes, arguments that were streamed in parts among them."""
    assert expected("gemini", TRUTHS) == swept("gemini", "gemini")


@pytest.mark.parametrize("beside", [b": keep-alive\n\n", b"event: message\n", b"id: 7\n"])
def test_the_sdk_reads_what_the_transport_leaves(beside: bytes) -> None:
    """Comments and names of events, which gateways add and for which the SDK fails, do not reach it."""
    genai: Any = importlib.import_module("google.genai")
    httpx: Any = importlib.import_module("httpx")
    data = stream_of("gemini", STREAMS["gemini"][0]).replace(b"data:", beside + b"data:")

    def told(http: Any) -> list[str]:
        with serve(Answer([data], content_type="text/event-stream")) as server, http:
            at = genai.types.HttpOptions(base_url=server.url, httpx_client=http)
            client = genai.Client(api_key="k", http_options=at)
            chunks = client.models.generate_content_stream(model="m", contents="hi")
            return [call.name for chunk in chunks for call in chunk.function_calls or ()]

    with pytest.raises(genai.errors.UnknownApiResponseError):
        told(httpx.Client())
    assert ["f"] == told(wholecall.transport.client(library="httpx"))
