"""Values of settings: how each type is read from TOML or from text, and where secrets come from.

Theory of operation. A `Reader` takes a value as TOML has it and returns the value in the `Config`, or raises a
`ValueError` whose message continues after the key's name: "must be a number". Text from the environment or the command
line is made into a value of TOML first. The type of a field decides its reader, unless the field names another. A
secret is read as its `Source`, and fetched later. Nothing that may be a secret is part of a message.
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Optional, get_args, get_origin

import msgspec

from wholecall import text_formats
from wholecall.errors import meant

_private = True

_HOST: Final = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?\Z")
_URL: Final = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(/([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*)\Z",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_PATH: Final = re.compile(r"(/[A-Za-z0-9._~!$&'()*+,;=:@-]+)+\Z")
_ORIGIN: Final = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9_.\[\]:-]+\Z")
_SOURCE: Final = re.compile(r"(env|file):.+\Z", re.DOTALL)
_SWITCHES: Final = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}
_MOST_PORTS: Final = 65535


# The wires that are translated; the repairers know them, too, and take long to import.
WIRES: Final = ("anthropic", "chat-completions", "responses")


class Reader(NamedTuple):
    """How a value is read.

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


# Numbers and words.


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")  # noqa: TRY004 - the caller collects these
    return value


def _flag_of_text(text: str) -> Any:
    return _SWITCHES.get(text.strip().lower(), text)


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


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("must be a whole number, 1 or more")
    return value


def _one_of(words: Sequence[str]) -> Reader:
    def read(value: Any) -> str:
        if value not in words:
            raise ValueError(f"must be one of {', '.join(map(repr, words))}")
        return str(value)

    return Reader(read)


def _text_format(value: Any) -> str:
    if value != "off" and value not in text_formats():
        raise ValueError(f"must be 'off' or one of {', '.join(text_formats())}")
    return str(value)


def _wire(value: Any) -> str:
    found = meant(value, WIRES) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"must be one of {', '.join(map(repr, WIRES))}")
    return found


# Places.


class Address(msgspec.Struct, frozen=True):
    """An address to listen at: a host and a port, or a socket of the file system.

    Attributes:
        host: a name or a number, IPv6 without brackets; empty for a socket.
        port: 0 for any free port.
        path: the path of the socket; None if there is a host.
    """

    host: str
    port: int = 0
    path: Optional[str] = None

    def __str__(self) -> str:
        if self.path is not None:
            return f"unix:{self.path}"
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Return whether only programs of the same machine reach it."""
        return self.path is not None or is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, by its number or as `localhost`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


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


def _is_host(text: str) -> bool:
    """Return whether text is the name of a host, or its number, IPv6 without brackets."""
    if ":" not in text:
        return _HOST.match(text) is not None
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _file(value: Any) -> Path:
    return Path(_text(value)).expanduser()


def _url(value: Any) -> str:
    """Return a URL without a slash at its end."""
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


def _host(value: Any) -> str:
    text = _text(value).removeprefix("[").removesuffix("]").lower()
    if not _is_host(text):
        raise ValueError("must be names of hosts, without a scheme and a port")
    return text


def _origin(value: Any) -> str:
    text = _text(value).lower()
    if not _ORIGIN.match(text):
        raise ValueError("must be origins, each as a browser sends it: https://example.com")
    return text


def _list_of(read: Callable[[Any], Any], items: str) -> Reader:
    def read_all(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise ValueError(f"must be a list of {items}")  # noqa: TRY004 - as above
        return tuple(dict.fromkeys(read(item) for item in value))

    def of_text(text: str) -> list[str]:
        return [word for word in re.split(r"[\s,]+", text) if word]

    return Reader(read_all, of_text)


# Secrets.

_MOST_BYTES: Final = 64 * 1024
_LEAST_CHARS: Final = 16
_LEAST_VARIETY: Final = 8  # different characters; of 16 random hexadecimal digits some 10 differ
# Words of examples, of other gateways' pages, and of unfilled templates: they do not count.
_KNOWN: Final = re.compile(
    r"your|change|example|placeholder|replace|required|needed|dummy|secret|password|master|litellm|wholecall"
    r"|tokens?|clients?|api|keys?|here|this|with|0?123456789?|abcdef(ghij)?|(.)\2{3,}",
    re.IGNORECASE,
)


class Secret(msgspec.Struct, frozen=True):
    """A key or a token, which no `repr` shows.

    Attributes:
        source: where it was read: `env:NAME` or `file:PATH`.
        value: the content, without surrounding white space.
    """

    source: str
    value: str

    def __repr__(self) -> str:
        return f"Secret({self.source!r})"


class Source(NamedTuple):
    """A place from which a secret is still to be fetched.

    Attributes:
        place: `env:NAME` or `file:PATH`.
        check: returns the configuration's value for the secret, or raises `ValueError`.
    """

    place: str
    check: Callable[[Secret], Any]

    def fetch(self, environ: Mapping[str, str]) -> Any:
        """Return the configuration's value.

        Raises:
            ValueError: the secret is missing, is not allowed in a header, or is too weak.
        """
        kind, _, name = self.place.partition(":")
        value = _of_variable(name, environ) if kind == "env" else _of_file(Path(name).expanduser())
        value = value.strip()
        if not value:
            raise ValueError(f"says {self.place}, which is empty")
        if not re.fullmatch(r"[\t\n\r -~]+", value):
            raise ValueError(
                f"says {self.place}, which holds what no header may: characters beyond ASCII, or controls"
            )
        return self.check(Secret(self.place, value))


def _of_variable(name: str, environ: Mapping[str, str]) -> str:
    value = environ.get(name)
    if value is None:
        raise ValueError(f"says env:{name}, but the environment has no {name}")
    return value


def _of_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ValueError(f"says file:{path}, which cannot be read: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise ValueError(f"says file:{path}, which is too large for a secret")
    return data.decode("latin-1")


def _key(secret: Secret) -> Secret:
    if len(secret.value.split()) > 1:
        raise ValueError(f"says {secret.source}, which holds white space; it must be a key and nothing else")
    return secret


def _tokens(secret: Secret) -> tuple[Secret, ...]:
    """Return the tokens of a secret, with white space or commas between them."""
    words = [word for word in re.split(r"[\s,]+", secret.value) if word]
    for number, word in enumerate(words, 1):
        token = "the token" if len(words) == 1 else f"token {number}"
        weak = "is too short" if not _is_long(word) else "can be guessed"
        if not _is_long(_KNOWN.sub("", word)):
            raise ValueError(f"says {secret.source}: {token} {weak}; take what openssl rand -hex 32 prints")
    return tuple(Secret(secret.source, word) for word in words)


def _is_long(word: str) -> bool:
    return len(word) >= _LEAST_CHARS and len(set(word)) >= _LEAST_VARIETY


def _secret(check: Callable[[Secret], Any]) -> Reader:
    def read(value: Any) -> Source:
        if not isinstance(value, str) or not _SOURCE.match(value):
            raise ValueError(
                "must say where the secret is, not hold it: env:NAME for an environment variable, file:PATH for a file"
            )
        return Source(value, check)

    return Reader(read)


# The reader of each type. A field of another meaning than its type's names its own.

HOSTS: Final = _list_of(_host, "names of hosts")
MODELS: Final = _list_of(_text, "patterns, such as gpt-*")
NAME: Final = Reader(_name)
ORIGINS: Final = _list_of(_origin, "origins")
PREFIX: Final = Reader(_prefix)
TEXT_FORMAT: Final = Reader(_text_format)
URL: Final = Reader(_url)
WIRE: Final = Reader(_wire)

_OF_TYPES: Final[Mapping[Any, Reader]] = {
    **dict.fromkeys((bool, Optional[bool]), Reader(_flag, _flag_of_text)),
    **dict.fromkeys((Address, Optional[Address]), Reader(_address)),
    int: Reader(_count, _number_of_text),
    Optional[int]: Reader(lambda value: None if value == "off" else _count(value), _number_of_text),
    float: Reader(lambda value: _seconds(value) or 0.0, _number_of_text),  # it may be 0, but not switched off
    Optional[float]: Reader(_seconds, _number_of_text),
    Optional[Path]: Reader(_file),
    Optional[Secret]: _secret(_key),
    tuple[Secret, ...]: _secret(_tokens),
}


def reader_of(kind: Any) -> Reader:
    """Return the reader of a type: one of the table, or that of a `Literal`, which may be optional."""
    if kind in _OF_TYPES:
        return _OF_TYPES[kind]
    return _one_of(get_args(kind if get_origin(kind) is Literal else get_args(kind)[0]))
