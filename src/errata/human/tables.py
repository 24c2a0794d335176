"""Tables and figure of rankings, agreement, plans."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from errata.core.stats import Estimate, Interval, as_integers_if_whole, merge_ties
from errata.data import Scores
from errata.human.agreement import Agreement, GroupAgreement, JudgeCorrelations, group_scores
from errata.human.bootstrap import HeadToHead
from errata.human.plan import NextPairs, Plan
from errata.human.ranking import SOLVED, Ranking
from errata.plots import Forest, ForestRow, Panels
from errata.scoring.tables import score_table
from errata.tables.cells import Cell, PValue, Ranks, score_format
from errata.tables.table import Column, Table, make_signature


def ranking_plot(scores: Scores, ranking: Ranking | None, confidence: float) -> Panels[Forest]:
    """Scores with intervals, best on top; rank ranges at the right, lines between clusters."""
    spec = score_format(scores, scores.headline)
    by = 100 if spec.endswith("p") else 1  # drawn as the tables show it
    ends = scores.interval(confidence)
    order = scores.order if ranking is None else ranking.order
    rows = [
        ForestRow(
            scores.systems[s],
            Estimate(*(by * np.array([scores.values[s], *ends[s]])).tolist()),
            group=0 if ranking is None else int(ranking.cluster[place]),
            note="" if ranking is None else ranking.ranges[place],
        )
        for place, s in enumerate(order)
    ]
    axis = f"{scores.headline}, percent" if by == 100 else scores.headline
    level = f" ({confidence * 100:g} % intervals)" if scores.resampled is not None else ""
    forest = Forest(rows, axis + level, notes="rank range", spec=spec.replace("p", "f"))
    return Panels([forest], width=6.4, height=0.8 + 0.28 * len(rows))


COUNTS = ("wins", "ties", "losses")


def _formats(scores: Scores) -> dict[str, str]:
    """How scores of people, and what they were counted from, are shown."""
    counts = {name: scores.parts[name].dtype.kind for name in COUNTS if name in scores.parts}
    return {
        scores.headline: ".3f",
        "share": ".4f",
        **{name: ".1f" for name, kind in counts.items() if kind == "f"},
    }


def plain_ranking_table(scores: Scores) -> Table:
    """Scores that nothing was resampled of: a rank for each system, no range and no cluster."""
    # Equal is what iterative solvers leave equal, as in `errata.human.clusters.places`.
    scores = replace(scores, values=merge_ties(scores.values, within=SOLVED))
    return replace(score_table(scores), name="ranking", formats=_formats(scores))


def ranking_table(ranking: Ranking) -> Table:
    """Cluster, score, rank range and interval of each system, lines between clusters."""
    scores = ranking.scores
    order = list(ranking.order)
    level = f"{ranking.confidence * 100:g} % interval"
    intervals = scores.interval(ranking.confidence)[order].tolist()
    formats = _formats(scores)
    ranges = [
        Ranks(*ends) for ends in zip(ranking.low.tolist(), ranking.high.tolist(), strict=True)
    ]
    return Table.of(
        [
            Column("cluster", ranking.cluster.tolist()),
            Column("range", [Ranks(*ends) for ends in ranges]),
            Column("system", ranking.systems),
            Column(scores.headline, ranking.values.tolist(), formats[scores.headline]),
            Column(level, [Interval(*ends) for ends in intervals], ".3f"),
            Column("mean rank", ranking.mean_rank.tolist(), ".2f"),
            *(
                Column(name, part[order].tolist(), formats.get(name, ""))
                for name, part in scores.parts.items()
            ),
        ],
        title=scores.name,
        name="ranking",
        caption="\n".join(
            [*(f"note: {note}" for note in scores.notes), f"signature: {scores.signature}"]
        ),
        signature=scores.signature,
        rules=np.flatnonzero(np.diff(ranking.cluster)).tolist(),
    )


def head_to_head_table(
    head: HeadToHead, order: tuple[int, ...], *, context: Sequence[str] = ()
) -> Table:
    """The share of decided comparisons in which the column beats the row, with sign tests.

    ``context`` is what of the comparisons decided the numbers.
    """

    def cells(b: int) -> list[Cell]:
        pairs = [(float(head.fraction[b, a]), float(head.p[b, a])) for a in order]
        return [
            None if a == b or np.isnan(share) else PValue(share, p)
            for a, (share, p) in zip(order, pairs, strict=True)
        ]

    return Table.of(
        [
            Column("row", [head.systems[a] for a in order]),
            *(Column(head.systems[b], cells(b), ".2f") for b in order),
        ],
        signature=make_signature("head_to_head(test='sign')", *context),
        name="head_to_head",
        title="Head to head: share of decided comparisons in which the column wins",
        caption="two-sided sign test: * p ≤ .10, + p ≤ .05, # p ≤ .01",
    )


def agreement_tables(
    found: Agreement, *, context: Sequence[str] = (), matrix_of: float = math.inf
) -> list[Table]:
    """The summary, the matrix of κ, and the figures of each judge.

    With more judges than ``matrix_of`` the matrix is empty.
    """
    summary: list[tuple[Cell, ...]] = [
        ("κ between judges", found.between, _pair_count_cell(found, same=False)),
        ("κ within judges", found.within, _pair_count_cell(found, same=True)),
        ("Krippendorff's α", found.alpha, None),
    ]
    matrix: list[tuple[Cell, ...]] = []
    for a, name in enumerate(found.judges if len(found.judges) <= matrix_of else ()):
        matrix.append((name, *(_kappa(found, a, b) for b in range(len(found.judges)))))
    judges: list[tuple[Cell, ...]] = []
    for a, name in enumerate(found.judges):
        others = [
            b
            for b in range(len(found.judges))
            if b != a and found.counts[a, b] >= max(1, found.minimum)
        ]
        weight = found.counts[a, others].sum()
        mean = (
            float((found.kappa[a, others] * found.counts[a, others]).sum() / weight)
            if weight
            else None
        )
        judges.append(
            (
                name,
                int(found.rankings[a]),
                mean,
                _kappa(found, a, a),
                float(found.seconds[a]),
                "outsider" if name in found.outsiders else "",
            )
        )
    rankings = int(found.rankings.sum())
    signature = make_signature("agreement", *found.settings, *context, f"rankings:{rankings}")
    few = f"a κ from fewer than {found.minimum} pairs of decisions is not shown"
    return [
        Table(
            ("figure", "value", "pairs of decisions"),
            tuple(summary),
            title="Agreement",
            name="agreement",
            formats={"pairs of decisions": ".10g"},
            caption=" | ".join(found.settings),
            signature=signature,
        ),
        Table(
            ("κ", *found.judges),
            tuple(matrix),
            title="κ of every two judges",
            name="agreement_matrix",
            caption=few,
            signature=signature,
        ),
        Table(
            ("judge", "rankings", "κ with others", "κ with self", "median seconds", "remark"),
            tuple(judges),
            title="Judges",
            name="judges",
            formats={"median seconds": ".1f"},
            signature=signature,
            caption="an outsider agrees with no other judge better than chance"
            if found.outsiders
            else "",
        ),
    ]


def _pair_count_cell(found: Agreement, *, same: bool) -> Cell:
    counts = np.where(found.counts >= max(1, found.minimum), found.counts, 0)
    number: Cell = as_integers_if_whole(
        np.trace(counts) if same else np.triu(counts, 1).sum()
    ).item()
    return number


def _kappa(found: Agreement, a: int, b: int) -> float | None:
    enough = found.counts[a, b] >= max(1, found.minimum)
    return float(found.kappa[a, b]) if enough else None


def correlation_table(found: JudgeCorrelations, *, context: Sequence[str] = ()) -> Table:
    """ρ above and r below the diagonal, and each judge against the ranking of all others."""
    n = len(found.judges)
    signature = make_signature(found.ranker, *context)
    rows: list[tuple[Cell, ...]] = []
    for a in range(n):
        cells: list[Cell] = [
            None if a == b else float((found.rho if a < b else found.r)[a, b]) for b in range(n)
        ]
        rows.append((found.judges[a], *cells, float(found.rest_rho[a]), float(found.rest_r[a])))
    return Table(
        ("judge", *found.judges, "ρ others", "r others"),
        tuple(rows),
        title="Rankings by single judges: ρ above, r below the diagonal",
        name="judge_correlations",
        caption=f"signature: {signature}",
        signature=signature,
        formats=dict.fromkeys((*found.judges, "ρ others", "r others"), ".3f"),
    )


def group_tables(found: GroupAgreement) -> list[Table]:
    """Agreement within groups of judges, between them, and the systems as each ranks them."""
    signature = make_signature("groups", *found.facts, f"rankings:{int(found.rankings.sum())}")
    few = f"a κ from fewer than {found.minimum} pairs of decisions is not shown"
    notes = [few]
    if found.left_out:
        notes.append(f"note: in no group, and left out: {', '.join(found.left_out)}")

    def cells(a: int, b: int) -> tuple[Cell, ...]:
        enough = found.counts[a, b] >= max(1, found.minimum)
        kappa, error = found.kappa[a, b], found.errors[a, b]
        count: Cell = as_integers_if_whole(found.counts[a, b]).item()
        return (float(kappa), float(error), count) if enough else (None, None, count)

    names = found.names
    shown = ("κ", "standard error", "pairs of decisions")
    within = tuple(
        (name, len(found.groups[name]), int(found.rankings[a]), *cells(a, a))
        for a, name in enumerate(names)
    )
    formats = {"κ": ".4f", "standard error": ".4f", "pairs of decisions": ".10g"}
    tables = [
        Table(
            ("group", "judges", "rankings", *shown),
            within,
            title="Agreement within groups, of different judges",
            name="groups",
            caption="\n".join(notes),
            signature=signature,
            formats=formats,
        )
    ]
    ranked = found.correlations
    if ranked is None:
        return tables
    between = tuple(
        (one, other, *cells(a, b), float(ranked.rho[a, b]), float(ranked.r[a, b]))
        for a, one in enumerate(names)
        for b, other in enumerate(names)
        if a < b
    )
    signature = f"{signature}; {ranked.ranker}"
    tables.append(
        Table(
            ("first", "second", *shown, "ρ", "r"),
            between,
            title="Agreement between groups, and correlation of their rankings of the systems",
            name="group_pairs",
            caption=few,
            signature=signature,
            formats=formats | {"ρ": ".3f", "r": ".3f"},
        )
    )
    tables.append(_group_rankings(found, ranked, signature))
    return tables


def _group_rankings(found: GroupAgreement, ranked: JudgeCorrelations, signature: str) -> Table:
    sides = group_scores(found)
    first = next(iter(sides.values()))
    columns = [Column("system", [first.systems[s] for s in first.order])]
    for name, side in sides.items():
        columns.append(Column(name, [float(side.values[s]) for s in first.order], ".3f"))
        columns.append(Column(f"rank by {name}", [side.ranks[s] for s in first.order]))
    return Table.of(
        columns,
        title="The systems as each group ranks them",
        name="group_rankings",
        caption=f"scores: {ranked.ranker}",
        signature=signature,
    )


def plan_tables(found: Plan) -> list[Table]:
    """What the campaign needs, and the power of every size tried."""
    rows: list[tuple[Cell, ...]] = [
        ("systems", f"{found.better} > {found.worse}"),
        ("difference in the pilot", found.difference),
        ("rankings in the pilot", found.pilot),
        ("rankings needed", _needed_cell(found)),
        ("more rankings", found.more),
        ("annotator hours", found.hours),
        ("median seconds a ranking", found.seconds),
    ]
    signature = make_signature(*found.settings)
    sizes = tuple(
        (int(size), float(share)) for size, share in zip(found.sizes, found.power, strict=True)
    )
    return [
        Table(
            ("figure", "value"),
            tuple(rows),
            title="Plan",
            name="plan",
            caption="\n".join(
                [*(f"note: {note}" for note in found.notes), " | ".join(found.settings)]
            ),
            row_formats={
                "rankings needed": ".0f",
                "annotator hours": ".1f",
                "median seconds a ranking": ".1f",
            },
            signature=signature,
        ),
        Table(
            ("rankings", "power"),
            sizes,
            title="Share of simulated campaigns that separate",
            name="power",
            formats={"power": ".3f"},
            signature=signature,
        ),
    ]


def _needed_cell(found: Plan) -> Cell:
    if found.rankings is None:
        return Interval(int(found.sizes[-1]), math.inf)
    if found.rankings <= found.sizes[0]:  # nothing smaller was tried
        return Interval(-math.inf, found.rankings)
    return found.rankings


def next_pairs_table(found: NextPairs, most: int = 10, *, signature: str = "") -> Table:
    """The pairs most worth judging next; ``signature`` is that of the scores they follow from."""
    pairs = found.pairs[:most]
    compared = as_integers_if_whole(found.compared).tolist()
    return Table.of(
        [
            Column("ahead", [ahead for ahead, _ in pairs]),
            Column("behind", [behind for _, behind in pairs]),
            Column("gain", np.asarray(found.gain).tolist()[:most], ".5f"),
            Column("doubt", np.asarray(found.doubt).tolist()[:most], ".3f"),
            Column("compared", compared[:most], ".10g"),
        ],
        title=f"Pairs to judge next, in batches of {found.batch} comparisons",
        name="next_pairs",
        signature=signature,
    )
