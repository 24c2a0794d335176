"""Counts that come part by part, in the order of the sentences, to the scores of the whole.

What is decided, summed and drawn does not depend on where the parts were cut: choices by running
totals go on from exact sums (`running`), resamples are drawn from what sentences took or by their
numbers (`errata.resampling`), and what a signature says follows from facts that add up (`facts`).
`count_part` gives counts and facts of a part, `scores_of_parts` the same `Scores` as
`errata.evaluate`; `Standing` is how far a reader of the parts has come, to be kept and gone on
from.
"""

from errata.reduction.cursor import CountParts, Standing
from errata.reduction.facts import PartFacts
from errata.reduction.parts import check_parts, count_part
from errata.reduction.running import Reduction, reduce_parts
from errata.reduction.scoring import scores_of_parts
from errata.reduction.settling import settled_parts
from errata.reduction.streaming import FlatParts, evaluate_batches

__all__ = [
    "CountParts",
    "FlatParts",
    "PartFacts",
    "Reduction",
    "Standing",
    "check_parts",
    "count_part",
    "evaluate_batches",
    "reduce_parts",
    "scores_of_parts",
    "settled_parts",
]
