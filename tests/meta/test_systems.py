"""System level: published correlations, what tests can tell; metrics combined."""

import csv
import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls

from errata.core.errors import InputError
from errata.core.stats import Floats
from errata.data import Scores
from errata.meta.ensembles import ensembles
from errata.meta.matching import MatchedScores, match, match_systems
from errata.meta.system_level import leave_one_out, p_value_matrix, system_level, windows
from errata.meta.tables import system_level_table


def published(path: Path, name: str) -> Scores:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    return Scores(name, tuple(r[3] for r in rows), np.array([float(r[4]) for r in rows]))


@pytest.fixture
def released(data_sets: Path) -> dict[str, Scores]:
    folder = next(data_sets.glob("nusnlp/gecmetrics/*/scores"))
    return {
        "ew": published(folder / "system_scores_humans/expected_wins.txt.gz", "ew"),
        "ts": published(folder / "system_scores_humans/trueskill.txt.gz", "ts"),
        **{
            name: published(folder / f"system_scores_metrics/{name}.txt.gz", name)
            for name in ("gleu", "imeasure", "m2score")
        },
    }


def test_published_correlations(released: dict[str, Scores]) -> None:
    """Chollampatt & Ng 2018, Table 2 (three digits)."""
    table = {
        ("ew", "gleu"): (0.691, 0.407),
        ("ew", "imeasure"): (-0.250, -0.385),
        ("ew", "m2score"): (0.623, 0.687),
        ("ts", "gleu"): (0.733, 0.478),
        ("ts", "imeasure"): (-0.316, -0.423),
        ("ts", "m2score"): (0.672, 0.720),
    }
    for (human, metric), (r, rho) in table.items():
        values = system_level(match(released[human], [released[metric]])).agreements[0].values
        assert round(values["pearson"], 3) == r
        assert round(values["spearman"], 3) == rho


def test_published_outlier_and_p_values(released: dict[str, Scores], oracles: Path) -> None:
    paired = match(released["ew"], [released["gleu"]])
    without = dict(zip(paired.systems, leave_one_out(paired).values[0], strict=True))
    assert without["IPN"] == pytest.approx(0.4998951493711528, rel=1e-12)
    metrics = [released[name] for name in ("gleu", "imeasure", "m2score")]
    with open(oracles / "meta" / "chollampatt_williams.tsv", encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file, delimiter="\t") if r["subset"] == "all13"]
    assert len(rows) == 12
    for row in rows:
        paired = match(released[row["human"].lower()], metrics)
        p = p_value_matrix(paired, "williams", row["corr"])
        names = [m.scorer for m in metrics]
        found = p[names.index(row["higher"]), names.index(row["lower"])]
        assert found == pytest.approx(float(row["one_sided_p"]), rel=1e-9)


HUMAN = Scores("people", tuple("ABCDEF"), np.array([6.0, 5, 4, 3, 2, 1]))
GOOD = Scores("good", tuple("FEDCBA"), np.array([1.0, 2, 3, 4, 5, 7]))
BAD = Scores("bad", tuple("ABCDEF"), np.array([1.0, 4, 2, 4, 3, 2]))


def test_unmatched_systems_are_refused() -> None:
    other = Scores("other", ("A", "B", "X"), np.array([3.0, 2, 1]))
    with pytest.raises(InputError, match=r"^X: known to only one"):
        match_systems(HUMAN, other)
    human, metric = match_systems(HUMAN, other, common=True)
    assert human.systems == metric.systems == ("A", "B")
    with pytest.raises(InputError, match="people and o share 1 system; use the same system names"):
        match_systems(HUMAN, Scores("o", ("A", "Y"), np.zeros(2)), common=True)
    with pytest.raises(InputError, match="and o share 1 system; score two or more of the systems"):
        match_systems(HUMAN, Scores("o", ("A",), np.zeros(1)), common=True)
    with pytest.raises(InputError, match="over 'words' is unknown"):
        system_level(match(HUMAN, [GOOD]), over="words")
    with pytest.raises(InputError, match="no metric"):
        match(HUMAN, [])


def test_a_system_only_people_know_is_left_out_and_said() -> None:
    paired = match(HUMAN, [GOOD.without("C"), BAD.without("C")])
    assert paired.systems == tuple("ABDEF")
    assert paired.hidden == ("C",)
    result = system_level(paired, resamples=10)
    assert "no metric scored C" in result.notes[0]
    assert "hide:C" in result.signature
    with pytest.raises(InputError, match=r"^C: known to only one of people and bad"):
        match(HUMAN, [GOOD, BAD.without("C")])


def test_everything_reads_the_same_systems() -> None:
    """Matched once: what one side alone knows, and what is left out, is nowhere."""
    more = Scores("more", tuple("AXBCDE"), np.array([5.0, 9, 4, 2, 3, 1]))
    paired = match(HUMAN, [more, GOOD], common=True, hide=["B", "X"])
    assert paired.systems == tuple("ACDE")
    assert paired.hidden == tuple("BFX")
    assert [m.systems for m in paired.metrics] == [tuple("ACDE")] * 2
    assert windows(paired, 2).subsets == (("A", "C"), ("C", "D"), ("D", "E"))
    assert leave_one_out(paired).subsets[0] == ("C", "D", "E")
    assert p_value_matrix(paired).shape == (2, 2)
    result = system_level(paired, resamples=10, rng=3)
    assert result.agreements[1].values["accuracy"] == 1.0
    for part in ("level:system", "systems:4", "hide:B", "over:systems", "resamples:10"):
        assert part in result.signature
    assert "seed:3" in result.signature
    assert result.signature.endswith("people: people; metric: more; metric: good")
    assert match(HUMAN, [GOOD], hide=["A"]).systems == tuple("BCDEF")
    with pytest.raises(InputError, match="knows no system 'Z'"):
        match(HUMAN, [GOOD], hide=["Z"])
    with pytest.raises(InputError, match="all metrics together share 0 systems"):
        match(HUMAN, [GOOD.select("AB"), BAD.select("EF")], common=True)


def test_a_constant_metric_has_no_correlation() -> None:
    flat = Scores("flat", tuple("ABCDEF"), np.zeros(6))
    result = system_level(match(HUMAN, [GOOD, flat]))
    assert np.isnan(result.agreements[1].values["pearson"])
    assert np.isnan(result.p_values["williams_pearson"]).all()
    rows = system_level_table(system_level(match(HUMAN, [BAD, flat, GOOD]))).rows
    assert [row[0] for row in rows] == ["good", "bad", "flat"]  # best first, none last


def test_rounding_makes_no_metric_better() -> None:
    """GOOD in percent, and in thirds, whose r differs in the last bits."""
    others = [replace(GOOD, scorer=f"x{k}", values=GOOD.values * k / 7) for k in (3, 100, 11)]
    for metrics in (others, others[::-1]):
        found = system_level(match(HUMAN, [replace(o, name="", label="") for o in metrics]))
        assert [pair.lead for pair in found.pairs] == [0.0] * 3
        assert [row[0] for row in system_level_table(found).rows] == [m.scorer for m in metrics]


def test_holm_is_over_pairs(released: dict[str, Scores]) -> None:
    metrics = [released[name] for name in ("gleu", "imeasure", "m2score")]
    pairs = system_level(match(released["ew"], metrics)).pairs
    p = sorted((pair.p["williams_pearson"], pair.holm["williams_pearson"]) for pair in pairs)
    assert [round(raw, 5) for raw, _ in p] == [0.01505, 0.05374, 0.34914]
    np.testing.assert_allclose([h for _, h in p], [3 * p[0][0], 2 * p[1][0], p[2][0]])


SYSTEMS = tuple(f"s{k:02}" for k in range(12))


def scores(name: str, values: Floats) -> Scores:
    return Scores(name, SYSTEMS[: len(values)], values)


def test_a_good_metric_among_bad_ones_gets_the_weight() -> None:
    rng = np.random.default_rng(2)
    people = rng.normal(size=12)
    good = people + 0.1 * rng.normal(size=12)
    metrics = [scores("bad", rng.normal(size=12)), scores("good", 100 * good + 7)]
    found = ensembles(match(scores("people", people), metrics))
    _, best, fitted = found.combined
    assert best.weights == (0.0, 1.0)
    assert best.r == best.held_r == pytest.approx(np.corrcoef(people, good)[0, 1])
    assert fitted.weights[1] > 0.85
    assert sum(fitted.weights) == pytest.approx(1)
    assert all(
        low <= w <= high for w, (low, high) in zip(fitted.weights, fitted.spread, strict=True)
    )


def test_mean_ranks_are_those_of_the_metrics() -> None:
    people = np.array([1.0, 2, 3, 4])
    found = ensembles(
        match(
            scores("people", people),
            [scores("a", np.array([1.0, 3, 2, 4])), scores("b", np.array([2.0, 1, 3, 3]))],
        )
    )
    wanted = np.corrcoef(people, [1.5, 2, 2.75, 3.75])[0, 1]  # of ties the mean rank
    assert found.combined[0].r == pytest.approx(wanted)


def test_a_metric_that_says_the_same_of_all_is_not_the_best() -> None:
    people = np.arange(6.0)
    flat, poor = scores("flat", np.full(6, 3.0)), scores("poor", np.array([2.0, 1, 0, 3, 1, 2]))
    best = ensembles(match(scores("people", people), [flat, poor])).combined[1]
    assert best.weights == (0.0, 1.0)
    assert best.r == pytest.approx(np.corrcoef(people, poor.values)[0, 1])


def test_how_far_weights_move_where_a_system_is_left_out() -> None:
    """One system makes the second metric the best of all; without it the first one is."""
    people = np.arange(6.0)
    first = np.array([1.0, 0, 2, 3, 4, 0])
    second = np.array([1.0, 0, 3, 2, 4, 9])
    found = ensembles(match(scores("people", people), [scores("a", first), scores("b", second)]))
    best, fitted = found.combined[1:]
    assert best.weights == (0.0, 1.0)
    assert best.spread == ((0.0, 1.0), (0.0, 1.0))
    left = []
    for gone in range(6):
        kept = [k for k in range(6) if k != gone]
        columns = [(m[kept] - m[kept].mean()) / m[kept].std() for m in (first, second, people)]
        weights = nnls(np.stack(columns[:2], axis=1), columns[2])[0]
        left.append(weights / weights.sum())
    assert fitted.spread == pytest.approx(
        np.stack([np.min(left, axis=0), np.max(left, axis=0)], axis=1)
    )


def test_metrics_that_contradict_people_count_alike() -> None:
    people = np.arange(6.0)
    found = ensembles(
        match(scores("people", people), [scores("a", -people), scores("b", -(people**2))])
    )
    assert found.combined[2].weights == (0.5, 0.5)


@pytest.mark.parametrize(
    ("systems", "metrics", "said"), [(3, 2, "2 metrics and 3 systems"), (5, 1, "1 metric and 5")]
)
def test_too_little_to_combine_is_refused(systems: int, metrics: int, said: str) -> None:
    several = [scores(f"m{k}", np.arange(systems) + 0.5 * k) for k in range(metrics)]
    with pytest.raises(InputError, match=said):
        ensembles(match(scores("people", np.arange(float(systems))), several))


def test_a_system_without_a_score_is_refused_as_where_metrics_are_matched() -> None:
    people, known = np.arange(5.0), np.array([1.0, 0, 2, 3, 4])
    gap = np.array([np.nan, 1, 2, 3, 4])
    matched = MatchedScores(scores("people", people), (scores("a", known), scores("b", gap)))
    for combine in (lambda: ensembles(matched), lambda: match(matched.people, matched.metrics)):
        with pytest.raises(InputError, match=r"\(--without\)"):
            combine()
