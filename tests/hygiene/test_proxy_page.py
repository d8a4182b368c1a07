"""docs/proxy.md and deploy/ keep their word: keys, defaults, options, metrics and files are those that are read."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.hygiene.source_tree import DOCS, PROJECT
from tests.hygiene.test_readme import blocks
from tests.support import settings_table
from tests.support.together import together
from wholecall.cli.proxy import add_command
from wholecall.proxy.config import KEYS, UPSTREAM, Config, UpstreamConfig
from wholecall.proxy.loading import load_config
from wholecall.proxy.log import Line
from wholecall.proxy.metrics import METRICS

PAGE = DOCS / "proxy.md"
DEPLOY = PROJECT / "deploy"
UNIT = DEPLOY / "wholecall-proxy.service"
SECRETS = {"OPENAI_API_KEY": "k", "WHOLECALL_CLIENT_TOKENS": "9f2b7c41d80e6a35c1f4"}
# Defaults that are words rather than values.
IN_WORDS = {"upstream.name", "upstream.key_header", "upstream.live", "upstream.text"}


def rows() -> dict[str, str]:
    """Return the defaults of the page's table by key."""
    return dict(re.findall(r"^\| `([a-z_.]+)` \| (.*?) \| .*\|$", PAGE.read_text("utf-8"), re.MULTILINE))


def default_of(key: str) -> Any:
    """Return a key's default."""
    section, dot, name = key.rpartition(".")
    if section == "upstream":
        return getattr(UpstreamConfig(url="https://h"), name)
    config = Config(upstreams=())
    return getattr(getattr(config, section), name) if dot else getattr(config, name)


def written(value: Any) -> str:
    """Return a value as the table writes it."""
    if value is None or value == ():
        return "none"
    if isinstance(value, tuple):
        return f"`{json.dumps(value)}`"
    if isinstance(value, float):
        return f"`{value:g}`"
    return f"`{json.dumps(value)}`" if isinstance(value, (bool, int, str)) else f'`"{value}"`'


def test_the_table_has_every_key() -> None:
    """No key is missing, and none is invented."""
    assert {*KEYS, *(f"upstream.{key}" for key in UPSTREAM)} == set(rows()) | {"upstream.url"}


def test_the_table_is_made_from_the_settings() -> None:
    """Each row says what `--help` says; `python -m tests.support.settings_table` makes the table."""
    assert settings_table.markdown() in PAGE.read_text("utf-8")


def test_settings_are_described() -> None:
    """Each has a sentence in the docstring of its Struct, but for two that override another one."""
    rows = [*KEYS.values(), *UPSTREAM.values()]

    assert ["upstream.live", "upstream.text"] == [row.name for row in rows if not row.description]


@together("key", sorted(set(rows()) - IN_WORDS - {"upstream.url"}))
def test_defaults_are_those_that_hold(key: str) -> None:
    """The table gives each key's default."""
    said = "none" if rows()[key] == "`[]`" else rows()[key]

    assert written(default_of(key)) == said


@pytest.mark.parametrize("text", [code for _, code in blocks("toml", page="docs/proxy.md")])
def test_files_of_the_page_can_be_used(text: str, tmp_path: Path) -> None:
    """They load without a fault."""
    (tmp_path / "p.toml").write_text(text, "utf-8")

    assert [] != load_config(tmp_path / "p.toml", {}, SECRETS).upstreams


def commands() -> list[str]:
    """Return the commands of the page, and of its tables."""
    text = PAGE.read_text("utf-8")
    lines = [line for _, code in blocks("", page="docs/proxy.md") for line in code.splitlines()]
    inline = re.findall(r"`([^`\n]*)`", text)
    found = [re.search(r"\bwholecall proxy( [^\")]*)?$", line.rstrip('")')) for line in (*lines, *inline)]
    return sorted({match[0] for match in found if match is not None})


def program() -> argparse.ArgumentParser:
    """Return the command's parser."""
    parser = argparse.ArgumentParser()
    add_command(parser.add_subparsers())
    return parser


@together("command", [command for command in commands() if "--help" not in command])
def test_commands_of_the_page_are_understood(command: str) -> None:
    """Every option and every client is one."""
    assert callable(program().parse_args(shlex.split(command)[1:]).run)


def test_there_are_commands() -> None:
    """The page shows how each client is notified."""
    assert 10 <= len(commands())


def test_metrics_of_the_page_are_counted() -> None:
    """The table has all metrics, and no others."""
    assert {f"wholecall_proxy_{metric.name}" for metric in METRICS} == set(
        re.findall(r"wholecall_proxy_\w+", PAGE.read_text("utf-8"))
    )


def test_the_line_of_the_log_has_these_members() -> None:
    """The page lists them in their order."""
    (listed,) = re.findall(r"when it is over: (.*?)\. The client", PAGE.read_text("utf-8"))

    assert list(Line.__struct_fields__) == re.findall(r"`(\w+)`", listed)


# The files of operators.


def test_the_pod_is_well_formed() -> None:
    """Its arguments are options, and its time to stop is longer than that of open answers."""
    ((_, text),) = blocks("yaml", page="docs/proxy.md")
    spec = yaml.safe_load(text)["spec"]
    (container,) = spec["containers"]
    options = program().parse_args(["proxy", *container["args"]])

    assert options.config.startswith(container["volumeMounts"][0]["mountPath"])
    assert spec["terminationGracePeriodSeconds"] > 10 + Config(upstreams=()).drain
    assert {"/ready", "/health"} == {
        container[probe]["httpGet"]["path"] for probe in ("readinessProbe", "livenessProbe")
    }


def compose() -> dict[str, Any]:
    """Return the compose file."""
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    return found


def test_compose_puts_the_proxy_between(tmp_path: Path) -> None:
    """The gateway asks the proxy under a name that it answers to, on the port where it listens."""
    configs = compose()["configs"]
    (tmp_path / "p.toml").write_text(configs["proxy"]["content"], "utf-8")
    config = load_config(tmp_path / "p.toml", {}, {})
    gateway = yaml.safe_load(configs["litellm"]["content"])["model_list"][0]["litellm_params"]

    assert f"http://{config.clients.hosts[0]}:{config.listen.port}/v1" == gateway["api_base"]
    assert config.clients.hosts[0] in compose()["services"]
    assert False is config.listen.is_local


def test_compose_runs_the_image_as_it_is_made() -> None:
    """Its file is there, nothing is written, and it has more time to stop than open answers have."""
    proxy = compose()["services"]["proxy"]
    grace = int(proxy["stop_grace_period"].removesuffix("s"))

    assert (PROJECT / proxy["build"]["dockerfile"]).is_file()
    assert (True, "65532:65532", True) == (
        proxy["read_only"],
        proxy["user"],
        grace > Config(upstreams=()).drain,
    )
    assert "USER 65532:65532" in (DEPLOY / "Containerfile").read_text("utf-8").splitlines()


def test_the_image_has_the_extras_of_the_project() -> None:
    """It installs the packages that pyproject.toml names."""
    (extras,) = re.findall(r"/src\[(.*?)\]", (DEPLOY / "Containerfile").read_text("utf-8"))
    project = (PROJECT / "pyproject.toml").read_text("utf-8")

    assert [True, True] == [f"\n{extra} = [" in project for extra in extras.split(",")]


def test_the_unit_runs_commands_that_are_there() -> None:
    """Every line that starts the program is understood by it."""
    lines = re.findall(r"^Exec\w+=\S+/wholecall (proxy .*)$", UNIT.read_text("utf-8"), re.MULTILINE)

    assert [True, True] == [callable(program().parse_args(line.split()).run) for line in lines]


@pytest.mark.parametrize("tool", [path for path in [shutil.which("systemd-analyze")] if path])
def test_the_unit_is_one(tool: str, tmp_path: Path) -> None:
    """No setting of it is unknown to systemd."""
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text("utf-8").replace("/opt/wholecall/bin/wholecall", "/bin/true"), "utf-8")
    done = subprocess.run([tool, "verify", "--man=no", unit], capture_output=True, check=False, text=True)  # noqa: S603
    said = [line for line in done.stderr.splitlines() if UNIT.name in line]

    assert (0, []) == (done.returncode, said)
