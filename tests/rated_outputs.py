"""Made-up ratings: outputs whose errors can be read off their words."""

from __future__ import annotations

import csv
from io import StringIO

import numpy as np

__all__ = ["WORDS", "rated_csv"]

WORDS = (
    *("the", "a", "dog", "cat", "bird", "sees", "hears", "finds", "near", "under", "big"),
    *("small", "red", "house", "tree", "river"),
)
WRONG = ("teh", "sea", "foundes")


def rated_csv(sources: int = 60, outputs: int = 4, *, seed: int = 0, shuffled: bool = False) -> str:
    """A table of ratings: each wrong word costs a point, and raters differ by chance.

    ``shuffled`` gives every output the ratings of another one.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(sources):
        words = [str(word) for word in rng.choice(WORDS, 7)]
        source = f"{' '.join(words)} {number} ."
        for _ in range(outputs):
            wrong = int(rng.integers(0, 4))
            made = list(words)
            for place in rng.permutation(7)[:wrong].tolist():
                made[place] = str(rng.choice(WRONG))
            grades = [max(1, min(4, 4 - wrong + int(rng.integers(-1, 2)))) for _ in range(5)]
            rows.append([source, f"{' '.join(made)} {number} .", ",".join(map(str, grades))])
    if shuffled:
        grades_of = [row[2] for row in rows]
        for row, place in zip(rows, rng.permutation(len(rows)).tolist(), strict=True):
            row[2] = grades_of[place]
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["source", "output", "grammer", "fluency", "meaning", "system"])
    for source, output, grades in rows:
        writer.writerow([source, output, grades, grades, f"0,{grades}", "A,B"])
    return text.getvalue()
