"""Load the proxy's settings: from a file, then the environment, then the command line; and check the whole.

Theory of operation. Each source gives values by key, each with its place for messages. A later source overrides an
earlier one, key by key; upstreams of a later source replace all of an earlier one. The remaining values are read by
the table of settings, secrets are fetched, and the whole is checked. All of this continues after a fault, so that one
`ConfigError` has all faults.
"""

from __future__ import annotations

import ipaddress
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from wholecall.errors import meant
from wholecall.proxy.config import (
    KEYS,
    SECTIONS,
    UPSTREAM,
    ClientsConfig,
    Config,
    ConfigError,
    RecordConfig,
    RepairConfig,
    Setting,
    UpstreamConfig,
)
from wholecall.proxy.values import WIRES, Source, is_loopback

_private = True

_PREFIX: Final = "WHOLECALL_PROXY_"
# Variables that Kubernetes sets in each container for a service named `wholecall-proxy`.
_OF_KUBERNETES: Final = re.compile(r"SERVICE_(HOST|PORT(_\w+)?)\Z|PORT(_\d+_(TCP|UDP|SCTP)\w*)?\Z")
# The environment variables that are obeyed, by key.
VARIABLES: Final[Mapping[str, str]] = {
    **{key: setting.variable for key, setting in KEYS.items()},
    "upstream": f"{_PREFIX}UPSTREAM",
}
_NOTHING: Final = object()  # replaces a value that cannot be understood


class _Given(NamedTuple):
    """A value and its place."""

    value: Any
    place: str


_Values = dict[str, _Given]


class _Loading:
    """One run: the variables, and the faults found so far."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.faults: list[str] = []

    def fault(self, place: str, text: str) -> None:
        self.faults.append(f"{place} {text}")

    def read(self, keys: Mapping[str, Setting], given: _Values) -> dict[str, Any]:
        """Return the configuration's values, of those that can be understood; secrets are fetched last."""
        values = {
            key: self._tried(place, keys[key].reader.read, value) for key, (value, place) in given.items()
        }
        for key, value in values.items():
            if isinstance(value, Source):
                values[key] = self._tried(given[key].place, value.fetch, self.environ)
        return {key: value for key, value in values.items() if value is not _NOTHING}

    def _tried(self, place: str, read: Callable[[Any], Any], value: Any) -> Any:
        try:
            return read(value)
        except ValueError as error:
            self.fault(place, str(error))
            return _NOTHING


def load_config(
    path: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Config:
    """Return the configuration of a file, the environment and the command line.

    Args:
        path: the path of the file, TOML; None for no file.
        overrides: values by key, such as `repair.live`, as text or as TOML has them; `upstream` is a list of
            `[NAME=]URL`, which replaces the upstreams of the file.
        environ: variables, for `WHOLECALL_PROXY_…` and for secrets; None for those of the process.

    Raises:
        ConfigError: something cannot be used; the message has a line for each fault.
    """
    loading = _Loading(os.environ if environ is None else environ)
    given, upstreams = ({}, []) if path is None else _of_file(Path(path), loading)
    words: _Given | None = None
    for more in (_of_environment(loading), _of_command_line(overrides or {}, loading)):
        words = more.pop("upstream", words)
        given.update(more)
    if words is not None:
        upstreams = _of_words(words, loading, has_wires="serve" in given)
    if not upstreams and not loading.faults:
        loading.faults.append(
            "there is no upstream: give one with --upstream URL, or as [[upstream]] in the file"
        )
    config = _made(given, upstreams, loading)
    faults = loading.faults + ([] if config is None else check(config))
    if config is None or faults:
        raise ConfigError(*faults)
    return config


def _made(given: _Values, upstreams: list[_Values], loading: _Loading) -> Config | None:
    """Return the configuration, with defaults for values that cannot be understood; None without a usable upstream."""
    values = loading.read(KEYS, given)
    made = [_upstream(table, number, loading) for number, table in enumerate(upstreams, 1)]
    usable = tuple(upstream for upstream in made if upstream is not None)
    if not usable:
        return None
    by_section = {
        section: {key: values[row.name] for key, row in rows.items() if row.name in values}
        for section, rows in SECTIONS.items()
    }
    return Config(
        upstreams=usable,
        repair=RepairConfig(**by_section["repair"]),
        clients=ClientsConfig(**by_section["clients"]),
        record=RecordConfig(**by_section["record"]),
        **by_section[""],
    )


def _upstream(given: _Values, number: int, loading: _Loading) -> UpstreamConfig | None:
    values = loading.read(UPSTREAM, given)
    if "url" not in given:
        loading.fault(f"upstream {number}", "needs a url")
    if "url" not in values:
        return None
    values.setdefault("name", _host_of(values["url"]))
    return UpstreamConfig(**values)


# The file.


def _of_file(path: Path, loading: _Loading) -> tuple[_Values, list[_Values]]:
    tables, name = _parsed(path), path.name
    upstreams = tables.pop("upstream", [])
    sections = [section for section in SECTIONS if section]
    given: _Values = {}
    for section in sections:
        table = tables.pop(section, {})
        if isinstance(table, dict):
            given |= _known(table, SECTIONS[section], f"{section}.", name, loading)
        else:
            loading.fault(f"{name}: {section}", f"must be a table: [{section}]")
    given |= _known(tables, SECTIONS[""], "", name, loading, ("upstream", *sections))
    if not isinstance(upstreams, list) or not all(isinstance(table, dict) for table in upstreams):
        loading.fault(f"{name}: upstream", "must be tables: [[upstream]], with two brackets on each side")
        return given, []
    return given, [
        _known(table, UPSTREAM, "", f"{name}: upstream {number}", loading)
        for number, table in enumerate(upstreams, 1)
    ]


def _parsed(path: Path) -> dict[str, Any]:
    """Return the content of a file.

    Raises:
        ConfigError: it cannot be read, is not TOML, or no TOML library is available.
    """
    toml = _toml()
    if path.exists() and not (path.is_file() or path.is_dir()):  # reading a pipe would wait forever
        raise ConfigError(f"{path} is no regular file")
    try:
        tables: dict[str, Any] = toml.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} must be TOML, in UTF-8") from None
    except toml.TOMLDecodeError as error:
        where = re.search(r"\(at .*\)", str(error))  # the rest of the message may quote the file
        raise ConfigError(f"{path} is no TOML {where[0] if where else ''}".rstrip()) from None
    return tables


def _toml() -> Any:
    name = "tomllib" if sys.version_info >= (3, 11) else "tomli"
    try:
        return import_module(name)
    except ImportError:
        raise ConfigError(f"a file needs {name} on this Python: pip install 'wholecall[proxy]'") from None


def _known(
    table: dict[str, Any],
    keys: Mapping[str, Setting],
    prefix: str,
    place: str,
    loading: _Loading,
    others: Sequence[str] = (),
) -> _Values:
    """Return the values of a table, and report keys that do not exist."""
    for key in table.keys() - keys.keys():
        loading.fault(f"{place}: {prefix}{key}", f"is no key; {_meant(key, [*keys, *others])}")
    return {
        prefix + key: _Given(value, f"{place}: {prefix}{key}") for key, value in table.items() if key in keys
    }


def _meant(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name.lower().replace("-", "_"), known, 1, 0.6)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(known))}"


# The environment, and the command line.


def _of_environment(loading: _Loading) -> _Values:
    names = {variable: key for key, variable in VARIABLES.items()}
    given: _Values = {}
    for variable in sorted(loading.environ):
        if not variable.startswith(_PREFIX) or _OF_KUBERNETES.match(variable.removeprefix(_PREFIX)):
            continue
        key = names.get(variable)
        if key is None:
            near = get_close_matches(variable, names, 1, 0.6)
            hint = f"did you mean {near[0]}?" if near else f"each is called as its key is, after {_PREFIX}"
            loading.fault(variable, f"is no variable of the proxy; {hint}")
        else:
            given[key] = _Given(_of_text(key, loading.environ[variable]), variable)
    return given


def _of_command_line(overrides: Mapping[str, Any], loading: _Loading) -> _Values:
    given: _Values = {}
    for key, value in overrides.items():
        place = KEYS[key].option if key in KEYS else f"--{key.replace('.', '-').replace('_', '-')}"
        if key not in VARIABLES:
            loading.fault(place, "is no option of the proxy")
            continue
        given[key] = _Given(_of_text(key, value) if isinstance(value, str) else value, place)
    return given


def _of_text(key: str, text: str) -> Any:
    return text.split() if key == "upstream" else KEYS[key].reader.of_text(text)


def _of_words(given: _Given, loading: _Loading, *, has_wires: bool = False) -> list[_Values]:
    """Return the upstreams of `[NAME=]URL`s: of several each has its name for a path.

    Args:
        given: the words.
        loading: takes the faults.
        has_wires: whether a name that is one of an API says that the upstream speaks it.
    """
    words, place = given
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words):
        loading.fault(place, "must be a list of [NAME=]URL")
        return []
    found: list[_Values] = []
    for word in words:
        name, equals, url = word.partition("=")
        if not equals or "/" in name or ":" in name:  # an `=` of the URL
            name, url = _host_of(word), word
        values = {"url": url, "name": name, "path": f"/{name}" if len(words) > 1 else ""}
        if has_wires and meant(name, WIRES) is not None:
            values["wire"] = name
        found.append({key: _Given(value, f"{place}: {key}") for key, value in values.items()})
    return found


def _host_of(url: str) -> str:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    return re.sub("[^A-Za-z0-9.-]", "-", host).strip("-.")[:64] or "upstream"


# Checks of the whole, after each value was checked alone.

_PORTS: Final = {"http": 80, "https": 443}


def check(config: Config) -> list[str]:
    """Return a line for each fault, which says how to correct it."""
    single = (
        *(_open_relay, _plain_http, _names, _never_asked, _itself, _listeners, _libraries, _files),
        _translations,
    )
    return [line for find in single for line in find(config)]


def _open_relay(config: Config) -> Iterator[str]:
    """Check for open access: any client that reaches a key spends its owner's money."""
    with_key = [upstream.name for upstream in config.upstreams if upstream.key is not None]
    if with_key and not config.listen.is_local and not config.clients.tokens:
        yield (
            f"listen: {config.listen} can be reached from other machines, and upstream {with_key[0]} has a key:"
            " set clients.tokens, or listen on 127.0.0.1"
        )


def _plain_http(config: Config) -> Iterator[str]:
    for upstream in config.upstreams:
        url = urlsplit(upstream.url)
        if url.scheme == "http" and not upstream.insecure and not _is_near(url.hostname or ""):
            yield (
                f"upstream {upstream.name}: plain http shows keys and prompts on the way: use https, or set"
                " insecure = true if the network is yours"
            )


def _is_near(host: str) -> bool:
    """Return whether a host is this machine, or has an address of a private network."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return is_loopback(host)
    return address.is_loopback or (
        address.is_private and not (address.is_link_local or address.is_unspecified)
    )


def _names(config: Config) -> Iterator[str]:
    names = Counter(upstream.name for upstream in config.upstreams)
    for name, count in names.items():
        if count > 1:
            yield f"upstream {name}: {count} upstreams have this name; give each its own"


def _never_asked(config: Config) -> Iterator[str]:
    """Check for upstreams that are never asked: of several that take everything below one path only the first is."""
    first: dict[str, UpstreamConfig] = {}
    for upstream in config.upstreams:
        if upstream.models:
            continue
        other = first.setdefault(upstream.path, upstream)
        if other is not upstream:
            yield (
                f"upstream {upstream.name}: is never asked, because upstream {other.name} takes everything below"
                f" {upstream.path or '/'}: give it another path, or models"
            )


def _itself(config: Config) -> Iterator[str]:
    listen = config.listen
    for upstream in config.upstreams:
        url = urlsplit(upstream.url)
        port = url.port or _PORTS[url.scheme]
        host = url.hostname or ""
        if (
            listen.port == port
            and listen.path is None
            and (host == listen.host or _both_local(host, listen.host))
        ):
            yield f"upstream {upstream.name}: is this proxy itself, {listen}: give the provider's URL"


def _both_local(host: str, listened: str) -> bool:
    return is_loopback(host) and (is_loopback(listened) or listened in ("0.0.0.0", "::"))  # noqa: S104 - to compare


def _listeners(config: Config) -> Iterator[str]:
    if (
        config.admin is not None
        and config.admin == config.listen
        and (config.admin.path or config.admin.port)
    ):
        yield f"admin: {config.admin} is where clients ask, too: give it another port"


def _libraries(config: Config) -> Iterator[str]:
    if config.telemetry and find_spec("opentelemetry") is None:
        yield "telemetry: it needs opentelemetry-api: pip install 'wholecall[otel]'"
    if config.repair.tools == "schema" and find_spec("jsonschema_rs") is None:
        yield "repair.tools: schemas need jsonschema-rs: pip install 'wholecall[schema]'"


def _translations(config: Config) -> Iterator[str]:
    wires = [upstream for upstream in config.upstreams if upstream.wire is not None]
    if config.serve is None:
        for upstream in wires:
            yield f"upstream {upstream.name}: has a wire, and nothing is translated: set serve to the clients' API"
        return
    if not wires:
        yield (
            f"serve: nothing says that an upstream speaks another API than {config.serve}: give it a wire,"
            " or a name of its API: --upstream chat=URL"
        )
    if config.no_repair:
        yield "no_repair: translated answers cannot pass unchanged: leave out serve"
    for upstream in wires:
        if upstream.wire != config.serve and config.repair_for(upstream).live:
            yield f"upstream {upstream.name}: translated calls are not shown while they arrive: switch live off"


def _files(config: Config) -> Iterator[str]:
    for name in ("ca_bundle", "tls_cert", "tls_key"):
        path: Path | None = getattr(config, name)
        if path is not None and not (path.is_file() and os.access(path, os.R_OK)):
            yield f"{name}: {path} cannot be read"
    if (config.tls_cert is None) != (config.tls_key is None):
        yield "tls_cert and tls_key go together: give both, or none"
    folder = config.record.dir
    if folder is not None and folder.exists() and not folder.is_dir():
        yield f"record.dir: {folder} is no folder"
