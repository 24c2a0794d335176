"""TrueSkill: the update, the sampled runs, their limit, the published tables; log_ndtr."""

import csv
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr

from errata.core.errors import InputError
from errata.human import Counts, compare, parse_ranker, rank
from errata.human.ranking import cluster
from errata.human.trueskill import TrueSkill, TrueSkillMeanField
from errata.io.judgments import read_judgments
from errata.kernels import normal
from errata.kernels import trueskill as kernel
from human_data import grundkiewicz_comparisons, sakaguchi_file
from pure import load_pure

pure = load_pure("trueskill")
# Within these the package works; further out it gives up ("set backend to mpmath").
mean = st.floats(-2, 2)
deviation = st.floats(0.05, 3)


@settings(deadline=None)
@given(
    mean,
    deviation,
    mean,
    deviation,
    st.floats(0.8, 10),
    st.floats(0.01, 0.95),
    st.floats(0, 0.2),
    st.sampled_from((1, 0, -1)),
)
def test_update_is_that_of_the_trueskill_package(
    mean_a: float,
    sigma_a: float,
    mean_b: float,
    sigma_b: float,
    beta: float,
    draw: float,
    tau: float,
    outcome: int,
) -> None:
    """To 1e-9; with its SciPy backend, its own approximates the error function to 1e-7."""
    env = trueskill.TrueSkill(beta=beta, tau=tau, draw_probability=draw, backend="scipy")
    margin = trueskill.calc_draw_margin(draw, 2, env)
    a, b = env.create_rating(mean_a, sigma_a), env.create_rating(mean_b, sigma_b)
    if outcome < 0:
        b, a = trueskill.rate_1vs1(b, a, env=env)
    else:
        a, b = trueskill.rate_1vs1(a, b, drawn=outcome == 0, env=env)
    arguments = (mean_a, sigma_a**2, mean_b, sigma_b**2, outcome, beta, margin, tau)
    found = kernel.rate(*arguments)
    np.testing.assert_allclose(found, (a.mu, a.sigma**2, b.mu, b.sigma**2), rtol=1e-9, atol=1e-9)
    assert found == pure.rate(*arguments)


def test_update_far_out_stays_finite() -> None:
    for outcome in (1, 0, -1):
        found = kernel.rate(-80.0, 0.25, 80.0, 0.25, outcome, 0.5, 0.1)
        assert np.isfinite(found).all()
        assert found == pure.rate(-80.0, 0.25, 80.0, 0.25, outcome, 0.5, 0.1)


@given(st.floats(-50, 50) | st.floats(-2, 2), st.floats(0.001, 5))
def test_all_outcomes_at_once_are_each_of_them(t: float, margin: float) -> None:
    """To the last bit: the tails they share are computed once."""
    draw, every = pure._League(), pure._League()
    pure._draw(draw, t, margin)
    pure._outcomes(every, t, margin)
    assert (every.v, every.w) == (draw.v, draw.w)
    assert (every.v_win, every.v_loss) == (pure._v_win(t - margin), pure._v_win(-t - margin))


def small_counts(seed: int, n: int = 5) -> Counts:
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, 20, (n, n)).astype(float)
    ties = rng.integers(0, 10, (n, n)).astype(float)
    np.fill_diagonal(wins, 0)
    ties = np.triu(ties, 1)
    return Counts(wins, ties + ties.T)


@pytest.mark.parametrize("tau", [0.0, 0.02])
def test_compiled_and_plain_python_agree_exactly(tau: float) -> None:
    for seed in range(3):
        shares = TrueSkill(tau=tau)._win_shares(small_counts(seed))
        seeds = np.array([seed, 2**63 + 11, 2**64 - 1], np.uint64)
        results = []
        for module in (kernel, pure):
            means, variances = np.zeros((3, 5)), np.zeros((3, 5))
            first = [each[0] for each in (shares.win, shares.tie, shares.met)]
            how = [float(shares.beta[0]), float(shares.margin[0]), tau]
            module.play_runs(*first, seeds, 300, 0.5, *how, means, variances)
            limit = np.zeros((1, 5))
            every = [shares.win, shares.tie, shares.met, shares.games, 20, 0.5]
            module.mean_field(*every, shares.beta, shares.margin, tau, limit)
            results.append(np.concatenate([means, variances, limit]))
        assert (results[0] == results[1]).all()
        assert np.ptp(results[0][:3], axis=0).min() > 0  # three seeds, three runs


@pytest.mark.slow
def test_a_run_is_the_procedure_of_the_wmt() -> None:
    """Against a transcript of the procedure with the trueskill package, in distribution."""
    counts = small_counts(1, 3)
    shares = TrueSkill()._win_shares(counts)
    games, beta = int(shares.games[0]), float(shares.beta[0])
    env = trueskill.TrueSkill(
        mu=0, sigma=0.5, beta=beta, tau=0, draw_probability=0.25, backend="scipy"
    )
    play = trueskill.rate_1vs1
    rng = np.random.default_rng(0)
    finals = []
    for _ in range(60):
        ratings = [env.create_rating() for _ in range(3)]
        for _ in range(games):
            variances = np.array([r.sigma for r in ratings])
            a = int(rng.choice(np.flatnonzero(variances == variances.max())))
            weight = np.array(
                [0 if b == a else np.exp(-abs(ratings[a].mu - ratings[b].mu)) for b in range(3)]
            )
            b = int(rng.choice(3, p=weight / weight.sum()))
            u = rng.random()
            if u < shares.win[0, a, b]:
                ratings[a], ratings[b] = play(ratings[a], ratings[b], env=env)
            elif u < shares.win[0, a, b] + shares.tie[0, a, b]:
                ratings[a], ratings[b] = play(ratings[a], ratings[b], drawn=True, env=env)
            else:
                ratings[b], ratings[a] = play(ratings[b], ratings[a], env=env)
        finals.append([r.mu for r in ratings])
    known = np.array(finals)
    found = TrueSkill(runs=4000).play(counts, 3)
    error = known.std(axis=0) / np.sqrt(60)
    assert (np.abs(found.mean(axis=0) - known.mean(axis=0)) < 4 * error).all()
    assert (np.abs(found.std(axis=0) / known.std(axis=0) - 1) < 0.3).all()


def test_threads_and_seeds() -> None:
    counts = small_counts(2)
    ranker = TrueSkill(runs=40)
    one = ranker.play(counts, 5, threads=1)
    assert (one == ranker.play(counts, 5, threads=3)).all()
    assert not (one == ranker.play(counts, 6)).any()


def test_equal_systems_get_equal_scores() -> None:
    """Runs too: the first game must not go by name."""
    wins = np.full((4, 4), 5.0)
    np.fill_diagonal(wins, 0)
    counts = Counts(wins, np.zeros((4, 4)))
    np.testing.assert_allclose(TrueSkillMeanField().score(counts), 0, atol=1e-15)
    runs = TrueSkill(runs=4000).play(counts, 0)
    assert (np.abs(runs.mean(axis=0)) < 4 * runs.std(axis=0) / np.sqrt(4000)).all()


def test_pairs_that_never_met_are_never_played() -> None:
    wins = np.array([[0, 9, 0, 0], [1, 0, 0, 0], [0, 0, 0, 9], [0, 0, 1, 0.0]])
    counts = Counts(wins, np.zeros((4, 4)))
    for scores in (TrueSkillMeanField().score(counts), TrueSkill(runs=200).score(counts)):
        assert scores[0] > scores[1]
        assert scores[2] > scores[3]
        np.testing.assert_allclose(scores[0] + scores[1], 0, atol=1e-9)


def test_parameters() -> None:
    for more in (
        *("(runs=0)", "(sigma=0)", "(draw_probability=1)", "_meanfield(steps=3)", "(beta=-1)"),
    ):
        with pytest.raises(InputError):
            parse_ranker(f"trueskill{more}")
    assert parse_ranker("trueskill(beta=4)") == TrueSkill(beta=4.0)
    assert parse_ranker(repr(TrueSkill(runs=7))) == TrueSkill(runs=7)


def test_published_parameters_make_a_net_win_rate() -> None:
    """What docs/human-rankings.md says of them."""
    counts = grundkiewicz_comparisons().counts()
    limit, net = (parse_ranker(name).score(counts) for name in ("trueskill_meanfield", "net_wins"))
    assert np.corrcoef(limit, net)[0, 1] > 0.9997


def oracle(path: Path) -> dict[str, list[str]]:
    with path.open(encoding="utf-8") as file:
        return {row[0]: row for row in list(csv.reader(file, delimiter="\t"))[1:]}


def test_limit_on_the_published_data(oracles: Path) -> None:
    known = oracle(oracles / "meta/grundkiewicz_trueskill.tsv")
    data = grundkiewicz_comparisons()
    values = TrueSkillMeanField().score(data.counts())
    np.testing.assert_allclose(
        values, [float(known[s][3]) for s in data.systems], rtol=0, atol=1.5e-5
    )
    fine = TrueSkillMeanField(steps=4000).score(data.counts())
    np.testing.assert_allclose(values, fine, rtol=0, atol=1.2e-5)


@pytest.mark.long
def test_table_3c(oracles: Path) -> None:
    """Scores within 0.0015, all 13 ranges and all 6 clusters of Grundkiewicz et al. (2015)."""
    known = oracle(oracles / "meta/grundkiewicz_trueskill.tsv")
    data = grundkiewicz_comparisons()
    scores = rank(TrueSkill(), data, unit="pairs")
    ranking = cluster(scores)
    for system, value, low, high, number in zip(
        ranking.systems, ranking.values, ranking.low, ranking.high, ranking.cluster, strict=True
    ):
        assert abs(value - float(known[system][7])) < 0.0015, system
        assert [str(low), str(high), str(number)] == known[system][8:11], system
    assert ranking.cluster.max() == 6
    limit = TrueSkillMeanField().score(data.counts())
    np.testing.assert_allclose(limit, scores.values, rtol=0, atol=0.001)


@pytest.mark.slow
def test_sakaguchi_table_5(oracles: Path) -> None:
    """The released scores are means of 100 runs, so off by chance: within 0.011 of the limit."""
    known = json.loads((oracles / "meta/sakaguchi_trueskill.json").read_text())["main"]["ranking"]
    main = compare(read_judgments(sakaguchi_file("Main_merged.csv"), statuses=("Approved",)))
    limit = dict(zip(main.systems, TrueSkillMeanField().score(main.counts()), strict=True))
    scores = rank(TrueSkill(), main, unit="pairs")
    for row in known:
        assert abs(limit[row["system"]] - row["mean"]) < 0.011, row
        assert abs(scores[row["system"]] - limit[row["system"]]) < 0.01, row
    ranking = cluster(scores)
    assert ranking.systems == tuple(row["system"] for row in known)


@pytest.mark.long
def test_sakaguchi_figure_6(oracles: Path) -> None:
    """The released scores and clusters, and the figure's order but for its first two systems.

    The figure lists systems by mean rank over the authors' 100 runs. By mean score over the same
    runs CAMB is ahead of AMU, as here. By mean rank CAMB leads here as well, by 0.15 places with
    5,000 runs, which 100 runs turn round about one time in seven: then all 13 stand as printed.
    The other eleven stand as printed in every draw.
    """
    known = json.loads((oracles / "meta/sakaguchi_trueskill.json").read_text())["ctrl"]["ranking"]
    ctrl = compare(
        read_judgments(sakaguchi_file("Ctrl_merged.csv"), statuses=("Approved",), labels="given")
    )
    printed = (
        *("AMU", "CAMB", "CUUI", "POST", "RAC", "UMC", "IITB", "PKU", "INPUT", "UFC", "SJTU"),
        *("IPN", "NTHU"),
    )
    scores = rank(TrueSkill(), ctrl, unit="pairs")
    by_score, by_rank = (cluster(scores, order=order) for order in ("score", "mean_rank"))
    assert by_score.systems == tuple(row["system"] for row in known)
    for row in known:  # four standard errors of a mean of 100 runs
        assert abs(scores[row["system"]] - row["mean"]) < 4 * row["sd"] / 10
    assert by_score.cluster.tolist() == [row["cluster"] for row in known]
    assert by_rank.systems == ("CAMB", "AMU", *printed[2:])
    draws = [
        cluster(rank(TrueSkill(runs=100), ctrl, unit="pairs", rng=seed), order="mean_rank")
        for seed in range(20)
    ]
    assert {draw.systems for draw in draws} == {printed, ("CAMB", "AMU", *printed[2:])}
    assert sum(draw.systems == printed for draw in draws) < 10


EDGES = [-1.0, -35.0, 0.0, 1.0, 8.0, 40.0, -40.0]


GRID = np.array(
    [x for edge in EDGES for x in (np.nextafter(edge, -np.inf), edge, np.nextafter(edge, np.inf))]
    + np.linspace(-60, 12, 20_001).tolist()
)


@pytest.mark.parametrize("kernel", [normal, load_pure("normal")])
def test_it_is_scipys(kernel: ModuleType) -> None:
    """But for the argument's last bit, which far out is magnified by its square."""
    np.testing.assert_allclose(kernel.log_ndtr(GRID), log_ndtr(GRID), rtol=2e-14, atol=0)


@given(st.lists(st.floats(-1e150, 1e150)))
def test_both_ways_give_the_same_bits(values: list[float]) -> None:
    given = np.array(values, np.float64)
    assert normal.log_ndtr(given).tobytes() == load_pure("normal").log_ndtr(given).tobytes()


def test_what_is_no_number_stays_none() -> None:
    assert np.isnan(normal.log_ndtr(np.array([np.nan]))).all()
    assert normal.log_ndtr(np.array([np.inf])).tolist() == [0.0]
