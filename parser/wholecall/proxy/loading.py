"""Load the proxy's configuration: from a file, then the environment, then the command line.

Theory of operation. Each source gives *settings*: the value of a key, and its location, for messages. A later source
overrides an earlier one, key by key; upstreams of a later source replace all of an earlier one. The remaining settings
are read by the table of keys, secrets are fetched, and the whole is checked. All of this continues after a fault, so
that one `ConfigError` has all faults.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

from wholecall.proxy.checks import check
from wholecall.proxy.config import (
    ClientsConfig,
    Config,
    ConfigError,
    RecordConfig,
    RepairConfig,
    Secret,
    UpstreamConfig,
)
from wholecall.proxy.keys import OPTIONS, SECTIONS, TOP, UPSTREAM, Reading, Unread, named_url
from wholecall.proxy.secrets import fetched, single, split

__all__ = ["VARIABLES", "load_config"]
_private = True

PREFIX: Final = "WHOLECALL_PROXY_"
# Variables that Kubernetes sets in each container for a service named `wholecall-proxy`.
_OF_KUBERNETES: Final = re.compile(r"SERVICE_(HOST|PORT(_\w+)?)\Z|PORT(_\d+_(TCP|UDP|SCTP)\w*)?\Z")
_KEYS: Final[Mapping[str, Reading]] = {
    **TOP,
    **{f"{section}.{key}": reading for section, keys in SECTIONS.items() for key, reading in keys.items()},
}
# The environment variables that are obeyed, by key.
VARIABLES: Final[Mapping[str, str]] = {
    key: PREFIX + key.upper().replace(".", "_") for key in (*_KEYS, "upstream")
}

_Checked = TypeVar("_Checked")
_NOTHING: Final = object()  # replaces a value that cannot be understood


class _Setting(NamedTuple):
    """A value and its location."""

    value: Any
    place: str


_Settings = dict[str, _Setting]


class _Faults:
    """The faults found so far."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, place: str, text: str) -> None:
        self.lines.append(f"{place} {text}")

    def read(self, keys: Mapping[str, Reading], settings: _Settings) -> dict[str, Any]:
        """Return the values of settings, of those that can be understood."""
        read = {key: self._read(keys[key], setting) for key, setting in settings.items()}
        return {key: value for key, value in read.items() if value is not _NOTHING}

    def _read(self, reading: Reading, setting: _Setting) -> Any:
        try:
            return reading.read(setting.value)
        except ValueError as error:
            self.add(setting.place, str(error))
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
    environ = os.environ if environ is None else environ
    faults = _Faults()
    settings, upstreams = _of_file(path, faults)
    for more in (_of_environment(environ, faults), _of_command_line(overrides or {}, faults)):
        upstreams = _of_words(more.pop("upstream"), faults) if "upstream" in more else upstreams
        settings.update(more)
    if not upstreams and not faults.lines:
        faults.lines.append(
            "there is no upstream: give one with --upstream URL, or as [[upstream]] in the file"
        )
    config = _made(settings, upstreams, _Vault(environ, faults))
    if config is not None:
        faults.lines += check(config)
    if config is None or faults.lines:
        raise ConfigError(*faults.lines)
    return config


# The file.


def _of_file(path: str | os.PathLike[str] | None, faults: _Faults) -> tuple[_Settings, list[_Settings]]:
    if path is None:
        return {}, []
    tables = _parsed(Path(path))
    settings: _Settings = {}
    name = Path(path).name
    upstreams = tables.pop("upstream", [])
    for section, keys in SECTIONS.items():
        table = tables.pop(section, {})
        if isinstance(table, dict):
            settings |= _known(table, keys, f"{section}.", name, faults)
        else:
            faults.add(f"{name}: {section}", f"must be a table: [{section}]")
    settings |= _known(tables, TOP, "", name, faults, ("upstream", *SECTIONS))
    if not isinstance(upstreams, list) or not all(isinstance(table, dict) for table in upstreams):
        faults.add(f"{name}: upstream", "must be tables: [[upstream]], with two brackets on each side")
        return settings, []
    return settings, [
        _known(table, UPSTREAM, "", f"{name}: upstream {number}", faults)
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
    keys: Mapping[str, Reading],
    prefix: str,
    place: str,
    faults: _Faults,
    others: Sequence[str] = (),
) -> _Settings:
    """Return the settings of a table, and report keys that do not exist."""
    for key in table.keys() - keys.keys():
        faults.add(f"{place}: {prefix}{key}", f"is no key; {_meant(key, [*keys, *others])}")
    return {
        prefix + key: _Setting(value, f"{place}: {prefix}{key}")
        for key, value in table.items()
        if key in keys
    }


def _meant(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name.lower().replace("-", "_"), known, 1, 0.6)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(known))}"


# The environment, and the command line.


def _of_environment(environ: Mapping[str, str], faults: _Faults) -> _Settings:
    names = {variable: key for key, variable in VARIABLES.items()}
    found: _Settings = {}
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or _OF_KUBERNETES.match(variable.removeprefix(PREFIX)):
            continue
        key = names.get(variable)
        if key is None:
            faults.add(variable, f"is no variable of the proxy; {_meant_variable(variable)}")
        else:
            found[key] = _Setting(_of_text(key, environ[variable]), variable)
    return found


def _meant_variable(variable: str) -> str:
    near = get_close_matches(variable, VARIABLES.values(), 1, 0.6)
    return f"did you mean {near[0]}?" if near else "each is called as its key is, after WHOLECALL_PROXY_"


def _of_command_line(overrides: Mapping[str, Any], faults: _Faults) -> _Settings:
    found: _Settings = {}
    for key, value in overrides.items():
        place = OPTIONS.get(key) or "--" + key.replace(".", "-").replace("_", "-")
        if key not in VARIABLES:
            faults.add(place, "is no option of the proxy")
            continue
        found[key] = _Setting(_of_text(key, value) if isinstance(value, str) else value, place)
    return found


def _of_text(key: str, text: str) -> Any:
    return text.split() if key == "upstream" else _KEYS[key].of_text(text)


def _of_words(setting: _Setting, faults: _Faults) -> list[_Settings]:
    """Return the upstreams of `[NAME=]URL`s: of several each has its name for a path."""
    place, words = setting.place, setting.value
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words):
        faults.add(place, "must be a list of [NAME=]URL")
        return []
    pairs = [named_url(word) for word in words]
    found: list[_Settings] = []
    for name, url in pairs:
        called = _host_of(url) if name is None else name
        path = f"/{called}" if len(pairs) > 1 else ""
        values = {"url": url, "name": called, "path": path}
        found.append({key: _Setting(value, f"{place}: {key}") for key, value in values.items()})
    return found


def _host_of(url: str) -> str:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    return re.sub("[^A-Za-z0-9.-]", "-", host).strip("-.")[:64] or "upstream"


# The whole.


class _Vault(NamedTuple):
    """Where secrets are fetched from."""

    environ: Mapping[str, str]
    faults: _Faults

    def open(self, unread: Unread, place: str, check: Callable[[Secret], _Checked]) -> _Checked | None:
        """Return a secret, None if it cannot be used."""
        try:
            return check(fetched(unread.source, self.environ))
        except ValueError as error:
            self.faults.add(place, str(error))
            return None


def _made(settings: _Settings, upstreams: list[_Settings], vault: _Vault) -> Config | None:
    """Return the configuration, with defaults for values that cannot be understood; None without a usable upstream."""
    values = vault.faults.read(_KEYS, settings)
    if "clients.tokens" in values:
        place = settings["clients.tokens"].place
        values["clients.tokens"] = vault.open(values["clients.tokens"], place, split) or ()
    made = [_upstream(table, number, vault) for number, table in enumerate(upstreams, 1)]
    usable = tuple(upstream for upstream in made if upstream is not None)
    if not usable:
        return None
    return Config(
        upstreams=usable,
        repair=RepairConfig(**_section(values, "repair")),
        clients=ClientsConfig(**_section(values, "clients")),
        record=RecordConfig(**_section(values, "record")),
        **{key: value for key, value in values.items() if "." not in key},
    )


def _section(values: dict[str, Any], section: str) -> dict[str, Any]:
    prefix = f"{section}."
    return {key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)}


def _upstream(table: _Settings, number: int, vault: _Vault) -> UpstreamConfig | None:
    values = vault.faults.read(UPSTREAM, table)
    if "key" in values:
        values["key"] = vault.open(values["key"], table["key"].place, single)
    if "url" not in table:
        vault.faults.add(f"upstream {number}", "needs a url")
    if "url" not in values:
        return None
    values.setdefault("name", _host_of(values["url"]))
    return UpstreamConfig(**values)
