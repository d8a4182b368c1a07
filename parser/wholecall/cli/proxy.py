"""The command `wholecall proxy`: a reverse proxy that lets no broken tool call through.

Theory of operation. Each option is a key of the proxy's file, and overrides it; how its value is read is the file's
business (`wholecall.proxy.loading`), so that every fault is told in the same words. The proxy itself is imported when it is to
run: it needs the extra `proxy`, and `check` and `env` need nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from importlib import import_module
from typing import Any, Final

from wholecall.cli.options import add_command_parser
from wholecall.cli.out import OK, UNREADABLE, complain, write
from wholecall.proxy.clients import CLIENTS, settings_of
from wholecall.proxy.config import Config, ConfigError, UpstreamConfig
from wholecall.proxy.headers import key_header_of
from wholecall.proxy.keys import UPSTREAM
from wholecall.proxy.loading import VARIABLES, load_config

__all__ = ["add_command"]

_WRONG: Final = 2  # as argparse exits
_LIBRARIES: Final = frozenset({"aiohttp", "httptools", "uvicorn", "uvloop"})
_ABOUT = """\
A reverse proxy for OpenAI's, Anthropic's and compatible APIs. It passes everything as it came, but for answers with
tool calls: there calls come out whole, or not at all (docs/proxy.md). Clients in any language use it by their base URL.
It listens on 127.0.0.1:8117 and nowhere else, unless it is told to.

Place it next to the provider, behind any gateway that translates: a gateway invents ends and fills gaps, and behind
it nobody can see what was lost.

Each option is a key of the file, too, and overrides it. In between stand the variables WHOLECALL_PROXY_...:
WHOLECALL_PROXY_LISTEN, WHOLECALL_PROXY_REPAIR_LIVE, WHOLECALL_PROXY_RECORD_DIR, and so on.
"""
_EXAMPLES = """\
examples:
  wholecall proxy --upstream https://api.openai.com         one provider
  wholecall proxy --upstream openai=https://api.openai.com --upstream anthropic=https://api.anthropic.com
                                                            two of them, at /openai and at /anthropic
  wholecall proxy --config proxy.toml --workers 2           keys, tokens, models: see docs/proxy.md
  wholecall proxy check proxy.toml                          what is wrong with it, and where requests go
  eval "$(wholecall proxy env claude-code)"                 what a client has to be told

exit status:
  0  it was stopped; of check: the file can be used
  2  the command line or the file was wrong
  3  it cannot listen there, or the extra is not installed: pip install 'wholecall[proxy]'
"""


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(
        commands, "proxy", "pass requests on, and let no broken tool call back", _ABOUT, _EXAMPLES
    )
    command.set_defaults(run=_run, config=None)
    _add_options(command)
    actions = command.add_subparsers(metavar="ACTION")
    check = actions.add_parser("check", help="say what is wrong with a file, and where requests would go")
    check.set_defaults(run=_check)
    check.add_argument("config", metavar="FILE", help="TOML, as for --config")
    env = actions.add_parser("env", help="print what a client has to be told")
    env.set_defaults(run=_env, refuse=env.error)
    env.add_argument("client", choices=CLIENTS, metavar="CLIENT", help=", ".join(CLIENTS))
    url = "where it reaches the proxy, with the path of its upstream (http://127.0.0.1:8117)"
    env.add_argument("--url", type=_url, default="http://127.0.0.1:8117", help=url)


# The options: their names, the keys that they set, and what argparse is told of each. One that is not given leaves its
# key alone.
_OPTIONS: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("--listen", "listen", {"metavar": "ADDRESS", "help": "HOST:PORT or unix:PATH (127.0.0.1:8117)"}),
    (
        "--upstream",
        "upstream",
        {
            "metavar": "[NAME=]URL",
            "action": "append",
            "help": "what to ask; given again, each is at /NAME; takes the place of\nthe file's upstreams",
        },
    ),
    ("--live", "repair.live", {"const": True, "help": "show calls while their arguments arrive"}),
    (
        "--withheld",
        "repair.withheld",
        {"metavar": "END", "help": "how a turn ends that lost all its calls: auto, error, end (auto)"},
    ),
    (
        "--tools",
        "repair.tools",
        {"metavar": "CHECK", "help": "check calls against the request's tools: off, names, schema (off)"},
    ),
    (
        "--text",
        "repair.text",
        {"metavar": "FORMAT", "help": "read calls that models write as text: a format, auto, off (off)"},
    ),
    (
        "--ping",
        "ping",
        {"metavar": "SECONDS", "help": "silence after which a client gets a sign of life, or off (15)"},
    ),
    (
        "--host",
        "clients.hosts",
        {
            "metavar": "NAME",
            "action": "append",
            "help": "a name that clients may call the proxy by, instead of localhost\nand its numbers; may be given again",
        },
    ),
    ("--record", "record.dir", {"metavar": "DIR", "help": "write a recording of each answer, before repair"}),
    (
        "--record-only",
        "record.only",
        {"metavar": "WHICH", "help": "all, or odd: withheld, mended, lost or faulty (all)"},
    ),
    (
        "--admin",
        "admin",
        {"metavar": "ADDRESS", "help": "where /health, /ready, /metrics and /recent are (nowhere)"},
    ),
    (
        "--log",
        "log",
        {"metavar": "FORM", "help": "of the access log, on standard error: json, text, off (json)"},
    ),
    ("--connect-timeout", "connect_timeout", {"metavar": "SECONDS", "help": "to reach an upstream (10)"}),
    (
        "--first-byte-timeout",
        "first_byte_timeout",
        {"metavar": "SECONDS", "help": "until it answers, or off (600)"},
    ),
    (
        "--idle-timeout",
        "idle_timeout",
        {"metavar": "SECONDS", "help": "silence within an answer, or off (300)"},
    ),
    ("--drain", "drain", {"metavar": "SECONDS", "help": "for open answers, once it is told to stop (30)"}),
    (
        "--max-request-bytes",
        "max_request_bytes",
        {"metavar": "N", "help": "of a request that is read (67108864)"},
    ),
    (
        "--max-streams",
        "max_streams",
        {"metavar": "N", "help": "requests at one time, for each worker (1000)"},
    ),
    ("--workers", "workers", {"metavar": "N", "help": "processes (1)"}),
    ("--tls-cert", "tls_cert", {"metavar": "FILE", "help": "a certificate, for clients"}),
    ("--tls-key", "tls_key", {"metavar": "FILE", "help": "its key"}),
    ("--ca-bundle", "ca_bundle", {"metavar": "FILE", "help": "certificates by which upstreams are verified"}),
    ("--no-env-proxy", "env_proxy", {"const": False, "help": "do not obey HTTPS_PROXY and its like"}),
    ("--no-repair", "no_repair", {"const": True, "help": "pass everything as it is, to compare"}),
)


def _add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--config", metavar="FILE", help="TOML; docs/proxy.md has all its keys")
    for name, key, told in _OPTIONS:
        all_told: dict[str, Any] = {"action": "store_const", **told} if "const" in told else told
        command.add_argument(name, dest=key, default=argparse.SUPPRESS, **all_told)


def _url(text: str) -> str:
    try:
        url: str = UPSTREAM["url"].read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"it {error}") from None
    return url


def _run(options: argparse.Namespace) -> int:
    load = partial(load_config, options.config, _overrides(options))
    config = _loaded(load)
    if config is None:
        return _WRONG
    try:
        import_module("aiohttp")  # which would be missed with the first request only
        from wholecall.proxy.run import serve  # noqa: PLC0415 - an extra

        return serve(config, load)
    except ImportError as error:
        if error.name not in _LIBRARIES:
            raise
        complain(f"proxy needs {error.name}: pip install 'wholecall[proxy]'")
        return UNREADABLE


def _overrides(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the command line says, by key."""
    return {key: value for key, value in vars(options).items() if key in VARIABLES}


def _loaded(load: Any) -> Config | None:
    """Return the configuration; None if it cannot be used, after each fault was told."""
    try:
        config: Config = load()
    except ConfigError as error:
        for fault in error.faults:
            complain(fault)
        return None
    return config


# What `check` prints.


def _check(options: argparse.Namespace) -> int:
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
    """Yield what is no fault, and often a mistake."""
    for upstream in config.upstreams:
        if upstream.url.endswith("/v1"):
            yield ""
            yield (
                f"The URL of {upstream.name} ends in /v1: a client whose base URL ends in /v1, too, asks for"
                f" {upstream.url}/v1/..."
            )


def _env(options: argparse.Namespace) -> int:
    text, note = settings_of(options.client, options.url)
    write(text)
    if note:
        sys.stdout.flush()
        complain(note)
    return OK
