"""Items: outputs grouped, everybody meeting everybody, controls that are visibly worse."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from campaigns import material
from errata.collect import budget
from errata.collect.design import Design, Scale
from errata.collect.items import (
    BuiltCampaign,
    CampaignTexts,
    Example,
    build_items,
    choose_sentences,
    coverage,
    different_outputs,
    normalise_space,
    shown_edits,
    wmt_weight,
)
from errata.collect.qualification import ShownCheck, first_ranked_best, rule_blocks, share_of_ties
from errata.collect.schedule import SystemStrengths, matchmake, purpose_at, strengths_of
from errata.core.errors import InputError
from errata.core.stats import wilson
from errata.data import Judgment
from errata.human import compare, parse_ranker
from errata.human.comparisons import Counts
from errata.human.output_pairs import output_pairs, ranking_columns

KINDS = ("rank", "pair", "score", "edits", "correct", "review")


def meetings(built: BuiltCampaign, systems: int) -> np.ndarray:
    met = np.zeros((systems, systems))
    for item in built.items:
        if item.purpose == "main":
            groups = [built.outputs[o.output].systems for o in item.outputs]
            for a, b in combinations(groups, 2):
                for x in a:
                    for y in b:
                        met[int(x[1:]), int(y[1:])] += item.wanted or 0
                        met[int(y[1:]), int(x[1:])] += item.wanted or 0
    return met


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(KINDS),
    st.integers(4, 30),
    st.integers(2, 7),
    st.integers(1, 5),
    st.integers(0, 99),
    st.one_of(st.none(), st.integers(1, 100)),
    st.booleans(),
)
def test_items_are_what_the_design_says(
    kind: str, sentences: int, systems: int, judges: int, seed: int, wanted: int | None, other: bool
) -> None:
    texts = material(sentences, systems, seed)
    design = Design(kind=kind, judges=judges, seed=seed, other_outputs=other)  # type: ignore[arg-type]
    if kind in ("rank", "pair") and all(
        len(different_outputs(texts, i)) < 2 for i in range(sentences)
    ):
        with pytest.raises(InputError, match="no sentence"):
            build_items(design, texts, wanted)
        return
    built = build_items(design, texts, wanted)
    assert built == build_items(design, texts, wanted)
    known = {s.number for s in built.sentences}
    alone: dict[int, int] = {}
    for item in built.items:
        assert item.sentence in known
        shown = [built.outputs[o.output] for o in item.outputs]
        assert all(o.sentence == item.sentence for o in shown)
        texts_shown = [
            normalise_space(o.replacement or s.text)
            for o, s in zip(item.outputs, shown, strict=True)
        ]
        assert len(set(texts_shown)) == len(texts_shown)
        if kind in ("rank", "pair"):
            assert 2 <= len(item.outputs) <= design.outputs
        if item.purpose == "main":
            assert 1 <= (item.wanted or 0) <= max(1, judges) or kind == "correct"
            alone[item.sentence] = alone.get(item.sentence, 0) + (item.wanted or 0)
        else:
            assert item.wanted is None
            assert item.sentence not in alone
    for sentence, many in alone.items() if kind in ("rank", "pair", "edits") else ():
        again = len(different_outputs(texts, sentence)) // design.outputs if other else 1
        assert many <= judges * max(1, again)  # enough judges who have not seen it
    for each in built.sentences:
        assert 0 <= each.probability <= 1
        assert each.probability > 0 or each.number not in alone


def test_outputs_equal_up_to_blanks_are_one() -> None:
    texts = CampaignTexts(("a b",), {"X": ("a  c",), "Y": (" a c ",), "Z": ("a b",)})
    found = different_outputs(texts, 0)
    assert [o.systems for o in found] == [("X", "Y"), ("Z",)]


def test_sentences_without_difference_are_left_out_and_counted() -> None:
    texts = CampaignTexts(("a b", "c d"), {"X": ("a c", "c d"), "Y": ("a b", "c  d")})
    built = build_items(Design(controls=0), texts)
    assert built.alike == 1
    assert {item.sentence for item in built.items} == {0}
    with pytest.raises(InputError, match="two different outputs"):
        build_items(Design(), CampaignTexts(("a",), {"X": ("a",), "Y": ("a",)}))


def test_balanced_items_let_all_pairs_meet_alike() -> None:
    texts = material(150, 9, 4, sharing=0.0)
    spread = {}
    for policy in ("balanced", "random"):
        built = build_items(Design(policy=policy, outputs=4, controls=0), texts)  # type: ignore[arg-type]
        met = meetings(built, 9)[np.triu_indices(9, 1)]
        spread[policy] = met.max() - met.min()
    assert spread["balanced"] <= 3 < spread["random"]


def test_other_kinds_show_what_was_judged_least_and_writing_has_no_controls() -> None:
    for kind in ("correct", "review"):
        built = build_items(Design(kind=kind), material(40, 3))  # type: ignore[arg-type]
        assert {item.purpose for item in built.items} == {"main"}
    built = build_items(Design(kind="score", overlap=0, controls=0), material(20, 5, 1))
    shown = [o.output for item in built.items for o in item.outputs]
    assert sorted(shown) == list(range(len(built.outputs)))  # each output once


def test_the_overlap_has_its_share() -> None:
    built = build_items(Design(judges=4, controls=0), material(80, 6, 2))
    main = [item.wanted for item in built.items if item.purpose == "main"]
    assert main.count(2) == round(0.25 * len(main))


@pytest.mark.parametrize("kind", ["rank", "pair", "score", "edits"])
def test_controls_hold_a_damaged_copy(kind: str) -> None:
    design = Design(kind=kind, judges=2, quota=60)  # type: ignore[arg-type]
    built = build_items(design, material(60, 5, 3), 60)
    controls = [item for item in built.items if item.purpose == "control"]
    assert len(controls) == 6  # twice the three of a judge
    main = {item.sentence for item in built.items if item.purpose == "main"}
    for item in controls:
        assert item.sentence not in main
        assert item.expected is not None
        spoilt = item.outputs[item.expected["worse"]].replacement
        assert spoilt
        assert sum(bool(o.replacement) for o in item.outputs) == 1
        if kind != "score":
            good = built.outputs[item.outputs[item.expected["better"]].output].text
            assert spoilt != good
            assert set(spoilt.split()) <= set(good.split())  # made of it, and of nothing else


def test_own_examples_come_with_sentences_of_their_own() -> None:
    own = Example("He go .", ("He goes .", "He go go ."), {"worse": 1, "better": 0})
    built = build_items(Design(), material(10, 3), examples=[own])
    example = built.items[0]
    assert (example.purpose, example.sentence) == ("tutorial", 10)
    assert [built.outputs[o.output].text for o in example.outputs] == list(own.outputs)
    with pytest.raises(InputError, match="the same"):
        build_items(Design(), material(10, 3), examples=[Example("a", ("b", "b "), {})])


def test_corrections_are_wanted_for_each_instruction_and_slot() -> None:
    design = Design(kind="correct", instructions=("minimal", "fluency"), slots=2, judges=4)
    built = build_items(design, material(5, 2))
    assert len(built.items) == 10
    assert {(item.policy, item.wanted, item.outputs) for item in built.items} == {
        ("minimal", 2, ()),
        ("fluency", 2, ()),
    }
    budget.check_capacity(design, built)
    with pytest.raises(InputError, match="4 corrections of a sentence need as many judges"):
        budget.check_capacity(Design(kind="correct", slots=4, judges=3), built)


def test_what_will_happen_is_said() -> None:
    design = Design(judges=2, rate=20.0)
    built = build_items(design, material(60, 6, 2))
    found = budget.outlook(design, built)
    shared = [i for i in built.items if i.wanted == 2]
    assert found.common_items == len(shared)
    pairs = sum(len(i.outputs) * (len(i.outputs) - 1) // 2 for i in shared)
    assert found.common_pairs == pairs
    assert found.tasks == round(found.judgments / 0.9)
    assert found.hours == pytest.approx(found.tasks * 54 / 3600)
    assert found.cost == pytest.approx((found.hours or 0) * 20)
    few = budget.outlook(design, build_items(design, material(8, 6, 2)))
    assert any("κ needs 50" in note for note in few.notes)


def test_seconds_are_the_published_ones_until_there_are_own() -> None:
    known = [budget.seconds_per_task(Design(outputs=n)) for n in (2, 3, 4, 5, 6)]
    assert known == [13, 21, 31, 54, 77]
    assert budget.seconds_per_task(Design(), [1.0, 9.0]) == 5
    assert budget.seconds_per_task(Design(kind="edits")) is None
    assert budget.seconds_per_task(Design(kind="edits", seconds=8.0)) == 8


def test_budgets_become_judgments() -> None:
    assert budget.judgments_wanted(Design()) is None
    assert budget.judgments_wanted(Design(rankings=77)) == 77
    assert budget.judgments_wanted(Design(hours=5.4)) == 324  # 360 tasks, a tenth of them checks
    assert budget.judgments_wanted(Design(money=108.0, rate=20.0)) == 324
    with pytest.raises(InputError, match="give seconds"):
        budget.judgments_wanted(Design(kind="edits", hours=1.0))
    with pytest.raises(InputError, match="less than one"):
        budget.judgments_wanted(Design(hours=0.001))
    assert budget.judgments_wanted(Design(hours=1.0, seconds=1e-300)) == 900_000_000
    # Answers of programs take no time at all, which says nothing of people.
    assert budget.judgments_wanted(Design(hours=5.4), [0.0, 0.0, 0.0]) == 324


def test_quotas_that_do_not_suffice_are_refused_with_numbers() -> None:
    design = Design(judges=2, quota=40, rankings=90)
    assert budget.main_tasks(design, 40) == 36
    built = build_items(design, material(120, 5), budget.judgments_wanted(design))
    with pytest.raises(InputError, match=r"give 72 judgments \(36 each.*\), and 90 are wanted"):
        budget.check_capacity(design, built)
    budget.check_capacity(Design(judges=2, quota=50, rankings=90), built)


def ranked(wins: int, losses: int) -> list[Judgment]:
    return [
        Judgment("j", i, (("A",), ("B",), ("C",)), (1, 2, 3) if i < wins else (2, 1, 3))
        for i in range(wins + losses)
    ]


def test_stop_rules_are_looked_at_with_a_share_of_alpha() -> None:
    design = Design(until=("A>B", "clusters=3", "clusters=2"), looks=4)
    assert budget.interim_points(design, 10) == (2, 5, 7, 10)
    clear = budget.check_interim(design, compare(ranked(60, 10)), parse_ranker("net_wins"))
    close = budget.check_interim(design, compare(ranked(36, 34)), parse_ranker("net_wins"))
    assert [look.met for look in clear] == [True, True, True]
    assert [look.met for look in close] == [False, False, True]
    assert {look.confidence for look in clear} == {1 - 0.05 / 4}
    # At 0.95 it would be met, and at 1 - α / K it is not.
    edge = compare(ranked(45, 25))
    assert budget.check_interim(Design(until=("A>B",), looks=1), edge, parse_ranker("net_wins"))[
        0
    ].met
    assert not budget.check_interim(
        Design(until=("A>B",), looks=40), edge, parse_ranker("net_wins")
    )[0].met
    always = [Judgment("j", i, (("A",), ("B",)), (1, 1)) for i in range(40)]
    tied = budget.check_interim(Design(until=("A>B",)), compare(always), parse_ranker("net_wins"))
    assert not tied[0].met


def test_rules_name_systems_that_are_there() -> None:
    budget.check_rules(Design(until=("A > B", "clusters=2")), ["A", "B"])
    with pytest.raises(InputError, match="'C', which is no system"):
        budget.check_rules(Design(until=("A>C",)), ["A", "B"])


def test_the_matchmaker_seeks_doubt_and_equals() -> None:
    wins = np.zeros((4, 4))
    wins[0, 1], wins[1, 0] = 40, 38
    wins[0, 2], wins[1, 2] = 60, 60
    wins[0, 3], wins[3, 0] = 2, 2  # hardly known
    standing = strengths_of(Counts(wins, np.zeros((4, 4))))
    assert standing.variance.argmax() == 3
    assert standing.strength[2] == standing.strength.min()
    rng = np.random.default_rng(0)
    drawn = [tuple(sorted(matchmake([[0], [1], [2], [3]], standing, rng))) for _ in range(500)]
    with_three = sum(3 in pair for pair in drawn) / 500
    assert with_three > 0.8
    assert drawn.count((2, 3)) < drawn.count((0, 3))
    shown = np.zeros((4, 4))
    for a, b in drawn:
        shown[a, b] += 1
    assert shown[0, 1] == 0  # met often and known well


def test_one_adaptive_pair_in_five_is_chosen_by_balance() -> None:
    """The pair that never met is found by balance alone: the matchmaker wants the doubtful one."""
    met = np.full((4, 4), 10.0)
    met[0, 1] = met[1, 0] = 0
    standing = SystemStrengths(np.zeros(4), np.array([0.1, 0.1, 0.1, 0.9]), met)
    rng = np.random.default_rng(0)
    draws = [{*matchmake([[0], [1], [2], [3]], standing, rng)} for _ in range(5000)]
    share = sum(draw == {0, 1} for draw in draws) / len(draws)
    assert share == pytest.approx(0.2, abs=4 * (0.2 * 0.8 / 5000) ** 0.5)
    assert all(3 in draw for draw in draws if draw != {0, 1})


def test_variances_are_those_of_the_posterior() -> None:
    """Against the curvature of the log posterior, by differences."""
    rng = np.random.default_rng(2)
    wins = rng.integers(0, 9, (3, 3)).astype(float)
    np.fill_diagonal(wins, 0)
    standing = strengths_of(Counts(wins, np.zeros((3, 3))))

    def log_posterior(x: np.ndarray) -> float:
        apart = x[:, None] - x[None, :]
        return float(-(wins * np.log1p(np.exp(-apart))).sum() - (x**2).sum() / 2)

    step, hessian = 1e-4, np.zeros((3, 3))
    for a in range(3):
        for b in range(3):
            ea, eb = np.eye(3)[a] * step, np.eye(3)[b] * step
            x = standing.strength
            hessian[a, b] = (
                log_posterior(x + ea + eb)
                - log_posterior(x + ea - eb)
                - log_posterior(x - ea + eb)
                + log_posterior(x - ea - eb)
            ) / (4 * step**2)
    assert standing.variance == pytest.approx(np.diag(np.linalg.inv(-hessian)), rel=1e-4)


STRATA = ["short", "short", "long", "long", "long", "long"]


@given(
    st.lists(st.floats(0.01, 10), min_size=1, max_size=30),
    st.integers(1, 60),
    st.integers(1, 3),
    st.integers(0, 2**32),
    st.sampled_from(["all", "uniform", "wmt", "strata"]),
    st.sampled_from(["proportional", "equal"]),
)
def test_as_many_as_wanted_and_none_too_often(
    weights: list[float], wanted: int, most: int, seed: int, sampling: str, allotment: str
) -> None:
    strata = [str(k % 3) for k in range(len(weights))]
    rng = np.random.default_rng(seed)
    found = choose_sentences(  # type: ignore[call-overload, arg-type, unused-ignore]
        sampling, np.array(weights), strata, wanted, rng, most=most, allotment=allotment
    )
    assert found.items.sum() == min(wanted, most * len(weights))
    assert found.items.max() <= most
    assert (found.items[found.probability == 1] >= 1).all()
    assert ((found.probability > 0) & (found.probability <= 1)).all()


@pytest.mark.parametrize("sampling", ["uniform", "wmt", "strata"])
def test_the_probability_of_inclusion_is_what_happens(sampling: str) -> None:
    weights = np.array([4.0, 1.0, 1.0, 1.0, 1.0, 2.0])
    seen = np.zeros(6)
    draws = 4000
    rng = np.random.default_rng(1)
    for _ in range(draws):
        found = choose_sentences(  # type: ignore[arg-type]
            sampling, weights, STRATA, 3, rng, allotment="equal"
        )
        seen += found.items
    assert found.probability.sum() == pytest.approx(3)
    # Four standard errors of a share of 4,000 draws.
    assert np.abs(seen / draws - found.probability).max() < 4 * 0.5 / np.sqrt(draws)
    if sampling == "wmt":  # 3 * 4 / 10 is cut to 1; the others share the rest by their weights
        assert found.probability.tolist() == pytest.approx([1, *[2 / 6] * 4, 4 / 6])
    if sampling == "strata":
        assert found.probability.tolist() == pytest.approx([0.75] * 2 + [0.375] * 4)


def test_the_rule_of_the_wmt() -> None:
    """C(M, 2) / C(Cᵢ, 2): of 13 systems with 13 outputs 5 are covered, with 5 outputs all 13."""
    assert coverage([1] * 13, 5) == 5
    assert coverage([9, 1, 1, 1, 1], 5) == 13
    assert wmt_weight([1] * 13, 5) == pytest.approx(1)
    assert wmt_weight([9, 1, 1, 1, 1], 5) == pytest.approx(10 / 78)
    assert wmt_weight([12, 1], 5) == pytest.approx(10 / 78)


def test_nothing_to_choose_from() -> None:
    with pytest.raises(InputError, match="no sentence"):
        choose_sentences("all", np.ones(0), [], 3, np.random.default_rng(0))


SHARES = st.floats(0.005, 0.2)


def places(tasks: int, **settings: object) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {"main": [], "control": [], "repeat": []}
    for task in range(tasks):
        found[purpose_at(task, **settings)].append(task)  # type: ignore[arg-type]
    return found


@given(
    st.integers(0, 10**6),
    st.text(min_size=1, max_size=8),
    st.integers(1, 700),
    st.booleans(),
    SHARES,
    SHARES,
    st.integers(1, 40),
)
def test_no_check_is_early_evenly_spaced_or_too_near(
    seed: int, judge: str, tasks: int, bound: bool, controls: float, repeats: float, distance: int
) -> None:
    checked = {"controls": controls, "repeats": repeats, "distance": distance}
    found = places(tasks, seed=seed, judge=judge, quota=tasks if bound else None, **checked)
    checks = sorted([*found["control"], *found["repeat"]])
    assert not checks or checks[0] >= 3
    assert not found["repeat"] or found["repeat"][0] > distance
    for each in (found["control"], found["repeat"], checks):
        gaps = np.diff(each)
        if len(gaps) > 4:  # a stretch may be cut where the judge stops
            assert len(set(gaps.tolist())) > 1
    if bound:
        assert abs(len(found["control"]) - controls * tasks) <= 2 + tasks // 200


def test_repeats_that_would_be_in_step_leave_the_controls() -> None:
    """Three repeats after the distance have three places, side by side."""
    found = places(18, seed=0, judge="j", quota=18, controls=0.125, repeats=0.1875, distance=14)
    assert (len(found["control"]), len(found["repeat"])) == (2, 0)


def test_three_checks_are_never_in_step() -> None:
    """With so few places they would often be, by chance."""
    several = 0
    for seed in range(400):
        found = places(10, seed=seed, judge="ann", quota=10, controls=0.3, repeats=0.0, distance=20)
        gaps = np.diff(found["control"])
        assert len(set(gaps.tolist())) == 2
        several += gaps[0] != gaps[-1]
    assert several == 400


def test_a_quota_has_its_share_exactly() -> None:
    found = places(100, seed=3, judge="ann", quota=100, controls=0.05, repeats=0.05, distance=20)
    assert (len(found["control"]), len(found["repeat"])) == (5, 5)


def test_judges_have_schedules_of_their_own() -> None:
    settings = {"seed": 3, "quota": 200, "controls": 0.05, "repeats": 0.05, "distance": 20}
    found = {judge: tuple(places(200, judge=judge, **settings)["control"]) for judge in "abcdefgh"}
    assert len(set(found.values())) == 8
    assert found["a"] == tuple(places(200, judge="a", **settings)["control"])


SOURCE = "He go home ."
SCORE = Design(kind="score", scales=(Scale("x"), Scale("y", 0, 4)), side_by_side=True)
ALONE = Design(kind="score", scales=(Scale("x"),), margin=15)


def test_control_is_passed_if_the_damaged_output_is_strictly_below() -> None:
    for order, ranks, passed in (
        ((0, 1, 2), (1, 3, 2), True),
        ((0, 1, 2), (2, 3, 2), False),
        ((0, 1, 2), (3, 1, 2), False),
        ((2, 1, 0), (3, 3, 2), True),
        ((2, 0, 1), (1, 2, 3), False),
    ):
        answer = dict(zip("ABC", ranks, strict=True))
        check = ShownCheck(Design(), {"worse": 2, "better": 0}, order)
        assert check.control_passed(answer) is passed
        assert check.control_passed(None) is None
    pairs = {"A": True, "B": False, "equal": False, "bad": False}
    check = ShownCheck(Design(kind="pair"), {"worse": 0, "better": 1}, (1, 0))
    assert {answer: check.control_passed(answer) for answer in pairs} == pairs


def test_scores_must_be_lower_by_the_margin() -> None:
    def beside(x: int, y: int) -> bool | None:
        answer = {"A": {"x": x, "y": y}, "B": {"x": 50, "y": 3}}
        return ShownCheck(SCORE, {"worse": 1, "better": 0}, (1, 0)).control_passed(answer)

    assert [beside(40, 2), beside(41, 2), beside(40, 3)] == [True, False, False]
    one = ShownCheck(ALONE, {"worse": 0, "better": None}, (0,))
    assert one.control_passed({"x": 45}, {"x": 60.0}) is True
    assert one.control_passed({"x": 46}, {"x": 60.0}) is False
    assert one.control_passed({"x": 46}) is None


def test_damage_must_not_be_called_good() -> None:
    def passed(answer: dict[str, str], outputs: list[str]) -> bool | None:
        expected = {"worse": 0, "better": 1}
        check = ShownCheck(Design(kind="edits"), expected, (1, 0), SOURCE, outputs)
        return check.control_passed(answer)

    outputs = ["He goes home .", "goes He . home"]  # in the order shown
    made = shown_edits(SOURCE, outputs)
    good = {str(n): "good" for n in range(1, len(made) + 1)}
    fair = {str(n): "bad" if e[3] == (1,) else "good" for n, e in enumerate(made, 1)}
    assert (passed(good, outputs), passed(fair, outputs)) == (False, True)
    # The damaged copy has the good edits of its original too.
    assert passed({"1": "good", "2": "bad"}, ["He goes home .", "He goes home home ."]) is True


@given(st.integers(0, 50), st.integers(1, 50), st.floats(0.5, 0.99))
def test_wilson_is_scipys(passed: int, more: int, confidence: float) -> None:
    of = passed + more - 1 or 1
    passed = min(passed, of)
    known = binomtest(passed, of).proportion_ci(confidence, method="wilson")
    assert wilson(passed, of, confidence)[1:] == pytest.approx((known.low, known.high), abs=1e-9)


def test_wilson_of_nothing_is_everything() -> None:
    assert np.isnan(wilson(0, 0).value)
    assert wilson(0, 0)[1:] == (0, 1)


def test_rules_that_block() -> None:
    failed = [False, None, True, False, False]
    assert rule_blocks((3, 5), failed)
    assert not rule_blocks((3, 3), failed)
    assert not rule_blocks(None, [False] * 9)
    assert not rule_blocks((3, 5), [False] * 2)


def test_ties_and_first_places() -> None:
    groups = (("A",), ("B",), ("C",))
    judgments = [
        Judgment("j", 0, groups, (1, 1, 2)),
        Judgment("j", 1, groups, (1, 2, 3)),
        Judgment("j", 2, groups, (2, 1, 3)),
        Judgment("j", 3, groups, (None, None, None)),
    ]
    others = [
        Judgment("skips", 0, groups, (None, None, None)),
        Judgment("first", 1, groups[:2], (1, 2)),
        Judgment("one", 1, groups[:2], (1, None)),
    ]
    read = ranking_columns([judgments[0], *others, *judgments[1:]])
    assert read.judges == ("j", "skips", "first", "one")
    nan = np.nan
    np.testing.assert_allclose(share_of_ties(output_pairs(read)), [1 / 9, nan, 0, nan])
    first, chance = first_ranked_best(read)
    np.testing.assert_allclose(first, [1 / 2, nan, 1, nan])
    np.testing.assert_allclose(chance, [1 / 3, nan, 1 / 2, nan])
    assert not any(len(each) for each in first_ranked_best(ranking_columns([])))
    assert not len(share_of_ties(output_pairs([])))
