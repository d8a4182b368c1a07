"""Check a configuration as a whole, after each of its values was checked alone."""

from __future__ import annotations

import ipaddress
import os
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from wholecall.proxy.config import Config, UpstreamConfig, is_loopback

__all__ = ["check"]
_private = True

_PORTS: Final = {"http": 80, "https": 443}


def check(config: Config) -> list[str]:
    """Return a line for each fault, which says how to correct it."""
    return [line for find in _CHECKS for line in find(config)]


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
    if config.repair.tools == "schema" and find_spec("jsonschema_rs") is None:
        yield "repair.tools: schemas need jsonschema-rs: pip install 'wholecall[schema]'"


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


_CHECKS: Final[tuple[Callable[[Config], Iterator[str]], ...]] = (
    _open_relay,
    _plain_http,
    _names,
    _never_asked,
    _itself,
    _listeners,
    _libraries,
    _files,
)
