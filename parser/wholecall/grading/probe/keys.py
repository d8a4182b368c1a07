"""Keys of the probe: where they come from, where they may go, and how they are kept out of everything that is written.

Theory of operation. A key is read from an environment variable, and from nowhere else. It is sent to the host of the
endpoint's URL alone: redirects are answers that are not followed, and plain http takes a key to a loopback address only.
A server may show a key that it got, in a body or an error. Therefore each answer is searched before it is judged or
stored: the key as it is, as JSON, URLs and Base64 spell it, also where it is cut in two chunks, is covered with
asterisks of the same length. No message of an error holds a name or a value that the user gave for a key.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

from wholecall.recordings.model import Chunk
from wholecall.recordings.secrets import plain_url

SHORTEST = 8  # characters; a shorter one (`EMPTY`, `none`) is a placeholder, and could be part of any word
_VISIBLE = re.compile(r"[\x21-\x7e]+")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS = frozenset({"host", "content-length", "content-type", "transfer-encoding", "accept-encoding"})


class KeyTrouble(ValueError):
    """A key, a header or a URL that the probe does not use; the message holds none of it."""


class Secret:
    """The value of a key; it is in no repr.

    Args:
        value: the value.
        name: the header that carries it.
    """

    __slots__ = ("name", "value")

    def __init__(self, value: str, name: str) -> None:
        self.value = value
        self.name = name

    def __repr__(self) -> str:
        return f"Secret(name={self.name!r})"


def secret_from(variable: str, name: str, environment: Mapping[str, str] | None = None) -> Secret:
    """Return the secret in an environment variable.

    Args:
        variable: the variable's name.
        name: the header that will carry it.
        environment: the variables; None for those of the process.

    Raises:
        KeyTrouble: there is no such variable, or its value is no visible ASCII text.
    """
    value = (os.environ if environment is None else environment).get(variable, "").strip()
    if not value:
        raise KeyTrouble(
            "the option for a key takes the name of an environment variable, and the one that was given is not set"
        )
    if not _VISIBLE.fullmatch(value):
        raise KeyTrouble("the key has characters that no header can carry")
    return Secret(value, name)


def header_from(text: str, environment: Mapping[str, str] | None = None) -> Secret:
    """Return the secret of an option `NAME:ENV`.

    Raises:
        KeyTrouble: the option is not of that form, the header is not one to set, or the variable is not set.
    """
    name, colon, variable = text.partition(":")
    if not colon or not _HEADER_NAME.fullmatch(name.strip()) or name.strip().lower() in _OURS:
        raise KeyTrouble(
            "a header is NAME:ENV: the name of a header, and the environment variable that holds its value"
        )
    return secret_from(variable.strip(), name.strip().lower(), environment)


def checked_url(url: str, *, has_key: bool) -> str:
    """Return a URL that may be asked, without a slash at its end.

    Args:
        url: the URL of the endpoint.
        has_key: whether a key, or a header of the user's, will be sent to it.

    Raises:
        KeyTrouble: it is no http or https URL, it holds a key itself, or it would carry one in the clear.
    """
    parts = _split(url)
    if "@" in parts.netloc or parts.fragment or urlsplit(plain_url(url) or "").query != parts.query:
        raise KeyTrouble(
            "the URL holds a user or what looks like a key; keys are read from environment variables only"
        )
    if has_key and parts.scheme == "http" and not is_loopback(url):
        raise KeyTrouble("a key goes over plain http to a loopback address only; use https")
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), parts.query, ""))


def _split(url: str) -> SplitResult:
    parts: SplitResult | None = None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if parts is None or not usable:
        raise KeyTrouble("the URL is not an http or https URL with a host")
    return parts


def shown_url(url: str) -> str:
    """Return a URL as reports and files show it: without a query, and without parts of the path that look like keys."""
    return (plain_url(url) or "").partition("?")[0]


def is_loopback(url: str) -> bool:
    """Return whether a URL's host is this machine: `localhost`, or an address that says so itself."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Cover:
    """Covers secrets in what a server sent.

    Args:
        secrets: the secrets; those shorter than eight characters are placeholders, and are not covered.
    """

    def __init__(self, secrets: Iterable[Secret]) -> None:
        spelled = {form for one in secrets if len(one.value) >= SHORTEST for form in _spellings(one.value)}
        # the longest first, so that no spelling hides in another one's rest
        ordered = sorted(spelled, key=lambda form: (-len(form), form))
        self._found = re.compile(b"|".join(map(re.escape, ordered))) if ordered else None

    def __repr__(self) -> str:
        return "Cover()"

    def data(self, data: bytes) -> bytes:
        """Return bytes in which each secret is covered with asterisks."""
        return self._found.sub(lambda found: b"*" * len(found[0]), data) if self._found else data

    def text(self, text: str) -> str:
        """Return a text in which each secret is covered with asterisks."""
        return self.data(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def chunks(self, chunks: Iterable[Chunk]) -> tuple[Chunk, ...]:
        """Return chunks of the same lengths and times, with secrets covered, also those cut by a boundary."""
        kept = tuple(chunks)
        whole = b"".join(data for _, data in kept)
        covered = self.data(whole)
        return kept if covered == whole else tuple(_cut(covered, kept))


def _cut(data: bytes, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    start = 0
    for at, chunk in chunks:
        yield at, data[start : start + len(chunk)]
        start += len(chunk)


def _spellings(value: str) -> set[bytes]:
    """Return the ways in which a server may spell a secret in a body."""
    plain = value.encode()
    texts = {
        value,
        json.dumps(value)[1:-1],
        quote(value, safe=""),
        json.dumps(value)[1:-1].replace("/", "\\/"),
    }
    encoded = {form for text in (plain, b"Bearer " + plain) for form in _base64_of(text)}
    return {text.encode() for text in texts} | encoded


def _base64_of(data: bytes) -> Iterator[bytes]:
    """Yield a text in Base64: as it is alone, and the part that is the same whatever follows it."""
    for encode in (b64encode, urlsafe_b64encode):
        yield encode(data)
        yield encode(data[: len(data) // 3 * 3])
