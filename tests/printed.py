"""When two printed texts count as the same: equal words, numbers alike but for the last digits."""

from __future__ import annotations

import re
from itertools import zip_longest

import pytest

__all__ = ["alike"]

NUMBER = re.compile(r"([-−+]?\d+\.\d+(?:e[-+]?\d+)?)")


def alike(first: str, second: str) -> bool:
    """Whether words are the same and numbers very nearly, as other machines round."""
    pieces = zip_longest(NUMBER.split(first), NUMBER.split(second), fillvalue="")
    return all(
        one == other
        or (
            NUMBER.fullmatch(one) is not None
            and NUMBER.fullmatch(other) is not None
            and float(one.replace("−", "-"))
            == pytest.approx(float(other.replace("−", "-")), rel=1e-9, abs=1e-12)
        )
        for one, other in pieces
    )
