"""Remove keys and passwords from the kept data of a request and a response before it is written for others.

Theory of operation. From a URL the user, the fragment, and secret members of the query are removed. A member is secret
if its name says that it is a key, or if its value looks like a key: a long run of letters and digits that is not a word
and not a number. Of a content type only the charset stays. In a path, `-` replaces each segment that looks like a key,
and the segment after one that announces a key (`/key/…`). Hosts stay as they are.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote_plus, urlsplit, urlunsplit

import msgspec

from wholecall.recordings.model import Recording, Request

_NAMES: Final = re.compile(
    r"(?i)key|token|secret|passw|pwd|auth|credential|sig(?:nature)?\Z|sess(?:ion)?|jwt|cookie|bearer|\Acode\Z|user"
)
_MARKS: Final = re.compile(
    r"(?i)\b(?:sk|pk|rk|xox[a-z]|gh[a-z]|hf|glpat|gsk|nvapi|r8|pat)[-_][\w-]{8,}|\bAKIA\w{12}|\bAIza\w{10,}|\beyJ\w{8,}"
)
_RUN: Final = re.compile(r"[A-Za-z0-9+/=]{16,}")

# Segments that announce a key, and keys recognised by their form: `bot12345:AbC…`, `Bearer …`.
_ANNOUNCED: Final = re.compile(r"(?i)(?:api[-_]?)?key|(?:access[-_]?)?token|secret|password|auth|bearer")
_TOKEN: Final = re.compile(r"(?i)\bbot\d+:|\A(?:bearer|basic|token)[ :]")


def looks_like_a_key(text: str) -> bool:
    """Return whether a text holds a likely key: a known beginning, or a long run of mixed letters and digits."""
    runs = (run for run in _RUN.findall(text) if not run.isdigit())
    return _MARKS.search(text) is not None or any(any(map(str.isdigit, run)) for run in runs)


def without_keys(url: str) -> str:
    """Return a URL without user, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def without_secrets(recording: Recording) -> Recording:
    """Return a recording without secrets except in its chunks, which are passed on unchanged."""
    asked = recording.request
    url = None if asked is None or asked.url is None else plain_url(asked.url)
    return msgspec.structs.replace(
        recording,
        request=None if asked is None else Request(asked.method, url),
        content_type=plain_type(recording.content_type),
    )


def plain_type(content_type: str | None) -> str | None:
    """Return a content type without its parameters, except the charset."""
    if content_type is None or ";" not in content_type:
        return content_type
    kind, *parameters = content_type.split(";")
    kept = [
        one for one in parameters if one.strip().lower().startswith("charset=") and not looks_like_a_key(one)
    ]
    return ";".join([kind, *kept])


def keyless_path(path: str) -> str:
    """Return a path in which `-` replaces each segment that looks like a key, or that the previous one announces."""
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


def plain_url(url: str) -> str | None:
    """Return a URL without its secrets; None where their place is unknown."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    query = "&".join(member for member in parts.query.split("&") if not _is_secret(member))
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], keyless_path(parts.path), query, ""))


def _is_secret(member: str) -> bool:
    name, _, value = unquote_plus(member).partition("=")
    return _NAMES.search(name) is not None or looks_like_a_key(value) or looks_like_a_key(name)
