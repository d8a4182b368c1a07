"""The proxy's configuration as it is read: of a file, the environment and the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, get_args

import pytest

from wholecall.proxy.config import (
    ClientsConfig,
    Config,
    ConfigError,
    RecordConfig,
    RepairConfig,
    UpstreamConfig,
    Withheld,
)
from wholecall.proxy.loading import VARIABLES, load_config
from wholecall.proxy.values import WIRES, Address, Secret
from wholecall.repairing import withholding
from wholecall.repairing.translation.requests import WIRES as TRANSLATED

KEY = "sk-canary-key"
TOKEN = "9f2b7c41d80e6a35c1f4"
ENVIRON = {
    "KEY": KEY,
    "TOKENS": f"{TOKEN},\n {TOKEN[::-1]}\n",
    "SPACED": "two words",
    "EMPTY": " ",
    "HIGH": "schlüssel",
}
URL = "https://h.example"
NO_SECRET = (
    "must say where the secret is, not hold it: env:NAME for an environment variable, file:PATH for a file"
)
UPSTREAM = f'[[upstream]]\nurl = "{URL}"\n'

FULL = """
listen = "0.0.0.0:8080"
admin = "[::1]:8081"
ping = "off"
ping_always = true
ping_form = "comment"
connect_timeout = 5
first_byte_timeout = 0
idle_timeout = 12.5
write_timeout = "off"
drain = 0
max_request_bytes = 1000
max_message_bytes = 1500
max_held_bytes = 2000
max_streams = 10
log = "text"
workers = 2
env_proxy = false
no_repair = true
telemetry = true
[repair]
live = true
withheld = "end"
tools = "names"
text = "hermes"
[[upstream]]
name = "openai"
url = "HTTPS://API.openai.com/"
path = "/openai"
models = ["gpt-*"]
key = "env:KEY"
key_header = "api-key"
keep_alive = 2
live = false
text = "off"
[[upstream]]
url = "http://10.1.2.3:8000/base"
path = "/"
insecure = true
[clients]
tokens = "env:TOKENS"
hosts = ["Proxy.example", "[::1]"]
origins = ["https://App.example:8443"]
[record]
dir = "kept"
only = "odd"
max_bytes = "off"
requests = true
"""


def loaded(folder: Path, text: str, overrides: dict[str, Any] | None = None, **environ: str) -> Config:
    """Return the configuration that a file with this text gives."""
    path = folder / "proxy.toml"
    path.write_text(text, "utf-8")
    return load_config(path, overrides, {**ENVIRON, **environ})


def faults(
    folder: Path, text: str, overrides: dict[str, Any] | None = None, **environ: str
) -> tuple[str, ...]:
    """Return the complaint about an unusable file."""
    with pytest.raises(ConfigError) as caught:
        loaded(folder, text, overrides, **environ)
    assert "\n".join(caught.value.faults) == str(caught.value)
    return caught.value.faults


def test_a_file_with_every_key(tmp_path: Path) -> None:
    """Each key of the file has its place in the configuration."""
    expected = Config(
        listen=Address("0.0.0.0", 8080),  # noqa: S104 - nothing listens
        admin=Address("::1", 8081),
        ping=None,
        ping_always=True,
        ping_form="comment",
        connect_timeout=5.0,
        first_byte_timeout=None,
        idle_timeout=12.5,
        write_timeout=None,
        drain=0.0,
        max_request_bytes=1000,
        max_message_bytes=1500,
        max_held_bytes=2000,
        max_streams=10,
        log="text",
        workers=2,
        env_proxy=False,
        no_repair=True,
        telemetry=True,
        repair=RepairConfig(live=True, withheld="end", tools="names", text="hermes"),
        upstreams=(
            UpstreamConfig(
                name="openai",
                url="https://api.openai.com",
                path="/openai",
                models=("gpt-*",),
                key=Secret("env:KEY", KEY),
                key_header="api-key",
                keep_alive=2.0,
                live=False,
                text="off",
            ),
            UpstreamConfig(name="10.1.2.3", url="http://10.1.2.3:8000/base", insecure=True),
        ),
        clients=ClientsConfig(
            tokens=(Secret("env:TOKENS", TOKEN), Secret("env:TOKENS", TOKEN[::-1])),
            hosts=("proxy.example", "::1"),
            origins=("https://app.example:8443",),
        ),
        record=RecordConfig(dir=Path("kept"), only="odd", max_bytes=None, requests=True),
    )

    assert expected == loaded(tmp_path, FULL)


def test_one_upstream_is_enough() -> None:
    """Everything else has its default."""
    expected = Config(upstreams=(UpstreamConfig(name="api.openai.com", url="https://api.openai.com"),))

    assert expected == load_config(None, {"upstream": ["https://api.openai.com"]}, {})


def test_later_places_override_earlier_ones(tmp_path: Path) -> None:
    """The environment overrides the file, and the command line both, key by key."""
    text = f'log = "text"\nping = 1\nidle_timeout = 1\n{UPSTREAM}[repair]\nlive = true\nwithheld = "end"'
    environ = {
        "WHOLECALL_PROXY_PING": "2",
        "WHOLECALL_PROXY_IDLE_TIMEOUT": "2",
        "WHOLECALL_PROXY_REPAIR_LIVE": "no",
    }
    config = loaded(tmp_path, text, {"ping": "3"}, **environ)

    assert ("text", 3.0, 2.0, False, "end") == (
        config.log,
        config.ping,
        config.idle_timeout,
        config.repair.live,
        config.repair.withheld,
    )


@pytest.mark.parametrize(
    ("overrides", "environ", "expected"),
    [
        ({}, {}, [("h.example", URL, "")]),
        ({"upstream": ["https://a.example/v1"]}, {}, [("a.example", "https://a.example/v1", "")]),
        ({"upstream": ["a=https://a.example"]}, {}, [("a", "https://a.example", "")]),
        (
            {"upstream": ["a=https://a.example", "https://b.example"]},
            {},
            [("a", "https://a.example", "/a"), ("b.example", "https://b.example", "/b.example")],
        ),
        ({}, {"WHOLECALL_PROXY_UPSTREAM": "a=https://a.example"}, [("a", "https://a.example", "")]),
        (
            {"upstream": ["c=https://c.example"]},
            {"WHOLECALL_PROXY_UPSTREAM": "a=https://a.example b=https://b.example"},
            [("c", "https://c.example", "")],
        ),
    ],
)
def test_upstreams_of_a_later_place_replace_all(
    tmp_path: Path, overrides: dict[str, Any], environ: dict[str, str], expected: list[tuple[str, ...]]
) -> None:
    """A single upstream takes every path; of several, each has its name as path."""
    config = loaded(tmp_path, UPSTREAM, overrides, **environ)

    assert expected == [(upstream.name, upstream.url, upstream.path) for upstream in config.upstreams]


def test_a_file_that_is_none(tmp_path: Path) -> None:
    """A pipe is refused: its other end may never be written."""
    os.mkfifo(tmp_path / "proxy.toml")

    with pytest.raises(ConfigError, match="is no regular file"):
        load_config(tmp_path / "proxy.toml", {}, {})


def test_every_key_has_a_variable(tmp_path: Path) -> None:
    """Text has the same meaning in the environment as in the file."""
    values = {
        "LISTEN": "0.0.0.0:8080",
        "ADMIN": "[::1]:8081",
        "PING": "off",
        "PING_ALWAYS": "true",
        "PING_FORM": "comment",
        "CONNECT_TIMEOUT": "5",
        "FIRST_BYTE_TIMEOUT": "0",
        "IDLE_TIMEOUT": "12.5",
        "WRITE_TIMEOUT": "off",
        "DRAIN": "0",
        "MAX_REQUEST_BYTES": "1000",
        "MAX_MESSAGE_BYTES": "1500",
        "MAX_HELD_BYTES": "2000",
        "MAX_STREAMS": "10",
        "LOG": "text",
        "WORKERS": "2",
        "ENV_PROXY": "off",
        "NO_REPAIR": "1",
        "TELEMETRY": "on",
        "CA_BUNDLE": str(tmp_path / "ca"),
        "TLS_CERT": str(tmp_path / "ca"),
        "TLS_KEY": str(tmp_path / "ca"),
        "REPAIR_LIVE": "YES",
        "REPAIR_WITHHELD": "end",
        "REPAIR_TOOLS": "names",
        "REPAIR_TEXT": "hermes",
        "CLIENTS_TOKENS": "env:TOKENS",
        "CLIENTS_HOSTS": "Proxy.example, [::1]",
        "CLIENTS_ORIGINS": "https://App.example:8443",
        "RECORD_DIR": "kept",
        "RECORD_ONLY": "odd",
        "RECORD_MAX_BYTES": "off",
        "RECORD_REQUESTS": "on",
        "UPSTREAM": "https://a.example",
    }
    (tmp_path / "ca").touch()
    environ = {f"WHOLECALL_PROXY_{name}": value for name, value in values.items()}
    found, file = load_config(None, {}, {**ENVIRON, **environ}), loaded(tmp_path, FULL)
    same = [name for name in Config.__struct_fields__ if getattr(found, name) == getattr(file, name)]

    # A served API excludes `no_repair` and `live`.
    assert sorted([*environ, "WHOLECALL_PROXY_SERVE"]) == sorted(VARIABLES.values())
    assert {"upstreams", "ca_bundle", "tls_cert", "tls_key"} == set(Config.__struct_fields__) - set(same)
    assert [tmp_path / "ca"] * 3 == [found.ca_bundle, found.tls_cert, found.tls_key]


@pytest.mark.parametrize(
    ("overrides", "environ"),
    [
        ({"serve": "anthropic", "upstream": ["chat=http://127.0.0.1:8000"]}, {}),
        ({"serve": "claude"}, {"WHOLECALL_PROXY_UPSTREAM": "chat=http://127.0.0.1:8000"}),
        ({"upstream": ["chat=http://127.0.0.1:8000"]}, {"WHOLECALL_PROXY_SERVE": "anthropic"}),
    ],
)
def test_a_name_of_an_api_is_a_wire(overrides: dict[str, Any], environ: dict[str, str]) -> None:
    """With a served API, wherever it is given, an upstream's name may say which one it speaks."""
    found = load_config(None, overrides, environ)

    assert ("anthropic", "chat-completions", "chat") == (
        found.serve,
        found.upstreams[0].wire,
        found.upstreams[0].name,
    )


def test_a_name_alone_is_a_name() -> None:
    """Without a served API nothing is translated, whatever an upstream is called."""
    found = load_config(None, {"upstream": ["anthropic=https://api.anthropic.com"]}, {})

    assert (None, None) == (found.serve, found.upstreams[0].wire)


def test_wires_have_the_names_of_the_translation() -> None:
    """The settings know them without the repairers, which take long to import."""
    assert tuple(TRANSLATED) == WIRES


@pytest.mark.parametrize("wire", ["gemini", "bedrock", "", 5])
def test_other_wires_are_refused(tmp_path: Path, wire: object) -> None:
    """The message lists those that are translated."""
    expected = "must be one of 'anthropic', 'chat-completions', 'responses'"

    assert expected in faults(tmp_path, f"serve = {json.dumps(wire)}\n{UPSTREAM}")[0]


def test_words_of_the_repairer_are_settings() -> None:
    """The file takes the same words for the end of a turn as the repairer, which is imported later."""
    assert get_args(withholding.Withheld) == get_args(Withheld)


def test_variables_of_kubernetes_are_not_ours() -> None:
    """Kubernetes gives every container some variables, for a service that is called wholecall-proxy."""
    environ = {
        "WHOLECALL_PROXY_SERVICE_HOST": "10.0.0.1",
        "WHOLECALL_PROXY_SERVICE_PORT": "8117",
        "WHOLECALL_PROXY_SERVICE_PORT_HTTP": "8117",
        "WHOLECALL_PROXY_PORT": "tcp://10.0.0.1:8117",
        "WHOLECALL_PROXY_PORT_8117_TCP": "tcp://10.0.0.1:8117",
        "WHOLECALL_PROXY_PORT_8117_TCP_ADDR": "10.0.0.1",
    }

    assert Address("127.0.0.1", 8117) == load_config(None, {"upstream": [URL]}, environ).listen


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    """Each line names the place of a fault, and the remedy."""
    text = """
    lisen = "127.0.0.1:1"
    ping = -1
    workers = "many"
    [repair]
    withhold = "end"
    live = "yes"
    [[upstream]]
    url = "https://h.example?key=x"
    [[upstream]]
    name = "b"
    keepalive = 4
    [clients]
    tokens = "9f2b7c41d80e6a35c1f4"
    """
    found = faults(tmp_path, text, {"log": "xml"}, WHOLECALL_PROXY_PINK="1", WHOLECALL_PROXY_DRAIN="soon")

    assert [
        "proxy.toml: repair.withhold is no key; did you mean withheld?",
        "proxy.toml: lisen is no key; did you mean listen?",
        "proxy.toml: upstream 2: keepalive is no key; did you mean keep_alive?",
        "WHOLECALL_PROXY_PINK is no variable of the proxy; did you mean WHOLECALL_PROXY_PING?",
        "proxy.toml: repair.live must be true or false",
        f"proxy.toml: clients.tokens {NO_SECRET}",
        "proxy.toml: ping must be a number of seconds, 0 or more",
        "proxy.toml: workers must be a whole number, 1 or more",
        'WHOLECALL_PROXY_DRAIN must be a number of seconds, or "off"',
        "--log must be one of 'auto', 'json', 'text', 'off'",
        "proxy.toml: upstream 1: url must have no query and no fragment: what clients send is passed on",
        "upstream 2 needs a url",
    ] == list(found)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("pings", "is no key; did you mean ping?"),
        ("max-streams", "is no key; did you mean max_streams?"),
        ("upstreams", "is no key; did you mean upstream?"),
        ("recording", "is no key; did you mean record?"),
    ],
)
def test_unknown_keys_name_the_nearest(tmp_path: Path, key: str, expected: str) -> None:
    """An unknown key is an error, so that no typing error is missed."""
    assert (f"proxy.toml: {key} {expected}",) == faults(tmp_path, f"{key} = 1\n{UPSTREAM}")


def test_a_key_that_is_like_no_other(tmp_path: Path) -> None:
    """In that case all faults are listed."""
    found = faults(tmp_path, f"{UPSTREAM}[record]\nzzz = 1")

    assert ("proxy.toml: record.zzz is no key; there are dir, max_bytes, only, requests",) == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("listen = 8117", "listen must be text in quotes"),
        ('listen = "8117"', "listen must be HOST:PORT, such as 127.0.0.1:8117, or unix:PATH"),
        ('listen = ":8117"', "listen must be HOST:PORT, such as 127.0.0.1:8117, or unix:PATH"),
        ('listen = "::1:8117"', "listen needs brackets round an IPv6 address: [::1]:8117"),
        ('listen = "127.0.0.1:65536"', "listen must end in a port, 0 to 65535"),
        ('listen = "127.0.0.1:http"', "listen must end in a port, 0 to 65535"),
        ('listen = "http://h:1"', "listen needs brackets round an IPv6 address: [::1]:8117"),
        ('listen = "a b:1"', "listen has no host that can be listened on before its port"),
        ('listen = "unix:"', "listen needs a path after unix:"),
        ('admin = "x"', "admin must be HOST:PORT, such as 127.0.0.1:8117, or unix:PATH"),
        ("ping = true", 'ping must be a number of seconds, or "off"'),
        ("ping = nan", "ping must be a number of seconds, 0 or more"),
        ('ping_form = "chunk"', "ping_form must be one of 'event', 'comment'"),
        ("max_streams = 0", "max_streams must be a whole number, 1 or more"),
        ("max_request_bytes = 1.5", "max_request_bytes must be a whole number, 1 or more"),
        ('repair = "live"', "repair must be a table: [repair]"),
        ('[repair]\nwithheld = "drop"', "repair.withheld must be one of 'auto', 'error', 'end'"),
        ("[repair]\ntools = true", "repair.tools must be one of 'off', 'names', 'schema'"),
        ('[clients]\nhosts = "h"', "clients.hosts must be a list of names of hosts"),
        ('[clients]\nhosts = ["h:80"]', "clients.hosts must be names of hosts, without a scheme and a port"),
        ('[clients]\nhosts = ["*"]', "clients.hosts must be names of hosts, without a scheme and a port"),
        (
            '[clients]\norigins = ["*"]',
            "clients.origins must be origins, each as a browser sends it: https://example.com",
        ),
        (
            '[clients]\norigins = ["null"]',
            "clients.origins must be origins, each as a browser sends it: https://example.com",
        ),
        ("[record]\nmax_bytes = 0", "record.max_bytes must be a whole number, 1 or more"),
    ],
)
def test_values_that_cannot_be(tmp_path: Path, text: str, expected: str) -> None:
    """A value of the wrong kind is refused, with the expected kind."""
    assert (f"proxy.toml: {expected}",) == faults(tmp_path, f"{text}\n{UPSTREAM}")


def test_formats_of_text_are_named(tmp_path: Path) -> None:
    """An unknown format is refused, for all upstreams and for one."""
    found = faults(tmp_path, f'{UPSTREAM}text = "herms"\n[repair]\ntext = "herms"')

    assert [
        ("proxy.toml: repair.text must be 'off' or one of auto", True),
        ("proxy.toml: upstream 1: text must be 'off' or one of auto", True),
    ] == [(line.partition(",")[0], "hermes" in line) for line in found]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ('url = "ftp://h"', "url must be an http or https URL, such as https://api.openai.com"),
        ('url = "h.example"', "url must be an http or https URL, such as https://api.openai.com"),
        ('url = "https://"', "url must be an http or https URL, such as https://api.openai.com"),
        ('url = "https://h:0"', "url must be an http or https URL, such as https://api.openai.com"),
        ('url = "https://h:99999"', "url must be an http or https URL, such as https://api.openai.com"),
        ('url = "https://h/a b"', "url must be an http or https URL, such as https://api.openai.com"),
        ('url = "https://h\\\\@x"', "url must hold no user and no password: put a key into `key`"),
        ('url = "https://[::g]"', "url must be an http or https URL, such as https://api.openai.com"),
        ('url = "https://u:sk-canary@h"', "url must hold no user and no password: put a key into `key`"),
        (
            'url = "https://h/?a=sk-canary"',
            "url must have no query and no fragment: what clients send is passed on",
        ),
        ('url = "https://h/#a"', "url must have no query and no fragment: what clients send is passed on"),
        (
            'url = "https://h"\npath = "openai"',
            "path must begin with a slash and not end with one, such as /openai",
        ),
        (
            'url = "https://h"\npath = "/openai/"',
            "path must begin with a slash and not end with one, such as /openai",
        ),
        (
            'url = "https://h"\npath = "/a//b"',
            "path must begin with a slash and not end with one, such as /openai",
        ),
        (
            'url = "https://h"\npath = "/a/../b"',
            "path must begin with a slash and not end with one, such as /openai",
        ),
        (
            'url = "https://h"\npath = "/a?b"',
            "path must begin with a slash and not end with one, such as /openai",
        ),
        ('url = "https://h"\nname = "a b"', "name must be letters, digits, dots, hyphens and underscores"),
        ('url = "https://h"\nmodels = "gpt-*"', "models must be a list of patterns, such as gpt-*"),
        (
            'url = "https://h"\nkey_header = "cookie"',
            "key_header must be one of 'authorization', 'x-api-key', 'api-key', 'x-goog-api-key'",
        ),
        (
            'url = "https://h"\nkey = "sk-canary"',
            "key must say where the secret is, not hold it: env:NAME for an environment variable, file:PATH for a file",
        ),
        ('url = "https://h"\nkey = "env:GONE"', "key says env:GONE, but the environment has no GONE"),
        ('url = "https://h"\nkey = "env:EMPTY"', "key says env:EMPTY, which is empty"),
        (
            'url = "https://h"\nkey = "env:SPACED"',
            "key says env:SPACED, which holds white space; it must be a key and nothing else",
        ),
        (
            'url = "https://h"\nkey = "env:HIGH"',
            "key says env:HIGH, which holds what no header may: characters beyond ASCII, or controls",
        ),
    ],
)
def test_upstreams_that_cannot_be(tmp_path: Path, values: str, expected: str) -> None:
    """A fault names the upstream by its number, and shows nothing that may be a secret."""
    found = faults(tmp_path, f"[[upstream]]\n{values}")

    assert ((f"proxy.toml: upstream 1: {expected}",), False) == (found, "canary" in found[0])


def test_upstream_is_a_list_of_tables(tmp_path: Path) -> None:
    """A missing bracket is reported as such."""
    found = faults(tmp_path, f'[upstream]\nurl = "{URL}"')

    assert ("proxy.toml: upstream must be tables: [[upstream]], with two brackets on each side",) == found


def test_there_must_be_an_upstream(tmp_path: Path) -> None:
    """A proxy to nowhere is refused."""
    expected = "there is no upstream: give one with --upstream URL, or as [[upstream]] in the file"

    assert (expected,) == faults(tmp_path, "")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'key = "sk-canary', "{} is no TOML (at end of document)"),
        (b'key = "sk-canary"\n\nx = sk-canary\n', "{} is no TOML (at line 3, column 5)"),
        (b"\xff", "{} must be TOML, in UTF-8"),
        (None, "{} cannot be read: No such file or directory"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, data: bytes | None, expected: str) -> None:
    """The message says where, and repeats nothing of the file."""
    path = tmp_path / "p.toml"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        load_config(path, {}, {})

    assert (expected.format(path), False) == (str(caught.value), "canary" in str(caught.value))


def test_a_secret_in_a_file(tmp_path: Path) -> None:
    """The line end that editors add is not part of it."""
    (tmp_path / "key").write_text(f"{KEY}\n", "utf-8")
    source = f"file:{tmp_path / 'key'}"
    config = loaded(tmp_path, f'{UPSTREAM}key = "{source}"')

    assert Secret(source, KEY) == config.upstreams[0].key


@pytest.mark.parametrize(
    ("data", "expected"),
    [(None, "cannot be read: No such file or directory"), (b"k" * 70_000, "is too large for a secret")],
)
def test_secrets_in_files_that_cannot_be_read(tmp_path: Path, data: bytes | None, expected: str) -> None:
    """The message names the file."""
    path = tmp_path / "key"
    if data is not None:
        path.write_bytes(data)
    found = faults(tmp_path, f'{UPSTREAM}key = "file:{path}"')

    assert (f"proxy.toml: upstream 1: key says file:{path}, which {expected}",) == found


@pytest.mark.parametrize(
    "token",
    [
        *(
            "8fQz",
            "sk-1234",
            "aaaaaaaaaaaaaaaaaaaaaaaa",
            "abababababababababababab",
            "0123456789abcdef0123456789abcdef",
        ),
        *(
            "sk-no-key-required",
            "your-secret-token-here",
            "change-me-please-change-me",
            "wholecall-client-token",
        ),
        *(
            "sk-litellm-master-key",
            "sk-1234567890abcdef",
            "this-is-a-secret-token",
            "replace-with-your-api-key",
        ),
    ],
)
def test_tokens_that_protect_nothing(tmp_path: Path, token: str) -> None:
    """A token that is short or appears in examples is refused; the message repeats none of it."""
    found = faults(tmp_path, f'{UPSTREAM}[clients]\ntokens = "env:BAD"', BAD=f"{TOKEN} {token}")

    assert (1, True, False) == (
        len(found),
        found[0].startswith("proxy.toml: clients.tokens says env:BAD: token 2 "),
        token in found[0].removeprefix("proxy.toml: clients.tokens"),
    )


@pytest.mark.parametrize(
    "token",
    [TOKEN, "0b7e4f9e-3f53-4a5e-8a53-0c5c0e0f3d11", "team-a-token-5Xk2Qw9Zr7Lm4Tn8Vb3C", "9" + TOKEN * 3],
)
def test_tokens_that_are_random(tmp_path: Path, token: str) -> None:
    """Words around something random do no harm."""
    config = loaded(tmp_path, f'{UPSTREAM}[clients]\ntokens = "env:GOOD"', GOOD=token)

    assert (Secret("env:GOOD", token),) == config.clients.tokens
