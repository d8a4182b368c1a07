"""`wholecall proxy`: its options, the messages of `check` about a file, and the output of `env` for clients."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wholecall.cli import main
from wholecall.cli.proxy import CLIENTS, add_command, settings_of
from wholecall.proxy.config import KEYS, Config, UpstreamConfig
from wholecall.proxy.loading import VARIABLES, _toml
from wholecall.proxy.values import Address

URL = "https://h.example"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clear the environment variables that the proxy would obey."""
    for name in VARIABLES.values():
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Config, Callable[[], Config]]]:
    """Return the settings that the proxy would run with."""
    calls: list[tuple[Config, Callable[[], Config]]] = []

    def serve(config: Config, load: Callable[[], Config]) -> int:
        calls.append((config, load))
        return 3

    monkeypatch.setattr("wholecall.cli.proxy.serve", serve)
    return calls


def test_options_are_keys(served: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    """Options are read as the file would be; the exit code is that of the server."""
    words = [
        "--upstream",
        URL,
        "--listen",
        "unix:/run/p.sock",
        "--live",
        "--withheld",
        "end",
        "--ping",
        "off",
    ]
    words += ["--host", "a.example", "--host", "b.example", "--record", "kept", "--record-only", "odd"]
    words += [
        "--admin",
        "127.0.0.1:0",
        "--log",
        "text",
        "--idle-timeout",
        "7",
        "--no-env-proxy",
        "--no-repair",
    ]
    code = main(["proxy", *words])
    config: Config = served[0][0]

    assert (3, "", "") == (code, *capsys.readouterr())
    assert (Address("", 0, "/run/p.sock"), True, "end", None, ("a.example", "b.example")) == (
        config.listen,
        config.repair.live,
        config.repair.withheld,
        config.ping,
        config.clients.hosts,
    )
    assert (Path("kept"), "odd", Address("127.0.0.1", 0), "text", 7.0, False, True) == (
        config.record.dir,
        config.record.only,
        config.admin,
        config.log,
        config.idle_timeout,
        config.env_proxy,
        config.no_repair,
    )


def test_the_least_that_runs(served: list[Any]) -> None:
    """One upstream is the only required setting."""
    main(["proxy", "--upstream", URL])

    assert Config(upstreams=(UpstreamConfig(name="h.example", url=URL),)) == served[0][0]


def test_the_file_can_be_read_again(served: list[Any], tmp_path: Path) -> None:
    """The server's function reads file and command line anew, so that a signal can request it."""
    path = tmp_path / "p.toml"
    path.write_text(f'ping = 1\nlog = "off"\n[[upstream]]\nurl = "{URL}"\n', "utf-8")
    main(["proxy", "--config", str(path), "--log", "text"])
    config, reload = served[0]
    path.write_text(f'ping = 2\nlog = "off"\n[[upstream]]\nurl = "{URL}"\n', "utf-8")
    again = reload()

    assert [(1.0, "text"), (2.0, "text")] == [(found.ping, found.log) for found in (config, again)]


def test_the_environment_stands_between(
    served: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable overrides the file, an option overrides both."""
    path = tmp_path / "p.toml"
    path.write_text(f'ping = 1\ndrain = 1\nlog = "off"\n[[upstream]]\nurl = "{URL}"\n', "utf-8")
    monkeypatch.setenv("WHOLECALL_PROXY_PING", "2")
    monkeypatch.setenv("WHOLECALL_PROXY_DRAIN", "2")
    main(["proxy", "--config", str(path), "--drain", "3"])
    config: Config = served[0][0]

    assert (2.0, 3.0, "off") == (config.ping, config.drain, config.log)


def test_every_option_sets_a_key() -> None:
    """No option is silently without effect, and messages name each option as it is typed."""
    program = argparse.ArgumentParser()
    add_command(program.add_subparsers())
    choices: Any = next(action.choices for action in program._actions if action.choices)
    options = {
        action.dest: action.option_strings[0]
        for action in choices["proxy"]._actions
        if action.option_strings and action.dest not in ("help", "config")
    }

    assert set() == options.keys() - VARIABLES.keys()
    assert {} == {
        key: option
        for key, option in options.items()
        if option != (KEYS[key].option if key in KEYS else "--upstream")
    }


def test_faults_are_a_wrong_command_line(served: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    """Each fault is a line, and nothing runs."""
    code = main(["proxy", "--upstream", "h.example", "--log", "xml"])

    assert (2, [], "") == (code, served, (caught := capsys.readouterr()).out)
    assert [
        "wholecall: --log must be one of 'auto', 'json', 'text', 'off'",
        "wholecall: --upstream: url must be an http or https URL, such as https://api.openai.com",
    ] == caught.err.splitlines()


@pytest.mark.parametrize("missing", ["aiohttp", "uvicorn", "websockets"])
def test_without_the_extra(
    missing: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command names the package to install."""
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "wholecall.proxy.process", raising=False)
    monkeypatch.delattr("wholecall.proxy.process", raising=False)
    for module in ("wholecall.proxy.socket_server", "uvicorn.protocols.websockets.websockets_sansio_impl"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    code = main(["proxy", "--upstream", URL])

    assert (3, "", f"wholecall: proxy needs {missing}: pip install 'wholecall[proxy]'\n") == (
        code,
        *capsys.readouterr(),
    )


@pytest.mark.slow
def test_the_command_needs_no_extra() -> None:
    """`check`, `env` and every other command run without the server's libraries."""
    program = "import sys\nimport wholecall.cli.main\nprint(*{'aiohttp', 'uvicorn', 'httptools', 'websockets'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)  # noqa: S603

    assert "\n" == done.stdout


FILE = f"""
admin = "127.0.0.1:8118"
[[upstream]]
url = "https://api.anthropic.com"
name = "anthropic"
path = "/anthropic"
key = "env:CANARY"
live = true
[[upstream]]
url = "{URL}/v1"
name = "gpt"
models = ["gpt-*", "o3"]
text = "hermes"
[[upstream]]
url = "http://127.0.0.1:8000"
name = "local"
[repair]
tools = "names"
[clients]
tokens = "env:TOKENS"
"""


def test_check_prints_the_routes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order in which they are tried, with frequent mistakes, and without a secret."""
    monkeypatch.setenv("CANARY", "sk-canary")
    monkeypatch.setenv("TOKENS", "9f2b7c41d80e6a35c1f4 4f1c53a6e08d14c7b2f9")
    (tmp_path / "p.toml").write_text(FILE, "utf-8")
    code = main(["proxy", "check", str(tmp_path / "p.toml")])
    out, err = capsys.readouterr()

    assert (0, "") == (code, err)
    assert [
        "listens on 127.0.0.1:8117; health and metrics on 127.0.0.1:8118",
        "answers as localhost, 127.0.0.1, ::1; asks for one of 2 tokens",
        "",
        "path        models    upstream   goes to                    credentials                calls",
        "/anthropic  all       anthropic  https://api.anthropic.com  x-api-key from env:CANARY  live, tools names",
        "/           gpt-* o3  gpt        https://h.example/v1       the client's               held, text hermes, tools names",
        "/           all       local      http://127.0.0.1:8000      the client's               held, tools names",
        "",
        "The URL of gpt ends in /v1: a client whose base URL ends in /v1, too, asks for https://h.example/v1/v1/...",
    ] == out.splitlines()


def test_check_says_what_passes_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without repair the table reports that."""
    (tmp_path / "p.toml").write_text(f'no_repair = true\n[[upstream]]\nurl = "{URL}"\n', "utf-8")
    code = main(["proxy", "check", str(tmp_path / "p.toml")])

    assert (0, True) == (code, "as they are" in capsys.readouterr().out)


def test_check_has_no_remark_on_a_translated_upstream(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its URL may end in /v1: requests that are translated ask for the right one."""
    translated = (
        'serve = "anthropic"\n[[upstream]]\nurl = "https://h.example/v1"\nwire = "chat-completions"\n'
    )
    (tmp_path / "p.toml").write_text(translated, "utf-8")
    code = main(["proxy", "check", str(tmp_path / "p.toml")])
    out = capsys.readouterr().out

    assert (0, True, False) == (code, "anthropic said in chat-completions" in out, "ends in /v1" in out)


def test_check_tells_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Faults go to standard error, and the exit code is that of a wrong command line."""
    (tmp_path / "p.toml").write_text(
        f'listen = "0.0.0.0:1"\nping = "x"\n[[upstream]]\nurl = "{URL}"\n', "utf-8"
    )
    code = main(["proxy", "check", str(tmp_path / "p.toml")])

    assert (2, "", 'wholecall: p.toml: ping must be a number of seconds, or "off"\n') == (
        code,
        *capsys.readouterr(),
    )


# Output for clients.


def told(client: str, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """Return the output of `env`."""
    assert main(["proxy", "env", client, *more]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("client", "variable", "expected"),
    [
        ("claude-code", "ANTHROPIC_BASE_URL", "http://proxy:8117/eu"),
        ("claude-code", "API_FORCE_IDLE_TIMEOUT", "0"),
        ("openai", "OPENAI_BASE_URL", "http://proxy:8117/eu/v1"),
        ("anthropic", "ANTHROPIC_BASE_URL", "http://proxy:8117/eu"),
    ],
)
def test_a_shell_can_take_it(
    client: str, variable: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The environment variables form a script, with everything else in comments."""
    script = told(client, capsys, "--url", "http://proxy:8117/eu/")
    done = subprocess.run(  # noqa: S603 - a script of ours
        ["/bin/sh", "-euc", f'eval "$1"; printf %s "${variable}"', "sh", script],
        capture_output=True,
        check=False,
        text=True,
    )

    assert (expected, "") == (done.stdout, done.stderr)


def test_codex_is_told_in_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    """The file is TOML, with a separate provider that speaks Responses over HTTP."""
    found = _toml().loads(told("codex", capsys))
    provider = found["model_providers"][found["model_provider"]]

    assert ("http://127.0.0.1:8117/v1", "responses", False, True) == (
        provider["base_url"],
        provider["wire_api"],
        provider["supports_websockets"],
        provider["stream_idle_timeout_ms"] > 300_000,
    )


def test_opencode_is_told_in_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    """The settings are JSON on standard output, with remarks elsewhere."""
    providers = json.loads(told("opencode", capsys))["provider"]

    assert {"openai": "http://127.0.0.1:8117/v1", "anthropic": "http://127.0.0.1:8117/v1"} == {
        name: provider["options"]["baseURL"] for name, provider in providers.items()
    }


def test_the_clients_are_listed_in_order() -> None:
    """The help names them as a person looks them up."""
    assert sorted(CLIENTS) == list(CLIENTS)


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_is_told_the_url(client: str) -> None:
    """Wherever the proxy is, no gap is left to fill in."""
    text, note = settings_of(client, "https://proxy.example/eu")

    assert (True, False, False) == ("https://proxy.example/eu" in text, "{" in note, "8117" in text + note)


def test_clients_that_are_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    """All known clients are named."""
    with pytest.raises(SystemExit) as caught:
        main(["proxy", "env", "claude"])
    with pytest.raises(ValueError, match="there is no client 'claude'; ") as refused:
        settings_of("claude", URL)

    assert (2, True, True) == (
        caught.value.code,
        "claude-code" in capsys.readouterr().err,
        "codex" in str(refused.value),
    )


UPSTREAM = f'[[upstream]]\nurl = "{URL}"\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (UPSTREAM, "http://127.0.0.1:8117/v1"),
        ('listen = "127.0.0.1:9"\n' + UPSTREAM, "http://127.0.0.1:9/v1"),
        ('listen = "0.0.0.0:9"\nadmin="127.0.0.1:10"\n[clients]\nhosts=["h"]\n' + UPSTREAM, "http://127.0.0.1:9/v1"),
        ('listen = "[::1]:9"\n' + UPSTREAM + 'path = "/eu"\n', "http://[::1]:9/eu/v1"),
    ],
)  # fmt: skip
def test_env_knows_where_the_file_listens(
    text: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The URL is that of the file, wherever `--config` appears; a URL given with `--url` takes precedence."""
    (tmp_path / "p.toml").write_text(text, "utf-8")
    config = ("--config", str(tmp_path / "p.toml"))
    found = told("codex", capsys, *config)
    assert main(["proxy", *config, "env", "codex"]) == 0
    before = capsys.readouterr().out
    other = told("codex", capsys, *config, "--url", "http://h")

    assert [expected, expected, "http://h/v1"] == [
        _toml().loads(said)["model_providers"]["wholecall"]["base_url"] for said in (found, before, other)
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            f'[[upstream]]\nname = "a"\npath = "/a"\nurl = "{URL}"\n[[upstream]]\nname = "b"\npath = "/b"\nurl = "{URL}"\n',
            "it has several upstreams; say which with --url: http://127.0.0.1:8117/a, http://127.0.0.1:8117/b",
        ),
        ('listen = "unix:/run/w"\n' + UPSTREAM, "it listens on unix:/run/w, which has no URL: say with --url"),
        ("pink = 1\n" + UPSTREAM, "p.toml: pink is no key"),
    ],
)  # fmt: skip
def test_env_says_what_the_file_leaves_open(
    text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is printed then, and the exit code is that of a wrong command line."""
    (tmp_path / "p.toml").write_text(text, "utf-8")
    code = main(["proxy", "env", "codex", "--config", str(tmp_path / "p.toml")])
    out, err = capsys.readouterr()

    assert (2, "", True) == (code, out, says in err), err


@pytest.mark.parametrize("url", ["h", "https://h'$(id)", "https://u:p@h", "https://h/?a"])
def test_urls_that_are_none(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No text that a shell would run gets into a script."""
    with pytest.raises(SystemExit) as caught:
        main(["proxy", "env", "openai", "--url", url])

    assert (2, "") == (caught.value.code, capsys.readouterr().out)
