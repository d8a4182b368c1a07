"""Options, fixtures and hypothesis profiles that every test folder shares.

A test skips only by marker: `cases` tests need further cases (`--vectors=DIR`, `--recordings=DIR`) and skip
where the folder they ask for is not given; `sdk` tests need the extra of their folder, `engines` tests that of their
file, `stores` tests that of their name, and skip without it; `browser` tests need a browser, `node` tests Node.js, and
skip without it; `slow`, `sdk`, `engines`, `stores`, `browser` and `node` tests are deselected unless asked for. Of a
test that is `sampled` most cases are slow, and most of these are `later`, other ones after each change of the package.
"""

from __future__ import annotations

import functools
import gc
import importlib.util
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

pytest.register_assert_rewrite("tests.support.framework_tests")

from tests.support import share  # noqa: E402 - what it imports is rewritten

_PROJECT = Path(__file__).resolve().parents[1]
_CASE_FOLDERS = {"vectors_dir": "--vectors", "recordings_dir": "--recordings"}
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# The required modules of the `sdk` tests by folder; each folder has an extra of its name.
_SDKS = {
    "sdk": [
        "ag_ui",
        "anthropic",
        "boto3",
        "cohere",
        "fastapi",
        "google",
        "groq",
        "httpx",
        "httpx2",
        "httpx_sse",
        "huggingface_hub",
        "jiter",
        "langchain_anthropic",
        "langchain_core",
        "langchain_google_genai",
        "langchain_openai",
        "mistralai",
        "ollama",
        "openai",
        "opentelemetry",
        "orjson",
        "pydantic",
        "starlette",
        "trio",
        "turnsafe",
    ],
    "sdk_other": ["agno", "any_llm", "litellm", "smolagents"],
}
# The `engines` tests by file, each with an extra of its name, `engine-ray`, `serving-vllm` and so on: the module, and the program next
# to it.
_ENGINES = {
    "daft": ("daft", None),
    "dask": ("dask", None),
    "datasets": ("datasets", None),
    "duckdb": ("duckdb", None),
    "litellm": ("litellm_proxy_extras", "litellm"),
    "polars": ("polars", None),
    "ray": ("ray", None),
    "sglang": ("sglang", None),
    "spark": ("pyspark", "java"),
    "vllm": ("vllm", None),
}
_SLOW_ONE_IN = 20  # of the cases that the quick tests leave out
_SLOW_MACHINE = [hypothesis.HealthCheck.too_slow]

hypothesis.settings.register_profile(
    "default", deadline=None, max_examples=15, suppress_health_check=_SLOW_MACHINE
)
hypothesis.settings.register_profile(
    "quick", deadline=None, max_examples=10, derandomize=True, suppress_health_check=_SLOW_MACHINE
)
# Derandomised: a run over the same code gives the same verdict; new seeds are for people and for "long".
hypothesis.settings.register_profile(
    "ci",
    deadline=None,
    max_examples=15,
    derandomize=True,
    print_blob=True,
    suppress_health_check=_SLOW_MACHINE,
)
hypothesis.settings.register_profile(
    "long", deadline=None, max_examples=2000, print_blob=True, suppress_health_check=_SLOW_MACHINE
)
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default")
)


def pytest_configure(config: pytest.Config) -> None:
    """Let each worker run neighbours, and take from others in the end: what tests of a module share is made once.

    Only tests of our own code do so: a framework's garbage is collected in the tests behind it.
    """
    if getattr(config.option, "dist", None) == "load" and "not sdk" in config.option.markexpr:
        config.option.dist = "worksteal"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[None]:
    """Keep the collector from looking at some ten thousand tests, which live until the end, again and again.

    Nearly all that is made while tests are collected stays: to look for the rest takes more than a second.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[object]:
    """Keep the collector from looking again at what outlived a look at everything: the caches of some hundred modules.

    They grow to millions of objects, and one look at all takes seconds. Objects of a running test are left to it.
    """
    before = _looks_at_all()
    result = yield
    if _looks_at_all() != before:
        gc.freeze()
    return result


def _looks_at_all() -> int:
    return int(gc.get_stats()[-1]["collections"])


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that name folders of further cases."""
    group = parser.getgroup("wholecall")
    group.addoption("--vectors", type=Path, metavar="DIR", help="folder of further test vectors")
    group.addoption("--recordings", type=Path, metavar="DIR", help="folder of further recorded streams")
    group.addoption("--one-in", type=int, default=1, metavar="N", help="of each test's cases take every n-th")


@pytest.hookimpl(wrapper=True)  # the first part before the slow tests are deselected, the second after it
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Choose samples; skip `cases` tests whose folder is not given, and tests without the SDKs or the program that they need."""
    _prepare(config, items)
    result = yield
    if config.getoption("--one-in") > 1:
        _take_every(config.getoption("--one-in"), config, items)
    return result


def _prepare(config: pytest.Config, items: list[pytest.Item]) -> None:
    numbers: Counter[str] = Counter()
    totals = Counter(map(_slow_or_quick, items))
    for item in items:
        marks = {mark.name: mark for mark in reversed([*item.iter_markers()])}  # the closest of each name
        if "sampled" in marks:
            test = _slow_or_quick(item)
            _choose_sample(item, min(marks["sampled"].args[0], totals[test]), test, numbers[test])
            numbers[test] += 1
        for name, prepare in _PREPARE.items():
            if name in marks:
                prepare(item)
        if "cases" in marks:
            _prepare_cases(item, config)


def _test_of(item: pytest.Item) -> str:
    """Return the test of which an item is a case."""
    return item.nodeid.partition("[")[0]


def _slow_or_quick(item: pytest.Item) -> str:
    """Return the test of an item, as another one if the case is slow by itself: so quick tests have a case of each."""
    return f"{_test_of(item)}{', slow' if item.get_closest_marker('slow') else ''}"


def _take_every(one_in: int, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave of each test every n-th of its cases, other ones after each change; of one with fewer cases, one."""
    totals = Counter(map(_test_of, items))
    numbers: Counter[str] = Counter()
    kept: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        test = _test_of(item)
        few = min(one_in, totals[test])
        kept[numbers[test] % few == share.begin(few, test)].append(item)
        numbers[test] += 1
    items[:] = kept[True]
    config.hook.pytest_deselected(items=kept[False])


def _choose_sample(item: pytest.Item, one_in: int, test: str, number: int) -> None:
    """Let of each test that is `sampled(n)` all cases be slow but every n-th, and most of those be for later."""
    if number % one_in != share.begin(one_in, test):
        item.add_marker(pytest.mark.slow)
        if share.is_later(_SLOW_ONE_IN, test, number - number // one_in):
            item.add_marker(pytest.mark.later)


def _prepare_cases(item: pytest.Item, config: pytest.Config) -> None:
    """Skip a test whose folder of cases is not given."""
    asked = [option for name, option in _CASE_FOLDERS.items() if name in getattr(item, "fixturenames", ())]
    missing = [option for option in asked or _CASE_FOLDERS.values() if config.getoption(option) is None]
    if missing and (asked or len(missing) == len(_CASE_FOLDERS)):
        item.add_marker(pytest.mark.skip(reason=f"needs {' and '.join(missing)}=DIR"))


@functools.cache
def _absent(*modules: str) -> list[str]:
    """Return the missing modules."""
    return [name for name in modules if importlib.util.find_spec(name) is None]


def _prepare_sdk(item: pytest.Item) -> None:
    """Skip a test whose SDKs are not installed; ignore the deprecations that SDKs declare or cause."""
    folder = item.path.parent.name
    absent = _absent(*_SDKS[folder])
    if absent:
        extra = folder.replace("_", "-")
        item.add_marker(pytest.mark.skip(reason=f"needs the extra {extra}: no {', '.join(absent)}"))
    item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning"))


def _prepare_engine(item: pytest.Item) -> None:
    """Skip a test whose engine is not there, or the program that it runs on."""
    name = item.path.stem.removeprefix("test_")
    module, program = _ENGINES[name]
    if _absent(module):
        kind = "serving" if item.path.parent.name == "serving" else "engine"
        item.add_marker(pytest.mark.skip(reason=f"needs the extra {kind}-{name}: no {module}"))
    if program is not None and shutil.which(program) is None:
        item.add_marker(pytest.mark.skip(reason=f"needs {program}: there is none"))


def _prepare_stores(item: pytest.Item) -> None:
    """Skip a test of object stores if none is available; ignore their deprecations."""
    absent = _absent("fsspec", "moto", "flask")
    if absent:
        item.add_marker(pytest.mark.skip(reason=f"needs the extra stores: no {', '.join(absent)}"))
    item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning"))


def _prepare_node(item: pytest.Item) -> None:
    """Skip a test without Node.js; agents, which are large, also if they are not installed."""
    if shutil.which("node") is None:
        item.add_marker(pytest.mark.skip(reason="needs Node.js: no node"))
    elif item.get_closest_marker("slow") is not None and not (item.path.parent / "node_modules").is_dir():
        item.add_marker(pytest.mark.skip(reason="needs `npm install` in tests/node/agents"))


def _prepare_browser(item: pytest.Item) -> None:
    """Skip a test without a browser."""
    if not any(map(shutil.which, _BROWSERS)):
        item.add_marker(pytest.mark.skip(reason=f"needs a browser: no {', '.join(_BROWSERS)}"))


_PREPARE = {
    "sdk": _prepare_sdk,
    "engines": _prepare_engine,
    "stores": _prepare_stores,
    "browser": _prepare_browser,
    "node": _prepare_node,
}


def _case_folder(config: pytest.Config, option: str) -> Path:
    folder: Path | None = config.getoption(option)
    if folder is None:
        message = f"a test that reads {option} must be marked `cases`"
        raise pytest.UsageError(message)
    if not folder.is_dir():
        message = f"{option} {folder} is no folder"
        raise pytest.UsageError(message)
    return folder.resolve()


@pytest.fixture(scope="session")
def vectors_dir(pytestconfig: pytest.Config) -> Path:
    """The folder of further test vectors, from `--vectors`."""
    return _case_folder(pytestconfig, "--vectors")


@pytest.fixture(scope="session")
def recordings_dir(pytestconfig: pytest.Config) -> Path:
    """The folder of further recorded streams, from `--recordings`."""
    return _case_folder(pytestconfig, "--recordings")


@pytest.fixture(scope="session")
def project_dir() -> Path:
    """The folder that holds tests, corpora and docs: the checkout or a copy of it."""
    return _PROJECT


@pytest.fixture(scope="session")
def corpora_dir() -> Path:
    """The project's own recordings."""
    return _PROJECT / "corpora"
