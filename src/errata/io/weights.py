"""Files of difficulty weights, as gotutiyan/GTS publishes them.

The first line is the number of systems; every further line has, for one sentence, the number of
systems that got each gold chunk right (counts and not weights, so that the weight function can
still be chosen).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from errata.errors import InputError
from errata.io.checks.findings import raise_or_warn
from errata.io.files import PathLike, read_lines, shown_name
from errata.io.whole_numbers import whole_number
from errata.io.writing import write_lines

__all__ = ["WeightFile", "read_weights", "write_weights"]


class WeightFile(NamedTuple):
    """How many systems there were, and how many of them got each chunk of a sentence right."""

    systems: int
    counts: list[NDArray[np.intc]]


def read_weights(path: PathLike) -> WeightFile:
    """The number of systems, and the counts of each sentence."""
    lines, findings = read_lines(path)
    raise_or_warn(findings)
    name = shown_name(path)
    systems = whole_number(lines[0], 1) if lines else None
    if systems is None:
        raise InputError(
            "the first line is not the number of systems",
            path=name,
            line=1,
            remedy="a weight file starts with one positive whole number",
        )
    counts = []
    for number, line in enumerate(lines[1:], 2):
        row = [whole_number(word, 0) for word in line.split()]
        if not row:
            raise InputError(
                "the line is empty",
                path=name,
                line=number,
                remedy="give one count per gold chunk of the sentence",
            )
        if any(count is None or count > systems for count in row):
            raise InputError(
                f"{line.strip()[:40]!r} is not a row of whole numbers from 0 to {systems}, "
                "the number of systems",
                path=name,
                line=number,
                remedy="give one count per gold chunk",
            )
        counts.append(np.array(row, np.intc))
    return WeightFile(systems, counts)


def write_weights(
    systems: int, counts: Iterable[Sequence[int] | NDArray[np.intc]], path: PathLike
) -> None:
    """Write a weight file; `read_weights` gives the same back."""
    write_lines([str(systems), *(" ".join(map(str, row)) for row in counts)], path)
