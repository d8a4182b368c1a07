"""All faults of the self-test by their names."""

from __future__ import annotations

from collections.abc import Mapping

from wholecall.grading.probe.exchange import Wire
from wholecall.grading.probe.selftest import blocks, ends, labels, parts
from wholecall.grading.probe.selftest.fault import Fault

FAULTS: Mapping[str, Fault] = {
    fault.id: fault for fault in (*labels.FAULTS, *ends.FAULTS, *blocks.FAULTS, *parts.FAULTS)
}


def faults_of(wire: Wire) -> list[Fault]:
    """Return the faults of a wire."""
    return [fault for fault in FAULTS.values() if wire in fault.wires]
