"""Keys and passwords in what is kept of a request and a response: they are left out of what is written for others.

Theory of operation. Of a URL the user goes, the fragment, and each member of the query whose name says that it is a key,
or whose value looks like one: a long run of letters and digits that is no word and no number. Of a content type only the
charset stays. Of a path each segment goes that looks like a key, and what follows a segment that says so (`/key/…`): one
`-` stands for it. Hosts stay as they are.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote_plus, urlsplit, urlunsplit

import msgspec

from wholecall.recordings.model import Recording, Request

__all__ = ["keyless_path", "looks_like_a_key", "plain_type", "without_secrets"]

_NAMES: Final = re.compile(
    r"(?i)key|token|secret|passw|pwd|auth|credential|sig(?:nature)?\Z|sess(?:ion)?|jwt|cookie|bearer|\Acode\Z|user"
)
_MARKS: Final = re.compile(
    r"(?i)\b(?:sk|pk|rk|xox[a-z]|gh[a-z]|hf|glpat|gsk|nvapi|r8|pat)[-_][\w-]{8,}|\bAKIA\w{12}|\bAIza\w{10,}|\beyJ\w{8,}"
)
_RUN: Final = re.compile(r"[A-Za-z0-9+/=]{16,}")

# Segments that say that the next one is a key, and what is one by its form: `bot12345:AbC…`, `Bearer …`.
_ANNOUNCED: Final = re.compile(r"(?i)(?:api[-_]?)?key|(?:access[-_]?)?token|secret|password|auth|bearer")
_TOKEN: Final = re.compile(r"(?i)\bbot\d+:|\A(?:bearer|basic|token)[ :]")


def looks_like_a_key(text: str) -> bool:
    """Whether a text holds what looks like a key: a known beginning, or a long run in which letters and digits mix."""
    runs = (run for run in _RUN.findall(text) if not run.isdigit())
    return _MARKS.search(text) is not None or any(any(map(str.isdigit, run)) for run in runs)


def without_secrets(recording: Recording) -> Recording:
    """Return a recording that says nothing secret beside its chunks, which are passed on as they are."""
    asked = recording.request
    url = None if asked is None or asked.url is None else _plain_url(asked.url)
    return msgspec.structs.replace(
        recording,
        request=None if asked is None else Request(asked.method, url),
        content_type=plain_type(recording.content_type),
    )


def plain_type(content_type: str | None) -> str | None:
    """Return a content type without its parameters, the charset aside."""
    if content_type is None or ";" not in content_type:
        return content_type
    kind, *parameters = content_type.split(";")
    kept = [
        one for one in parameters if one.strip().lower().startswith("charset=") and not looks_like_a_key(one)
    ]
    return ";".join([kind, *kept])


def keyless_path(path: str) -> str:
    """Return a path in which `-` stands for each segment that looks like a key, or that one before it announces."""
    kept: list[str] = []
    announced = False
    for segment in path.split("/"):
        word = unquote_plus(segment)
        secret = bool(word) and (announced or _is_secret_segment(word))
        announced = _ANNOUNCED.fullmatch(word) is not None
        kept.append("-" if secret else segment)
    return "/".join(kept)


def _is_secret_segment(word: str) -> bool:
    named = any("=" in one and _is_secret(one) for one in word.split(";"))
    return named or looks_like_a_key(word) or _TOKEN.search(word) is not None


def _plain_url(url: str) -> str | None:
    """Return a URL without its secrets; None where nobody knows where they would be."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    query = "&".join(member for member in parts.query.split("&") if not _is_secret(member))
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], keyless_path(parts.path), query, ""))


def _is_secret(member: str) -> bool:
    name, _, value = unquote_plus(member).partition("=")
    return _NAMES.search(name) is not None or looks_like_a_key(value) or looks_like_a_key(name)
