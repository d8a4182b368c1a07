"""Routes: the upstream of a request, and its URL there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.together import together
from wholecall.proxy.config import Config, RepairConfig, UpstreamConfig
from wholecall.proxy.values import Address, Secret

ALL = UpstreamConfig(name="all", url="https://all.example")
OPENAI = UpstreamConfig(name="openai", url="https://api.openai.com", path="/openai")
NESTED = UpstreamConfig(name="nested", url="https://nested.example/base/v2", path="/openai/eu")
CLAUDE = UpstreamConfig(name="claude", url="https://claude.example", path="/m", models=("claude-*",))
OTHERS = UpstreamConfig(name="others", url="https://others.example", path="/m")
GPT = UpstreamConfig(name="gpt", url="https://gpt.example", path="/only", models=("gpt-*", "o?"))
CONFIG = Config(upstreams=(ALL, OPENAI, NESTED, OTHERS, CLAUDE, GPT))


@together(
    ("path", "model", "expected"),
    [
        ("/v1/models", None, "https://all.example/v1/models"),
        ("/", None, "https://all.example/"),
        ("/openai/v1/models", None, "https://api.openai.com/v1/models"),
        ("/openai", None, "https://api.openai.com/"),
        ("/openai/", None, "https://api.openai.com/"),
        ("/openaix/v1", None, "https://all.example/openaix/v1"),
        ("/OpenAI/v1/Models", None, "https://api.openai.com/v1/Models"),
        ("/%6fpenai;v=1/v1/models;v=2", None, "https://api.openai.com/v1/models;v=2"),
        ("/openai/eu/chat/completions", "m", "https://nested.example/base/v2/chat/completions"),
        ("/openai/eu", None, "https://nested.example/base/v2"),
        ("/openai/europe", None, "https://api.openai.com/europe"),
        ("/m/v1/messages", "claude-x", "https://claude.example/v1/messages"),
        ("/m/v1/messages", "gpt-x", "https://others.example/v1/messages"),
        ("/m/v1/models", None, "https://others.example/v1/models"),
        ("/only/v1/responses", "gpt-9", "https://gpt.example/v1/responses"),
        ("/only/v1/responses", "o3", "https://gpt.example/v1/responses"),
        ("/only/v1/responses", "claude-x", "https://all.example/only/v1/responses"),
        ("/only/v1/models", None, "https://all.example/only/v1/models"),
    ],
)
def test_the_longest_prefix_takes_a_path(path: str, model: str | None, expected: str) -> None:
    """The prefix is stripped; of one prefix those upstreams come first that take the model."""
    route = CONFIG.route(path, model)

    assert expected == (route and route.url())


@pytest.mark.parametrize(
    "path", ["//evil.example/x", "/@evil.example", "/../x", "/%2e%2e/x", "/\\evil.example", "/a//b"]
)
def test_no_path_chooses_a_host(path: str) -> None:
    """A path is appended to the upstream's own URL unchanged, whatever it looks like."""
    route = CONFIG.route(path)

    assert f"https://all.example{path}?q=%41" == (route and route.url("q=%41"))


@pytest.mark.parametrize("path", ["*", "https://evil.example/v1", "", "v1/models"])
def test_what_is_no_path_has_no_route(path: str) -> None:
    """Whole URLs and `*` have no route."""
    assert None is CONFIG.route(path)


def test_without_an_upstream_for_all_some_paths_have_no_route() -> None:
    """A path without a matching prefix, and a model without a matching pattern, have no route."""
    config = Config(upstreams=(OPENAI, GPT))

    assert [None, None, "gpt"] == [
        config.route("/v1/models"),
        config.route("/only/v1/responses", "claude-x"),
        (route := config.route("/only/v1/models")) and route.upstream.name,
    ]


def test_the_body_is_asked_only_where_models_decide() -> None:
    """An upstream with patterns below the path makes the model matter."""
    assert [True, False, False] == [
        CONFIG.asks_for_model(path) for path in ("/m/v1/messages", "/openai/x", "/mm")
    ]


@given(
    st.lists(st.sampled_from(["/a", "/a/b", "/a/b/c", "/b", ""]), unique=True, min_size=1),
    st.text("/abcx", max_size=9),
)
def test_routes_are_the_longest_prefixes(prefixes: list[str], text: str) -> None:
    """The upstream and the rest of the path make up the whole path, and no longer prefix does."""
    path = f"/{text}"
    config = Config(
        upstreams=tuple(
            UpstreamConfig(name=f"u{prefix}", url="https://h", path=prefix) for prefix in prefixes
        )
    )
    fitting = [prefix for prefix in prefixes if f"{path}/".startswith(f"{prefix}/")]
    route = config.route(path)

    assert (
        (max(fitting, key=len), path)
        == ((route.upstream.path, route.upstream.path + route.rest) if route else ("", path))
        if fitting
        else route is None
    )


def test_an_upstream_overrides_how_it_is_repaired() -> None:
    """Settings that it omits are the same as for all."""
    config = Config(upstreams=(ALL,), repair=RepairConfig(live=True, withheld="end", text="auto"))

    assert [config.repair, RepairConfig(live=False, withheld="end", text="hermes")] == [
        config.repair_for(ALL),
        config.repair_for(UpstreamConfig(url="https://h", live=False, text="hermes")),
    ]


def test_no_repr_shows_a_secret() -> None:
    """A configuration shows where its secrets are, and never the secrets."""
    secret = Secret("env:KEY", "sk-canary")
    config = Config(upstreams=(UpstreamConfig(url="https://h", key=secret),))

    assert (False, True) == ("canary" in repr(config), "env:KEY" in repr(config))


@together(
    ("address", "text", "is_local"),
    [
        (Address("127.0.0.1", 8117), "127.0.0.1:8117", True),
        (Address("127.8.8.8", 1), "127.8.8.8:1", True),
        (Address("::1", 8117), "[::1]:8117", True),
        (Address("localhost", 0), "localhost:0", True),
        (Address("", 0, "/run/p.sock"), "unix:/run/p.sock", True),
        (Address("0.0.0.0", 80), "0.0.0.0:80", False),  # noqa: S104 - a text
        (Address("::", 80), "[::]:80", False),
        (Address("proxy.example", 80), "proxy.example:80", False),
        (Address("127.0.0.1.example", 80), "127.0.0.1.example:80", False),
    ],
)
def test_addresses(address: Address, text: str, is_local: bool) -> None:
    """Addresses are written as they are read, and know whether other machines reach them."""
    assert (text, is_local) == (str(address), address.is_local)
