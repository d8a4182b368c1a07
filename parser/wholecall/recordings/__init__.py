"""Recorded streams: read from the files of people and tools, and written with their chunks and times."""

from wholecall.recordings.model import Chunk, Recording, Request
from wholecall.recordings.own import Recorder, write
from wholecall.recordings.reading import Recordings, read

__all__ = ["Chunk", "Recorder", "Recording", "Recordings", "Request", "read", "write"]
