"""Bedrock through `boto3`: binary event streams, of Converse and of invoked models."""

from __future__ import annotations

import pytest

from tests.support.sdks import Truth, expected, swept

pytestmark = pytest.mark.sdk


# Exceptions of the stream are raised, and so is a message that does not fit its checksum.
CONVERSE = {
    "stream-exception": Truth("EventStreamError"),
    "unmodelled-error": Truth("EventStreamError"),
    "wrong-checksum": Truth("ChecksumMismatch"),
}
INVOKE: dict[str, dict[str, Truth]] = {
    "anthropic": {"throttled": Truth("EventStreamError")},
    "chat-completions": {
        "internal-exception": Truth("EventStreamError"),
        "wrong-checksum": Truth("ChecksumMismatch"),
    },
    "cohere-v1": {"throttled": Truth("EventStreamError")},
    "cohere-v2": {
        "chunk-without-base64": Truth(
            "Error", dropped=(("clear_deck_1", "clear_deck", "aborted", '{"deck":"lower'),)
        ),
        "model-timeout": Truth("EventStreamError"),
    },
    "legacy-completions": {
        "service-unavailable": Truth("EventStreamError"),
        "wrong-checksum": Truth("ChecksumMismatch"),
    },
    "nova": {"model-timeout": Truth("EventStreamError")},
}


def test_events_of_converse_tell_what_the_bytes_tell() -> None:
    """Events of Converse give all calls and drops of the binary stream."""
    assert expected("bedrock-converse", CONVERSE, "bin") == swept(
        "bedrock-converse", "bedrock-converse", "bin"
    )


@pytest.mark.parametrize("model", sorted(INVOKE))
def test_chunks_of_an_invoked_model_tell_what_the_bytes_tell(model: str) -> None:
    """Chunks of each family of models give all calls and drops of the binary stream."""
    dialect = f"bedrock-invoke-{model}"

    assert expected(dialect, INVOKE[model], "bin") == swept("bedrock-invoke", dialect, "bin")
