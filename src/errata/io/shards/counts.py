"""Counts as files: ``.cnt``, a header and the numbers, the same bytes wherever they were counted.

Whole numbers take the smallest of uint8, uint16, uint32 and int64 that holds them, others float64;
a reference that is missing is all ones in every one of them. There is no date and no compression
in it, so that the same counts are always the same bytes, and a checksum finds damage.
"""

from __future__ import annotations

import os
import struct
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np

from errata.core.errors import InputError
from errata.core.stats import Bools, Floats

IN_MEMORY = 32 * 2**20  # bytes of counts that are put aside without a file

MAGIC, VERSION = b"ERCN", 1
# Magic, version, kind of number, rows, references, statistics; then the checksum of all but itself.
HEADER = struct.Struct("<4sHHQII")
CHECKSUM = struct.Struct("<I")
KINDS = ("<u1", "<u2", "<u4", "<i8", "<f8")
# What an all-ones number is as a whole one; none that is counted reaches it.
ENDS = (2**8 - 1, 2**16 - 1, 2**32 - 1, 2**63)
REMEDY = "count the part again"


def pack_counts(counts: Floats) -> bytes:
    """Counts ``[sentence, reference, k]`` as bytes; `unpack_counts` gives them back exactly.

    >>> counts = np.array([[[1, 2, 3], [np.nan] * 3], [[0, 0, 1], [2, 2, 2.0]]])
    >>> packed = pack_counts(counts)
    >>> len(packed), np.array_equal(unpack_counts(packed), counts, equal_nan=True)
    (40, True)
    """
    if counts.ndim != 3 or counts.dtype != np.float64:
        raise InputError(
            f"counts are float64 [sentence, reference, k], not {counts.dtype} of {counts.ndim} axes"
        )
    missing = np.isnan(counts)
    known = np.where(missing, 0.0, counts)
    body = _pack_numbers(known, missing, _number_kind(known))
    start = HEADER.pack(MAGIC, VERSION, _number_kind(known), *counts.shape)
    return start + CHECKSUM.pack(zlib.crc32(body, zlib.crc32(start))) + body


def _number_kind(known: Floats) -> int:
    """Which kind of number holds all of these."""
    most = known.max(initial=0.0)
    if np.signbit(known).any() or (known != np.floor(known)).any() or not most < ENDS[-1]:
        return len(KINDS) - 1
    return next(kind for kind, end in enumerate(ENDS) if most < end)


def _pack_numbers(known: Floats, missing: Bools, kind: int) -> bytes:
    numbers = known.astype(KINDS[kind])
    if missing.any():
        numbers.view(f"<u{numbers.itemsize}")[missing] = 2 ** (8 * numbers.itemsize) - 1
    return numbers.tobytes()


def unpack_counts(data: bytes) -> Floats:
    """The counts in bytes that `pack_counts` made; bytes that are damaged are refused."""
    start = HEADER.size + CHECKSUM.size
    if len(data) < start or data[:4] != MAGIC:
        raise InputError("these are no counts (.cnt)", remedy=REMEDY)
    _, version, kind, rows, references, k = HEADER.unpack_from(data)
    if version != VERSION:
        problem = f"these counts are of version {version}, and this Errata reads {VERSION}"
        raise InputError(problem, remedy=f"{REMEDY}, or read them with the Errata that made them")
    body = data[start:]
    found = zlib.crc32(body, zlib.crc32(data[: HEADER.size]))
    if (found,) != CHECKSUM.unpack_from(data, HEADER.size) or kind >= len(KINDS):
        raise InputError("these counts are damaged", remedy=REMEDY)
    if len(body) != rows * references * k * np.dtype(KINDS[kind]).itemsize:
        raise InputError("these counts are damaged", remedy=REMEDY)
    numbers = np.frombuffer(body, KINDS[kind])
    try:
        counts = numbers.astype(np.float64).reshape(rows, references, k)
    except ValueError:  # no numbers, and sizes beyond what an array has
        raise InputError("these counts are damaged", remedy=REMEDY) from None
    raw = numbers.view(f"<u{numbers.itemsize}").reshape(counts.shape)
    counts[raw == 2 ** (8 * numbers.itemsize) - 1] = np.nan
    return counts


class CountSpool:
    """Counts by name, part by part, in memory while they are few, then in a temporary file.

    >>> with CountSpool() as spool:
    ...     spool.add("m2", np.ones((2, 1, 3)))
    ...     spool.add("m2", np.zeros((1, 1, 3)))
    ...     [len(part) for part in spool.parts_of("m2")]
    [2, 1]
    """

    def __init__(self, memory: int = IN_MEMORY) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=memory)  # noqa: SIM115
        self._places: defaultdict[Hashable, list[tuple[int, int]]] = defaultdict(list)

    def __enter__(self) -> CountSpool:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, name: Hashable, counts: Floats) -> None:
        """Put the next part of one row aside."""
        start = self._file.seek(0, os.SEEK_END)
        self._places[name].append((start, self._file.write(pack_counts(counts))))

    def parts_of(self, name: Hashable) -> SpooledParts:
        """The parts of one row, in order."""
        return SpooledParts(self._file, self._places[name])


@dataclass(frozen=True, eq=False)
class SpooledParts:
    """The parts of one row of a `CountSpool`."""

    file: IO[bytes]
    places: Sequence[tuple[int, int]]

    def __iter__(self) -> Iterator[Floats]:
        for start, size in self.places:
            self.file.seek(start)
            yield unpack_counts(self.file.read(size))
