"""Read a provider's answer from an exception of an SDK or an HTTP client: status, body and headers.

Theory of operation. No SDK is imported: each keeps these under one of a few names, on the exception itself or on the
response that it carries, and botocore in a dict. If none holds a body, the exception's own text replaces it.

Sources: `APIStatusError` of openai, anthropic and groq, `APIError` of google-genai, `SDKError` of mistralai, `ApiError`
of cohere, `ResponseError` of ollama, `ClientError` of botocore, `HTTPStatusError` of httpx, `HTTPError` of requests and
huggingface_hub, `ClientResponseError` of aiohttp.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

__all__ = ["Refusal", "refusal_of"]

_STATUSES = ("status_code", "status", "code", "http_status")
_BODIES = ("body", "details", "error", "detail")  # of the exception; a response has `content`
_FIRST_ERROR = 400


class Refusal(NamedTuple):
    """A provider's answer: its status (0 if unknown), its body, its headers."""

    status: int
    body: Any
    headers: Mapping[str, Any] | None


def refusal_of(error: BaseException) -> Refusal:
    """Return the parts of the provider's answer that an exception holds."""
    response: Any = getattr(error, "response", None) or getattr(error, "raw_response", None)
    if isinstance(response, Mapping):
        return _of_botocore(response)
    found = [*_members(error, _STATUSES), *_members(response, _STATUSES)]
    status = next((one for one in found if isinstance(one, int) and one >= _FIRST_ERROR), 0)
    headers = [one for one in _members(error, ("headers",)) if isinstance(one, Mapping)]
    headers += [one for one in _members(response, ("headers",)) if isinstance(one, Mapping)]
    body = next(iter([*_members(error, _BODIES), *_content(response)]), str(error))
    return Refusal(status, body, headers[0] if headers else None)


def _members(holder: object, names: Iterable[str]) -> list[Any]:
    """Return the members that are not empty."""
    return [value for name in names if (value := getattr(holder, name, None)) not in (None, "", b"")]


def _content(response: object) -> list[Any]:
    """Return the body of a response, none if it was not read yet, for which httpx raises."""
    try:
        return _members(response, ("content", "text"))
    except RuntimeError:
        return []


def _of_botocore(response: Mapping[str, Any]) -> Refusal:
    about = response.get("ResponseMetadata") or {}
    status = about.get("HTTPStatusCode")
    return Refusal(status if isinstance(status, int) else 0, response.get("Error"), about.get("HTTPHeaders"))
