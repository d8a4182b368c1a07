"""Replay recorded streams: yield the events of recordings, with the recorded chunks or others."""

from __future__ import annotations

from wholecall.recordings.replay import Chunking, dialect_of, replay

__all__ = ["Chunking", "dialect_of", "replay"]
