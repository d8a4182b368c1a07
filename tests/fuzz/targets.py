"""All targets, by name."""

from __future__ import annotations

from tests.fuzz import files, snapshots, streams, texts
from tests.fuzz.model import Target

__all__ = ["TARGETS"]

TARGETS: dict[str, Target] = {
    target.name: target for target in (*streams.TARGETS, *snapshots.TARGETS, *texts.TARGETS, *files.TARGETS)
}
