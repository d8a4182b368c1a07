"""Content codings: bodies in any cut, of many members and frames, cut short, damaged, and larger than any memory."""

from __future__ import annotations

import gzip
import random
import sys
import tracemalloc
import types
import zlib
from collections.abc import Callable, Iterator
from itertools import pairwise

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.support.together import together
from wholecall.framing.codings import LARGEST_WINDOW, MOST, Decoder, UndecodableError, decoder_for
from wholecall.framing.zstd_blocks import Blocks

MIB = 1024 * 1024


def raw_deflate(data: bytes) -> bytes:
    """Return the output of servers that take the word literally: deflate without zlib's head."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def zstd(data: bytes, *, checksum: bool = True, size: bool = True) -> bytes:
    """Return one frame."""
    return zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=size).compress(data)


ENCODE: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstd),
    "bare zstd": ("zstd", lambda data: zstd(data, checksum=False, size=False)),
}
WITH_MEMBERS = [name for name in ENCODE if name != "br"]
EVENTS = [b'data: {"n":%d}\n\n' % number for number in range(20)]


def decoder(coding: str) -> Decoder:
    """Return a decoder for a known coding."""
    found = decoder_for(coding)
    assert found is not None
    return found


def decoded(coding: str, pieces: list[bytes]) -> bytes:
    """Return the decoded bytes of a whole body."""
    inner = decoder(coding)
    out = b"".join(piece for data in pieces for piece in inner.feed(data))
    inner.close()
    return out


def cuts(data: bytes, places: list[int]) -> list[bytes]:
    """Return data, cut at some places."""
    ends = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(ends)]


@pytest.mark.parametrize("name", ENCODE)
@given(
    parts=st.lists(st.binary(max_size=300), min_size=1, max_size=6),
    places=st.lists(st.integers(0, 9999), max_size=9),
)
def test_the_cut_does_not_matter(name: str, parts: list[bytes], places: list[int]) -> None:
    """Consecutive members decode to their contents, however the body was cut."""
    coding, encode = ENCODE[name]
    parts = parts if name in WITH_MEMBERS else [b"".join(parts)]
    body = b"".join(map(encode, parts))

    assert b"".join(parts) == decoded(coding, cuts(body, places))


@pytest.mark.parametrize("name", ENCODE)
def test_byte_by_byte(name: str) -> None:
    """Cut at every byte, a body with an event in each member is read whole."""
    coding, encode = ENCODE[name]
    body = b"".join(map(encode, EVENTS)) if name in WITH_MEMBERS else encode(b"".join(EVENTS))

    assert b"".join(EVENTS) == decoded(coding, [body[place : place + 1] for place in range(len(body))])


def flushed(name: str) -> Iterator[bytes]:
    """Yield the output of a server that flushes its compressor after each event."""
    packer = {
        "gzip": lambda: zlib.compressobj(wbits=31),
        "deflate": zlib.compressobj,
        "zstd": lambda: zstandard.ZstdCompressor().compressobj(),
    }[name]()
    mode = zstandard.COMPRESSOBJ_FLUSH_BLOCK if name == "zstd" else zlib.Z_SYNC_FLUSH
    for event in EVENTS:
        yield packer.compress(event) + packer.flush(mode)
    yield packer.flush()


@pytest.mark.parametrize("name", ["gzip", "deflate", "zstd"])
def test_what_was_flushed_comes_at_once(name: str) -> None:
    """An event is emitted with the bytes that complete it, and waits for nothing."""
    inner = decoder(name)

    assert [*EVENTS, b""] == [b"".join(inner.feed(piece)) for piece in flushed(name)]
    inner.close()


def test_brotli_that_was_flushed_comes_at_once() -> None:
    """Flushed Brotli comes at once, as with the other codings."""
    packer, inner = brotli.Compressor(), decoder("br")
    pieces = [packer.process(event) + packer.flush() for event in EVENTS]

    assert EVENTS == [b"".join(inner.feed(piece)) for piece in pieces]


def skippable(size: int) -> bytes:
    """Return a frame of Zstandard without content for the reader."""
    return b"\x5a\x2a\x4d\x18" + size.to_bytes(4, "little") + bytes(size)


@pytest.mark.parametrize("size", [0, 1, 10_000])
def test_skippable_frames_are_skipped(size: int) -> None:
    """Between others, before and after them."""
    body = skippable(size) + zstd(b"a") + skippable(size) + zstd(b"b") + skippable(size)

    assert b"ab" == decoded("zstd", [body])


def test_zeros_behind_a_member_of_gzip_are_padding() -> None:
    """Zeros after a member are padding, as in gzip itself."""
    body = gzip.compress(b"a") + bytes(9000) + gzip.compress(b"b") + bytes(3)

    assert b"ab" == decoded("gzip", [body])


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_an_empty_body_is_one(coding: str) -> None:
    """Some servers name a coding and send nothing."""
    assert b"" == decoded(coding, [b""])


@pytest.mark.parametrize("name", ENCODE)
def test_a_body_that_ends_in_its_middle_is_an_error(name: str) -> None:
    """Wherever it was cut, the end reports it; the content up to there was emitted."""
    coding, encode = ENCODE[name]
    text = b"".join(EVENTS)
    body = encode(text)
    outcomes: set[str] = set()
    for end in range(1, len(body)):
        inner = decoder(coding)
        out = b"".join(inner.feed(body[:end]))
        assert text.startswith(out)
        with pytest.raises(UndecodableError):
            inner.close()
        outcomes.add("error")

    assert {"error"} == outcomes


@pytest.mark.parametrize("name", WITH_MEMBERS)
def test_a_second_member_that_ends_in_its_middle_is_an_error(name: str) -> None:
    """The first member, which is whole, does not count for both."""
    coding, encode = ENCODE[name]
    with pytest.raises(UndecodableError) as caught:
        decoded(coding, [encode(b"a") + encode(b"b")[:-1]])

    assert "the body is not what its content coding says, or ends in its middle" == str(caught.value)


@together("name", ENCODE)
@together("tail", [b"data: canary\n\n", b"\xff" * 50])
def test_what_is_no_member_is_an_error(name: str, tail: bytes) -> None:
    """Neither at the beginning, nor after a whole member; the message shows nothing of it."""
    coding, encode = ENCODE[name]
    messages: list[str] = []
    for body in (tail, encode(b"a") + tail):
        with pytest.raises(UndecodableError) as caught:
            decoded(coding, [body])
        messages.append(str(caught.value))

    assert [False, False] == ["canary" in message for message in messages]


@pytest.mark.parametrize("name", ENCODE)
def test_damage_never_goes_unseen_by_the_interpreter(name: str) -> None:
    """Any byte that changes gives an error or other bytes, never another exception."""
    coding, encode = ENCODE[name]
    body, rng = encode(b"".join(EVENTS)), random.Random(3)
    for place in range(len(body)):
        damaged = body[:place] + bytes([body[place] ^ rng.randrange(1, 256)]) + body[place + 1 :]
        inner = decoder(coding)
        try:
            for _ in inner.feed(damaged):
                pass
            inner.close()
        except UndecodableError:
            continue

    assert b"".join(EVENTS) == decoded(coding, [body])


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", ENCODE)
def test_a_bomb_comes_in_bounded_pieces(name: str) -> None:
    """16 MiB of one byte are read step by step, and never held in memory."""
    coding, encode = ENCODE[name]
    bomb = encode(bytes(16 * MIB))
    inner = decoder(coding)
    tracemalloc.start()
    try:
        sizes = [len(piece) for piece in inner.feed(bomb)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    inner.close()

    assert (16 * MIB, True, True) == (sum(sizes), max(sizes) <= MOST, peak < 4 * MIB)


@pytest.mark.parametrize("name", ENCODE)
def test_a_bomb_can_be_left(name: str) -> None:
    """A reader that has seen enough stops, and no more is decoded."""
    coding, encode = ENCODE[name]
    pieces = iter(decoder(coding).feed(encode(bytes(8 * MIB))))

    assert 0 < len(next(pieces)) <= MOST


def test_many_small_members_cost_what_they_are() -> None:
    """A large read with a member in every 20 bytes is not copied for each of them."""
    body = gzip.compress(b"") * 50_000
    inner = decoder("gzip")
    tracemalloc.start()
    try:
        found = list(inner.feed(body))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    inner.close()

    assert ([], True) == (found, peak < MIB)


def test_a_window_that_is_too_large_is_refused() -> None:
    """A server may not demand more memory than browsers grant it."""
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    body = packer.compress(b"a" * 100) + packer.flush()
    with pytest.raises(UndecodableError) as caught:
        decoded("zstd", [body])

    assert () == caught.value.args[1:]


@pytest.mark.parametrize("coding", ["GZIP", " gzip ", "x-gzip"])
def test_names_of_codings(coding: str) -> None:
    """Letters may be upper case, and gzip has an old name."""
    assert b"a" == decoded(coding, [gzip.compress(b"a")])


@together(
    "coding", ["compress", "gzip, lz4", "lz4, gzip", "dcb", "", "identity", "aws-chunked", "gzip, " * 5]
)
def test_codings_that_are_not_known(coding: str) -> None:
    """There is no decoder, and the body has to pass unchanged."""
    assert None is decoder_for(coding)


@pytest.mark.parametrize("size", [1, 4, 8 * MIB])
def test_codings_over_one_another(size: int) -> None:
    """Codings are removed in turn, the last one first, each in pieces of bounded size."""
    body = brotli.compress(zlib.compress(gzip.compress(bytes(size))))
    inner = decoder("gzip, identity, Deflate , br")
    pieces = list(inner.feed(body))
    inner.close()

    assert (size, True) == (sum(map(len, pieces)), max(map(len, pieces)) <= MOST)


def test_codings_over_one_another_that_end_in_their_middle() -> None:
    """Each coding has to reach its end."""
    body = gzip.compress(zlib.compress(b"abc")[:-1])
    with pytest.raises(UndecodableError):
        decoded("deflate, gzip", [body])


def test_a_wider_window_is_for_who_wants_it() -> None:
    """Files may be compressed as zstd itself decodes them."""
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    body = packer.compress(b"a" * 100) + packer.flush()
    inner = decoder_for("zstd", window=LARGEST_WINDOW)
    assert inner is not None

    assert b"a" * 100 == b"".join(inner.feed(body))


@pytest.mark.parametrize(("coding", "module"), [("br", "brotli"), ("zstd", "zstandard")])
def test_libraries_that_are_not_installed(coding: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library its coding is not known."""
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)

    assert None is decoder_for(coding)


def test_a_brotli_that_knows_no_bound_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before 1.2 a few bytes could fill the memory in one step."""

    class Decompressor:
        def process(self, data: bytes) -> bytes:
            return data

    old = types.SimpleNamespace(Decompressor=Decompressor, error=ValueError)
    monkeypatch.setitem(sys.modules, "brotli", old)

    assert None is decoder_for("br")


@given(
    st.lists(st.binary(max_size=200_000), min_size=1, max_size=3), st.lists(st.integers(0, 9999), max_size=9)
)
def test_zstandard_is_cut_behind_blocks(parts: list[bytes], places: list[int]) -> None:
    """The pieces make up the bytes, and each contains the end of one block at most."""
    body = b"".join(zstd(part) for part in parts)
    whole = list(Blocks().cut(body))
    blocks = Blocks()
    again = [piece for data in cuts(body, places) for piece in blocks.cut(data)]
    inner = zstandard.ZstdDecompressor().decompressobj(read_across_frames=True)

    assert (body, body, True) == (
        b"".join(whole),
        b"".join(again),
        max(len(inner.decompress(piece)) for piece in whole) <= MOST // 2,
    )


@pytest.mark.parametrize("bits", [31, 15])
def test_nothing_is_left_in_a_decompressor(bits: int) -> None:
    """The decoded content of some bytes is emitted with them, also where it is a little more than one step gives."""
    packer = zlib.compressobj(wbits=bits)
    body = packer.compress(bytes(MIB)) + packer.flush()
    ends = range(200, 600)

    assert [len(zlib.decompressobj(bits).decompress(body[:end])) for end in ends] == [
        len(b"".join(decoder("gzip" if bits == 31 else "deflate").feed(body[:end]))) for end in ends
    ]
