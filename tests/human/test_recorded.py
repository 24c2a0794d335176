"""Everything that is made of judgments, on small ones with all that judgments may have."""

import random
from functools import partial
from itertools import product

import numpy as np
import pytest

from errata.data import Judgment
from errata.human import Counts, compare, head_to_head, parse_ranker, rank
from errata.human.agreement import judge_agreement, judge_correlations, krippendorff, pooled_kappa
from errata.human.bootstrap import bootstrap_counts
from errata.human.comparisons import Comparisons, drop_systems
from errata.human.output_pairs import output_pairs
from errata.human.plan import next_pairs, plan, seconds_per_ranking
from errata.human.ranking import cluster
from recorded import check, outcome

RANKERS = """
expected_wins | expected_wins(denominator='beaten') | expected_wins(ties='won') | net_wins
trueskill_meanfield | trueskill_meanfield(steps=4, tau=0.1, beta=3)
trueskill_meanfield(sigma=2, spread=10, draw_probability=0.4) | trueskill(runs=5)
bradley_terry | bradley_terry(prior=0.5) | bradley_terry(ties='rao_kupper')
bradley_terry(ties='rao_kupper', prior=2) | bradley_terry(ties='half')
bradley_terry(ties='ignored')
"""
RANKERS = RANKERS.strip().replace("\n", " | ").split(" | ")
UNITS = ("pairs", "rankings", "sentences", "judges")


def judgments(number: int = 36, seed: int = 5, names: str = "ABCDE") -> list[Judgment]:
    """Rankings by three judges: shared outputs, ties, outputs left out, times, rankings in parts.

    Some are judged again by the same judge, so that judges may disagree with themselves.
    """
    draw = random.Random(seed)
    made = []
    for k in range(number):
        shown = draw.sample(names, draw.randint(2, len(names)))
        groups: list[list[str]] = [[shown[0]]]
        for name in shown[1:]:
            if draw.random() < 0.2:
                groups[-1].append(name)
            else:
                groups.append([name])
        ranks = [
            None if draw.random() < 0.05 else 1 + names.index(g[0]) // 2 + draw.randint(0, 2)
            for g in groups
        ]
        sentence = k // 4
        made.append(
            Judgment(
                ("cec", "ann", "bob")[k % 3],
                sentence,
                tuple(map(tuple, groups)),
                tuple(ranks),
                draw.choice(("", f"i{sentence}")),
                draw.choice((None, 10.0 + k)),
            )
        )
    return made


def comparisons(**options: object) -> Comparisons:
    return compare(judgments(), **options)  # type: ignore[arg-type]


def every_way_round(pairs: Comparisons) -> object:
    """All that comparisons know of themselves."""
    return {
        "columns": pairs,
        "facts": pairs.facts,
        "counts": pairs.counts(),
        "games": pairs.counts().games,
        "total": pairs.counts().total,
        "judges": outcome(pairs.per_judge),
        "turned": pairs.order_pairs(),
        "units": {unit: outcome(partial(pairs.units, unit)) for unit in UNITS},
        "without": pairs.without("B", "E"),
        "hide": pairs.hide("A"),
    }


def of_ranker(text: str) -> object:
    """A ranker on one set of counts and on a batch of batches."""
    ranker, counts = parse_ranker(text), comparisons().counts()
    batch = Counts(*(np.stack([[t, t + 1 - np.eye(5)], [2 * t, t]]) for t in counts))
    return {
        "headline": ranker.headline,
        "about": ranker.about,
        "score": ranker.score(counts),
        "parts": ranker.figures(counts),
        "context": ranker.context(counts),
        "notes": ranker.notes(counts),
        "batch": ranker.score(batch),
        "many": ranker.notes(Counts(counts.wins * 1000, counts.ties * 1000)),
    }


def ranked(text: str = "expected_wins", **options: object) -> object:
    scores = rank(parse_ranker(text), comparisons(), **options)  # type: ignore[arg-type]
    if scores.resampled is None:
        return scores
    clusters = [
        cluster(scores, confidence=level, order=order)
        for level, order in product((0.5, 0.8), ("score", "mean_rank"))
    ]
    found = [(c.systems, c.values, c.ranges, c.mean_rank, c.cluster) for c in clusters]
    return {"scores": scores, "clusters": found}


def planned(**options: object) -> object:
    pairs, steps = comparisons(), []
    text = str(options.pop("ranker", "net_wins"))
    return {
        "plan": plan(
            pairs,
            parse_ranker(text),
            "D",
            "A",
            simulations=20,
            progress=lambda done, total: steps.append((done, total)),
            **options,  # type: ignore[arg-type]
        ),
        "steps": steps,
    }


def agreed(**options: object) -> object:
    return judge_agreement(judgments(90, names="ABC"), **options)  # type: ignore[arg-type]


def pooled() -> object:
    found = {}
    for orientation in ("consistent", "presented"):
        pairs = output_pairs(judgments(90, names="ABC"), orientation=orientation)  # type: ignore[arg-type]
        found[orientation] = {
            "pairs": pairs,
            "kappa": [pooled_kappa(pairs, weights=w) for w in ("none", "linear", "quadratic")],
            "alpha": [krippendorff(pairs, level=x) for x in ("nominal", "ordinal", "interval")],
        }
    return found


SETTINGS = [
    *(f"trueskill_meanfield({s})" for s in ("steps=1", "steps=3", "steps=2", "steps=0")),
    *(f"trueskill({s})" for s in ("runs=0", "runs=1", "sigma=0", "tau=0", "tau=-0.1", "beta=0")),
    *(f"trueskill(draw_probability={p})" for p in (0, 1, 0.01, 0.99)),
    *(f"trueskill({s})" for s in ("spread=0", "spread=0.1", "beta=0.1", "beta=1", "sigma=0.1")),
    *(f"bradley_terry(prior={p})" for p in (-1, 0, 0.1)),
]
BAD = {
    "one judge alone": lambda: judge_correlations(compare(judgments(1))),
    "no judgments": lambda: rank(parse_ranker("net_wins"), compare([])),
    "a plan of equals": lambda: plan(comparisons(), parse_ranker("net_wins"), "A", "A"),
    "batch of 0": lambda: next_pairs(
        rank(parse_ranker("net_wins"), comparisons(), resamples=3), comparisons(), batch=0
    ),
    "no resamples to choose by": lambda: next_pairs(
        rank(parse_ranker("net_wins"), comparisons(), resamples=0), comparisons()
    ),
    **{
        f"plan of {name}={value}": partial(planned, **{name: value})
        for name, value in (
            *(("confidence", 0.49), ("confidence", 0.5), ("confidence", 0.999), ("largest", 1)),
            *(("confidence", 1), ("power", 0), ("power", 1), ("largest", 0.9), ("largest", 1e9)),
        )
    },
}
CASES = {
    **{
        f"compare {members} {order} {keep}": lambda m=members, o=order, k=keep: every_way_round(
            comparisons(members=m, order=o, keep=k, batch=7)
        )
        for members, order, keep in (
            ("all", "name", "everything"),
            ("all", "given", "everything"),
            ("sample", "name", "everything"),
            ("expected", "given", "everything"),
            ("all", "name", "pairs"),
            ("all", "name", "rankings"),
            ("expected", "name", "sentences"),
            ("all", "given", "judges"),
        )
    },
    "compare nothing": lambda: [compare([]), [compare([]).units(unit) for unit in UNITS]],  # type: ignore[arg-type]
    "compare with an origin": lambda: compare(judgments(2), origin=("base:1", "x")).facts,
    **{f"ranker {text}": partial(of_ranker, text) for text in RANKERS},
    **{f"rank {text}": partial(ranked, text, resamples=12, rng=3) for text in RANKERS},
    **{f"rank by {unit}": partial(ranked, unit=unit, resamples=9) for unit in UNITS},
    **{
        f"rank balanced by {unit}": partial(
            ranked, unit=unit, resamples=9, balanced=True, value="mean"
        )
        for unit in UNITS
    },
    "rank without resamples": partial(ranked, resamples=0),
    "rank trueskill by pairs": partial(ranked, "trueskill(runs=6)", unit="pairs", resamples=6),
    **{
        f"resamples of {unit}, {times} times": partial(
            lambda u, t: bootstrap_counts(comparisons(), u, 5, 1, times=t), unit, times
        )
        for unit, times in product(UNITS, (0.1, 1.0, 2.5))
    },
    **{f"plan by {unit}": partial(planned, unit=unit, largest=3) for unit in UNITS},
    "plan with times": partial(planned, seconds=30.0, power=0.3, confidence=0.6),
    "plan by trueskill": partial(planned, ranker="trueskill(runs=2)", largest=1),
    "plan of little": partial(planned, largest=1, power=0.9, confidence=0.99),
    "next pairs": lambda: [
        next_pairs(
            rank(parse_ranker("net_wins"), comparisons(), resamples=9), comparisons(), batch=b
        )
        for b in (1, 100)
    ],
    "seconds": lambda: [seconds_per_ranking(judgments(k)) for k in (0, 1, 5, 36)],
    **{
        f"agreement {chance} {weights} {minimum}": partial(
            agreed, chance=chance, weights=weights, minimum=minimum, confidence=confidence
        )
        for chance, weights, minimum, confidence in (
            ("pooled", "none", 1, 0.95),
            ("cohen", "linear", 5, 0.5),
            ("symmetric", "quadratic", 20, 0.99),
            ("pooled", "linear", 1000, 0.95),
        )
    },
    "agreement of all": pooled,
    "head to head": lambda: head_to_head(comparisons()),
    "head to head of parts": lambda: head_to_head(comparisons(members="expected")),
    "judges alone": lambda: judge_correlations(comparisons()),
    "judges alone, rounded": lambda: judge_correlations(comparisons(), digits=1),
    "judges by net wins": lambda: judge_correlations(comparisons(), parse_ranker("net_wins")),
    "without": lambda: list(drop_systems(judgments(6), ("A", "C"))),
    **{f"settings {text}": partial(parse_ranker, text) for text in SETTINGS},
    **{f"bad: {name}": make for name, make in BAD.items()},
}
GROUPS = {"human": {name: partial(outcome, make) for name, make in CASES.items()}}


@pytest.mark.parametrize("case", CASES)
def test_nothing_made_of_judgments_changes(case: str) -> None:
    check("human", case, GROUPS["human"][case]())
