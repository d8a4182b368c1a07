"""The data model of recordings: one recorded response, its bytes in chunks, and its metadata.

Theory of operation. While recordings are enumerated, nothing raises because a file is damaged: the recording keeps
the error, and raises it when its chunks are taken. So one damaged recording does not stop the others. Chunks are
read when they are taken, and can be taken once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NoReturn, Optional
from urllib.parse import urlsplit, urlunsplit

import msgspec

from wholecall.errors import BadRecording

__all__ = ["Chunk", "Recording", "Request", "broken", "provider_of", "without_keys"]

Chunk = tuple[
    Optional[float], bytes
]  # seconds since the response began, None where that is unknown; the bytes

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
    """What was asked.

    Attributes:
        method: the HTTP method, in capitals.
        url: where to; it may hold a key, so it is in no message and no repr.
    """

    method: str | None = None
    url: str | None = None

    def __repr__(self) -> str:
        return f"Request(method={self.method!r})"


class Recording(msgspec.Struct, kw_only=True, eq=False):
    """One recorded response.

    Attributes:
        name: the file's path as it was found (`"-"` for standard input), with `#n` after it where a file holds
            several: the n-th response in it, those counted that were skipped.
        chunks: the bytes as they came, each with its time in seconds since the response began, or None where
            the file does not state it. To be taken once; what was begun, before the next recording is asked for,
            and of standard input in any case. Taking them raises `BadRecording` where the file is damaged.
        form: the format it was read from, a key of `wholecall.recordings.reading.READERS`.
        dialect: the name of the wire format, if whoever recorded it said so; None leaves it to the bytes.
        provider: who answered, if the file or the URL shows it.
        request: what was asked, if the file contains it.
        status: the response's HTTP status, if the file contains it.
        content_type: the response's content type, if the file contains it.
        meta: what else the file says about the recording, JSON values.
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
    """Return who answers at a URL, None if its host is none of the known ones."""
    try:
        host = urlsplit(url or "").hostname or ""
    except ValueError:
        return None
    for suffix, provider in _PROVIDERS.items():
        if host == suffix or host.endswith(f".{suffix}"):
            return provider
    return None


def without_keys(url: str) -> str:
    """Return a URL without user, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
