"""Counts as bytes: exactly what they were, and damage is found."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from errata.core.errors import InputError
from errata.core.stats import Floats
from errata.io.shards.counts import (
    CHECKSUM,
    HEADER,
    MAGIC,
    VERSION,
    CountSpool,
    pack_counts,
    unpack_counts,
)

LARGEST = st.sampled_from([2.0**8, 2.0**16, 2.0**32, 2.0**53, 2.0**63])


@st.composite
def some_counts(draw: st.DrawFn) -> Floats:
    shape = (draw(st.integers(0, 5)), draw(st.integers(1, 3)), draw(st.integers(1, 4)))
    near = draw(LARGEST) - draw(st.integers(-2, 2))
    numbers = st.sampled_from([0.0, 1.0, near, *draw(st.sampled_from([(), (0.1,), (-1.0, -0.0)]))])
    counts = draw(arrays(np.float64, shape, elements=numbers))
    counts[draw(arrays(np.bool_, shape[:2]))] = np.nan
    return counts


@given(some_counts())
def test_counts_come_back(counts: Floats) -> None:
    packed = pack_counts(counts)
    again = unpack_counts(packed)
    np.testing.assert_array_equal(again, counts)
    np.testing.assert_array_equal(np.signbit(again), np.signbit(counts) & ~np.isnan(counts))
    assert pack_counts(again) == packed


@pytest.mark.parametrize(
    ("most", "size"),
    [(254, 1), (255, 2), (2**16 - 2, 2), (2**16 - 1, 4), (2**32 - 2, 4), (2**32 - 1, 8), (0.5, 8)],
)
def test_counts_are_as_small_as_they_can_be(most: float, size: int) -> None:
    counts = np.array([[[0, 1, most], [np.nan] * 3]])
    assert len(pack_counts(counts)) == HEADER.size + 4 + 6 * size


def test_every_damage_is_found() -> None:
    packed = pack_counts(np.arange(24.0).reshape(4, 2, 3))
    for i in range(len(packed)):
        damaged = bytearray(packed)
        damaged[i] ^= 1 << i % 8
        with pytest.raises(InputError, match="count the part again"):
            unpack_counts(bytes(damaged))
        with pytest.raises(InputError, match="count the part again"):
            unpack_counts(packed[:i])
    with pytest.raises(InputError, match="damaged"):
        unpack_counts(packed + b"\0")


def test_what_holds_no_counts_is_refused() -> None:
    packed = bytearray(pack_counts(np.zeros((1, 1, 1))))
    packed[4] = 9
    with pytest.raises(InputError, match="version 9, and this Errata reads 1"):
        unpack_counts(bytes(packed))
    start = HEADER.pack(MAGIC, VERSION, 0, 2**62, 334, 0)  # a size that no array has
    with pytest.raises(InputError, match="damaged"):
        unpack_counts(start + CHECKSUM.pack(zlib.crc32(start)))
    with pytest.raises(InputError, match="float64"):
        pack_counts(np.zeros((2, 3)))


@pytest.mark.parametrize("memory", [10, 10**6])
def test_what_is_put_aside_can_be_read_again(memory: int) -> None:
    parts = [np.full((n, 1, 3), float(n)) for n in (2, 0, 5)]
    with CountSpool(memory) as spool:
        rows = spool.parts_of("a")
        for part in parts:
            spool.add("a", part)
            spool.add(("b", 1), 2 * part)
        for _ in range(2):
            both = zip(rows, spool.parts_of(("b", 1)), strict=True)
            assert [(a.tolist(), b.tolist()) for a, b in both] == [
                (part.tolist(), (2 * part).tolist()) for part in parts
            ]
