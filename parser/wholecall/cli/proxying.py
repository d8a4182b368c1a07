"""The command `wholecall proxy`: run the proxy, check its file, print settings for clients.

The server needs the extra `proxy`; `check` and `env` do not.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from wholecall.cli.output import OK, UNREADABLE, complain, write
from wholecall.proxy.clients import settings_of
from wholecall.proxy.config import Config, ConfigError, UpstreamConfig
from wholecall.proxy.headers import key_header_of
from wholecall.proxy.keys import UPSTREAM
from wholecall.proxy.loading import VARIABLES, load_config
from wholecall.proxy.serving import serve

__all__ = ["check_file", "serve_proxy", "tell_client"]

_WRONG: Final = 2  # as argparse exits
_URL: Final = "http://127.0.0.1:8117"  # the default address
_LIBRARIES: Final = frozenset({"aiohttp", "httptools", "uvicorn", "uvloop"})


def serve_proxy(options: argparse.Namespace) -> int:
    """Run the proxy until it is stopped, and return the exit code."""
    load = partial(load_config, options.config, _overrides(options))
    config = _loaded(load)
    if config is None:
        return _WRONG
    try:
        return serve(config, load)
    except ImportError as error:
        if error.name not in _LIBRARIES:
            raise
        complain(f"proxy needs {error.name}: pip install 'wholecall[proxy]'")
        return UNREADABLE


def _overrides(options: argparse.Namespace) -> dict[str, Any]:
    """Return the values of the command line, by key."""
    return {key: value for key, value in vars(options).items() if key in VARIABLES}


def _loaded(load: Any) -> Config | None:
    """Return the configuration; None if it cannot be used, after reporting each fault."""
    try:
        config: Config = load()
    except ConfigError as error:
        for fault in error.faults:
            complain(fault)
        return None
    return config


# Output of `check`.


def check_file(options: argparse.Namespace) -> int:
    """Report the faults of a file, or where requests go with it, and return the exit code."""
    config = _loaded(partial(load_config, options.config, _overrides(options)))
    if config is None:
        return _WRONG
    for line in (*_listening(config), "", *_table(_rows(config)), *_hints(config)):
        write(f"{line}\n")
    return OK


def _listening(config: Config) -> Iterator[str]:
    clients = config.clients
    yield f"listens on {config.listen}; " + (
        "health and metrics nowhere" if config.admin is None else f"health and metrics on {config.admin}"
    )
    n_tokens = len(clients.tokens)
    tokens = f"one of {n_tokens} tokens" if n_tokens > 1 else "a token" if n_tokens else "no token"
    yield f"answers as {', '.join(clients.hosts) or 'nobody'}; asks for {tokens}"


def _rows(config: Config) -> Iterator[tuple[str, ...]]:
    yield "path", "models", "upstream", "goes to", "credentials", "calls"
    for upstream in config.upstreams_in_order():
        yield (
            upstream.path or "/",
            " ".join(upstream.models) or "all",
            upstream.name,
            upstream.url,
            _credentials(upstream),
            _calls(config, upstream),
        )


def _credentials(upstream: UpstreamConfig) -> str:
    return "the client's" if upstream.key is None else f"{key_header_of(upstream)} from {upstream.key.source}"


def _calls(config: Config, upstream: UpstreamConfig) -> str:
    if config.no_repair:
        return "as they are"
    repair = config.repair_for(upstream)
    words = ["live" if repair.live else "held"]
    words += [] if repair.text == "off" else [f"text {repair.text}"]
    words += [] if repair.tools == "off" else [f"tools {repair.tools}"]
    return ", ".join(words)


def _table(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    listed = list(rows)
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    for row in listed:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _hints(config: Config) -> Iterator[str]:
    """Yield settings that are valid, but often a mistake."""
    for upstream in config.upstreams:
        if upstream.url.endswith("/v1"):
            yield ""
            yield (
                f"The URL of {upstream.name} ends in /v1: a client whose base URL ends in /v1, too, asks for"
                f" {upstream.url}/v1/..."
            )


def tell_client(options: argparse.Namespace) -> int:
    """Print the settings for a client, and return the exit code."""
    said = options.url or _url_of(options)
    if said is None:
        return _WRONG
    try:
        url: str = UPSTREAM["url"].read(said)
    except ValueError as error:
        options.refuse(f"--url {error}")
        raise
    text, note = settings_of(options.client, url)
    write(text)
    if note:
        sys.stdout.flush()
        complain(note)
    return OK


def _url_of(options: argparse.Namespace) -> str | None:
    """Return the proxy's URL for clients on this machine; None, after a report, if it is not configured."""
    overrides = _overrides(options)
    if options.config is None and not overrides:
        return _URL
    config = _loaded(partial(load_config, options.config, overrides))
    if config is None:
        return None
    if config.listen.path is not None:
        complain(f"it listens on {config.listen}, which has no URL: say with --url where clients reach it")
        return None
    urls = [_base_of(config) + upstream.path for upstream in config.upstreams_in_order()]
    if len(set(urls)) > 1:
        complain(f"it has several upstreams; say which with --url: {', '.join(dict.fromkeys(urls))}")
        return None
    return urls[0]


def _base_of(config: Config) -> str:
    listen = config.listen
    host = _LOOPBACK.get(listen.host, listen.host)  # a client cannot connect to all addresses
    return f"{'http' if config.tls_cert is None else 'https'}://{replace(listen, host=host)}"


_LOOPBACK: Final = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - nothing is bound
