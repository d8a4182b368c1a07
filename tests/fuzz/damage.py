"""The target that damages a recording at the fuzzer's choice, under the laws of `tests/damage` for one damage.

Theory of operation. The head of an input chooses the recording and where it is cut, and each three bytes after it are
one damage: which frame, and in which way. Recordings are named by number, so that the damaged stream is always one that
a server has sent, and the calls in it are known. Every way leaves a trace, so no number of them may make a call.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache

from tests.damage.streams import Stream, called, of_corpora, told
from tests.damage.ways import DAMAGES
from tests.fuzz.model import OPTIONS, Target, held, opened
from wholecall import ToolCallParser

LONGEST = 6_000  # bytes of a recording: a short one is read often
MOST = 8  # damages of one input
_SIZE = 3  # bytes of one
WAYS: tuple[Callable[[bytes], bytes | None], ...] = tuple(DAMAGES.values())


@cache
def _streams() -> list[Stream]:
    return [stream for stream in of_corpora().streams if len(stream.data) <= LONGEST]


def damaged_frames(frames: list[bytes], damages: bytes) -> list[bytes]:
    """Return frames with the damages that the bytes choose; a damaged frame is not damaged again."""
    found = list(frames)
    for at in range(0, min(len(damages), MOST * _SIZE) - _SIZE + 1, _SIZE):
        place = int.from_bytes(damages[at : at + 2], "big") % len(frames)
        frame = WAYS[damages[at + 2] % len(WAYS)](frames[place])
        if frame is not None and found[place] == frames[place]:
            found[place] = frame
    return found


def run_damage(data: bytes) -> None:
    """Damage a recording, and cut it now and then: no call is emitted that it does not hold."""
    options, payload = opened(data)
    streams = _streams()
    stream = streams[(options.number(0) * 256 + options.number(1)) % len(streams)]
    unsent = came_unsent(stream, payload, options.number(2))
    held(f"law 67: {stream.name}: {unsent} calls that nobody sent", not unsent)


def came_unsent(stream: Stream, damages: bytes, cut: int = 0) -> int:
    """Return how many calls come of a damaged recording that it does not hold; `cut` is in 256ths of it, 0 for no cut."""
    frames = damaged_frames(stream.frames, damages)
    if cut:
        frames = frames[: cut * len(frames) // 256]
    came = called(told(ToolCallParser(events="calls"), [b"".join(frames)]))
    return (came - stream.held).total()


def _mutated(payload: bytes, rng: random.Random) -> bytes:
    """Return other damages: one more, one less, or one elsewhere."""
    damages = [payload[at : at + _SIZE] for at in range(0, len(payload) - _SIZE + 1, _SIZE)]
    choice = rng.randrange(3) if damages else 0
    if choice:
        damages.pop(rng.randrange(len(damages)))
    if choice != 1:
        damages.insert(rng.randint(0, len(damages)), rng.randbytes(_SIZE))
    return b"".join(damages[:MOST])


def _seeds() -> Iterator[bytes]:
    """Yield for each recording one damage of each way, somewhere."""
    rng = random.Random(1)
    for number in range(len(_streams())):
        head = number.to_bytes(2, "big").ljust(OPTIONS, b"\0")
        yield head + b"".join(rng.randbytes(2) + bytes([way]) for way in range(len(WAYS)))


TARGETS = (Target("damage", run_damage, _seeds, "wholecall.machine", _mutated),)
