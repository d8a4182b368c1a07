"""The data model of recordings: one recorded response, its bytes in chunks, and its metadata.

Theory of operation. While recordings are enumerated, a damaged file never raises: the recording keeps the error, and
raises it when its chunks are taken. Therefore one damaged recording does not stop the others. Chunks are read when they
are taken, and can be taken once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NoReturn, Optional
from urllib.parse import urlsplit

import msgspec

from wholecall.errors import BadRecording

Chunk = tuple[Optional[float], bytes]  # seconds since the response began, None if unknown; the bytes

# Hosts that identify the provider; a suffix of the host's name is enough.
_PROVIDERS = {
    "api.openai.com": "openai",
    "openai.azure.com": "azure",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "google",
    "aiplatform.googleapis.com": "google",
    "amazonaws.com": "bedrock",
    "api.mistral.ai": "mistral",
    "api.cohere.com": "cohere",
    "api.groq.com": "groq",
    "api.deepseek.com": "deepseek",
    "openrouter.ai": "openrouter",
    "api.x.ai": "xai",
}


class Request(msgspec.Struct, frozen=True):
    """The request of a response.

    Attributes:
        method: the HTTP method, in capitals.
        url: the target; it may hold a key, so it is in no message and no repr.
    """

    method: str | None = None
    url: str | None = None

    def __repr__(self) -> str:
        return f"Request(method={self.method!r})"


class Recording(msgspec.Struct, kw_only=True, eq=False):
    """One recorded response.

    Attributes:
        name: the file's path as it was found (`"-"` for standard input), with `#n` after it where a file holds several:
            the n-th response in it, including skipped responses.
        chunks: the received bytes, each with its time in seconds since the response began, or None where the file does
            not state it. They can be taken once; started chunks have to be taken before the next recording is
            requested, and chunks of standard input in any case. Taking them raises `BadRecording` where the file is
            damaged.
        form: the format of the file, a key of `wholecall.recordings.reading.READERS`.
        dialect: the name of the wire format, if the recorder stated it; None detects it from the bytes.
        provider: the provider that answered, if the file or the URL shows it.
        request: the request, if the file contains it.
        status: the response's HTTP status, if the file contains it.
        content_type: the response's content type, if the file contains it.
        meta: other data of the file about the recording, JSON values.
        trouble: why it cannot be read at all; None where taking the chunks is worth a try.
    """

    name: str
    chunks: Iterator[Chunk]
    form: str = "raw"
    dialect: str | None = None
    provider: str | None = None
    request: Request | None = None
    status: int | None = None
    content_type: str | None = None
    meta: dict[str, Any] = {}
    trouble: str | None = None

    def __repr__(self) -> str:
        trouble = "" if self.trouble is None else f", trouble={self.trouble!r}"
        return f"Recording(name={self.name!r}, form={self.form!r}{trouble})"


def broken(name: str, trouble: str, **known: Any) -> Recording:
    """Return a recording that raises its trouble when its chunks are taken."""
    return Recording(name=name, chunks=_refuse(f"{name}: {trouble}"), trouble=trouble, **known)


def _refuse(message: str) -> Iterator[Chunk]:
    def refuse() -> NoReturn:
        raise BadRecording(message)

    nothing: Iterable[Chunk] = ()
    yield from nothing
    refuse()


def provider_of(url: str | None) -> str | None:
    """Return the provider of a URL, None if its host is unknown."""
    try:
        host = urlsplit(url or "").hostname or ""
    except ValueError:
        return None
    for suffix, provider in _PROVIDERS.items():
        if host == suffix or host.endswith(f".{suffix}"):
            return provider
    return None
