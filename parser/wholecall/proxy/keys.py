"""The keys of the proxy's file: the values of each, and how text from the environment or a command line is converted.

Theory of operation. A table has a `Reading` for each key. It takes a value as TOML has it and returns the value in the
`Config`, or raises a `ValueError` whose message continues after the key's name: "must be a number". Text from other
places is made into a value of TOML first. Values that may hold a secret are never part of a message.
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

from wholecall import text_formats
from wholecall.proxy.config import Address, KeyHeader, LogForm, PingForm, RecordOnly, ToolsCheck
from wholecall.repairing.withholding import Withheld

__all__ = ["OPTIONS", "SECTIONS", "TOP", "UPSTREAM", "Reading", "Unread", "named_url"]
_private = True

_HOST: Final = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?\Z")
_URL: Final = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(/([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*)\Z",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_PATH: Final = re.compile(r"(/[A-Za-z0-9._~!$&'()*+,;=:@-]+)+\Z")
_SOURCE: Final = re.compile(r"(env|file):.+\Z", re.DOTALL)
_YES: Final = {"true": True, "1": True, "yes": True, "on": True}
_NO: Final = {"false": False, "0": False, "no": False, "off": False}
_MOST_PORTS: Final = 65535


class Unread(NamedTuple):
    """A place from which secrets are still to be read."""

    source: str


class Reading(NamedTuple):
    """How the value of a key is read.

    Attributes:
        read: returns the configuration's value for a value of TOML.
        of_text: returns the value of TOML that a text means.
    """

    read: Callable[[Any], Any]
    of_text: Callable[[str], Any] = str


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("must be text in quotes")
    return value


# Numbers, words.


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")  # noqa: TRY004 - the caller collects these
    return value


def _flag_of_text(text: str) -> Any:
    return {**_YES, **_NO}.get(text.strip().lower(), text)


def _number_of_text(text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        return text
    return int(text) if re.fullmatch("[0-9]{1,18}", text.strip()) else number


def _seconds(value: Any) -> float | None:
    """Return a duration, None if it is switched off."""
    if value == "off":
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError('must be a number of seconds, or "off"')  # noqa: TRY004 - as above
    if value < 0 or not math.isfinite(value):
        raise ValueError("must be a number of seconds, 0 or more")
    return float(value) or None


def _some_seconds(value: Any) -> float:
    """Return a duration that cannot be switched off, but may be zero."""
    return _seconds(value) or 0.0


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("must be a whole number, 1 or more")
    return value


def _bound(value: Any) -> int | None:
    return None if value == "off" else _count(value)


def _one_of(words: Any) -> Reading:
    known = get_args(words)

    def read(value: Any) -> str:
        if value not in known:
            raise ValueError(f"must be one of {', '.join(map(repr, known))}")
        return str(value)

    return Reading(read)


def _text_format(value: Any) -> str:
    if value != "off" and value not in text_formats():
        raise ValueError(f"must be 'off' or one of {', '.join(text_formats())}")
    return str(value)


# Places.


def _address(value: Any) -> Address:
    text = _text(value)
    if text.startswith("unix:"):
        if not text[5:] or "\0" in text:
            raise ValueError("needs a path after unix:")
        return Address("", 0, text[5:])
    host, colon, port = text.rpartition(":")
    if not colon or not host:
        raise ValueError("must be HOST:PORT, such as 127.0.0.1:8117, or unix:PATH")
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        raise ValueError("needs brackets round an IPv6 address: [::1]:8117")
    host = host.removeprefix("[").removesuffix("]")
    if not _is_host(host):
        raise ValueError("has no host that can be listened on before its port")
    if not re.fullmatch("[0-9]{1,5}", port) or int(port) > _MOST_PORTS:
        raise ValueError("must end in a port, 0 to 65535")
    return Address(host, int(port))


def _file(value: Any) -> Path:
    return Path(_text(value)).expanduser()


def _url(value: Any) -> str:
    """Return a URL without a slash at its end; no part of it is put into a message."""
    text = _text(value)
    found = _URL.match(text)
    if (
        found is not None
        and _is_host(found["host"].strip("[]"))
        and 0 < int(found["port"] or 1) <= _MOST_PORTS
    ):
        port = f":{int(found['port'])}" if found["port"] else ""
        return f"{found['scheme'].lower()}://{found['host'].lower()}{port}{found['path'].rstrip('/')}"
    if "@" in text:
        raise ValueError("must hold no user and no password: put a key into `key`")
    if "?" in text or "#" in text:
        raise ValueError("must have no query and no fragment: what clients send is passed on")
    raise ValueError("must be an http or https URL, such as https://api.openai.com")


def _is_host(text: str) -> bool:
    """Return whether text is the name of a host, or its number, IPv6 without brackets."""
    if ":" not in text:
        return _HOST.match(text) is not None
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _prefix(value: Any) -> str:
    if value in ("", "/"):
        return ""
    if not isinstance(value, str) or not _PATH.match(value) or {".", ".."} & set(value.split("/")):
        raise ValueError("must begin with a slash and not end with one, such as /openai")
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or not _NAME.match(value):
        raise ValueError("must be letters, digits, dots, hyphens and underscores")
    return value


# Lists.


def _list_of_text(text: str) -> list[str]:
    return re.split(r"[\s,]+", text.strip(" \t\n,")) if text.strip(" \t\n,") else []


def _list_of(read: Callable[[Any], Any], what: str) -> Reading:
    def read_all(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise ValueError(f"must be a list of {what}")  # noqa: TRY004 - as above
        return tuple(dict.fromkeys(read(item) for item in value))

    return Reading(read_all, _list_of_text)


def _host(value: Any) -> str:
    text = _text(value).removeprefix("[").removesuffix("]").lower()
    if not _is_host(text):
        raise ValueError("must be names of hosts, without a scheme and a port")
    return text


def _origin(value: Any) -> str:
    text = _text(value).lower()
    if not re.fullmatch(r"[a-z][a-z0-9+.-]*://[a-z0-9_.\[\]:-]+", text):
        raise ValueError("must be origins, each as a browser sends it: https://example.com")
    return text


def _secret(value: Any) -> Unread:
    if not isinstance(value, str) or not _SOURCE.match(value):
        raise ValueError(
            "must say where the secret is, not hold it: env:NAME for an environment variable, file:PATH for a file"
        )
    return Unread(value)


# The tables.

_SECONDS: Final = Reading(_seconds, _number_of_text)
_FLAG: Final = Reading(_flag, _flag_of_text)
_COUNT: Final = Reading(_count, _number_of_text)

TOP: Final[Mapping[str, Reading]] = {
    "listen": Reading(_address),
    "admin": Reading(_address),
    "ping": _SECONDS,
    "ping_always": _FLAG,
    "ping_form": _one_of(PingForm),
    "connect_timeout": _SECONDS,
    "first_byte_timeout": _SECONDS,
    "idle_timeout": _SECONDS,
    "write_timeout": _SECONDS,
    "drain": Reading(_some_seconds, _number_of_text),
    "max_request_bytes": _COUNT,
    "max_held_bytes": _COUNT,
    "max_streams": _COUNT,
    "log": _one_of(LogForm),
    "workers": _COUNT,
    "ca_bundle": Reading(_file),
    "tls_cert": Reading(_file),
    "tls_key": Reading(_file),
    "env_proxy": _FLAG,
    "no_repair": _FLAG,
}
SECTIONS: Final[Mapping[str, Mapping[str, Reading]]] = {
    "repair": {
        "live": _FLAG,
        "withheld": _one_of(Withheld),
        "tools": _one_of(ToolsCheck),
        "text": Reading(_text_format),
    },
    "clients": {
        "tokens": Reading(_secret),
        "hosts": _list_of(_host, "names of hosts"),
        "origins": _list_of(_origin, "origins"),
    },
    "record": {
        "dir": Reading(_file),
        "only": _one_of(RecordOnly),
        "max_bytes": Reading(_bound, _number_of_text),
        "requests": _FLAG,
    },
}
UPSTREAM: Final[Mapping[str, Reading]] = {
    "url": Reading(_url),
    "name": Reading(_name),
    "path": Reading(_prefix),
    "models": _list_of(_text, "patterns, such as gpt-*"),
    "key": Reading(_secret),
    "key_header": _one_of(KeyHeader),
    "keep_alive": Reading(_some_seconds, _number_of_text),
    "insecure": _FLAG,
    "live": _FLAG,
    "text": Reading(_text_format),
}

# The keys that options of the command line set, where the option has another name than the key.
OPTIONS: Final[Mapping[str, str]] = {
    "upstream": "--upstream",
    "repair.live": "--live",
    "repair.withheld": "--withheld",
    "repair.tools": "--tools",
    "repair.text": "--text",
    "clients.hosts": "--host",
    "record.dir": "--record",
    "record.only": "--record-only",
    "env_proxy": "--no-env-proxy",
}


def named_url(text: str) -> tuple[str | None, str]:
    """Return the name and the URL of `[NAME=]URL`."""
    name, equals, url = text.partition("=")
    return (name, url) if equals and "/" not in name and ":" not in name else (None, text)
