"""All targets, by name."""

from __future__ import annotations

from tests.fuzz import damage, files, snapshots, streams, texts, written
from tests.fuzz.model import Target

TARGETS: dict[str, Target] = {
    target.name: target
    for module in (streams, snapshots, damage, written, texts, files)
    for target in module.TARGETS
}
