"""Counts that come part by part, in the order of the sentences, to the scores of the whole.

Choices, sums and draws do not depend on where the parts were cut: choices by running
totals go on from exact sums (`running`), resamples are drawn from what sentences took or by their
numbers (`errata.scoring.resampling`), and what a signature says follows from facts that add up
(`facts`). `count_part` gives counts and facts of a part, `score_parts` the same `Scores` as
`errata.evaluate`; `Accumulator` is how far a reader of the parts has come, to be kept and gone on
from.
"""

from errata.scoring.accumulator import (
    Accumulator,
    CountParts,
    SystemAccumulator,
    check_divisible,
    count_part,
    settle_parts,
)
from errata.scoring.evaluate import FlatParts, evaluate_batches, score_parts
from errata.scoring.results import Facts

__all__ = [
    "Accumulator",
    "CountParts",
    "Facts",
    "FlatParts",
    "SystemAccumulator",
    "check_divisible",
    "count_part",
    "evaluate_batches",
    "score_parts",
    "settle_parts",
]
