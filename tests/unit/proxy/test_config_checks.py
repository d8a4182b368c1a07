"""Refused configurations whose single values are well formed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.support.together import together
from wholecall.proxy.config import ClientsConfig, Config, RecordConfig, RepairConfig, UpstreamConfig
from wholecall.proxy.loading import check
from wholecall.proxy.values import Address, Secret

KEYED = UpstreamConfig(name="k", url="https://h.example", key=Secret("env:KEY", "sk-canary"))
OPEN = UpstreamConfig(name="o", url="https://h.example")
ANYWHERE = Address("0.0.0.0", 8117)  # noqa: S104 - nothing listens
TOKENS = ClientsConfig(tokens=(Secret("env:T", "t"),))


@together(
    ("listen", "upstream", "clients", "is_refused"),
    [
        (ANYWHERE, KEYED, ClientsConfig(), True),
        (Address("::", 8117), KEYED, ClientsConfig(), True),
        (Address("192.168.1.2", 8117), KEYED, ClientsConfig(), True),
        (Address("proxy.example", 8117), KEYED, ClientsConfig(), True),
        (ANYWHERE, KEYED, TOKENS, False),
        (ANYWHERE, OPEN, ClientsConfig(), False),
        (Address("127.0.0.1", 8117), KEYED, ClientsConfig(), False),
        (Address("::1", 8117), KEYED, ClientsConfig(), False),
        (Address("", 0, "/run/p.sock"), KEYED, ClientsConfig(), False),
    ],
)
def test_a_key_is_not_open_to_others(
    listen: Address, upstream: UpstreamConfig, clients: ClientsConfig, is_refused: bool
) -> None:
    """A proxy that other machines can reach, and that spends a key, requires tokens."""
    expected = (
        f"listen: {listen} can be reached from other machines, and upstream k has a key:"
        " set clients.tokens, or listen on 127.0.0.1"
    )
    found = check(
        Config(
            upstreams=(msgspec.structs.replace(OPEN, name="other", path="/x"), upstream),
            listen=listen,
            clients=clients,
        )
    )

    assert ([expected] if is_refused else []) == found


@together(
    ("url", "is_refused"),
    [
        ("http://h.example", True),
        ("http://gateway:4000", True),
        ("http://93.184.216.34", True),
        ("http://169.254.169.254", True),
        ("http://0.0.0.0", True),
        ("http://[fe80::1]", True),
        ("http://[2606:4700::1111]", True),
        ("http://127.0.0.1:8000", False),
        ("http://localhost:8000", False),
        ("http://10.0.0.1", False),
        ("http://192.168.0.1", False),
        ("http://172.20.0.1", False),
        ("http://[::1]:8000", False),
        ("http://[fd00::1]", False),
        ("https://h.example", False),
    ],
)
def test_plain_http_stays_near(url: str, is_refused: bool) -> None:
    """The proxy serves this machine and private addresses, unless the file declares the network safe."""
    expected = (
        "upstream u: plain http shows keys and prompts on the way: use https, or set insecure = true if the network is"
        " yours"
    )
    refused = check(Config(upstreams=(UpstreamConfig(name="u", url=url),)))
    allowed = check(Config(upstreams=(UpstreamConfig(name="u", url=url, insecure=True),)))

    assert ([expected] if is_refused else [], []) == (refused, allowed)


def test_upstreams_have_names_of_their_own() -> None:
    """Logs and metrics distinguish them by it."""
    config = Config(
        upstreams=(OPEN, msgspec.structs.replace(OPEN, path="/a"), msgspec.structs.replace(OPEN, path="/b"))
    )

    assert ["upstream o: 3 upstreams have this name; give each its own"] == check(config)


def test_an_upstream_that_is_never_asked() -> None:
    """Two upstreams for everything below a path are a mistake; an upstream for some models is not."""
    some = UpstreamConfig(name="some", url="https://h.example", models=("gpt-*",))
    second = UpstreamConfig(name="second", url="https://i.example")

    assert [
        "upstream second: is never asked, because upstream o takes everything below /: give it another path, or models"
    ] == check(Config(upstreams=(OPEN, some, second)))


@pytest.mark.parametrize(
    ("listen", "url", "is_refused"),
    [
        (Address("127.0.0.1", 8117), "http://127.0.0.1:8117", True),
        (Address("127.0.0.1", 8117), "http://localhost:8117/v1", True),
        (Address("::", 8117), "http://[::1]:8117", True),
        (Address("10.0.0.1", 80), "http://10.0.0.1", True),
        (Address("127.0.0.1", 8117), "http://127.0.0.1:8118", False),
        (Address("10.0.0.1", 8117), "http://127.0.0.1:8117", False),
        (Address("", 0, "/run/p.sock"), "http://127.0.0.1:8117", False),
    ],
)
def test_the_proxy_is_not_its_own_upstream(listen: Address, url: str, is_refused: bool) -> None:
    """A request would loop until nothing is left."""
    found = check(Config(upstreams=(UpstreamConfig(name="u", url=url),), listen=listen))

    assert (
        [f"upstream u: is this proxy itself, {listen}: give the provider's URL"] if is_refused else []
    ) == found


SPEAKS = UpstreamConfig(name="s", url="https://h.example", wire="chat-completions")
LIVE = "upstream s: translated calls are not shown while they arrive: switch live off"


@together(
    ("config", "expected"),
    [
        (Config(upstreams=(SPEAKS,), serve="anthropic"), []),
        (Config(upstreams=(SPEAKS,), serve="chat-completions", repair=RepairConfig(live=True)), []),
        (Config(upstreams=(SPEAKS,), serve="anthropic", repair=RepairConfig(live=True)), [LIVE]),
        (
            Config(upstreams=(SPEAKS,)),
            ["upstream s: has a wire, and nothing is translated: set serve to the clients' API"],
        ),
        (
            Config(upstreams=(OPEN,), serve="anthropic"),
            [
                (
                    "serve: nothing says that an upstream speaks another API than anthropic: give it a wire,"
                    " or a name of its API: --upstream chat=URL"
                )
            ],
        ),
        (
            Config(upstreams=(SPEAKS,), serve="anthropic", no_repair=True),
            ["no_repair: translated answers cannot pass unchanged: leave out serve"],
        ),
    ],
)
def test_a_translation_has_two_sides(config: Config, expected: list[str]) -> None:
    """The clients' API and the upstream's are both known, and nothing contradicts a translation."""
    assert expected == check(config)


def test_listeners_have_ports_of_their_own() -> None:
    """Metrics are never on the clients' port; a port chosen at start is a different one."""
    where, free = Address("127.0.0.1", 8117), Address("127.0.0.1", 0)

    assert [["admin: 127.0.0.1:8117 is where clients ask, too: give it another port"], []] == [
        check(Config(upstreams=(OPEN,), listen=address, admin=address)) for address in (where, free)
    ]


def test_schemas_need_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting that would fail with each request is reported before the first."""
    config = Config(upstreams=(OPEN,), repair=RepairConfig(tools="schema"))
    before = check(config)
    monkeypatch.setattr("wholecall.proxy.loading.find_spec", {}.get)

    assert ([], ["repair.tools: schemas need jsonschema-rs: pip install 'wholecall[schema]'"]) == (
        before,
        check(config),
    )


def test_telemetry_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without OpenTelemetry's API the setting is a fault."""
    monkeypatch.setattr("wholecall.proxy.loading.find_spec", {}.get)

    assert ["telemetry: it needs opentelemetry-api: pip install 'wholecall[otel]'"] == check(
        Config(upstreams=(OPEN,), telemetry=True)
    )


def test_files_must_be_there(tmp_path: Path) -> None:
    """Certificates can be read and come with their key; recordings go into a folder."""
    here, gone = tmp_path / "here", tmp_path / "gone"
    here.touch()
    config = Config(
        upstreams=(OPEN,), ca_bundle=gone, tls_cert=here, tls_key=None, record=RecordConfig(dir=here)
    )

    assert [
        f"ca_bundle: {gone} cannot be read",
        "tls_cert and tls_key go together: give both, or none",
        f"record.dir: {here} is no folder",
    ] == check(config)
