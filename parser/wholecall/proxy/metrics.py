"""Numbers about all exchanges: counters, gauges and histograms, and their text format for Prometheus.

Theory of operation. One table lists all metrics. A series is a list of numbers under its labels: one number, or for a
histogram one for each bucket and the sum of the observed values. Therefore series of any kind are merged across
processes by adding number by number, and a snapshot is plain data that any encoder can send. Labels hold only words of
the configuration and of closed vocabularies: text chosen by clients must not make series.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

_private = True

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_PREFIX: Final = "wholecall_proxy_"

# The series by metric: the values of their labels, and their numbers.
Snapshot = dict[str, list[tuple[list[str], list[float]]]]
Labels = tuple[str, ...]


class Metric(NamedTuple):
    """A metric.

    Attributes:
        name: its name without the prefix.
        kind: its type in the words of Prometheus.
        help: its meaning, in a sentence.
        labels: the names of its labels.
        bounds: the upper bounds of a histogram's buckets, rising, in seconds; beyond the last there is one more bucket.
    """

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()

    @property
    def nothing(self) -> list[float]:
        """Return the numbers of an empty series."""
        return [0] * (len(self.bounds) + 2 if self.kind == "histogram" else 1)


_SHORT: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
_LONG: Final = (
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    25.0,
    50.0,
    100.0,
    250.0,
    500.0,
    1000.0,
)

METRICS: Final[tuple[Metric, ...]] = (
    Metric(
        "requests_total",
        "counter",
        "Exchanges that are over, by what became of them.",
        ("upstream", "dialect", "outcome"),
    ),
    Metric("calls_total", "counter", "Tool calls: whole, or withheld.", ("upstream", "status")),
    Metric(
        "calls_withheld_total", "counter", "Tool calls that were withheld, by reason.", ("upstream", "reason")
    ),
    Metric(
        "not_repaired_total",
        "counter",
        "Answers that may hold calls and passed as they were: of no known dialect, in a content coding that "
        "cannot be read, or because repair is off.",
        ("reason",),
    ),
    Metric(
        "tokens_total",
        "counter",
        "Tokens that the providers counted; models that the configuration does not name are other.",
        ("upstream", "model", "direction"),
    ),
    Metric("pings_total", "counter", "Pings sent while nothing else went out."),
    Metric(
        "recordings_lost_total", "counter", "Recordings that were given up: the disk was too slow, or full."
    ),
    Metric("log_lines_lost_total", "counter", "Lines of the access log that nobody took in time."),
    Metric(
        "bytes_total", "counter", "Bytes of bodies from upstreams (in) and to clients (out).", ("direction",)
    ),
    Metric("websockets_total", "counter", "WebSockets that are over.", ("upstream",)),
    Metric(
        "websocket_messages_total",
        "counter",
        "Messages of WebSockets that are over: from upstreams (in), to clients (out), from clients (asked).",
        ("upstream", "direction"),
    ),
    Metric("websockets", "gauge", "WebSockets that are open.", ("upstream",)),
    Metric("streams", "gauge", "Exchanges that are open.", ("upstream",)),
    Metric("held_bytes", "gauge", "Bytes that wait for a verdict.", ("upstream",)),
    Metric(
        "first_byte_seconds",
        "histogram",
        "From the request to the first byte of the upstream's body.",
        ("upstream",),
        _LONG,
    ),
    Metric("exchange_seconds", "histogram", "From the request to the end.", ("upstream",), _LONG),
    Metric(
        "hold_seconds",
        "histogram",
        "Of an exchange in which something waited: how long nothing went out because of it.",
        (),
        _LONG,
    ),
    Metric("own_seconds", "histogram", "Of a repaired exchange: the time that repair took.", (), _SHORT),
    Metric(
        "loop_lag_seconds", "histogram", "How late the event loop is, looked at once a second.", (), _SHORT
    ),
)
_BY_NAME: Final = {metric.name: metric for metric in METRICS}


class Tally:
    """The numbers of one process; not thread-safe."""

    def __init__(self) -> None:
        self._series: dict[str, dict[Labels, list[float]]] = {
            metric.name: {} if metric.labels else {(): metric.nothing} for metric in METRICS
        }

    def __repr__(self) -> str:
        return f"<Tally {sum(map(len, self._series.values()))} series>"

    def add(self, name: str, labels: Labels = (), n: float = 1) -> None:
        """Add to a counter.

        Raises:
            KeyError: there is no such metric.
        """
        self._numbers(name, labels)[0] += n

    def observe(self, name: str, seconds: float, labels: Labels = ()) -> None:
        """Add a measured value to a histogram.

        Raises:
            KeyError: there is no such metric.
        """
        numbers = self._numbers(name, labels)
        numbers[bisect_left(_BY_NAME[name].bounds, seconds)] += 1
        numbers[-1] += seconds

    def put(self, name: str, values: Mapping[Labels, float]) -> None:
        """Set all series of a gauge, or of a counter that is kept elsewhere; its other series are removed.

        Raises:
            KeyError: there is no such metric.
        """
        assert name in _BY_NAME
        self._series[name] = {labels: [value] for labels, value in values.items()}

    def snapshot(self) -> Snapshot:
        """Return a copy of all current numbers as plain data."""
        return {
            name: [(list(labels), list(numbers)) for labels, numbers in series.items()]
            for name, series in self._series.items()
        }

    def _numbers(self, name: str, labels: Labels) -> list[float]:
        series = self._series[name]
        numbers = series.get(labels)
        if numbers is None:
            assert len(labels) == len(_BY_NAME[name].labels)
            numbers = series[labels] = _BY_NAME[name].nothing
        return numbers


def merged(snapshots: Iterable[Snapshot]) -> Snapshot:
    """Return the sum of several processes' snapshots."""
    sums: dict[str, dict[Labels, list[float]]] = {metric.name: {} for metric in METRICS}
    for snapshot in snapshots:
        for name, series in snapshot.items():
            for labels, numbers in series:
                _add(sums.setdefault(name, {}), tuple(labels), numbers)
    return {
        name: [(list(labels), numbers) for labels, numbers in series.items()] for name, series in sums.items()
    }


def _add(series: dict[Labels, list[float]], labels: Labels, numbers: list[float]) -> None:
    known = series.get(labels)
    series[labels] = numbers if known is None else [a + b for a, b in zip(known, numbers, strict=True)]


def to_text(snapshot: Snapshot) -> str:
    """Return a snapshot in the text format of Prometheus, version 0.0.4; series are sorted by their labels."""
    return "".join(
        line + "\n" for metric in METRICS for line in _lines(metric, snapshot.get(metric.name, []))
    )


def _lines(metric: Metric, series: list[tuple[list[str], list[float]]]) -> Iterator[str]:
    name = _PREFIX + metric.name
    yield f"# HELP {name} {metric.help}"
    yield f"# TYPE {name} {metric.kind}"
    for labels, numbers in sorted(series):
        pairs = list(zip(metric.labels, labels, strict=True))
        if metric.kind == "histogram":
            yield from _histogram(name, pairs, metric.bounds, numbers)
        else:
            yield f"{name}{_label_set(pairs)} {_number(numbers[0])}"


def _histogram(
    name: str, pairs: list[tuple[str, str]], bounds: tuple[float, ...], numbers: list[float]
) -> Iterator[str]:
    total: float = 0
    for bound, n in zip((*map(_number, bounds), "+Inf"), numbers[:-1], strict=True):
        total += n
        yield f"{name}_bucket{_label_set([*pairs, ('le', bound)])} {_number(total)}"
    yield f"{name}_sum{_label_set(pairs)} {_number(numbers[-1])}"
    yield f"{name}_count{_label_set(pairs)} {_number(total)}"


def _label_set(pairs: list[tuple[str, str]]) -> str:
    if not pairs:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs) + "}"


def _escaped(value: str) -> str:
    r"""Return a label's value: backslash, quote and newline escaped; invalid Unicode becomes `?`."""
    plain = value.encode("utf-8", "replace").decode()
    return plain.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
