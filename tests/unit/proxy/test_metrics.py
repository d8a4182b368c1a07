from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wholecall.proxy.metrics import METRICS, Tally, merged, to_text

COUNTER, HISTOGRAM = "pings_total", "own_seconds"
LINE = re.compile(r'wholecall_proxy_[a-z_]+(\{([a-z]+="([^"\\\n]|\\[\\"n])*",?)+\})? [0-9.e+-]+\Z')

amounts = st.lists(st.integers(0, 2**40), max_size=5)
seconds = st.lists(st.integers(0, 4096).map(lambda n: n / 1024), max_size=8)  # exact sums
labels = st.text(max_size=6)


def samples(text: str) -> dict[str, str]:
    """Return the values of a text by series."""
    lines = (line for line in text.split("\n") if line and not line.startswith("#"))
    return dict(line.rsplit(" ", 1) for line in lines)


def tally(counted: list[int], observed: list[float], upstreams: list[str]) -> Tally:
    """Return a tally that has seen some things."""
    found = Tally()
    for n in counted:
        found.add(COUNTER, (), n)
    for value in observed:
        found.observe(HISTOGRAM, value)
    for name in upstreams:
        found.add("calls_total", (name, "whole"))
    return found


def test_nothing_is_zero() -> None:
    """Metrics without labels exist from the beginning, as zero: rates of Prometheus need a first value."""
    assert "0" == samples(to_text(Tally().snapshot()))["wholecall_proxy_recordings_lost_total"]


def test_every_metric_is_explained() -> None:
    """Each metric has a line of help and one of its type, also while it has no series."""
    lines = to_text(Tally().snapshot()).split("\n")
    wanted = {f"# TYPE wholecall_proxy_{metric.name} {metric.kind}" for metric in METRICS}

    assert wanted <= set(lines)
    assert len(METRICS) == sum(line.startswith("# HELP ") for line in lines)


def test_names_are_those_of_prometheus() -> None:
    """Counters end in _total, and measurements in seconds or bytes carry the unit."""
    odd = [m.name for m in METRICS if (m.kind == "counter") != m.name.endswith("_total")]

    assert [] == odd
    assert [] == [m.name for m in METRICS if m.kind == "histogram" and not m.name.endswith("_seconds")]
    assert [] == [m.name for m in METRICS if list(m.bounds) != sorted(set(m.bounds))]


def test_counters_add_up_by_their_labels() -> None:
    """Each set of labels is a separate series."""
    found = Tally()
    found.add("requests_total", ("openai", "chat-completions", "ok"))
    found.add("requests_total", ("openai", "chat-completions", "ok"))
    found.add("requests_total", ("openai", "chat-completions", "mended"), 3)
    name = 'wholecall_proxy_requests_total{upstream="openai",dialect="chat-completions",outcome="%s"}'

    values = samples(to_text(found.snapshot()))
    assert ("2", "3") == (values[name % "ok"], values[name % "mended"])


def test_buckets_hold_what_is_below_them_too() -> None:
    """A bucket counts values up to its bound, the last one everything."""
    found = Tally()
    for value in (0.0001, 0.0002, 0.3, 7.0):
        found.observe(HISTOGRAM, value)

    values = samples(to_text(found.snapshot()))
    name = "wholecall_proxy_own_seconds"
    bounds = ("0.0001", "0.00025", "0.25", "0.5", "1", "+Inf")
    assert ["1", "2", "2", "3", "3", "4"] == [values[f'{name}_bucket{{le="{bound}"}}'] for bound in bounds]
    assert ("4", pytest.approx(7.3003)) == (values[f"{name}_count"], float(values[f"{name}_sum"]))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ('a"b', r"a\"b"),
        ("a\\b", r"a\\b"),
        ("a\nb", r"a\nb"),
        ("a\\nb", r"a\\nb"),
        ("naïve", "naïve"),
        ("a\udc80b", "a?b"),
    ],
)
def test_labels_are_escaped(value: str, shown: str) -> None:
    """A label's value cannot leave its quotes, nor its line."""
    found = Tally()
    found.add("calls_withheld_total", (value, "truncated"))

    name = f'wholecall_proxy_calls_withheld_total{{upstream="{shown}",reason="truncated"}}'
    assert "1" == samples(to_text(found.snapshot()))[name]


@given(amounts, seconds, st.lists(labels, max_size=3))
def test_every_line_has_the_form(counted: list[int], observed: list[float], names: list[str]) -> None:
    """Whatever the labels hold, each line of the text is a comment or a sample."""
    lines = to_text(tally(counted, observed, names).snapshot()).split("\n")
    odd = [line for line in lines if not line.startswith(("# HELP ", "# TYPE ")) and not LINE.match(line)]

    assert [""] == odd


@given(st.lists(st.tuples(amounts, seconds, st.lists(labels, max_size=3)), max_size=4))
def test_processes_add_up(parts: list[tuple[list[int], list[float], list[str]]]) -> None:
    """The snapshots of several processes together equal that of one process that had seen everything."""
    together = tally(
        [n for counted, _, _ in parts for n in counted],
        [value for _, observed, _ in parts for value in observed],
        [name for _, _, names in parts for name in names],
    )

    snapshots = [tally(*part).snapshot() for part in parts]
    assert to_text(merged([together.snapshot()])) == to_text(merged([*snapshots, Tally().snapshot()]))


def test_a_snapshot_is_plain_data() -> None:
    """A snapshot survives JSON, as it must to come through a pipe."""
    snapshot = tally([3], [0.25], ["openai"]).snapshot()

    assert to_text(snapshot) == to_text(merged([json.loads(json.dumps(snapshot))]))


def test_a_snapshot_does_not_change() -> None:
    """A snapshot does not contain later counts."""
    found = tally([1], [0.5], [])
    snapshot = found.snapshot()
    before = to_text(snapshot)
    found.add(COUNTER)
    found.observe(HISTOGRAM, 1)

    assert before == to_text(snapshot)


def test_merging_leaves_the_parts_alone() -> None:
    """A snapshot that was merged can be merged again."""
    snapshot = tally([1], [], []).snapshot()
    merged([snapshot, snapshot])

    assert "2" == samples(to_text(merged([snapshot, snapshot])))["wholecall_proxy_pings_total"]


def test_a_gauge_forgets() -> None:
    """A gauge has the series that it was given last, and no older ones."""
    found = Tally()
    found.put("streams", {("a",): 1, ("b",): 2})
    found.put("streams", {("b",): 0})

    assert [(["b"], [0])] == found.snapshot()["streams"]
