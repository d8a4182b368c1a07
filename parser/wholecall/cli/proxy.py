"""The command `wholecall proxy`: run a reverse proxy that blocks broken tool calls, check its file, set up clients.

Theory of operation. The options are made from the table of settings (`wholecall.proxy.config`): each is a key of the
file, and overrides it. Its value is read by the same code as the file, so that faults have the same messages. Only
running the proxy imports the server, which needs the extra `proxy`.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from wholecall.cli.options import add_command_parser
from wholecall.cli.output import OK, UNREADABLE, complain, write
from wholecall.errors import choices
from wholecall.proxy import loading, serve, values
from wholecall.proxy.config import KEYS, Config, ConfigError, Setting, UpstreamConfig

_WRONG: Final = 2  # as argparse exits
_WIDTH: Final = 70
_LISTENS_AT: Final = f"http://{KEYS['listen'].default}"  # if nothing says otherwise
_LOOPBACK: Final = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - nothing is bound
_LIBRARIES: Final = frozenset({"aiohttp", "httptools", "uvicorn", "uvloop", "websockets"})
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
  wholecall proxy --serve anthropic --upstream chat=http://127.0.0.1:8000
                                                            clients of one API, an engine of another
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
        commands, "proxy", "forward requests, and block broken tool calls", _ABOUT, _EXAMPLES
    )
    command.set_defaults(run=_serve, config=None)
    _add_options(command)
    actions = command.add_subparsers(metavar="ACTION")
    check = actions.add_parser("check", help="say what is wrong with a file, and where requests would go")
    check.set_defaults(run=_check)
    check.add_argument("config", metavar="FILE", help="TOML, as for --config")
    env = actions.add_parser("env", help="print what a client has to be told")
    env.set_defaults(run=_tell, refuse=env.error)
    env.add_argument("client", choices=CLIENTS, metavar="CLIENT", help=", ".join(CLIENTS))
    url = f"where it reaches the proxy, with the path of its upstream\n(what the file says, or {_LISTENS_AT})"
    env.add_argument("--url", help=url)
    config = "TOML, as the proxy has it: where it listens, and the path of its upstream"
    env.add_argument("--config", default=argparse.SUPPRESS, metavar="FILE", help=config)


def _add_options(command: argparse.ArgumentParser) -> None:
    """Add an option for each setting that has one; an absent option leaves its key unchanged."""
    add = partial(command.add_argument, default=argparse.SUPPRESS)
    command.add_argument("--config", metavar="FILE", help="TOML; docs/proxy.md has all its keys")
    url = "URL of an upstream; repeat it for several, each at /NAME; replaces\nthe file's upstreams"
    add("--upstream", metavar="[NAME=]URL", action="append", help=url)
    for key, setting in KEYS.items():
        option, _, metavar = setting.key.option.partition(" ")
        if not option:
            continue
        if isinstance(setting.default, bool):  # the option gives the other value
            add(option, dest=key, action="store_const", const=not setting.default, help=_help(setting))
        else:
            action = "append" if isinstance(setting.default, tuple) else "store"
            add(option, dest=key, metavar=metavar, action=action, help=_help(setting))


def _help(setting: Setting) -> str:
    """Return the description of a setting as plain text, with its default."""
    text, default = setting.description.replace("`", ""), setting.default
    if setting.option.startswith("--no-") and default is True:
        text = f"do not {text}"
    if isinstance(default, tuple):
        text, default = f"{text}; may be given again", ", ".join(default)
    if default is not None and not isinstance(default, bool):
        text += f" ({default:g})" if isinstance(default, float) else f" ({default})"
    return textwrap.fill(text, _WIDTH, break_on_hyphens=False)


# The proxy.


def _serve(options: argparse.Namespace) -> int:
    """Run the proxy until it is stopped."""
    load = partial(loading.load_config, options.config, _overrides(options))
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
    return {key: value for key, value in vars(options).items() if key in loading.VARIABLES}


def _loaded(load: Callable[[], Config]) -> Config | None:
    """Return the configuration; None if it cannot be used, after reporting each fault."""
    try:
        return load()
    except ConfigError as error:
        for fault in error.faults:
            complain(fault)
        return None


# The action `check`.


def _check(options: argparse.Namespace) -> int:
    """Report the faults of a file, or where requests go with it."""
    config = _loaded(partial(loading.load_config, options.config, _overrides(options)))
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
    return (
        "the client's" if upstream.key is None else f"{upstream.credential_header} from {upstream.key.source}"
    )


def _calls(config: Config, upstream: UpstreamConfig) -> str:
    if config.no_repair:
        return "as they are"
    repair = config.repair_for(upstream)
    words = ["live" if repair.live else "held"]
    if upstream.wire not in (None, config.serve):
        words.append(f"{config.serve} said in {upstream.wire}")
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
        is_translated = upstream.wire not in (None, config.serve)  # such a URL is taken as it is
        if upstream.url.endswith("/v1") and not is_translated:
            yield ""
            yield (
                f"The URL of {upstream.name} ends in /v1: a client whose base URL ends in /v1, too, asks for"
                f" {upstream.url}/v1/..."
            )


# The action `env`: a text for each client, with its pitfalls. Variables are written for a shell, with all else in
# comments; other settings are pieces of the file that the client reads.

_CLAUDE_CODE: Final = """\
# Claude Code. Its URL has no /v1: it adds that itself.
export ANTHROPIC_BASE_URL={url}
# It sends a request again after 300 seconds without a first byte; for slow models:
export API_FORCE_IDLE_TIMEOUT=0
# If the proxy asks for a token and has the key, give the token as ANTHROPIC_AUTH_TOKEN. If you keep your own login
# or key, give it beside that: export ANTHROPIC_CUSTOM_HEADERS='x-wholecall-token: ...'
"""
_CODEX: Final = """\
# Codex CLI: ~/.codex/config.toml. A provider of your own, because those that are built in cannot be changed.
model_provider = "wholecall"

[model_providers.wholecall]
name = "OpenAI through wholecall"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"         # a key, or the proxy's token; a login with ChatGPT goes elsewhere
wire_api = "responses"             # the only one that it has
supports_websockets = false        # true is repaired as well, where the provider has them; translated ones have none
stream_idle_timeout_ms = 900000    # it gives up after 300000 without an event
"""
_OPENCODE: Final = """\
{{
  "$schema": "https://opencode.ai/config.json",
  "provider": {{
    "openai": {{ "options": {{ "baseURL": "{url}/v1" }} }},
    "anthropic": {{ "options": {{ "baseURL": "{url}/v1" }} }}
  }}
}}
"""
_CLINE: Final = """\
Cline, in its settings:

  API Provider   OpenAI Compatible
  Base URL       {url}/v1

or, for Anthropic Messages:

  API Provider   Anthropic
  Use custom base URL   {url}    (without /v1)

It asks from where VS Code runs its extensions: under Remote-SSH that is the other machine.
"""
_OPENAI: Final = """\
# OpenAI's SDKs. The URL ends in /v1. Azure's clients do not read it.
export OPENAI_BASE_URL={url}/v1
# If the proxy asks for a token and has the key: export OPENAI_API_KEY=the token
"""
_ANTHROPIC: Final = """\
# Anthropic's SDKs. The URL has no /v1: they add that themselves. Clients for Bedrock and Vertex do not read it.
export ANTHROPIC_BASE_URL={url}
# If the proxy asks for a token and has the key: export ANTHROPIC_API_KEY=the token
"""
_VERCEL: Final = """\
// The AI SDK. Both URLs end in /v1, Anthropic's too, which is otherwise than with Anthropic's own SDK: so do not rely
// on ANTHROPIC_BASE_URL, which both read.
import {{ createAnthropic }} from '@ai-sdk/anthropic';
import {{ createOpenAI }} from '@ai-sdk/openai';

const openai = createOpenAI({{ baseURL: '{url}/v1' }});
const anthropic = createAnthropic({{ baseURL: '{url}/v1' }});
"""

_TEXTS: Final = {
    "anthropic": _ANTHROPIC,
    "claude-code": _CLAUDE_CODE,
    "cline": _CLINE,
    "codex": _CODEX,
    "openai": _OPENAI,
    "opencode": _OPENCODE,
    "vercel": _VERCEL,
}
CLIENTS: Final = tuple(_TEXTS)
# The remarks on a file that has no comments.
_NOTES: Final = {
    "opencode": (
        "opencode.json, in the project or in ~/.config/opencode. Leave out the provider whose models the proxy does"
        " not reach. Both URLs end in /v1, Anthropic's too."
    )
}


def settings_of(client: str, url: str) -> tuple[str, str]:
    """Return the settings of a client, and the remarks on them, which may be empty.

    Args:
        client: one of `CLIENTS`.
        url: where clients reach the proxy, with the path of the upstream, without a slash at its end.

    Raises:
        ValueError: there is no such client.
    """
    if client not in _TEXTS:
        raise ValueError(f"there is no client {client!r}; {choices(client, CLIENTS)}")
    text = _TEXTS[client]
    return text.format(url=shlex.quote(url) if "export" in text else url), _NOTES.get(client, "")


def _tell(options: argparse.Namespace) -> int:
    """Print the settings for a client, and return the exit code."""
    said = options.url or _url_of(options)
    if said is None:
        return _WRONG
    try:
        url: str = values.URL.read(said)
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
        return _LISTENS_AT
    config = _loaded(partial(loading.load_config, options.config, overrides))
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
