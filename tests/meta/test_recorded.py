"""Everything that is said of metrics, on small scores and judgments with all they may have."""

import random
from functools import partial
from itertools import product
from typing import get_args

import numpy as np
import pytest

from errata.data import Judgment, Scores
from errata.human import Comparisons, compare
from errata.meta import pairwise, significance
from errata.meta.matching import match, match_comparisons, match_systems
from errata.meta.sentence_level import ConventionName, calibrated_accuracy, sentence_levels
from errata.meta.system_level import leave_one_out, p_value_matrix, system_level, windows
from recorded import check, outcome

KINDS = ("pearson", "spearman", "kendall")


def numbers(seed: int, *shape: int) -> np.ndarray:
    """Numbers with few digits, so that some are equal."""
    draw = random.Random(seed)
    flat = [round(draw.gauss(0, 1), 1) for _ in range(int(np.prod(shape)))]
    return np.array(flat).reshape(shape)


def scored(name: str, systems: str, seed: int, *, resampled: int = 0, sentences: int = 0) -> Scores:
    table = numbers(seed, len(systems), sentences) if sentences else None
    values = numbers(seed + 1, len(systems)) + np.arange(len(systems)) / 2
    drawn = numbers(seed + 2, resampled, len(systems)) + values if resampled else None
    return Scores(name, tuple(systems), values, table, resampled=drawn)


def both_sides(
    systems: str = "ABCDEF", metrics: int = 3, **kept: int
) -> tuple[Scores, list[Scores]]:
    people = scored("people", systems, 1, **kept)
    return people, [scored(f"m{k}", systems, 10 * k + 7, **kept) for k in range(metrics)]


def levels(
    systems: str = "ABCDEF", metrics: int = 3, kept: object = None, **options: object
) -> object:
    people, scores = both_sides(systems, metrics, **(kept or {}))  # type: ignore[arg-type]
    return system_level(match(people, scores), resamples=options.pop("resamples", 15), **options)  # type: ignore[arg-type]


def said(number: int = 30, judges: int = 3, systems: str = "ABCD") -> list[Judgment]:
    draw = random.Random(9)
    made = []
    for k in range(number):
        shown = draw.sample(systems, draw.randint(2, len(systems)))
        cut = draw.randint(1, len(shown))
        groups = [(name,) for name in shown[:cut]] + ([tuple(shown[cut:])] if shown[cut:] else [])
        ranks = tuple(1 + "ABCD".index(g[0]) // 2 + draw.randint(0, 1) for g in groups)
        made.append(Judgment("abc"[k % judges], k // 5, tuple(groups), ranks, f"i{k}"))
    return made


def material(**options: object) -> tuple[Comparisons, list[Scores]]:
    table = numbers(3, 3, 4, 6)
    # What people agree on shows in the first metric most.
    table[0] -= np.arange(4)[:, None]
    return compare(said(), **options), [  # type: ignore[arg-type]
        Scores(f"m{k}", tuple("ABCD"), each.mean(1), each) for k, each in enumerate(table)
    ]


def sentences(unit: str, resamples: int, members: str = "all", **more: object) -> object:
    """All conventions, each by itself: what one needs must not hang on another."""
    pairs, metrics = material(members=members)
    options = {"unit": unit, "resamples": resamples, "folds": 3, **more}

    def read(convention: str) -> object:
        found = sentence_levels(pairs, metrics, [convention], **options)  # type: ignore[arg-type,list-item]
        return found.levels, found.contests, found.signature.split(";")[0]

    return {name: outcome(partial(read, name)) for name in get_args(ConventionName)}


def swaps(number: int, unit: str, **options: object) -> object:
    pairs = compare(said(number))
    table = numbers(5, 2, 4, 1 + number // 5)
    marks = [
        pairwise.pair_outcomes(
            pairs, pairwise.differences(pairs, Scores("m", tuple("ABCD"), t.mean(1), t)), **options
        )  # type: ignore[arg-type]
        for t in table
    ]
    p = pairwise.swap_test(pairs, *marks, unit=unit, resamples=40)  # type: ignore[arg-type]
    reach = [m.chance(pairs, ties) for m, ties in product(marks, (0.0, 0.3))]
    between = [m.interval(pairs, "sentences", 20, 0.8, 1) for m in marks]
    return {
        "p": p,
        "marks": marks,
        "values": [m.value for m in marks],
        "chance": reach,
        "interval": between,
    }


def strange(**options: object) -> object:
    """People know Z, the metrics know Y, one of them does not know A."""
    people, (first, second, *_) = both_sides("ABCDZ")[0], both_sides("ABCDY")[1]
    return match(people, [first, second.select(["B", "C", "D", "Y"])], **options)  # type: ignore[arg-type]


CASES = {
    **{
        f"systems: {k} systems, {m} metrics": partial(levels, "ABCDEFGHIJKLMNOPQRSTUV"[:k], m)
        for k, m in ((2, 1), (3, 2), (4, 2), (5, 3), (6, 3), (17, 2), (19, 2), (20, 2), (21, 2))
    },
    **{
        f"systems over {over}": partial(
            levels, over=over, kept={"resampled": 8, "sentences": 5}, confidence=0.7, rng=4
        )
        for over in ("systems", "sentences", "judgments", "both")
    },
    "systems drawn otherwise": partial(levels, "ABCDEFGHIJKLMNOPQ", 2, rng=3),
    "systems without what is resampled": partial(levels, over="sentences"),
    "systems with sentences only": partial(levels, kept={"sentences": 5}),
    "systems without resamples": partial(levels, resamples=0, kept={"sentences": 5}),
    "systems, people resampled": lambda: system_level(
        match(both_sides(resampled=6)[0], both_sides(sentences=4)[1]), resamples=10
    ),
    **{
        f"p-values {test} {kind}": lambda t=test, k=kind: p_value_matrix(match(*both_sides()), t, k)
        for test, kind in product(("williams", "permutation"), KINDS)
    },
    "p-values of three systems": lambda: p_value_matrix(match(*both_sides("ABC"))),
    **{
        f"leaving one out {kind}": lambda k=kind: leave_one_out(match(*both_sides()), k)
        for kind in KINDS
    },
    **{
        f"windows of {size} {top}": lambda s=size, t=top: windows(
            match(*both_sides()), s, "spearman", top=t
        )
        for size, top in product((1, 2, 4, 6, 7), (False, True))
    },
    "two systems, one left out": lambda: leave_one_out(match(*both_sides("AB"))),
    "three systems, one left out": lambda: leave_one_out(match(*both_sides("ABC"))),
    "matched strictly": strange,
    "matched in common": partial(strange, common=True),
    "matched with some hidden": partial(strange, hide=("A", "Y", "Z")),
    "matched with one nobody knows": partial(strange, hide=("Q",)),
    "matched without metrics": lambda: match(both_sides()[0], []),
    "matched twice": lambda: match(both_sides()[0], both_sides()[1][:1] * 2),
    "matched to one system": lambda: match(
        scored("p", "AB", 1), [scored("m", "BC", 2)], common=True
    ),
    "comparisons matched": lambda: [
        outcome(partial(match_comparisons, compare(said()), metrics, common=common, hide=hide))
        for metrics in ([scored("m", "ABCX", 1)], [scored("m", "ABCD", 1), scored("n", "BCD", 2)])
        for common in (False, True)
        for hide in ((), ("A",), ("X",), ("D", "X"), ("Q",))
    ],
    "systems matched": lambda: [
        outcome(
            partial(match_systems, scored("p", people, 4), scored("m", "CABD", 1), common=common)
        )
        for people in ("BCA", "AB", "DCBA", "ZA", "ZDA")
        for common in (False, True)
    ],
    **{
        f"sentences by {unit}, {resamples} resamples": partial(sentences, unit, resamples)
        for unit, resamples in (
            *(("rankings", 11), ("sentences", 9), ("judges", 5), ("pairs", 7), ("rankings", 0)),
        )
    },
    "sentences, members expected": partial(sentences, "sentences", 6, "expected", confidence=0.6),
    "sentences, two folds": partial(sentences, "sentences", 0, folds=2, rng=5),
    "sentences, all at once": lambda: sentence_levels(
        *material(), ["accuracy", "tau_b", "row_accuracy", "calibrated"], resamples=5, folds=2
    ),
    "sentences, one metric": lambda: [
        sentence_levels(material()[0], material()[1][:1], names, resamples=5, folds=2)
        for names in (["calibrated"], ["calibrated", "noties"], ["row_calibrated"])
    ],
    "sentences, a stranger": lambda: sentence_levels(
        material()[0], [s.select(["A", "B", "C"]) for s in material()[1]], ["hties"], resamples=4
    ),
    **{
        f"folds {folds}": lambda f=folds: calibrated_accuracy(
            *(material()[0], material()[1][1]), folds=f
        )
        for folds in (1, 2, 3, 6, 7)
    },
    "confusion": lambda: [
        pairwise.confusion(material()[0], each, threshold=t, unit=u)
        for each in material()[1]
        for t in (0.0, 0.3)
        for u in (None, "judges", "sentences")
    ],
    "ceiling": lambda: [pairwise.human_ceiling(compare(said(k))) for k in (5, 30, 60)],
    "conventions": lambda: [
        {
            "chance": pairwise.chance(table),
            **{n: [f(table), f(pairwise.chance(table))] for n, f in pairwise.CONVENTIONS.items()},
        }
        for table in (np.abs(numbers(2, 3, 3)), np.abs(numbers(4, 2, 3, 3)), np.zeros((3, 3)))
    ],
    **{
        f"swaps of {number} by {unit} {options}": partial(swaps, number, unit, **options)
        for (number, unit), options in product(
            ((8, "rankings"), (40, "rankings"), (40, "pairs"), (40, "sentences")),
            ({}, {"rows": True}, {"rows": True, "calibrate": True}),
        )
    },
    "williams": lambda: [
        outcome(partial(significance.williams, a, b, c, n))
        for a, b, c, n in product((-0.3, 0.6, 1.0), (0.2, 0.5), (-0.1, 0.4, 1.0), (3, 4, 9))
    ],
    "williams of scores": lambda: [
        outcome(partial(significance.williams_test, *numbers(8, 3, 7), kind=kind))
        for kind in KINDS  # type: ignore[arg-type]
    ],
    "permutations": lambda: [
        significance.permutation_test(*numbers(seed, 3, n), kind=kind, resamples=50, rng=2)  # type: ignore[arg-type]
        for seed, n, kind in product((1, 2), (4, 15, 16, 17, 25), ("pearson", "spearman"))
    ],
    "flips": lambda: [
        significance.flip_p_values(
            np.where(numbers(6, 4, 9) > limit, np.nan, numbers(7, 4, 9)), resamples=30
        )
        for limit in (-9.0, 1.5, 9.0)
    ],
    "holm": lambda: [
        significance.holm([0.01, np.nan, 0.04, 0.03, 0.9, 0.03]),
        significance.holm_pairs(
            np.array([[np.nan, 0.1, 0.5], [0.9, np.nan, 0.02], [0.5, 0.98, np.nan]])
        ),
    ],
    "detectable": lambda: [
        significance.detectable_difference(worse, between, n, level=level)
        for worse, between, n, level in product(
            (-0.2, 0.6, 0.95), (0.3, 0.8), (3, 4, 5, 13), (0.05, 0.2)
        )
    ],
}
GROUPS = {"meta": {name: partial(outcome, make) for name, make in CASES.items()}}


@pytest.mark.parametrize("case", CASES)
def test_nothing_said_of_metrics_changes(case: str) -> None:
    check("meta", case, GROUPS["meta"][case]())
