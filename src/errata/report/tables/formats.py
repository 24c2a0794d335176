"""How many digits of which figure people are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from errata.data import Scores

__all__ = ["score_format", "score_formats", "unit"]

LARGE = 10  # from here on, decimals beyond the first few say nothing


def score_format(scores: Scores, figure: str, digits: int = 1) -> str:
    """Percent for a share, as many decimals for what is large (BLEU), four for the rest.

    >>> score_format(Scores("m2()", ("A",), np.array([0.5]), headline="F", shares=("F",)), "F")
    '.1p'
    >>> score_format(Scores("bleu()", ("A",), np.array([50.0])), "score", 2)
    '.2f'
    """
    if figure in scores.shares:
        return f".{digits}p"
    values = scores.values if figure == scores.headline else scores.parts[figure]
    large = bool(np.any(np.abs(values[np.isfinite(values)]) >= LARGE))
    return f".{digits}f" if large else ".4f"


def score_formats(scores: Scores, figures: Iterable[str], digits: int = 1) -> dict[str, str]:
    """The formats of those of several figures that are no whole numbers."""
    return {
        name: score_format(scores, name, digits)
        for name in figures
        if name == scores.headline or scores.parts[name].dtype.kind == "f"
    }


def unit(results: Sequence[Scores]) -> str:
    """What a title says of scores that are shown in percent."""
    return ", percent" if any(scores.headline in scores.shares for scores in results) else ""
