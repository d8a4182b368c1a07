"""The command `wholecall proxy`: a reverse proxy that blocks broken tool calls.

Theory of operation. Each option is a key of the proxy's file, and overrides it. Its value is read by the same code as
the file (`wholecall.proxy.loading`), so that faults have the same messages. The actions are in another module, which is
imported when they run: the other commands start without it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, Final

from wholecall.cli.options import add_command_parser

__all__ = ["add_command"]

CLIENTS: Final = (
    "anthropic",
    "claude-code",
    "cline",
    "codex",
    "openai",
    "opencode",
    "vercel",
)  # that `env` knows
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
        commands, "proxy", "forward requests, and block broken tool calls", _ABOUT, _EXAMPLES
    )
    command.set_defaults(run=_later("serve_proxy"), config=None)
    _add_options(command)
    actions = command.add_subparsers(metavar="ACTION")
    check = actions.add_parser("check", help="say what is wrong with a file, and where requests would go")
    check.set_defaults(run=_later("check_file"))
    check.add_argument("config", metavar="FILE", help="TOML, as for --config")
    env = actions.add_parser("env", help="print what a client has to be told")
    env.set_defaults(run=_later("tell_client"), refuse=env.error)
    env.add_argument("client", choices=CLIENTS, metavar="CLIENT", help=", ".join(CLIENTS))
    url = "where it reaches the proxy, with the path of its upstream\n(what the file says, or http://127.0.0.1:8117)"
    env.add_argument("--url", help=url)
    config = "TOML, as the proxy has it: where it listens, and the path of its upstream"
    env.add_argument("--config", default=argparse.SUPPRESS, metavar="FILE", help=config)


def _later(name: str) -> Callable[[argparse.Namespace], int]:
    """Return a function that imports an action and runs it."""

    def run(options: argparse.Namespace) -> int:
        from wholecall.cli import proxying  # noqa: PLC0415 - the other commands do without

        action: Callable[[argparse.Namespace], int] = getattr(proxying, name)
        return action(options)

    return run


# The options: their names, the keys that they set, and their arguments for argparse. An absent option leaves its key
# unchanged.
_OPTIONS: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("--listen", "listen", {"metavar": "ADDRESS", "help": "HOST:PORT or unix:PATH (127.0.0.1:8117)"}),
    (
        "--upstream",
        "upstream",
        {
            "metavar": "[NAME=]URL",
            "action": "append",
            "help": "URL of an upstream; repeat it for several, each at /NAME; replaces\nthe file's upstreams",
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
        {
            "metavar": "FORM",
            "help": "of the access log, on standard error: json, text, off, or auto: text\non a terminal, else json (auto)",
        },
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
