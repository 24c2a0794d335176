"""Which rows a model learns from, is stopped by, and is judged on.

A source is in one part only, whatever its outputs: by its digest, so that another file, another
order or more rows never move it. Eight tenths are learnt from, one tenth says when to stop, one
tenth is looked at once, at the end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from errata.io.model_cards import PartSize
from errata.numbers import Ints

__all__ = ["PARTS", "Part", "part_of", "part_sizes", "split_rows", "whole_sources"]

Part = Literal["train", "validation", "test"]
PARTS: tuple[Part, ...] = get_args(Part)
TENTHS: tuple[Part, ...] = (*("train",) * 8, "validation", "test")


def _number(source: str) -> int:
    """A number of a source that does not depend on case or spaces."""
    plain = " ".join(source.split()).casefold()
    digest = hashlib.sha256(plain.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big")


def part_of(source: str, fold: int = 0) -> Part:
    """The part that a source is in; every ``fold`` from 0 to 9 holds out other tenths.

    >>> part_of("He go home ."), part_of("he  go home .")
    ('train', 'train')
    """
    return TENTHS[(_number(source) + fold) % 10]


def split_rows(sources: Sequence[str], fold: int = 0) -> dict[Part, Ints]:
    """The positions of the rows of each part, by their sources."""
    parts = [part_of(source, fold) for source in sources]
    return {
        part: np.array([k for k, own in enumerate(parts) if own == part], np.int64)
        for part in PARTS
    }


def part_sizes(sources: Sequence[str], split: dict[Part, Ints]) -> dict[str, PartSize]:
    """How many rows and sources each part has."""
    return {
        part: PartSize(len(rows), len({sources[k] for k in rows.tolist()}))
        for part, rows in split.items()
    }


def whole_sources(sources: Sequence[str], most: int | None) -> list[int]:
    """The positions of at most so many rows, whole sources at a time, in the order of the file.

    Sources are taken in the order of their digests: more rows are the same ones and others.

    >>> whole_sources(["a", "b", "a", "c"], 3)
    [1, 3]
    """
    if most is None or most >= len(sources):
        return list(range(len(sources)))
    counts: dict[str, int] = {}
    for source in sources:
        counts[source] = counts.get(source, 0) + 1
    order = sorted(counts, key=lambda source: (_number(source), source))
    taken: set[str] = set()
    left = most
    for source in order:
        if counts[source] > left:
            break
        taken.add(source)
        left -= counts[source]
    return [k for k, source in enumerate(sources) if source in taken]
