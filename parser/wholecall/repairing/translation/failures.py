"""Error bodies and lists of models of one wire, in the words of another.

Theory of operation. An error has a status, which stays, and a message, which providers keep in a few places; its type is
a word of the client's wire for the status. OpenAI's two wires have the same errors and lists.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any, Final

from wholecall.repairing.encoders.base import json_bytes
from wholecall.repairing.translation.requests import wire_named

_private = True

# Anthropic's words for a status; all others are `api_error`.
_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_CLIENTS_FAULT: Final = range(400, 500)
_TOO_MANY: Final = 429
_MOST_TEXT: Final = 4096  # characters of an error that is no JSON


def translate_error(body: bytes, status: int, client: str) -> bytes:
    """Return the body of an error in the form of the client's wire.

    Args:
        body: of the server's answer; text that is no JSON is the message.
        status: of the answer, which stays.
        client: the wire of the client.

    Raises:
        UnknownDialect: the wire is not one of those that are translated.
    """
    wire = wire_named(client)
    value = _value(body)
    text = body.decode("utf-8", "replace").strip()[:_MOST_TEXT]
    said = next(_messages(value), text) or f"the server answered with the status {status}"
    if wire == "anthropic":
        kind = _TYPES.get(status, "api_error")
        return json_bytes({"type": "error", "error": {"type": kind, "message": said}})
    inner = value.get("error") if isinstance(value, dict) else None
    code = inner.get("code") if isinstance(inner, dict) else None
    kind = "invalid_request_error" if status in _CLIENTS_FAULT else "server_error"
    kind = "rate_limit_error" if status == _TOO_MANY else kind
    code = code if isinstance(code, str) else None
    return json_bytes({"error": {"message": said, "type": kind, "param": None, "code": code}})


def _value(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _messages(value: Any) -> Iterator[str]:
    """Yield the texts in places where servers keep the message of an error."""
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, dict):
        return
    for place in (value.get("error"), value):
        if isinstance(place, str) and place:
            yield place
        elif isinstance(place, dict):
            named = (place.get(name) for name in ("message", "detail", "msg"))
            yield from (text for text in named if isinstance(text, str) and text)


# Models.


def translate_models(body: bytes, client: str) -> bytes | None:
    """Return a list of models, or one of them, in the form of the client's wire; None if the body holds none.

    Args:
        body: the server's answer to `GET /v1/models`, or to `GET /v1/models/ID`.
        client: the wire of the client.

    Raises:
        UnknownDialect: the wire is not one of those that are translated.
    """
    write = _anthropic_model if wire_named(client) == "anthropic" else _openai_model
    value = _value(body)
    if not isinstance(value, dict):
        return None
    listed = value.get("data")
    if not isinstance(listed, list):
        return json_bytes(write(value)) if isinstance(value.get("id"), str) else None
    models = [write(one) for one in listed if isinstance(one, dict) and isinstance(one.get("id"), str)]
    if write is _openai_model:
        return json_bytes({"object": "list", "data": models})
    ends = {"first_id": models[0]["id"], "last_id": models[-1]["id"]} if models else {}
    return json_bytes({"data": models, "has_more": False, "first_id": None, "last_id": None, **ends})


def _anthropic_model(model: dict[str, Any]) -> dict[str, Any]:
    made, name = model.get("created"), model.get("display_name")
    seconds = made if isinstance(made, int) and 0 <= made < 2**32 else 0
    when = datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "type": "model",
        "id": model["id"],
        "display_name": name if isinstance(name, str) else model["id"],
        "created_at": model.get("created_at") or when,
    }


def _openai_model(model: dict[str, Any]) -> dict[str, Any]:
    made, owner = model.get("created"), model.get("owned_by")
    return {
        "id": model["id"],
        "object": "model",
        "created": made if isinstance(made, int) else _seconds(model.get("created_at")),
        "owned_by": owner if isinstance(owner, str) else "the server",
    }


def _seconds(when: object) -> int:
    if not isinstance(when, str):
        return 0
    try:
        return int(datetime.fromisoformat(when.replace("Z", "+00:00")).timestamp())
    except (ValueError, OverflowError):
        return 0
