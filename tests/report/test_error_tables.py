"""The tables of single errors."""

from __future__ import annotations

import pytest

from errata.data import Corpus, Hypotheses
from errata.metrics.difficulty.map import map_difficulty
from errata.report.tables.difficulty import error_table
from errata.studies.hard_errors import errors


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        (0, "[x] 1 2 3 4 5 6 …"),
        (6, "0 1 2 3 4 5 [x] 7 8 9 10 11 12 …"),
        (7, "… 1 2 3 4 5 6 [x] 8 9 10 11 12 13 …"),
        (13, "… 7 8 9 10 11 12 [x] 14 15 16 17 18 19"),
        (12, "… 6 7 8 9 10 11 [x] 13 14 15 16 17 18 …"),
        (19, "… 13 14 15 16 17 18 [x]"),
    ],
)
def test_an_error_stands_between_six_words_on_either_side(place: int, shown: str) -> None:
    words = [str(k) for k in range(20)]
    source = " ".join([*words[:place], "x", *words[place + 1 :]])
    corpus = Corpus.from_texts([source], [[" ".join(words)]])
    found = map_difficulty(corpus, [Hypotheses("A", (source,))])
    table = error_table(found, errors(found), title="t", name="n")
    assert table.rows[0][table.columns.index("in context")] == shown
